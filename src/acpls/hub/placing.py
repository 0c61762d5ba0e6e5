"""Where a verdict on hunks takes effect in a text in which the user writes, too.

What the user wrote is told from what agents wrote by a *reference*: a text without
anything unsaved that the text in hand goes back to. For a document that is what its file
held when both were last the same, for a file what the ledger knows of it. In the
reference a hunk is there or is not, and only one that the verdict has to move is looked
for in the text.

Invariant: lines that are not in the reference are never touched. Where it is not certain
which lines are meant, nothing is, and the hunk is left with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.text.diff import Hunk, apply_edits, edits_placed, invert, rebase
from acpls.text.lines import body, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.review.ledger import ReviewedFile, ReviewHunk, Verdict
    from acpls.text.diff import Placed

UNKNOWN = "the text around it is not the one it was made for"
MIXED = "only a part of it is there"


def outcome(
    file: ReviewedFile,
    hunks: Sequence[ReviewHunk],
    verdict: Verdict,
    text: str,
    reference: str | None = None,
) -> tuple[str, dict[str, str]]:
    """The text with a verdict on these hunks; and those, by key, that it cannot be carried
    out on, with the reason. Without a ``reference`` the text goes back to what the file is
    known to hold.
    """
    if reference is None:
        reference = (file.target if file.written else file.base) or ""
    steps = _steps(file, verdict, reference)
    left: dict[str, str] = {}
    moves: list[tuple[str, Hunk]] = []
    for hunk in hunks:
        step = steps[file.hunks.index(hunk)]
        if isinstance(step, str):
            left[hunk.key] = step
        elif step is not None:
            moves.append((hunk.key, step))
    placed = rebase((step for _, step in moves), reference, text)
    lines, around = split_lines(text), _around(file)
    moved: list[Placed] = []
    for (key, step), at in zip(moves, placed, strict=True):
        if at.state == "conflict":
            left[key] = at.reason
        elif at.state == "clean" and _are_beside(step.new, at, lines, around):
            left[key] = MIXED
        else:
            moved.append(at)
    return apply_edits(text, edits_placed(text, moved)), left


def _around(file: ReviewedFile) -> set[str]:
    """What the lines say that no hunk of a file touches."""
    lines = split_lines(file.base or "")
    for pending in reversed(file.hunks):
        del lines[pending.hunk.start : pending.hunk.end]
    return {*map(body, lines)}


def _are_beside(some: tuple[str, ...], at: Placed, lines: list[str], around: set[str]) -> bool:
    """Whether any of these lines stand beside a place, among what no hunk leaves alone: as
    where a document had only a part of a change when it was saved.
    """
    start, end = at.start, at.end
    while start and body(lines[start - 1]) not in around:
        start -= 1
    while end < len(lines) and body(lines[end]) not in around:
        end += 1
    beside = {*map(body, lines[start : at.start] + lines[at.end : end])}
    return any(line.strip() and line in beside for line in map(body, some))


def _steps(file: ReviewedFile, verdict: Verdict, reference: str) -> list[Hunk | str | None]:
    """What a verdict changes in the reference, hunk by hunk: nothing where it is as the
    verdict wants it, a reason where it cannot be told.
    """
    base, target = file.base or "", file.target or ""
    hunks = tuple(pending.hunk for pending in file.hunks)
    forth = rebase(hunks, base, reference)
    back = rebase(invert(hunks), target, reference)
    if verdict == "reject":
        base, target, forth, back = target, base, back, forth
    lines = split_lines(reference)
    if _alike(reference, target):
        return [None] * len(hunks)
    if _alike(reference, base):
        return [_taken(at, lines) for at in forth]
    around = _around(file)
    return [_step(there, here, lines, around) for there, here in zip(forth, back, strict=True)]


def _step(
    wanted: Placed, unwanted: Placed, lines: list[str], around: set[str]
) -> Hunk | str | None:
    """What brings about the wanted side of a hunk, in lines of the reference."""
    done = wanted.state == "there" or unwanted.state == "clean"
    to_do = wanted.state == "clean" or unwanted.state == "there"
    if done == to_do:
        return wanted.reason or unwanted.reason or UNKNOWN
    if done:
        at = wanted if wanted.state == "there" else unwanted
        return MIXED if _are_beside(wanted.hunk.old, at, lines, around) else None
    return _taken(wanted, lines) if wanted.state == "clean" else UNKNOWN


def _taken(at: Placed, lines: list[str]) -> Hunk:
    return Hunk(at.start, at.end, tuple(lines[at.start : at.end]), at.new)


def _alike(one: str, other: str) -> bool:
    return [*map(body, split_lines(one))] == [*map(body, split_lines(other))]
