"""Where hunks stand in a text in which the user writes, too, and what a verdict makes of it.

What the user wrote is told from what agents wrote by a *reference*: a text without anything
unsaved that the text in hand goes back to. In the reference a hunk is there or is not, and
only from there is it looked for in the text. What is shown and where a verdict acts is
decided by the same steps.

Invariant: lines that are not in the reference are never touched. Where it is not certain
which lines are meant, nothing is, and the hunk is left with the reason.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from acpls.review.composing import made
from acpls.text.diff import Hunk, Placed, apply_edits, edits_placed, rebase
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.review.change import Change, Verdict
    from acpls.review.composing import ReviewHunk
    from acpls.review.held import Held

UNKNOWN_PLACE: Final = "the text around it is not the one it was made for"
MIXED: Final = "only a part of it is there"
SHARED: Final = "you wrote into these lines"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a hunk stands in a text.

    ``applied``: the text has the hunk; ``conflict``: why it can neither be found nor placed.
    ``start`` and ``end`` are zero-based lines of that text. Not ``placed``: nobody can tell
    where it stands, and so no verdict can be carried out in this text.
    """

    applied: bool
    start: int
    end: int
    conflict: str | None = None
    placed: bool = True


def standing(change: Change, text: str, reference: str) -> tuple[Standing, ...]:
    """Where each hunk of a change stands in a text that goes back to the reference.

    It is asked for much more often than anything changes, so what was found last is kept.
    """
    if change.is_whole:
        return tuple(Standing(not change.proposed, 0, 0) for _ in change.hunks)
    reference = _known(change, reference)
    found = change.found
    if not isinstance(found, _Found) or not found.is_of(change, reference):
        back, forth = _steps(change, "reject", reference), _steps(change, "keep", reference)
        found = _Found(change.base, change.target, change.hunks, reference, back, forth)
        change.found = found
    if found.standings is None or found.text != text:
        found.text, found.standings = text, _standings(found, text)
    return found.standings


def kept_only(change: Change, pending: ReviewHunk) -> str | None:
    """Why a hunk can be kept and not be taken back; ``None``: it can be."""
    if change.proposed:
        return None
    return change.stale or change.unknown or (SHARED if pending.shared else None)


def outcome(
    change: Change,
    hunks: Sequence[ReviewHunk],
    verdict: Verdict,
    text: str,
    reference: str,
    *,
    over: bool = False,
) -> tuple[str, dict[str, str]]:
    """The text with a verdict on these hunks; and those, by key, that it cannot be carried
    out on, with the reason.

    ``over``: where the user's lines stand in the way, they are replaced.
    """
    reference = _known(change, reference)
    steps = _steps(change, verdict, reference)
    left: dict[str, str] = {}
    moves: list[tuple[str, Hunk]] = []
    for hunk in hunks:
        # What no line shows is in no text.
        step = None if change.is_whole else steps[change.hunks.index(hunk)]
        if isinstance(step, str):
            left[hunk.key] = step
        elif step is not None:
            moves.append((hunk.key, step))
    placed = rebase((step for _, step in moves), reference, text)
    moved: list[Placed] = []
    for (key, step), at in zip(moves, placed, strict=True):
        if at.state == "conflict" and over:
            moved.append(replace(at, state="clean", new=step.new))
        elif at.state == "conflict":
            left[key] = at.reason
        else:
            moved.append(at)
    return apply_edits(text, edits_placed(text, moved)), left


# --- in the reference -----------------------------------------------------------------

_Step: TypeAlias = "Hunk | str | None"


def _known(change: Change, reference: str) -> str:
    """What is only proposed was never in the file, and is looked for as a patch is: what the
    file was when it was proposed is the reference, where it is another one by now.
    """
    if change.proposed and change.hunks_in(reference) is None:
        return change.base.text or ""
    return reference


def _steps(change: Change, verdict: Verdict, reference: str) -> list[_Step]:
    """What a verdict changes in the reference, hunk by hunk: nothing where it is as the
    verdict wants it, a reason where it cannot be told.
    """
    there = change.hunks_in(reference)
    if there is None:
        return [UNKNOWN_PLACE] * len(change.hunks)
    own = {pending.hunk for pending in change.hunks}
    # By how much the reference is longer than the base after each of its hunks.
    ends = [hunk.end for hunk in there]
    grown = [0, *accumulate(len(hunk.new) - len(hunk.old) for hunk in there)]
    before = dict(zip(there, grown, strict=False))
    versions = [hunk for hunk in there if hunk not in own]
    steps: list[_Step] = []
    for hunk in (pending.hunk for pending in change.hunks):
        others = [h for h in versions if h.start <= hunk.end and hunk.start <= h.end]
        if hunk in before:
            start = hunk.start + before[hunk]
            back = Hunk(start, start + len(hunk.new), hunk.new, hunk.old)
            steps.append(back if verdict == "reject" else None)
        elif others:
            steps.append(_other_version(change, hunk, verdict, others, before))
        elif verdict == "keep":
            start = hunk.start + grown[bisect_right(ends, hunk.start)]
            steps.append(replace(hunk, start=start, end=start + len(hunk.old)))
        else:
            steps.append(None)
    return steps


def _other_version(
    change: Change,
    hunk: Hunk,
    verdict: Verdict,
    others: list[Hunk],
    before: dict[Hunk, int],
) -> _Step:
    """The reference has another version of these lines, which goes either way."""
    first, last = min(h.start for h in (hunk, *others)), max(h.end for h in (hunk, *others))
    beside = {p.hunk for p in change.hunks if p.hunk != hunk} | (set(before) - set(others))
    if any(h.start < last and first < h.end for h in beside):
        return MIXED
    lines = split_lines(change.base.text or "")[first:last]
    here = made(lines, [_moved(h, -first) for h in others])
    wanted = made(lines, [_moved(hunk, -first)]) if verdict == "keep" else lines
    start = first + before[others[0]]
    return Hunk(start, start + len(here), tuple(here), tuple(wanted))


def _moved(hunk: Hunk, by: int) -> Hunk:
    return replace(hunk, start=hunk.start + by, end=hunk.end + by)


# --- in the text ----------------------------------------------------------------------


@dataclass(slots=True)
class _Found:
    """The steps that a change takes in a reference, and where they stand in a text."""

    base: Held
    target: Held
    hunks: tuple[ReviewHunk, ...]
    reference: str
    back: list[_Step]
    forth: list[_Step]
    text: str | None = None
    standings: tuple[Standing, ...] | None = None

    def is_of(self, change: Change, reference: str) -> bool:
        """Whether nothing has changed since."""
        same = self.base is change.base and self.target is change.target
        return same and self.hunks is change.hunks and self.reference == reference


def _standings(found: _Found, text: str) -> tuple[Standing, ...]:
    moves = [r if isinstance(r, Hunk) else k for r, k in zip(found.back, found.forth, strict=True)]
    steps = (move for move in moves if isinstance(move, Hunk))
    placed = iter(rebase(steps, found.reference, text))
    result: list[Standing] = []
    for step, move in zip(found.back, moves, strict=True):
        there = isinstance(step, Hunk)
        if not isinstance(move, Hunk):
            result.append(Standing(False, 0, 0, move or UNKNOWN_PLACE, placed=False))
            continue
        at = next(placed)
        conflict = at.reason if at.state == "conflict" else None
        # Where the other side of it stands, it was brought about by hand.
        applied = there != (at.state == "there")
        result.append(Standing(applied, at.start, at.end, conflict))
    return tuple(result)
