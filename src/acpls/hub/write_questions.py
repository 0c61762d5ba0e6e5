"""Questions of our own about a write that an agent asked for: it waits for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.effects import SaveDocument, ShowQuestions
from acpls.hub import files, sessions
from acpls.hub.paths import folder_of
from acpls.hub.putting import put_next, tell_plainly
from acpls.hub.tokens import ForWrite, SavedFirst
from acpls.session.content import Choosable

if TYPE_CHECKING:
    from acpls.events import Disk, DocumentSaved
    from acpls.hub.state import Effects, State
    from acpls.questions import Question

MINE: Final = Choosable("mine", "Keep mine and refuse the agent's text", "reject_once")
SAVE: Final = Choosable("save", "Save mine first, and let the agent look again", "reject_once")
MERGE: Final = Choosable("merge", "Let the agent write, and show me what clashes", "allow_once")
STOP: Final = Choosable("stop", "Stop the agent", "reject_once")
WRITE: Final = Choosable("write", "Let the agent write this file", "allow_once")
REFUSE: Final = Choosable("refuse", "Refuse", "reject_once")


def unsaved(state: State, token: ForWrite, disk: Disk) -> Effects:
    """The agent's text and the user's unsaved lines clash (D11)."""
    name = disk.path.replace("\\", "/").rsplit("/", 1)[-1]
    options = (MINE, *((SAVE,) if state.editor.save else ()), MERGE, STOP)
    title = f"{_agent(state, token)} writes {name}, where you have unsaved changes"
    yield from _ask(state, token, disk, title, options)


def outside(state: State, token: ForWrite, disk: Disk) -> Effects:
    """The agent wants to write outside of the workspace's folders."""
    title = f"{_agent(state, token)} wants to write outside of the workspace"
    yield from _ask(state, token, disk, title, (REFUSE, WRITE, STOP))


def settled(state: State, question: Question) -> Effects:
    """The user answered, or nobody waits any longer."""
    token, disk = question.write
    match question.option:
        case "merge":
            yield from files.carry_out(state, token, disk)
        case "write":
            yield from files.carry_out(state, token, disk, roots=(folder_of(disk.place),))
        case "save":
            buffer = state.buffer_at(disk.path)
            if buffer is None:
                yield from files.carry_out(state, token, disk)
            else:
                yield SaveDocument(SavedFirst(token), buffer.uri)
        case "stop":
            # An agent that gets its answer first may go on, and end its turn by itself.
            yield from sessions.cancel(state, state.sessions[token.session])
            yield from files.fail(token, disk.path, "the user stopped the turn")
        case _:
            yield from files.fail(token, disk.path, _why(question))


def saved_first(_: State, token: SavedFirst, event: DocumentSaved) -> Effects:
    """The user's own text was to be saved before the agent looks again."""
    reason = "the user has saved this file meanwhile; read it again"
    if event.problem is not None:
        reason = f"the user's unsaved changes could not be saved: {event.problem}"
    yield from files.fail(token.write, token.write.path, reason)


def _ask(
    state: State, token: ForWrite, disk: Disk, title: str, options: tuple[Choosable, ...]
) -> Effects:
    question = state.questions.about_write(
        token.agent, token.session, title, options, disk.path, (token, disk)
    )
    session = state.sessions[token.session]
    question.foreground, question.turn = session.busy, session.turn
    yield ShowQuestions()
    yield from tell_plainly(state, question)
    yield from put_next(state)


def _why(question: Question) -> str:
    if question.by != "editor":
        return "nobody answers whether it may be written any more"
    if question.option == REFUSE.option:
        return "it lies outside of the workspace, and the user refused"
    return "the user keeps the unsaved changes and refused this text"


def _agent(state: State, token: ForWrite) -> str:
    return state.agent(token.agent).title
