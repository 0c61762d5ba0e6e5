"""Which lines two texts share, and where those of the one are in the other.

Lines carry their endings; the body of a line is what it is without.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from acpls.text.lines import split_lines
from acpls.text.matching import Block, alike, alike_before, common, gaps, numbering

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Shared:
    """The lines that a base and another text, ours, share; lines count from zero.

    First come those that are the same bytes, then, between them, those whose bodies are the
    same. What is before the first line and what is after the last are taken for shared.
    """

    def __init__(self, base: str, ours: str) -> None:
        self.base, self.ours = split_lines(base), split_lines(ours)
        self.base_bodies, self.our_bodies = _bodies(base), _bodies(ours)
        blocks = self._found()
        self.gaps = list(gaps(blocks, len(self.base), len(self.ours)))
        self._blocks = [(-1, -1, 1), *blocks, (len(self.base), len(self.ours), 1)]
        self._starts = [start for start, _, _ in self._blocks]

    def at(self, line: int) -> int:
        """Where ours has a line of the base; -1 where it does not."""
        start, first, length = self._blocks[bisect_right(self._starts, line) - 1]
        return first + line - start if line < start + length else -1

    def last_end(self, line: int) -> int:
        """The end of the last shared line of the base that is above a line."""
        start, _, length = self._blocks[bisect_left(self._starts, line) - 1]
        return min(start + length, line)

    def next_start(self, line: int) -> int:
        """The first shared line of the base from a line on."""
        number = bisect_right(self._starts, line)
        start, _, length = self._blocks[number - 1]
        return line if line < start + length else self._starts[number]

    def in_one(self, start: int, end: int) -> bool:
        """Whether ours has these lines of the base, at least one, and nothing in between."""
        first, _, length = self._blocks[bisect_right(self._starts, start) - 1]
        return end <= first + length

    def _found(self) -> list[Block]:
        most = min(len(self.base), len(self.ours))
        head = alike(self.base, 0, self.ours, 0, most)
        tail = alike_before(self.base, len(self.base), self.ours, len(self.ours), most - head)
        end, stop = len(self.base) - tail, len(self.ours) - tail
        number: defaultdict[str, int] = numbering()
        old = list(map(number.__getitem__, self.base[head:end]))
        new = list(map(number.__getitem__, self.ours[head:stop]))
        same = [(head + i, head + j, length) for i, j, length in common(old, new)]
        same = [(0, 0, head), *same, (end, stop, tail)]
        between = list(gaps(same, len(self.base), len(self.ours)))
        old, new = [0] * len(self.base), [0] * len(self.ours)
        for i, end, j, stop in between:
            old[i:end] = map(number.__getitem__, self.base_bodies[i:end])
            new[j:stop] = map(number.__getitem__, self.our_bodies[j:stop])
        return _joined(sorted(same + common(old, new, between)))


class Spots:
    """Where lines stand together among many others."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        # Filled when first needed.
        self._index: defaultdict[str, list[int]] = defaultdict(list)

    def first_two(self, part: Sequence[str], start: int, end: int) -> list[int]:
        """The first two places where a part, not empty, stands from one line to another."""
        stop = end - len(part) + 1
        places: Iterable[int] = range(start, stop)
        if stop - start > _FEW:
            offset, spots = self._rarest(part)
            low, high = (bisect_left(spots, line + offset) for line in (start, stop))
            places = (spots[number] - offset for number in range(low, high))
        return list(islice((at for at in places if self._has(part, at)), 2))

    def _has(self, part: Sequence[str], at: int) -> bool:
        # Most places differ in the first line already.
        return self._lines[at] == part[0] and (
            alike(self._lines, at, part, 0, len(part)) == len(part)
        )

    def _rarest(self, part: Sequence[str]) -> tuple[int, list[int]]:
        """Which line of a part there is least often, and where it is."""
        if not self._index:
            for at, line in enumerate(self._lines):
                self._index[line].append(at)
        places = [self._index.get(line, []) for line in part]
        offset = min(range(len(part)), key=lambda number: len(places[number]))
        return offset, places[offset]


def same_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters the lines have that both begin with, and those that both end with.

    No line is in both, even where the texts could be read so.
    """
    most = min(len(old), len(new))
    head = alike(old, 0, new, 0, most)
    while not (_begins(old, head) and _begins(new, head)):
        head = max(old.rfind("\n", 0, head - 1), old.rfind("\r", 0, head - 1)) + 1
    tail = alike_before(old, len(old), new, len(new), most - head)
    while tail and not (_begins(old, len(old) - tail) and _begins(new, len(new) - tail)):
        start = len(old) - tail
        ends = [at for at in (old.find("\n", start), old.find("\r", start)) if at >= 0]
        tail = len(old) - min(ends) - 1 if ends else 0
    return head, tail


def count_lines(text: str, start: int, end: int) -> int:
    """How many lines there are between two places at which lines begin, or the text ends."""
    both, ends = text.count("\r\n", start, end), ("\n", "\r")
    unended = start < end and not text.endswith(ends, start, end)
    return sum(text.count(one, start, end) for one in ends) - both + unended


def numbers(text: str, start: int, end: int, number: defaultdict[str, int]) -> list[int]:
    """The lines between two such places as numbers; only new ones take memory for long."""
    found: list[int] = []
    while start < end:
        stop = min(text.find("\n", start + _PART) + 1 or end, end)
        found += map(number.__getitem__, split_lines(text[start:stop]))
        start = stop
    return found


_FEW: Final = 64
"""Among so few lines a search goes without an index."""
_PART: Final = 1 << 16
"""About how many characters are split into lines at a time."""


def _begins(text: str, at: int) -> bool:
    """Whether a line begins here, or would if the text went on."""
    if not at or text[at - 1] == "\n":
        return True
    return text[at - 1] == "\r" and not text.startswith("\n", at)


def _bodies(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    # After the last ending there is no line.
    return lines if lines[-1] else lines[:-1]


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Runs of common lines, without empty ones, those that follow each other as one."""
    joined: list[Block] = []
    for i, j, length in blocks:
        start, first, before = joined[-1] if joined else (0, 0, 0)
        if joined and (start + before, first + before) == (i, j):
            joined[-1] = (start, first, before + length)
        elif length:
            joined.append((i, j, length))
    return joined
