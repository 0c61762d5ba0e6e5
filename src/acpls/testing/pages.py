"""The buffers of the fake editor, and the arithmetic of LSP positions.

Written from the specification and by itself, so that it cannot share a mistake with the
server's own. Offsets count characters (code points); lines end at LF, CRLF or CR.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class BadPosition(ValueError):  # noqa: N818  what it is, not an error of ours
    """A position cannot be one in this text; ``str()`` is one line."""


@dataclass(eq=False)
class Page:
    """An open document. ``saved`` is what the disk holds, as far as the editor knows."""

    uri: str
    language: str
    text: str
    version: int = 0
    saved: str | None = None
    hidden: bool = False

    @property
    def modified(self) -> bool:
        """There are unsaved changes."""
        return self.text != self.saved


@dataclass(frozen=True)
class Cut:
    """The characters from ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


def length(text: str, encoding: str) -> int:
    """The length in units of the encoding (``utf-8``, ``utf-16``, ``utf-32``)."""
    codec, size = _UNITS[encoding]
    return len(text.encode(codec)) // size


def position(text: str, offset: int, encoding: str) -> dict[str, int]:
    """The LSP position of an offset. Raises ``BadPosition`` outside of the text."""
    if not 0 <= offset <= len(text):
        raise BadPosition(f"offset {offset} of {len(text)}")
    starts = _starts(text)
    line = bisect_right(starts, offset) - 1
    return {"line": line, "character": length(text[starts[line] : offset], encoding)}


def offset(text: str, place: dict[str, int], encoding: str) -> int:
    """The offset of an LSP position.

    Beyond the end of a line is its end, beyond the last line the end of the text. Raises
    ``BadPosition`` for negative numbers and for a place inside a character.
    """
    line, units = place["line"], place["character"]
    if line < 0 or units < 0:
        raise BadPosition(f"negative position {line}:{units}")
    starts = _starts(text)
    if line >= len(starts):
        return len(text)
    whole = _LINE.match(text, starts[line])
    inner = whole.group().rstrip("\r\n") if whole else ""
    passed = 0
    for at, character in enumerate(inner):
        if passed == units:
            return starts[line] + at
        if passed > units:
            raise BadPosition(f"position {line}:{units} is inside a character")
        passed += length(character, encoding)
    if passed > units:
        raise BadPosition(f"position {line}:{units} is inside a character")
    return starts[line] + len(inner)


def cuts(text: str, edits: list[dict[str, Any]], encoding: str) -> list[Cut]:
    """The text edits of one document, in order. Raises ``BadPosition``, also for overlaps."""
    found = []
    for edit in edits:
        start = offset(text, edit["range"]["start"], encoding)
        end = offset(text, edit["range"]["end"], encoding)
        if end < start:
            raise BadPosition("a range ends before it starts")
        found.append(Cut(start, end, edit["newText"]))
    found.sort(key=lambda cut: (cut.start, cut.end))
    for before, after in pairwise(found):
        if after.start < before.end:
            raise BadPosition("edits overlap")
    return found


def cut_out(text: str, found: list[Cut]) -> str:
    """The text after these cuts, which are in order."""
    for cut in reversed(found):
        text = text[: cut.start] + cut.text + text[cut.end :]
    return text


def changes(text: str, found: list[Cut], encoding: str) -> list[dict[str, Any]]:
    """The cuts as changes of ``didChange``: from the last, so that each range still holds."""
    return [
        {
            "range": {
                "start": position(text, cut.start, encoding),
                "end": position(text, cut.end, encoding),
            },
            "text": cut.text,
        }
        for cut in reversed(found)
    ]


def to_uri(path: Path) -> str:
    """The ``file:`` URI of an absolute path."""
    return "file://" + quote(path.as_posix(), safe="/")


def to_path(uri: str) -> Path:
    """The path of a ``file:`` URI. Raises ``ValueError`` for other schemes."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise ValueError(f"not a file: {uri}")
    return Path(unquote(parts.path))


def read(path: Path) -> str:
    """The text of a file, its line endings kept."""
    return path.read_bytes().decode()


def _starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
