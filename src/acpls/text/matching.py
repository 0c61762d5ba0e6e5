"""The lines that two texts have in common, in order.

Lines are numbers here, the same for equal lines: see ``numbering``.

Invariant: time and memory grow with the lines, not with their pairs, whatever the texts.
Where it would take more to compare them, lines count as changed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from itertools import accumulate, chain, count
from operator import lt
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Block: TypeAlias = tuple[int, int, int]
"""A run of common lines: where in the one text, where in the other, how many."""

Gap: TypeAlias = tuple[int, int, int, int]
"""Lines that stand against each other: their range in the one text, and in the other."""

_T = TypeVar("_T")


def numbering() -> defaultdict[_T, int]:
    """Gives each new key that it is asked for the next number, from 0 on."""
    return defaultdict(count().__next__)


def gaps(blocks: Iterable[Block], old: int, new: int) -> Iterator[Gap]:
    """What is between blocks of common lines, of texts with so many lines."""
    i = j = 0
    for start, first, length in chain(blocks, ((old, new, 0),)):
        if (start, first) != (i, j):
            yield i, start, j, first
        i, j = start + length, first + length


def alike(old: Sequence[_T], i: int, new: Sequence[_T], j: int, most: int) -> int:
    """How many items are the same from two places on: at most so many, which are there."""
    done, step = 0, _FIRST_STEP
    while done < min(most, _FIRST_STEP):
        if old[i + done] != new[j + done]:
            return done
        done += 1
    while done < most:
        step = min(step, most - done, _LONGEST_STEP)
        start, first = i + done, j + done
        if old[start : start + step] == new[first : first + step]:
            done += step
            step *= 2
        else:
            most = done + step - 1
            step = max(step // 2, 1)
    return done


def alike_before(old: Sequence[_T], end: int, new: Sequence[_T], stop: int, most: int) -> int:
    """How many items are the same before two places: at most so many, which are there."""
    done, step = 0, _FIRST_STEP
    while done < min(most, _FIRST_STEP):
        if old[end - 1 - done] != new[stop - 1 - done]:
            return done
        done += 1
    while done < most:
        step = min(step, most - done, _LONGEST_STEP)
        to, last = end - done, stop - done
        if old[to - step : to] == new[last - step : last]:
            done += step
            step *= 2
        else:
            most = done + step - 1
            step = max(step // 2, 1)
    return done


def common(
    old: Sequence[int], new: Sequence[int], within: Iterable[Gap] | None = None
) -> list[Block]:
    """Runs of lines that both have, in order; with ``within``, only those in these gaps.

    Lines that both have once hold the texts together. Only in short gaps between them is
    every pair of lines compared.
    """
    search = _Search(old, new)
    for gap in ((0, len(old), 0, len(new)),) if within is None else within:
        search.look_into(gap)
    return sorted(search.blocks)


_FIRST_STEP: Final = 4
"""So many items are compared one by one, the next together, and then more and more ..."""
_LONGEST_STEP: Final = 1 << 16
"""... up to so many at a time."""

_SMALL: Final = 400
"""Gaps up to this by this many lines have every pair of lines compared ..."""
_STEPS: Final = 150
"""... unless that takes more than so many steps a line; with real code it rarely does."""
_DEEPEST: Final = 12
"""How often what is between anchors is searched for further anchors."""
_EDITS: Final = 256
"""How many lines may come and go in a gap without anchors ..."""
_LINES_AN_EDIT: Final = 2
"""... and how many lines it must have for each of those."""


class _Search:
    """A search for common lines; ``blocks`` is what it has found, in any order."""

    def __init__(self, old: Sequence[int], new: Sequence[int]) -> None:
        self._old, self._new = old, new
        self.blocks: list[Block] = []
        self._seen: _Seen | None = None

    def look_into(self, gap: Gap) -> None:
        todo = [(*gap, 0)]
        while todo:
            i, end, j, stop, depth = todo.pop()
            i, end, j, stop = self._without_ends(i, end, j, stop)
            if i == end or j == stop:
                continue
            a, b = self._old[i:end], self._new[j:stop]
            if len(a) * len(b) < _SMALL * _SMALL:
                found = [] if set(a).isdisjoint(b) else _by_pairs(a, b)
            elif anchors := self._anchors(a, b) if depth < _DEEPEST else []:
                found = anchors
                todo += [
                    (i + start, i + to, j + first, j + last, depth + 1)
                    for start, to, first, last in gaps(anchors, len(a), len(b))
                ]
            else:
                found = _by_edits(a, b)
            self.blocks += [(i + start, j + first, length) for start, first, length in found]

    def _without_ends(self, i: int, end: int, j: int, stop: int) -> Gap:
        old, new = self._old, self._new
        if i < end and j < stop and old[i] == new[j]:
            head = alike(old, i, new, j, min(end - i, stop - j))
            self.blocks.append((i, j, head))
            i, j = i + head, j + head
        if i < end and j < stop and old[end - 1] == new[stop - 1]:
            tail = alike_before(old, end, new, stop, min(end - i, stop - j))
            end, stop = end - tail, stop - tail
            self.blocks.append((end, stop, tail))
        return i, end, j, stop

    def _anchors(self, a: Sequence[int], b: Sequence[int]) -> list[Block]:
        """Common lines from where a line, or else three in a row, are in either text once."""
        if self._seen is None:
            self._seen = _seen(1 + max(map(max, (self._old, self._new))))
        width = 1
        left, right = _once(a, b, self._seen)
        if not left:
            width = 3
            number: defaultdict[tuple[int, ...], int] = numbering()
            rows, others = (
                [number[key] for key in zip(lines, lines[1:], lines[2:], strict=False)]
                for lines in (a, b)
            )
            left, right = _once(rows, others, _seen(len(number)))
        if not all(map(lt, right, right[1:])):
            series = _rising(right)
            left, right = (array("i", [places[at] for at in series]) for places in (left, right))
        anchors: list[Block] = []
        at = 0
        while at < len(left):
            i, j = left[at], right[at]
            length = alike(a, i, b, j, min(len(a) - i, len(b) - j))
            # All that lie in these lines would lead to them again.
            at = bisect_left(left, i + length - width + 1, at + 1)
            if at < len(left):
                length = min(length, left[at] - i, right[at] - j)
            anchors.append((i, j, length))
        return anchors


_Seen: TypeAlias = tuple[bytearray, "array[int]"]


def _seen(numbers: int) -> _Seen:
    return bytearray(numbers), _zeros(numbers)


def _zeros(length: int) -> array[int]:
    return array("i", bytes(4 * length))


def _once(a: Sequence[int], b: Sequence[int], seen: _Seen) -> tuple[array[int], array[int]]:
    """Where the lines are that both have once, in the order of the first.

    ``seen`` has a place for each line, and nothing in it but zeros before and after.
    """
    here, there = seen
    for line in a:
        here[line] = 2 if here[line] else 1
    for at, line in enumerate(b, 1):
        there[line] = -1 if there[line] else at
    left = array("i", [at for at, line in enumerate(a) if here[line] == 1 and there[line] > 0])
    right = array("i", [there[a[at]] - 1 for at in left])
    for line in a:
        here[line] = 0
    for line in b:
        there[line] = 0
    return left, right


def _rising(numbers: Sequence[int]) -> array[int]:
    """Where the longest series of rising numbers is, found by patience sorting."""
    # For each length of a series that which ends lowest: its last number, and where it is.
    lowest: list[int] = []
    last: list[int] = []
    before = _zeros(len(numbers))
    for at, number in enumerate(numbers):
        length = bisect_left(lowest, number)
        lowest[length : length + 1] = [number]
        last[length : length + 1] = [at]
        before[at] = last[length - 1] if length else -1
    series = _zeros(len(last))
    at = last[-1] if last else -1
    for place in reversed(range(len(series))):
        series[place] = at
        at = before[at]
    return series


def _by_pairs(a: Sequence[int], b: Sequence[int]) -> list[Block]:
    """The longest run of lines that both have, and so on before and after it."""
    if len(a) == 1 or len(b) == 1:
        return [(0, b.index(a[0]), 1)] if len(a) == 1 else [(a.index(b[0]), 0, 1)]
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    # A step is a line of the first, or one of the second that is the same.
    times = Counter(b)
    cost = list(accumulate((1 + times[line] for line in a), initial=0))
    left = _STEPS * (len(a) + len(b))
    blocks: list[Block] = []
    todo = [(0, len(a), 0, len(b))]
    while todo:
        i, end, j, stop = todo.pop()
        if i == end or j == stop:
            continue
        left -= cost[end] - cost[i]
        if left < 0:
            rest = _by_edits(a[i:end], b[j:stop])
            blocks += [(i + start, j + first, length) for start, first, length in rest]
            continue
        start, first, length = matcher.find_longest_match(i, end, j, stop)
        if length:
            blocks.append((start, first, length))
            todo += [(i, start, j, first), (start + length, end, first + length, stop)]
    return blocks


def _by_edits(a: Sequence[int], b: Sequence[int]) -> list[Block]:
    """What stays when as few lines as possible come and go; nothing when those are too many.

    Myers' greedy way: after so many edits, how far each diagonal of the square can be followed.
    """
    most = min(_EDITS, (len(a) + len(b)) // _LINES_AN_EDIT)
    if abs(len(a) - len(b)) > most:
        return []
    # Diagonals that have not been reached are at -1.
    far = array("i", [-1]) * (2 * most + 3)
    zero = most + 1
    rounds: list[array[int]] = []
    for edits in range(most + 1):
        rounds.append(far[zero - edits - 1 : zero + edits + 2])
        for diagonal in range(-edits, edits + 1, 2):
            less, more = far[zero + diagonal - 1], far[zero + diagonal + 1]
            i = more if less < more else less + 1
            j = i - diagonal
            if i < len(a) and j < len(b) and a[i] == b[j]:
                i += alike(a, i, b, j, min(len(a) - i, len(b) - j))
                j = i - diagonal
            far[zero + diagonal] = i
            if i >= len(a) and j >= len(b):
                return _way_back(rounds, i, j)
    return []


def _way_back(rounds: Sequence[Sequence[int]], i: int, j: int) -> list[Block]:
    """The common lines on the way to a place, from how far they were before each edit."""
    blocks: list[Block] = []
    for edits, far in reversed([*enumerate(rounds)]):
        diagonal = i - j
        less, more = far[edits + diagonal], far[edits + diagonal + 2]
        start = more if less < more else less + 1
        if start < i:
            blocks.append((start, start - diagonal, i - start))
        # Down by a line of the other text, or on by one of this.
        i, j = (more, more - diagonal - 1) if less < more else (less, less - diagonal + 1)
    return blocks
