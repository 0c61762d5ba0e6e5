"""The lines that two texts have in common, in order.

Fast where it matters: time nearly in proportion to the lines, since every pair of lines is
compared only in short gaps between lines that both texts have once.
"""

from __future__ import annotations

from bisect import bisect_left
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

_SMALL = 400
_DEEPEST = 12

Block: TypeAlias = tuple[int, int, int]
"""A run of common lines: where in the one text, where in the other, how many."""


def gaps(blocks: list[Block], old: int, new: int) -> Iterator[tuple[int, int, int, int]]:
    """What is between blocks of common lines: its ranges in texts of so many lines."""
    i = j = 0
    for start, first, length in (*blocks, (old, new, 0)):
        if (start, first) != (i, j):
            yield i, start, j, first
        i, j = start + length, first + length


def common(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Runs of lines that both have, in order: where in the one, where in the other, how many.

    Lines that both have once hold the texts together. Only in short gaps between them is
    every pair of lines compared, so the time is nearly in proportion to the lines.
    """
    blocks: list[Block] = []
    todo = [(0, len(old), 0, len(new), 0)]
    while todo:
        i, end, j, stop, depth = todo.pop()
        head = tail = 0
        while head < min(end - i, stop - j) and old[i + head] == new[j + head]:
            head += 1
        if head:
            blocks.append((i, j, head))
            i, j = i + head, j + head
        while tail < min(end - i, stop - j) and old[end - 1 - tail] == new[stop - 1 - tail]:
            tail += 1
        if tail:
            end, stop = end - tail, stop - tail
            blocks.append((end, stop, tail))
        if i == end or j == stop or depth > _DEEPEST:
            continue
        a, b = old[i:end], new[j:stop]
        if len(a) * len(b) < _SMALL * _SMALL:
            if not set(a).isdisjoint(b):
                matches = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
                blocks += [(i + m.a, j + m.b, m.size) for m in matches if m.size]
            continue
        anchors = _anchors(a, b, 1) or _anchors(a, b, 3)
        if anchors:
            corners = [(0, 0), *anchors, (len(a), len(b))]
            todo += [
                (i + start, i + end, j + first, j + last, depth + 1)
                for (start, first), (end, last) in pairwise(corners)
            ]
    return sorted(blocks)


def _anchors(old: Sequence[str], new: Sequence[str], width: int) -> list[tuple[int, int]]:
    """Where so many lines in a row are in either text once: the longest rising series.

    Of anchors that follow each other without a gap only the first is given.
    """
    here, there = _once(old, width), _once(new, width)
    pairs = [(i, there[key]) for key, i in here.items() if key in there]
    # Patience sorting: for each length the series that ends lowest in the new text.
    lowest: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(lowest, j)
        lowest[length : length + 1] = [j]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    series: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        series.append(pairs[at])
        at = before[at]
    series.reverse()
    follow = {(i + 1, j + 1) for i, j in series}
    return [anchor for anchor in series if anchor not in follow]


def _once(lines: Sequence[str], width: int) -> dict[Hashable, int]:
    keys: Iterable[Hashable] = zip(*(lines[n:] for n in range(width)), strict=False)
    found: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        found[key] = -1 if key in found else at
    return {key: at for key, at in found.items() if at >= 0}
