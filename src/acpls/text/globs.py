"""Globs as Git reads them in paths, and plain ones for other texts, as regular expressions.

Invariant: pure. How long it takes to match grows with the text and the glob and with nothing
else, whatever stands in the glob: nobody may hold up the server with one.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SLASH: Final = "/"
_STAR: Final = "*"
_STARS: Final = "**"
_NOTHING: Final = "(?!)"
_NAMED: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\ \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\ \t\n\v\f\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def of_path(glob: str) -> str:
    r"""What a path with slashes has to fit: ``*`` and ``?`` stay within a part of it, a part
    ``**`` is any number of parts. ``[...]`` and ``\`` are as Git has them.

    Raises ``ValueError`` where it cannot be understood.
    """
    return _path(list(_tokens(glob)))


def of_name(glob: str) -> str:
    """What one part of a path has to fit. Raises ``ValueError`` as ``of_path`` does."""
    return _part(list(_tokens(glob)))


def of_text(glob: str) -> str:
    """What any text has to fit: ``*`` is any run of characters, ``?`` one, all else itself."""
    first, *between = (
        "".join("." if char == "?" else re.escape(char) for char in piece)
        for piece in glob.split(_STAR)
    )
    if not between:
        return f"(?s:{first})"
    inner = "".join(f"(?>.*?{piece})" for piece in between[:-1] if piece)
    return f"(?s:{first}{inner}.*{between[-1]})"


def _tokens(line: str) -> Iterator[str]:
    """Slashes and stars as they are, all else as what one character has to fit.

    Raises ``ValueError`` where it cannot be understood.
    """
    at = 0
    while at < len(line):
        char = line[at]
        at += 1
        if char == "?":
            yield "[^/]"
        elif char == _STAR:
            stars = len(line) - at - len(line[at:].lstrip(_STAR))
            at += stars
            yield _STARS if stars else _STAR
        elif char == "[":
            one, at = _class(line, at)
            yield one
        elif char == _SLASH:
            yield _SLASH
        else:
            if char == "\\":
                char, at = _next(line, at)
            yield char if char == _SLASH else re.escape(char)


def _next(line: str, at: int) -> tuple[str, int]:
    if at >= len(line):
        raise ValueError("it ends too early")
    return line[at], at + 1


def _class(line: str, at: int) -> tuple[str, int]:
    """What one character has to fit by a class in brackets, and where the class ends."""
    negated = line[at : at + 1] in {"!", "^"}
    at += negated
    found: list[str] = []
    before = ""
    first = True
    while True:
        char, at = _next(line, at)
        if char == "]" and not first:
            break
        first = False
        if char == "[" and line[at : at + 1] == ":" and (end := line.find("]", at)) > 0:
            name = line[at + 1 : end]
            if name.endswith(":"):
                if name[:-1] not in _NAMED:
                    raise ValueError("there is no such class")
                found.append(_NAMED[name[:-1]])
                before, at = "", end + 1
                continue
        if char == "-" and before and line[at : at + 1] not in {"", "]"}:
            last, at = _escaped(*_next(line, at), line)
            if before <= last:
                found.append(f"{re.escape(before)}-{re.escape(last)}")
            before = ""
            continue
        before, at = _escaped(char, at, line)
        found.append(re.escape(before))
    if negated:
        return f"[^/{''.join(found)}]", at
    return (f"(?!/)[{''.join(found)}]" if found else _NOTHING), at


def _escaped(char: str, at: int, line: str) -> tuple[str, int]:
    return _next(line, at) if char == "\\" else (char, at)


def _part(tokens: list[str]) -> str:
    """What one part of a path has to fit.

    What stands between two stars is looked for once: where it comes first is as good as
    where it comes later, because a star takes up all that follows.
    """
    pieces = [""]
    for token in tokens:
        if token in {_STAR, _STARS}:
            pieces.append("")
        else:
            pieces[-1] += token
    first, *between = pieces
    if not between:
        return first
    inner = "".join(f"(?>[^/]*?{piece})" for piece in between[:-1] if piece)
    return f"{first}{inner}[^/]*{between[-1]}"


def _path(tokens: list[str]) -> str:
    """What a path has to fit; between two double stars it is as between stars in a part."""
    parts = [list(part) for is_slash, part in groupby(tokens, _SLASH.__eq__) if not is_slash]
    if tokens.count(_SLASH) != len(parts) - 1:
        # No path has an empty part.
        return _NOTHING
    blocks: list[list[str]] = [[]]
    for part in parts:
        if part == [_STARS]:
            blocks.append([])
        else:
            blocks[-1].append(_part(part))
    first, *inner = [_SLASH.join(block) for block in blocks]
    if not inner:
        return first
    start = first + _SLASH if first else ""
    middle = "".join(f"(?>(?:[^/]+/)*?{block}/)" for block in inner[:-1] if block)
    end = f"(?:[^/]+/)*{inner[-1]}" if inner[-1] else ".+"
    return f"{start}{middle}{end}"
