"""Texts of others made fit to be looked at: nothing in them is hidden, or breaks a line.

Invariant: two texts that differ look different, but for their white space.
"""

from __future__ import annotations

import re
from typing import Final

NEW_LINE: Final = "⏎"
"""What stands for a line break in a single line."""

# The separators of ASCII, which Python takes for white space, are none that anybody means.
_SPACE: Final = r"[^\S\x1c-\x1f]*"
_BREAK: Final = re.compile(rf"{_SPACE}(?:\r\n|[\n\r\v\f\x85\u2028\u2029]){_SPACE}")
_BLANKS: Final = " \t\n\r\v\f\x85\xa0\u2028\u2029"
# They join what stands around them, in emoji and in scripts that are not Latin.
_JOINERS: Final = "\u200c\u200d"


def one_line(text: str) -> str:
    """The text as one printable line; line breaks are marked, and what could not be seen is
    written out as an escape.
    """
    return " ".join(_shown(_BREAK.sub(f" {NEW_LINE} ", text.strip(_BLANKS))).split())


def lines(text: str) -> list[str]:
    """The lines of a text without blank ones around it, each of them printable."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return [_shown(line).rstrip() for line in whole.split("\n")]


def middle(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters: of a longer one the middle is left out, since
    what matters may stand at either end.
    """
    if len(text) <= limit:
        return text
    kept = max(limit - 1, 0)
    end = kept // 2
    return f"{text[: kept - end]}…{text[len(text) - end :]}"[:limit]


def _shown(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(_character(text, at) for at in range(len(text)))


def _character(text: str, at: int) -> str:
    char = text[at]
    if char.isprintable():
        return char
    if char.isspace() and char not in "\x1c\x1d\x1e\x1f":
        return " "
    before = text[at - 1 : at]
    if char in _JOINERS and before.isprintable() and not before.isascii():
        return char
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
