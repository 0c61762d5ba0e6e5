"""What a terminal shows, made of the bytes that a full-screen program writes to it.

As much of a VT100 and its heirs as Neovim and Helix make use of; colours are left out.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS: Final = 32
COLUMNS: Final = 80

_TAB: Final = 8
_TERMINAL: Final = b"\x1b[?62;22c"
_CSI: Final = re.compile(r"([<-?]?)([0-9;:]*)([ -/]*)([@-~])")
_STRING: Final = re.compile(r"(?s)(.*?)(?:\x07|\x1b\\)")


class Screen:
    """A grid of characters with a cursor; ``row`` and ``column`` count from zero."""

    def __init__(self, rows: int = ROWS, columns: int = COLUMNS) -> None:
        self.rows, self.columns = rows, columns
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._saved = (0, 0)
        self._last = " "
        self._reset()

    def _reset(self) -> None:
        self._cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0
        self._top, self._bottom = 0, self.rows - 1

    def feed(self, data: bytes) -> bytes:
        """Take what the program wrote; what the terminal answers to it comes back."""
        text, self._rest = self._rest + self._decoder.decode(data), ""
        replies = b""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._plain(text[at])
                at += 1
                continue
            end, reply = self._escape(text, at + 1)
            if end is None:
                # The rest of it is still to come.
                self._rest = text[at:]
                break
            at, replies = end, replies + reply
        return replies

    def lines(self) -> list[str]:
        """The rows of the screen, without spaces at their ends."""
        return ["".join(row).rstrip() for row in self._cells]

    def text(self) -> str:
        """The whole screen."""
        return "\n".join(self.lines())

    # --- characters ---------------------------------------------------------------------

    def _plain(self, char: str) -> None:
        match char:
            case "\r":
                self.column = 0
            case "\n" | "\x0b" | "\x0c":
                self._down()
            case "\b":
                self.column = max(min(self.column, self.columns - 1) - 1, 0)
            case "\t":
                self.column = min((self.column // _TAB + 1) * _TAB, self.columns - 1)
            case _ if char >= " " and char != "\x7f":
                self._put(char)

    def _put(self, char: str) -> None:
        if unicodedata.combining(char) or char in "\ufe0f\u200d":
            self._cells[self.row][max(self.column - 1, 0)] += char
            return
        width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self.column + width > self.columns:
            self.column = 0
            self._down()
        self._cells[self.row][self.column] = char
        if width > 1:
            self._cells[self.row][self.column + 1] = ""
        self.column += width
        self._last = char

    def _down(self) -> None:
        if self.row == self._bottom:
            self._scroll(1)
        else:
            self.row = min(self.row + 1, self.rows - 1)

    def _up(self) -> None:
        if self.row == self._top:
            self._scroll(-1)
        else:
            self.row = max(self.row - 1, 0)

    def _scroll(self, by: int, top: int | None = None) -> None:
        """Move the lines of the scrolling region up, or down where it is negative."""
        first = self._top if top is None else top
        for _ in range(min(abs(by), self._bottom - first + 1)):
            gone, new = (first, self._bottom) if by > 0 else (self._bottom, first)
            del self._cells[gone]
            self._cells.insert(new, [" "] * self.columns)

    # --- sequences ----------------------------------------------------------------------

    def _escape(self, text: str, at: int) -> tuple[int | None, bytes]:
        """Where the sequence ends that begins before ``at``, and what is answered to it."""
        if at >= len(text):
            return None, b""
        match text[at]:
            case "[":
                found = _CSI.match(text, at + 1)
                return (
                    (None, b"") if found is None else (found.end(), self._control(*found.groups()))
                )
            case "]" | "P" | "_" | "^" | "X":
                string = _STRING.match(text, at + 1)
                return (None if string is None else string.end()), b""
            case "(" | ")" | "#" | " ":
                return (at + 2 if at + 1 < len(text) else None), b""
            case "7":
                self._saved = self.row, self.column
            case "8":
                self.row, self.column = self._saved
            case "D":
                self._down()
            case "E":
                self.column = 0
                self._down()
            case "M":
                self._up()
            case "c":
                self._reset()
        return at + 1, b""

    def _control(self, private: str, given: str, between: str, final: str) -> bytes:
        numbers = [int(part or 0) for part in given.replace(":", ";").split(";")] if given else []
        if private or between:
            return self._private(private, numbers, between + final)
        if final == "c":
            return _TERMINAL
        if final == "n":
            place = f"\x1b[{self.row + 1};{min(self.column, self.columns - 1) + 1}R"
            return place.encode() if numbers == [6] else b"\x1b[0n"
        act = _ACTS.get(final)
        if act is not None:
            act(self, [*numbers, 0, 0])
        return b""

    def _private(self, private: str, numbers: list[int], final: str) -> bytes:
        if private == "?" and final == "$p" and numbers:
            # None of the modes that can be asked for is known here.
            return b"\x1b[?%d;0$y" % numbers[0]
        if private == "?" and final in "hl" and 1049 in numbers:
            self._reset()
        return b""

    # --- what the sequences do -------------------------------------------------------------

    def _go(self, row: int, column: int) -> None:
        self.row = min(max(row, 0), self.rows - 1)
        self.column = min(max(column, 0), self.columns - 1)

    def _erase(self, row: int, start: int, end: int) -> None:
        self._cells[row][start:end] = [" "] * (end - start)

    def _erase_line(self, n: list[int]) -> None:
        column = min(self.column, self.columns - 1)
        start, end = [(column, self.columns), (0, column + 1), (0, self.columns)][n[0]]
        self._erase(self.row, start, end)

    def _erase_screen(self, n: list[int]) -> None:
        if n[0] < 2:
            self._erase_line(n)
        rows = [range(self.row + 1, self.rows), range(self.row), range(self.rows)][min(n[0], 2)]
        for row in rows:
            self._erase(row, 0, self.columns)

    def _erase_some(self, n: list[int]) -> None:
        self._erase(self.row, self.column, min(self.column + max(n[0], 1), self.columns))

    def _insert(self, n: list[int]) -> None:
        row, by = self._cells[self.row], max(n[0], 1)
        row[self.column : self.column] = [" "] * by
        del row[self.columns :]

    def _delete(self, n: list[int]) -> None:
        row, by = self._cells[self.row], max(n[0], 1)
        del row[self.column : self.column + by]
        row += [" "] * (self.columns - len(row))

    def _region(self, n: list[int]) -> None:
        self._top, self._bottom = max(n[0], 1) - 1, (n[1] or self.rows) - 1
        self._go(0, 0)

    def _again(self, n: list[int]) -> None:
        for _ in range(max(n[0], 1)):
            self._put(self._last)

    def _restore(self) -> None:
        self.row, self.column = self._saved

    def _save(self) -> None:
        self._saved = self.row, self.column


def _by(n: list[int]) -> int:
    return max(n[0], 1)


_ACTS: Final[dict[str, Callable[[Screen, list[int]], None]]] = {
    "A": lambda s, n: s._go(s.row - _by(n), s.column),
    "B": lambda s, n: s._go(s.row + _by(n), s.column),
    "C": lambda s, n: s._go(s.row, s.column + _by(n)),
    "D": lambda s, n: s._go(s.row, s.column - _by(n)),
    "E": lambda s, n: s._go(s.row + _by(n), 0),
    "F": lambda s, n: s._go(s.row - _by(n), 0),
    "G": lambda s, n: s._go(s.row, _by(n) - 1),
    "H": lambda s, n: s._go(_by(n) - 1, max(n[1], 1) - 1),
    "J": Screen._erase_screen,
    "K": Screen._erase_line,
    "L": lambda s, n: s._scroll(-_by(n), s.row),
    "M": lambda s, n: s._scroll(_by(n), s.row),
    "P": Screen._delete,
    "S": lambda s, n: s._scroll(_by(n)),
    "T": lambda s, n: s._scroll(-_by(n)),
    "X": Screen._erase_some,
    "@": Screen._insert,
    "b": Screen._again,
    "d": lambda s, n: s._go(_by(n) - 1, s.column),
    "f": lambda s, n: s._go(_by(n) - 1, max(n[1], 1) - 1),
    "r": Screen._region,
    "s": lambda s, _: s._save(),
    "u": lambda s, _: s._restore(),
    "`": lambda s, n: s._go(s.row, _by(n) - 1),
}
