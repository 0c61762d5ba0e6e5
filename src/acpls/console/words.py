"""What the commands say: results to standard output, everything else to standard error.

Invariant: whatever an agent calls itself, nothing of it moves the cursor or changes colours.
"""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Misuse(Exception):  # noqa: N818  what is wrong is how it was asked
    """The command cannot be understood; ``str()`` is one line that says why."""


def forgiving(stream: TextIO) -> None:
    """Let a stream write what its encoding lacks as escapes, rather than fail."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def say(text: str = "") -> None:
    """Write a line of the result."""
    sys.stdout.write(f"{plain(text)}\n")


def say_block(text: str) -> None:
    """Write lines of the result."""
    for line in text.splitlines():
        say(line)


def say_json(value: Any) -> None:
    """Write the result as JSON, in letters that every encoding has."""
    sys.stdout.write(f"{json.dumps(value, indent=2)}\n")


def note(text: str, *, stays: bool = False) -> None:
    """Write lines for the person who waits; ``stays``: the cursor stays behind the last."""
    sys.stderr.write("\n".join(map(plain, text.split("\n"))) + ("" if stays else "\n"))
    sys.stderr.flush()


def plain(text: str) -> str:
    """A text without anything that a terminal obeys."""
    bare = _ESCAPES.sub("", text).expandtabs()
    return "".join(letter if letter.isprintable() else "?" for letter in bare)


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; each column is as wide as its widest cell."""
    rows = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell + " " * (w - columns(cell)) for cell, w in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
