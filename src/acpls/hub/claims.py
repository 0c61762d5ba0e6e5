"""What tool calls claim to change, looked up in the files themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import ReadFile, ShowReview
from acpls.hub import in_step, placing
from acpls.hub.tokens import ForClaim
from acpls.review.claims import Resolved, pieces, resolve
from acpls.review.ledger import Author
from acpls.session.state import ToolCall

if TYPE_CHECKING:
    from acpls.events import Disk
    from acpls.hub.state import Effects, State
    from acpls.review.claims import Claim
    from acpls.session.state import Session


def look(state: State, session: Session, call: ToolCall) -> Effects:
    """Look at what a tool call claims, when there is something new to see."""
    author = Author(session.key, call.id)
    seen = (call.content, call.finished)
    if state.claims_read.get(author) == seen:
        return
    state.claims_read[author] = seen
    for path in dict.fromkeys(claim.path for claim in pieces(call.content)):
        state.claims_awaited[author] += 1
        yield ReadFile(ForClaim(session.key, call.id), path, state.roots_of(session))
    if call.finished and call.status != "completed":
        yield from drop(state, author)


def read(state: State, token: ForClaim, disk: Disk) -> Effects:
    """A file that a tool call claims to change was read."""
    author = Author(token.session, token.tool_call)
    session = state.sessions[token.session]
    if (session.key, disk.path) in state.writing:
        # What comes of the write says more than the claim, which is looked at after that.
        yield ReadFile(token, disk.path, state.roots_of(session))
        return
    state.claims_awaited[author] -= 1
    call = session.tool_call(token.tool_call)
    assert call is not None
    _resolve(state, author, call, disk)
    yield ShowReview(disk.path)
    yield from in_step.bring(state, disk.path)


def drop(state: State, author: Author) -> Effects:
    """A tool call will not write any more: what it proposed goes."""
    for path in state.ledger.drop_proposal(author.tool_call or "", author.session):
        yield ShowReview(path)


def end_turn(state: State, session: Session) -> Effects:
    """Proposals of tool calls that did not finish go with their turn."""
    for entry in session.entries.values():
        if isinstance(entry, ToolCall) and entry.status != "completed":
            yield from drop(state, Author(session.key, entry.id))


def written(
    state: State,
    path: str,
    before: str | None,
    after: str | None,
    author: Author,
) -> None:
    """An agent brought a file from ``before`` to ``after``: that is under review now.

    The ledger carries what others did meanwhile into the base, from what it knew of the
    disk. Where ``before`` is sure, the base is better told by it: as that without all that
    waits for a verdict, so that lines which the user wrote into hunks are his. A claim shows
    the text before only as far as it goes, so it counts for that only after a save.
    """
    file = state.ledger.files.get(path)
    sure = author.tool_call is None or path in state.saved_over
    state.saved_over.discard(path)
    known = file is not None and file.target == after
    if (
        file is not None
        and file.hunks
        and file.written
        and before is not None
        and sure
        and not known
    ):
        base, _ = placing.outcome(file, file.hunks, "reject", before)
        file.base, file.target = base, before
    state.ledger.written(path, before, after, author)


def _resolve(state: State, author: Author, call: ToolCall, disk: Disk) -> None:
    """Walk back through what was written, then forward through what is still to be."""
    path, done = disk.path, call.status == "completed"
    claims = [claim for claim in pieces(call.content) if claim.path == path]
    if disk.problem is not None:
        if done and claims:
            state.ledger.unplaced(path, f"the file {disk.problem}", author)
        return
    line = next((at.line for at in call.locations if at.path == path), None)
    before, made = disk.text, False
    waiting: list[Claim] = []
    for claim in reversed(claims):
        found = resolve(claim, before, finished=done, line=line)
        if not (isinstance(found, Resolved) and found.written):
            waiting.insert(0, claim)
            continue
        before, made = found.base, True
        if before is None:
            # Nothing that was claimed before this can be seen any more.
            break
    # A write through us was seen as it was; its claim knows less of the text before.
    through_us = (author.session, path) in state.written_by
    if made and not (through_us and _is_known(state, disk)):
        buffer = state.buffer_at(path)
        if before is None and buffer is not None:
            # The claim does not show the text before, but the editor had it.
            before = buffer.saved_text
        written(state, path, before, disk.text, author)
    after = disk.text
    for claim in waiting:
        found = resolve(claim, after, finished=done, line=line)
        if isinstance(found, Resolved):
            after = found.target
        elif done and not _is_known(state, disk):
            state.ledger.unplaced(path, found.reason, author)
    # What a session wrote through us and is not there any more was taken back.
    if after != disk.text and (not call.finished or (done and not through_us)):
        state.ledger.proposed(path, disk.text, after, author)


def _is_known(state: State, disk: Disk) -> bool:
    reviewed = state.ledger.files.get(disk.path)
    return reviewed is not None and reviewed.target == disk.text
