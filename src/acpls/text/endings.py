r"""Texts compared without regard to their kinds of line endings.

Agents show text with ``\n`` whatever the file has. Git's rule for lines holds here, not
LSP's: a line ends at ``\n``, a ``\r`` before it belongs to the ending, and any other ``\r``
is data.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, repeat
from operator import add
from typing import TYPE_CHECKING, Final

from acpls.text.diff import diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LINE_BREAK: Final = re.compile(r"\r?\n")
"""What ends a line in a patch, and in any text that is compared with one."""

_NEAR: Final = 8
"""How far from a hinted line a place may be, in lines."""

_CARRIAGE_RETURN: Final = re.compile(r"\r")


def plain(text: str) -> str:
    r"""A claimed text with ``\n`` for each of its line endings."""
    return text.replace("\r\n", "\n")


def line_break(text: str, claimed: Iterable[str]) -> re.Pattern[str]:
    r"""What ends a line of ``text`` when it is compared with ``claimed`` texts.

    Of a text that has nothing but ``\r`` these are endings too, unless a claimed text has
    a bare ``\r`` itself and so means them as data. In ``claimed`` there is no ``\r\n``.
    """
    if "\n" in text or "\r" not in text or any("\r" in piece for piece in claimed):
        return LINE_BREAK
    return _CARRIAGE_RETURN


def cut(text: str, ends: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """The pieces of a text between line endings, and the endings: one less."""
    lines, both = text.count("\n"), text.count("\r\n")
    if ends is LINE_BREAK and both in {0, lines}:
        # The same, and much quicker.
        ending = "\r\n" if both else "\n"
        return text.split(ending), [ending] * lines
    return ends.split(text), ends.findall(text)


def most_common(endings: Sequence[str], otherwise: str) -> str:
    """The line ending that most lines have, of equals the first; ``otherwise`` of none."""
    return Counter(endings).most_common(1)[0][0] if endings else otherwise


def apart(text: str, old: str, new: str) -> tuple[list[int], list[int]]:
    """Where ``old`` and ``new`` occur, each without what is only part of the other.

    So an old text to which something was added is not taken for one still to be edited.
    All are plain, and ``""`` occurs nowhere.
    """
    olds, news = _occurrences(text, old), _occurrences(text, new)
    return _outside(olds, old, news, new), _outside(news, new, olds, old)


def _outside(inner: list[int], part: str, outer: list[int], whole: str) -> list[int]:
    slack = len(whole) - len(part)
    if slack < 0:
        return inner
    return [at for at in inner if bisect_left(outer, at - slack) == bisect_right(outer, at)]


def _occurrences(text: str, piece: str) -> list[int]:
    found: list[int] = []
    # Long pieces that overlap themselves would take for ever; a few are as unclear as all.
    most = 10**8 // len(piece) + 2 if piece else 0
    at = text.find(piece)
    while at >= 0 and len(found) < most:
        found.append(at)
        at = text.find(piece, at + 1)
    return found


@dataclass(frozen=True, slots=True)
class Evened:
    r"""A text, and the same with ``\n`` for every line ending, where fragments are sought."""

    raw: str
    plain: str
    endings: list[str]
    starts: list[int]
    raw_starts: list[int]

    @classmethod
    def of(cls, raw: str, *claimed: str) -> Evened:
        """``claimed``: the plain texts that it is compared with."""
        bodies, endings = cut(raw, line_break(raw, claimed))
        even = "\n".join(bodies)
        lengths = list(map(len, bodies[:-1]))
        starts = raw_starts = list(accumulate(map(add, lengths, repeat(1)), initial=0))
        if len(even) < len(raw):
            raw_starts = list(accumulate(map(add, lengths, map(len, endings)), initial=0))
        return cls(raw, even, endings, starts, raw_starts)

    def one_of(self, places: list[int], line: int | None) -> int | None:
        """The one place, or the one that is clearly nearest to a one-based line."""
        if len(places) == 1:
            return places[0]
        if line is None:
            return None
        ranked = sorted((abs(self._row(at) - (line - 1)), at) for at in places)
        (distance, at), (second, _) = ranked[:2]
        return at if distance <= _NEAR and distance < second else None

    def swapped(self, at: int, gone: str, new: str) -> str:
        """The text with ``new`` instead of ``gone``, which stands at ``at`` in ``plain``.

        All outside stays as it is. The new lines end as those of the text do; only a text
        without line endings takes them as they come.
        """
        begin, end = self._raw_offset(at), self._raw_offset(at + len(gone))
        return self.raw[:begin] + self._styled(self._row(at), gone, new) + self.raw[end:]

    def _styled(self, row: int, gone: str, new: str) -> str:
        if not self.endings:
            return new
        parts = cut(new, LINE_BREAK)[0]
        if self.endings.count(self.endings[0]) == len(self.endings):
            return self.endings[0].join(parts)
        endings = [most_common(self.endings, "")] * (len(parts) - 1)
        # Endings are mixed: lines that stay, or are only changed, keep theirs.
        for old, line in _pairs(gone, "\n".join(parts)):
            if line < len(endings):
                endings[line] = self.endings[row + old]
        return "".join(map(str.__add__, parts, [*endings, ""]))

    def _row(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def _raw_offset(self, at: int) -> int:
        row = self._row(at)
        return self.raw_starts[row] + at - self.starts[row]


def _pairs(old: str, new: str) -> Iterator[tuple[int, int]]:
    """The lines of ``old`` that have an ending, each with that of ``new`` in its place."""
    # A bare carriage return is data here, but ends lines for a diff.
    hunks = diff(old.replace("\r", "\0"), new.replace("\r", "\0"))
    ended = old.count("\n")
    at = grown = 0
    for hunk in hunks:
        last = min(hunk.start + min(len(hunk.old), len(hunk.new)), ended)
        yield from ((line, line + grown) for line in range(at, last))
        at = hunk.end
        grown += len(hunk.new) - len(hunk.old)
    yield from ((line, line + grown) for line in range(at, ended))
