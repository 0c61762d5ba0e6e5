"""Files are seen to have changed: whose change that is, and what was there before.

Every file that is read, written or noticed passes ``noticed``. While an agent is at work,
what changed on disk is its change, but for what the user saved; at all other times it is the
user's. No agent needs to tell of anything for that.

Invariant: a change is taken in once, whoever tells of it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import After, ShowReview
from acpls.hub import holding, in_step, verdicts
from acpls.hub.paths import is_in
from acpls.hub.tokens import NotSaved
from acpls.review.composing import NOBODY, Author
from acpls.review.held import Held, of_disk, of_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.events import Disk, Earlier
    from acpls.hub.state import Effects, State
    from acpls.review.change import Source
    from acpls.review.claims import Claim
    from acpls.text.diff import Hunk

# Editors tell of a save when it is done, and the system may be quicker.
TOLD_WITHIN_S = 0.2


def heard(state: State, disk: Disk, earlier: Earlier) -> Effects:
    """A file was seen, by nobody who knows what was done to it. What an agent may have done to
    an open document may as well be a save that the editor is about to tell of, with what was
    typed before it.
    """
    state.paths.learn(disk)
    place = disk.place
    if place in state.unsure and not earlier.changed:
        return
    yield from settle(state, place)
    if earlier.changed and _may_be_saved(state, place, earlier):
        state.unsure[place] = (disk, earlier)
        yield After(TOLD_WITHIN_S, NotSaved(place, disk.content))
    else:
        yield from noticed(state, disk, earlier)


def _may_be_saved(state: State, place: str, earlier: Earlier) -> bool:
    buffer = state.buffer_at(place)
    if buffer is None or place in state.saved or buffer.uri in state.saving:
        return False
    run = next(iter(state.verdicts.get(place, ())), None)
    if run is not None and run.asked:
        return False
    return place in state.ledger.files or _author(state, place, None, earlier.hunks) is not None


def not_saved(state: State, token: NotSaved) -> Effects:
    """The editor told of no save: it was the agent. A later change has its own time."""
    unsure = state.unsure.get(token.place)
    if unsure is not None and unsure[0].content == token.content:
        yield from settle(state, token.place)


def settle(state: State, place: str, *, whose: Author | None = None) -> Effects:
    """Take in what the system told of a file, going by what is known of it now."""
    unsure = state.unsure.pop(place, None)
    if unsure is not None:
        yield from noticed(state, *unsure, whose=whose)


def noticed(
    state: State,
    disk: Disk,
    earlier: Earlier,
    *,
    whose: Author | None = None,
) -> Effects:
    """A file was seen to hold this. ``whose``: an agent that is known to have written it."""
    state.paths.learn(disk)
    place, now = disk.place, of_disk(disk)
    if now is None and earlier.changed:
        # What came in its place is no text, and no file either, or too large to be read.
        now = Held(opaque=f"the file {disk.problem}")
    if now is None or not disk.inside:
        return
    if not earlier.changed and state.saved.get(place, disk.text) != disk.text:
        # It was read before the editor saved what it has told of since.
        return
    run = next(iter(state.verdicts.get(place, ())), None)
    if run is not None and run.asked_away and now.is_missing:
        # It is our own doing, by the editor's hand, and nobody else's change.
        run.taken_away(state)
        return
    saved = _saved(state, place, disk)
    yield from map(ShowReview, state.ledger.seen(place, now))
    change = state.ledger.files.get(place)
    halves = () if change is None else (change.moved_from, change.moved_to)
    if change is not None and change.target.is_like(now):
        change.target = now
        state.checkpoints.seen(place, now)
    elif change is not None or earlier.changed:
        before, source = _before(state, place, earlier, saved)
        edits = earlier.hunks if _is_known(before, earlier) else None
        author = _author(state, place, whose, earlier.hunks)
        if author is None or (saved is not None and saved == disk.text):
            state.ledger.others_wrote(place, now, edits)
        else:
            yield from agent_wrote(state, place, before, now, author, source, edits=edits)
        # What was one change with this one may be another now.
        yield from (ShowReview(path) for path in (place, *halves) if path is not None)
    state.saw(place, disk.text)
    yield from in_step.bring(state, place)


def agent_wrote(
    state: State,
    place: str,
    before: Held | None,
    now: Held,
    author: Author,
    source: Source,
    *,
    edits: Sequence[Hunk] | None = None,
) -> Effects:
    """An agent made ``now`` of a file that held ``before``, as far as that is known."""
    state.changed_by.add((author.session, place))
    state.checkpoints.note(author.session, place, before, now)
    for change in state.ledger.at(place):
        is_it = change.target.is_like(now) or change.author == author
        if change.proposed and change.held is None and is_it:
            holding.proposal_over(state, change)
    if state.review_mode == "off":
        return
    known = state.ledger.files.get(place)
    origin = None if known is None else known.moved_from
    state.ledger.agent_wrote(place, before, now, author, source, edits)
    # What is gone from the place that it was moved to may be moved once more.
    for path in filter(None, (place, origin)):
        yield from map(ShowReview, state.ledger.pair(path))
    yield from holding.written(state, place, author)


def said(state: State, claim: Claim) -> Effects:
    """A tool call tells of a file that was moved or copied; the files tell whether it was."""
    pairs = {
        "move": (claim.old_path, claim.path),
        "copy": (claim.old_path, claim.path),
        "delete": (claim.path, claim.new_path),
    }
    old, new = pairs.get(claim.operation, (None, None))
    if old is not None and new is not None:
        places, copied = map(state.paths.place, (old, new)), claim.operation == "copy"
        yield from map(ShowReview, state.ledger.pair_as_said(*places, copied=copied))


def told_of(state: State, author: Author, path: str) -> None:
    """A tool call is found to be about a file: what its session did there in this turn is its
    doing.
    """
    place = state.paths.place(path)
    state.named[place] = author
    change = state.ledger.files.get(place)
    if change is not None and (author.session, place) in state.changed_by:
        change.attribute(author)


def _saved(state: State, place: str, disk: Disk) -> str | None:
    """What the user has saved since the file was looked at, told by the editor or not yet.

    A document that comes to hold what its file does was reloaded, or the file was saved; what
    was seen to be unsaved in it before was typed.
    """
    buffer = state.buffer_at(place)
    if buffer is None or not buffer.dirty or place in state.saved or buffer.uri in state.saving:
        return state.saved.pop(place, None)
    if buffer.text != disk.text:
        state.typed[buffer.uri] = buffer.saved_text
        return None
    if verdicts.saved(state, place):
        return buffer.text
    if state.typed.get(buffer.uri) != buffer.saved_text:
        return None
    origin = state.origins.pop(buffer.uri, buffer.saved_text)
    state.ledger.saved(place, buffer.text, origin, shares=True)
    return buffer.text


def _author(
    state: State, place: str, whose: Author | None, edits: Sequence[Hunk] | None
) -> Author | None:
    """Who made these edits of a file, or is at work on it; ``None``: no agent is.

    Of several tool calls that are about a file, the one that was told of last need not be the
    one that writes.
    """
    sessions = (state.sessions[key] for key in state.at_work)
    able = [s.key for s in sessions if is_in(place, state.places_of(s))]
    proposer = _proposer(state, place, edits)
    if proposer is not None and proposer.session in able:
        return proposer
    if whose is not None:
        return whose
    named = state.named.get(place)
    if named is not None and named.session in able:
        return named
    if len(able) > 1:
        return NOBODY
    return Author(able[0]) if able else None


def _proposer(state: State, place: str, edits: Sequence[Hunk] | None) -> Author | None:
    """The tool call that was to make just these edits, where it is the only one."""
    made = {(edit.old, edit.new) for edit in edits or ()}
    found = [
        author
        for (author, path), change in state.ledger.proposals.items()
        if path == place and change.held is None
        if made and made <= {(pending.hunk.old, pending.hunk.new) for pending in change.hunks}
    ]
    return found[0] if len(found) == 1 else None


def _before(
    state: State, place: str, earlier: Earlier, saved: str | None
) -> tuple[Held | None, Source]:
    """What a file held before it changed, and who knows that; ``saved``: what the user saved
    and nobody has looked at yet.
    """
    change = state.ledger.files.get(place)
    if change is not None:
        return change.target, "ledger"
    if saved is not None:
        return of_text(saved), "buffer"
    if earlier.disk is not None:
        return of_disk(earlier.disk), "git" if earlier.how == "git" else "store"
    buffer = state.buffer_at(place)
    if buffer is not None:
        return of_text(buffer.saved_text), "buffer"
    return None, "unknown"


def _is_known(before: Held | None, earlier: Earlier) -> bool:
    """Whether the difference that came along is the one from this."""
    return (
        before is not None
        and earlier.disk is not None
        and earlier.disk.content is not None
        and earlier.disk.content == before.content
    )
