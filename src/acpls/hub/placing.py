"""What a verdict makes of a text in which the user writes, too.

A hunk whose lines stand together goes in or out as a whole. Where the user has written
into it, or the text has only a part of it, the agent's lines are told from the others one
by one: between the nearest lines around the hunk that no hunk touches.

Invariant: only lines that a hunk has or replaces are touched, and of these none that the
user typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.text.diff import apply_edits, diff, edits_placed
from acpls.text.lines import body, ending, ending_of, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acpls.review.ledger import Ledger, ReviewedFile, ReviewHunk, Verdict
    from acpls.text.diff import Placed


def outcome(
    ledger: Ledger,
    file: ReviewedFile,
    hunks: Sequence[ReviewHunk],
    verdict: Verdict,
    text: str,
    saved: str | None = None,
) -> tuple[str, dict[str, str]]:
    """The text with a verdict on these hunks; and those, by key, that cannot be placed in
    it, with the reason. What is not in ``saved``, if that is given, the user typed.
    """
    simple: list[Placed] = []
    mixed: list[ReviewHunk] = []
    region = _Regions(file, text, saved)
    for hunk in hunks:
        placed = ledger.placed(file, hunk, verdict, text)
        out, into = _sides(hunk, verdict)
        gone, held = region.found(hunk, out, into)
        if placed.state == "conflict" or (gone if placed.state == "there" else held):
            mixed.append(hunk)
        else:
            simple.append(placed)
    text = apply_edits(text, edits_placed(text, simple))
    left: dict[str, str] = {}
    for hunk in mixed:
        sorted_out = _sorted_out(ledger, file, hunk, verdict, text, saved)
        if sorted_out is None:
            left[hunk.key] = ledger.placed(file, hunk, verdict, text).reason
        else:
            text = sorted_out
    return text, left


def _sides(hunk: ReviewHunk, verdict: Verdict) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that a verdict takes out, and those that it puts in."""
    out, into = hunk.hunk.old, hunk.hunk.new
    return (out, into) if verdict == "keep" else (into, out)


def _sorted_out(
    ledger: Ledger,
    file: ReviewedFile,
    hunk: ReviewHunk,
    verdict: Verdict,
    text: str,
    saved: str | None,
) -> str | None:
    """The text with a verdict on a hunk that does not stand together."""
    regions = _Regions(file, text, saved)
    out, into = _sides(hunk, verdict)
    gone, held = regions.found(hunk, out, into)
    wanted = set(range(len(into)))
    if saved is not None:
        # What was there when the document was last in step, the user has taken out.
        _, had = _Regions(file, saved, None).found(hunk, out, into)
        wanted -= {*had.values()} - {*held.values()}
    if ledger.placed(file, hunk, verdict, text).state == "conflict":
        start, end = regions.of(hunk)
        alone = len(gone) == end - start
        if not held and (alone or verdict == "keep" or not out):
            return None
        if not gone and (saved is None or verdict == "reject") and out:
            # What was to go is gone, and somebody has gone on from there.
            return text
    return regions.swapped(hunk, gone, held, {i: into[i] for i in sorted(wanted)})


class _Regions:
    """Where in a text each hunk of a file belongs: between the lines that it has, too."""

    def __init__(self, file: ReviewedFile, text: str, saved: str | None) -> None:
        self.text = text
        self._lines = split_lines(text)
        known = self._lines if saved is None else split_lines(saved)
        self._typed = set(range(len(self._lines))) - _found(known, self._lines).keys()
        base = split_lines(file.base or "")
        around: list[str] = []
        self._before: dict[str, int] = {}
        at = 0
        for pending in file.hunks:
            around += base[at : pending.hunk.start]
            at = pending.hunk.end
            self._before[pending.key] = len(around)
        self._at = {i: line for line, i in _found(around + base[at:], self._lines).items()}

    def of(self, hunk: ReviewHunk) -> tuple[int, int]:
        """Its first line, and the one after its last."""
        before = self._before[hunk.key]
        start = max((line + 1 for i, line in self._at.items() if i < before), default=0)
        end = min((line for i, line in self._at.items() if i >= before), default=len(self._lines))
        return start, end

    def found(
        self, hunk: ReviewHunk, out: Sequence[str], into: Sequence[str]
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Which lines of the region are to go and which have come already: for each the
        number of the same line in ``out`` or ``into``.
        """
        start, end = self.of(hunk)
        region = self._lines[start:end]
        held = {start + line: i for line, i in _found(into, region).items()}
        gone = {start + line: i for line, i in _found(out, region).items()}
        return {n: i for n, i in gone.items() if n not in self._typed | held.keys()}, held

    def swapped(
        self, hunk: ReviewHunk, gone: dict[int, int], held: dict[int, int], into: dict[int, str]
    ) -> str:
        """The text without the lines that are gone, and with all that are to come into it,
        by number: each next to those that are there, else where the first one goes.
        """
        start, end = self.of(hunk)
        new = list(self._swapped(range(start, end), gone, held, into))
        lines = self._lines[:start] + new + self._lines[end:]
        style = ending_of(self.text)
        ended = [line if ending(line) else line + style for line in lines[:-1]]
        return "".join([*ended, *lines[-1:]])

    def _swapped(
        self, region: range, gone: dict[int, int], held: dict[int, int], into: dict[int, str]
    ) -> Iterator[str]:
        first = min(gone, default=None) if not held else None
        last = max(held, default=first)
        done = 0
        for at in region:
            if at in held:
                yield from (line for i, line in into.items() if done <= i < held[at])
                done = held[at] + 1
            if at not in gone:
                yield self._lines[at]
            if at == last:
                yield from (line for i, line in into.items() if done <= i)


def _found(part: Sequence[str], lines: Sequence[str]) -> dict[int, int]:
    """Which lines are those of ``part``, in its order: their numbers, and those in it."""
    found: dict[int, int] = {}
    at = seen = 0
    for hunk in diff(_bodies(part), _bodies(lines)):
        same = hunk.start - at
        found.update(zip(range(seen, seen + same), range(at, hunk.start), strict=True))
        seen += same + len(hunk.new)
        at = hunk.end
    found.update(zip(range(seen, len(lines)), range(at, len(part)), strict=True))
    return found


def _bodies(lines: Sequence[str]) -> str:
    return "".join(f"{body(line)}\n" for line in lines)
