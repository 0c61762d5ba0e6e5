"""Files that agents read and write through us (ACP 1, ``fs/*``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import ReadFile, SendAnswer, ShowReview, WriteFile
from acpls.follow import Place
from acpls.hub import claims, in_step, placing, sessions
from acpls.hub.state import Unsaved
from acpls.hub.tokens import ForAgent, WrittenForAgent
from acpls.review.ledger import Author
from acpls.session.asks import Done, Failure, FileText
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from acpls.events import Disk, FileReadAsked, FileWriteAsked, FileWritten
    from acpls.hub.state import Effects, State

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# The code and the wording by which agents recognise a file that is not there.
NOT_FOUND = -32002


def read_asked(state: State, event: FileReadAsked) -> Effects:
    """A document with unsaved changes is read from the editor, all else from the disk."""
    session = state.session_of(event.agent, event.session)
    if session is None:
        yield SendAnswer(event.agent, event.request, _no_session())
        return
    line = None if event.line is None else max(event.line - 1, 0)
    yield from sessions.at_place(state, session, Place(event.path, line, "read", None))
    token = ForAgent(event.agent, event.request, session.key, event.line, event.limit)
    yield ReadFile(token, event.path, state.roots_of(session))


def read(state: State, token: ForAgent, disk: Disk) -> Effects:
    """Answer with the document when it has unsaved changes or no file, else with the file."""
    whole = _contents(state, disk)
    if isinstance(whole, Failure):
        yield SendAnswer(token.agent, token.request, whole)
        return
    state.read_by[token.session, disk.path] = whole
    yield SendAnswer(token.agent, token.request, FileText(_part(whole, token)))


def _contents(state: State, disk: Disk) -> str | Failure:
    if not disk.inside:
        return Failure(INVALID_PARAMS, f"{disk.path} lies outside of the workspace")
    buffer = state.buffer_at(disk.path)
    if buffer is not None and (buffer.dirty or disk.problem is not None):
        return buffer.text
    if disk.problem is not None:
        return Failure(INTERNAL_ERROR, f"{disk.path}: {disk.problem}")
    if disk.text is None:
        return Failure(NOT_FOUND, f"Resource not found: {disk.path}: no such file (ENOENT)")
    return disk.text


def _part(text: str, token: ForAgent) -> str:
    """The lines that the agent asked for; its first line is line 1."""
    if token.line is None and token.limit is None:
        return text
    start = max((token.line or 1) - 1, 0)
    end = None if token.limit is None else start + max(token.limit, 0)
    return "".join(split_lines(text)[start:end])


def write_asked(state: State, event: FileWriteAsked) -> Effects:
    """Write the file; a document with unsaved changes is left to the user's verdict."""
    session = state.session_of(event.agent, event.session)
    if session is None:
        yield SendAnswer(event.agent, event.request, _no_session())
        return
    yield from sessions.at_place(state, session, Place(event.path, None, "edit", None))
    state.writing[session.key, event.path] += 1
    token = ForAgent(event.agent, event.request, session.key)
    roots = state.roots_of(session)
    yield WriteFile(token, event.path, event.text, roots, keep_endings=True)


def written(state: State, token: ForAgent, event: FileWritten) -> Effects:
    """Success is answered only after the file was seen to hold the text."""
    if event.problem is not None:
        _over(state, token.session, event.path)
        failure = Failure(INTERNAL_ERROR, f"{event.path}: {event.problem}")
        yield SendAnswer(token.agent, token.request, failure)
        return
    roots = state.roots_of(state.sessions[token.session])
    # Told before the file is read again: then an agent that wrote back the unsaved text which
    # it was given would have made that text the saved one.
    started = _started(state, token, event)
    again = WrittenForAgent(token.agent, token.request, token.session, event.before, started)
    yield ReadFile(again, event.path, roots)


def seen_written(state: State, token: WrittenForAgent, disk: Disk) -> Effects:
    """The file was read again: answer, and put the change under review."""
    _over(state, token.session, disk.path)
    if disk.text is None:
        failure = Failure(INTERNAL_ERROR, f"{disk.path}: the file does not hold the text")
        yield SendAnswer(token.agent, token.request, failure)
        return
    yield SendAnswer(token.agent, token.request, Done())
    state.written_by.add((token.session, disk.path))
    before = token.started
    held = _held(state, disk.path, token.before.text)
    if token.before.text != disk.text:
        claims.written(state, disk.path, before, disk.text, Author(token.session))
    reviewed = state.ledger.files.get(disk.path)
    if before != token.before.text and reviewed is not None and reviewed.hunks:
        state.unsaved[disk.path] = Unsaved(reviewed.base, held)
    yield ShowReview(disk.path)
    yield from in_step.bring(state, disk.path)


def _started(state: State, token: ForAgent, event: FileWritten) -> str | None:
    """The text that the agent's edit started from.

    Where it was given a document's unsaved text, that is it: the user's unsaved lines must
    not count as the agent's change.
    """
    buffer = state.buffer_at(event.path)
    if buffer is None or not buffer.dirty:
        return event.before.text
    started = state.read_by.get((token.session, event.path))
    if started is None:
        return event.before.text
    state.origins[buffer.uri] = started
    return started


def _held(state: State, path: str, on_disk: str | None) -> str | None:
    """What the file held before agents wrote to it, as far as that waits for a verdict."""
    reviewed = state.ledger.files.get(path)
    if path in state.unsaved:
        return state.unsaved[path].disk
    if reviewed is None or not reviewed.written or on_disk is None:
        return on_disk
    return placing.outcome(reviewed, reviewed.hunks, "reject", on_disk)[0]


def _over(state: State, session: str, path: str) -> None:
    state.writing[session, path] -= 1
    if not state.writing[session, path]:
        del state.writing[session, path]


def _no_session() -> Failure:
    return Failure(INVALID_PARAMS, "no such session is open here")
