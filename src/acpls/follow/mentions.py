r"""Files that are mentioned in a text: ``path``, ``path:line[:col]``, ``path#L12``, ``file:`` URIs.

In Markdown links, in backticks, or plain; absolute or relative, of every platform. Only what
looks like a path is a mention, and whether there is such a file is for others to find out.

Invariant: pure; the work is bounded by the length of the text, and so is the number found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 500
"""A longer mention is none, in characters."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A file and the place in it, as it is written; ``line`` and ``column`` count from one.

    ``start`` and ``end`` are offsets into the text, the end not included.
    """

    start: int
    end: int
    path: str
    line: int | None = None
    column: int | None = None


# The target of a link, what stands in backticks, and everything else without blanks.
_TOKEN = re.compile(
    r"\]\((?:<([^<>\n]{1,500})>|([^()\s<>]{1,500}))\)"
    r"|`([^`\n]{1,500})`"
    r"|([^\s`\"'<>()\[\]{}|*,;]+)"
)
_AT_END = re.compile(r"[.:!?]+$")
_LINE = re.compile(r"(.+?):(\d{1,9})(?:[:.](\d{1,9}))?(?:-\d{1,9})?(?::.*)?", re.DOTALL)
_HASH = re.compile(r"(.+)#L?(\d{1,9})(?:[C:,](\d{1,9}))?(?:-L?\d{1,9}(?:C\d{1,9})?)?", re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\.|mailto:", re.IGNORECASE)
_FILE = re.compile("file:/", re.IGNORECASE)
_EXTENSION = re.compile(r".*[^\W_].*\.[A-Za-z][A-Za-z0-9_+-]{0,15}", re.DOTALL)
_NAMED = re.compile(r"(?:Makefile|Dockerfile|Justfile|Gemfile|LICENSE|README)(?![\w-])")


def mentions(text: str, start: int = 0) -> Iterator[Mention]:
    """What is mentioned in a text, in order; offsets are counted from ``start``.

    What stands in backticks may be one name with blanks, or a line with names in it: then the
    whole comes first, and what is in it after that.
    """
    for found in _TOKEN.finditer(text):
        group = found.lastindex or 0
        token, at = found[group], start + found.start(group)
        mention = _mention(token, at, quoted=group == 3)
        if mention is not None:
            yield mention
        if group == 3 and (mention is None or " " in token):
            # A command line, or a piece of code.
            yield from _plain(token, at)


def _plain(text: str, start: int) -> Iterator[Mention]:
    for found in _TOKEN.finditer(text):
        group = found.lastindex or 0
        mention = _mention(found[group], start + found.start(group))
        if mention is not None:
            yield mention


def _mention(token: str, start: int, *, quoted: bool = False) -> Mention | None:
    token = token if quoted else _AT_END.sub("", token)
    # Most words are none, and this is soon seen.
    if not ("." in token or "/" in token or "\\" in token or _NAMED.match(token)):
        return None
    end = start + len(token)
    if len(token) > LONGEST:
        return None
    path, line, column = token, None, None
    found = _HASH.fullmatch(token) or _LINE.fullmatch(token)
    if found is not None:
        path, line = found[1], int(found[2])
        column = None if found[3] is None else int(found[3])
    if _FILE.match(path):
        own = uris.to_path(path)
        return None if own is None else Mention(start, end, own, line, column)
    if _URL.match(token) or not _is_path(path):
        return None
    return Mention(start, end, path, line, column)


def _is_path(path: str) -> bool:
    """Whether it is worth looking for a file of this name."""
    if not path.isprintable() or path.endswith(("/", "\\")):
        return False
    name = re.split(r"[/\\]", path)[-1]
    if len(name) < len(path):
        # Dates, fractions, "and/or", options: only letters make a name.
        return any(char.isalpha() for char in name)
    return _NAMED.fullmatch(name) is not None or _EXTENSION.fullmatch(name) is not None
