"""Rules of ``.gitignore`` files: what a line says of a path, as Git understands it.

Invariant: pure and total. How long it takes to match grows with the path and the rule and
with nothing else, whatever stands in the rule: nobody may hold up the server with one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_SLASH: Final = "/"
_STAR: Final = "*"
_STARS: Final = "**"
_NOTHING: Final = "(?!)"
_MARKED: Final = re.compile(r"[*?\[\\]")
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


@dataclass(frozen=True, slots=True)
class Rule:
    """``ignored``: what is said of a path that fits. ``folders``: the rule is about no others.

    ``by_name``: it is about the last part of a path, else about all of it from the folder of
    the rule down. ``plain``: what has to stand there, or ``pattern`` what has to fit.
    """

    ignored: bool
    folders: bool
    by_name: bool
    plain: str | None
    pattern: re.Pattern[str] | None = None

    def fits(self, path: str, start: int, name_at: int, *, is_folder: bool) -> bool:
        """Whether it is about a path with slashes, of which ``start`` characters lead to the
        folder of the rule and ``name_at`` to its last part.
        """
        if self.folders and not is_folder:
            return False
        at = name_at if self.by_name else start
        if self.pattern is None:
            return self.plain is not None and path[at:] == self.plain
        return self.pattern.fullmatch(path, at) is not None


def rules(text: str) -> Iterator[Rule]:
    """The rules of a file, in their order; lines that say nothing are left out."""
    for line in text.split("\n"):
        rule = _rule(line.removesuffix("\r"))
        if rule is not None:
            yield rule


def _rule(line: str) -> Rule | None:
    if line.startswith("#"):
        return None
    line = _without_spaces(line)
    ignored = not line.startswith("!")
    line = line.removeprefix("!")
    folders = line.endswith(_SLASH)
    line = line.removesuffix(_SLASH)
    by_name = _SLASH not in line
    line = line.removeprefix(_SLASH)
    if not line:
        return None
    if not _MARKED.search(line):
        return Rule(ignored, folders, by_name, line)
    try:
        tokens = list(_tokens(line))
    except ValueError:
        # Git takes a rule that cannot be understood for one that fits nothing.
        return None
    made = _part(tokens) if by_name else _path(tokens)
    return Rule(ignored, folders, by_name, None, re.compile(made, re.DOTALL))


def _without_spaces(line: str) -> str:
    """The line without the spaces at its end that are not escaped."""
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return line[: len(kept) + 1] if escapes % 2 and kept != line else kept


# --- from a line to a regular expression ---------------------------------------------


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
