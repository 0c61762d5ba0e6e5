r"""Lines and positions as LSP counts them: the one place where offsets become positions.

Only ``\n``, ``\r\n`` and ``\r`` end a line here. ``str.splitlines`` also splits at form
feeds, U+2028 and others, which editors do not.

Invariant: ``"".join(split_lines(text)) == text``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from io import StringIO
from itertools import accumulate
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
Position: TypeAlias = tuple[int, int]
"""Line and character, both zero-based; characters are code units of an ``Encoding``."""


def split_lines(text: str) -> list[str]:
    """The lines of a text, each with its ending; ``[]`` for an empty text."""
    # With newline="" this reads lines by exactly LSP's three endings and keeps them.
    return list(StringIO(text, newline=""))


def ending(line: str) -> str:
    r"""The ending of one line: ``"\n"``, ``"\r\n"``, ``"\r"``, or ``""`` when it has none."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\n", "\r")) else ""


def body(line: str) -> str:
    """One line without its ending."""
    return line[: len(line) - len(ending(line))]


def ending_of(text: str) -> str:
    r"""The line ending that most lines have: of equals the first seen, ``"\n"`` of none."""
    both = text.count("\r\n")
    counts = {"\r\n": both, "\n": text.count("\n") - both, "\r": text.count("\r") - both}
    most = max(counts.values())
    if not most:
        return "\n"
    return next(seen[0] for seen in _ENDING.finditer(text) if counts[seen[0]] == most)


class LineIndex:
    """A text and where its lines start, kept up to date while the text is edited.

    Offsets are code points, clamped to the text. A text has at least one line, and one
    that ends with a line ending has an empty last line.
    """

    __slots__ = ("_moved", "_moved_by", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # Filled when first needed. Starts from number _moved on are _moved_by too low: a
        # series of edits near each other must not renumber the rest of a long document.
        self._starts: list[int] = []
        self._moved = 0
        self._moved_by = 0

    @property
    def line_count(self) -> int:
        """The number of lines, at least 1."""
        self._find_starts()
        return len(self._starts)

    def line_start(self, line: int) -> int:
        """Where a zero-based line starts: 0 before the first one, the text's end past the last."""
        if line <= 0:
            return 0
        self._find_starts()
        if line >= len(self._starts):
            return len(self.text)
        return self._starts[line] + (self._moved_by if line >= self._moved else 0)

    def position(self, offset: int, encoding: Encoding) -> Position:
        r"""The position of an offset; one inside ``\r\n`` counts as before it."""
        offset = max(0, min(offset, len(self.text)))
        line = self._line_at(offset)
        start = self.line_start(line)
        if offset > start and self.text[offset - 1 : offset + 1] == "\r\n":
            offset -= 1
        return line, _units(self.text[start:offset], encoding)

    def offset(self, position: Position, encoding: Encoding) -> int:
        """The offset of a position.

        Past a line's end it is before the line's ending, past the last line the end of
        the text, and inside a character before it.
        """
        line, character = position
        if line < 0:
            return 0
        start = self.line_start(line)
        content = body(self.text[start : self.line_start(line + 1)])
        return start + _fitting(content, max(0, character), encoding)

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace the text between two offsets, ``start <= end``.

        It costs about the copy of the text, and a little for each line between this and
        the last replacement.
        """
        self._find_starts()
        first, last = self._line_at(start), self._line_at(end)
        if first and self.text[self.line_start(first) - 1] == "\r":
            # What is put here may begin with the other half of \r\n.
            first -= 1
        self._move(last + 1)
        begin = self._starts[first]
        grown = len(text) - (end - start)
        after = self.line_start(last + 1) + grown
        self.text = self.text[:start] + text + self.text[end:]
        starts = _starts_of(self.text[begin:after], begin)
        if last + 1 < len(self._starts):
            # Here the empty line after an ending is the next line, which is kept.
            starts.pop()
        self._starts[first : last + 1] = starts
        self._moved = first + len(starts)
        self._moved_by += grown

    def _find_starts(self) -> None:
        if not self._starts:
            self._starts = _starts_of(self.text, 0)
            self._moved = len(self._starts)

    def _line_at(self, offset: int) -> int:
        self._find_starts()
        line = bisect_right(self._starts, offset, hi=self._moved)
        if line == self._moved:
            line = bisect_right(self._starts, offset - self._moved_by, lo=line)
        return line - 1

    def _move(self, line: int) -> None:
        """Let the starts be right before this line, and late from it on."""
        low, high = sorted((line, self._moved))
        by = self._moved_by if line > self._moved else -self._moved_by
        if by:
            self._starts[low:high] = [start + by for start in self._starts[low:high]]
        self._moved = line


_ENDING = re.compile(r"\r\n?|\n")


def _starts_of(text: str, begin: int) -> list[int]:
    lines = split_lines(text)
    starts = list(accumulate(map(len, lines), initial=begin))
    if lines and not ending(lines[-1]):
        starts.pop()
    return starts


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    # Editors do send lone surrogates, as halves of a character that is being typed.
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _fitting(text: str, units: int, encoding: Encoding) -> int:
    """How many code points, from the first on, fit into so many units."""
    high = min(len(text), units)
    if encoding == "utf-32" or text.isascii():
        return high
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        taken = _units(text[low:middle], encoding)
        if taken <= units:
            low, units = middle, units - taken
        else:
            high = middle - 1
    return low
