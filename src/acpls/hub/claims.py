"""What tool calls claim to change, looked up in the files themselves.

What was done is seen on disk (``changes``); a claim says who did it, and what is still to
come. It shows the text before only where nobody else has seen that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acpls.effects import ReadFile, ShowReview
from acpls.hub import changes, in_step
from acpls.hub.tokens import ForClaim
from acpls.review.claims import Resolved, pieces, resolve
from acpls.review.composing import Author
from acpls.review.held import UNKNOWN, of_disk, of_text
from acpls.session.content import Fragment, Patch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.events import Disk, FileRead
    from acpls.hub.state import Effects, State
    from acpls.review.claims import Claim
    from acpls.session.content import ToolContent
    from acpls.session.state import Session, ToolCall

# Tools that change nothing; where they are is no sign of a change.
_LOOKING = {"read", "search", "fetch", "think"}
_CHANGING = {"edit", "delete", "move"}
# What agents call the argument that is the path of a file.
_ARGUMENTS = ("path", "file_path", "filePath", "filename", "file")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")


def is_claim(item: ToolContent) -> bool:
    """Whether a piece of a tool call's content says something of a file."""
    return isinstance(item, Fragment | Patch)


def look(state: State, session: Session, call: ToolCall) -> Effects:
    """Look at the files that a tool call is about, when there is something new to see."""
    if not session.open:
        # What is told while a session is opened was done long ago.
        return
    author, said = Author(session.key, call.id), pieces(call.content)
    paths = _paths(call, said)
    seen = (call.content, call.locations, paths, call.finished)
    if state.claims_read.get(author) == seen:
        return
    state.claims_read[author] = seen
    for path in paths:
        state.claims_awaited[author] += 1
        yield ReadFile(ForClaim(session.key, call.id), path, state.roots_of(session))
    if call.finished and not (said and call.status == "completed"):
        # What it proposed before is not what it did.
        yield from drop(state, author)
    elif call.finished:
        told = {state.paths.place(path) for path in paths}
        before = [place for whose, place in state.ledger.proposals if whose == author]
        for place in before:
            if place not in told:
                yield from drop(state, author, place)


def _paths(call: ToolCall, said: Iterable[Claim]) -> tuple[str, ...]:
    """The files that a tool call is about; where it says so nowhere else, by its arguments."""
    paths = [claim.path for claim in said]
    if call.kind not in _LOOKING:
        paths += [at.path for at in call.locations]
    if not paths and call.kind in _CHANGING and isinstance(call.raw_input, dict):
        given = [call.raw_input.get(key) for key in _ARGUMENTS]
        paths += [x for x in given if isinstance(x, str) and _ABSOLUTE.match(x)]
    return tuple(dict.fromkeys(paths))


def read(state: State, token: ForClaim, event: FileRead) -> Effects:
    """A file that a tool call is about was read."""
    author, disk = Author(token.session, token.tool_call), event.disk
    session = state.sessions[token.session]
    state.claims_awaited[author] -= 1
    call = session.tool_call(token.tool_call)
    assert call is not None
    said = [claim for claim in pieces(call.content) if claim.path == disk.path]
    yield from changes.settle(state, disk.place, whose=author)
    yield from changes.noticed(state, disk, event.earlier, whose=author)
    changes.told_of(state, author, disk.path)
    if said:
        yield from _judge(state, author, call, said, event)
    for claim in said:
        yield from changes.said(state, claim)
    yield ShowReview(disk.place)
    yield from in_step.bring(state, disk.place)


def drop(state: State, author: Author, place: str | None = None) -> Effects:
    """A tool call will not write any more, or not this file: what it proposed goes."""
    for gone in state.ledger.drop_proposals(author, place):
        yield ShowReview(gone)


def end_turn(state: State, session: Session) -> Effects:
    """Proposals of tool calls that did not finish go with their turn."""
    for author, _ in list(state.ledger.proposals):
        call = session.tool_call(author.tool_call or "") if author.session == session.key else None
        if call is not None and call.status != "completed":
            yield from drop(state, author)


def _judge(
    state: State, author: Author, call: ToolCall, said: list[Claim], event: FileRead
) -> Effects:
    """Walk back through what was written, then forward through what is still to be."""
    disk, done = event.disk, call.status == "completed"
    place = disk.place
    if done:
        yield from drop(state, author, place)
    elif call.finished:
        return
    if disk.problem is not None:
        if done and disk.content is None:
            state.ledger.unplaced(place, f"the file {disk.problem}", author)
        return
    line = next((at.line for at in call.locations if at.path == disk.path), None)
    before, waiting = _back(said, disk, done=done, line=line)
    if len(waiting) < len(said) and event.earlier.how in {"first", "lost"}:
        yield from _written_unseen(state, author, disk, before)
    session = state.sessions[author.session]
    at_work = session.busy or session.key in state.at_work
    if not at_work or (done and (author.session, place) in state.changed_by):
        # What is claimed was seen, or taken back since, or is told once more.
        return
    if done and state.review_mode == "off":
        return
    text, reason = _forth(waiting, disk.text, done=done, line=line)
    buffer = state.buffer_at(place)
    if reason is not None and buffer is not None and buffer.dirty:
        # The agent may have been given what is unsaved.
        started = buffer.text
        text, reason = _forth(waiting, started, done=done, line=line)
        base = of_text(started)
    else:
        held = of_disk(disk)
        assert held is not None
        base = held
    if reason is not None and done:
        state.ledger.unplaced(place, reason, author)
    elif reason is None and text != base.text and base.opaque is None:
        change = state.ledger.propose(place, base, of_text(text), author)
        assert change is not None
        change.preview = not done and state.review_mode != "before"


def _back(
    said: list[Claim], disk: Disk, *, done: bool, line: int | None
) -> tuple[str | None, list[Claim]]:
    """The text before all that was written, and the claims that are still to be."""
    before = disk.text
    waiting: list[Claim] = []
    for claim in reversed(said):
        found = resolve(claim, before, finished=done, line=line)
        if not (isinstance(found, Resolved) and found.written):
            waiting.insert(0, claim)
            continue
        before = found.base
        if before is None:
            # Nothing that was claimed before this can be seen any more.
            break
    return before, waiting


def _forth(
    waiting: list[Claim], text: str | None, *, done: bool, line: int | None
) -> tuple[str | None, str | None]:
    """The text with what is still to be written, and why some of it cannot be placed."""
    reason = None
    for claim in waiting:
        found = resolve(claim, text, finished=done, line=line)
        if isinstance(found, Resolved):
            text = found.target
        else:
            reason = found.reason
    return text, reason


def _written_unseen(state: State, author: Author, disk: Disk, before: str | None) -> Effects:
    """Nobody but the agent has seen the file as it was."""
    place, now = disk.place, of_disk(disk)
    assert now is not None
    known = state.ledger.files.get(place)
    base = None if before is None else of_text(before)
    if known is None:
        yield from changes.agent_wrote(state, place, base, now, author, "claim")
    elif known.base is UNKNOWN and base is not None:
        state.ledger.learn_base(place, base, "claim")
