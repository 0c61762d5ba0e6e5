"""Patterns of ECMA-262, as far as they can be read alike here.

A pattern is taken as JavaScript takes it with the flag ``u``. What this flag forbids, what
means something else here (references to groups), and what is not known is not enforced.
Matching is bounded in time, whatever the pattern is.

Invariant: a pattern that is enforced means here just what it means there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    _Ranges: TypeAlias = tuple[tuple[int, int], ...]

TIMEOUT_S: Final = 0.025
LENGTH_LIMIT: Final = 1000
# The library writes repeats of a fixed count out, and those within others many times.
_SIZE_LIMIT: Final = 2000
_DEPTH_LIMIT: Final = 20
_LAST: Final = 0x10FFFF

_DIGITS: Final = ((0x30, 0x39),)
_WORD: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACES: Final = (
    *((0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
_LINE_ENDS: Final = ((0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029))
_SETS: Final = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
_CONTROLS: Final = {"t": 0x9, "n": 0xA, "v": 0xB, "f": 0xC, "r": 0xD}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
# General categories have the same short names here and there.
_CATEGORIES: Final = frozenset(
    {
        *("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P"),
        *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs"),
        *("Zl", "Zp"),
    }
)

_ESCAPE: Final = re.compile(
    r"\\(?:x(?P<x>[0-9A-Fa-f]{2})"
    r"|u(?P<high>[Dd][89ABab][0-9A-Fa-f]{2})\\u(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{2})"
    r"|u(?P<u>[0-9A-Fa-f]{4})|u\{0*(?P<point>[0-9A-Fa-f]{1,6})\}|c(?P<c>[A-Za-z])"
    r"|(?P<zero>0)(?![0-9])|(?P<not>[Pp])\{(?P<category>[A-Za-z]{1,2})\}|(?P<one>[^0-9]))",
    re.DOTALL,
)
_GROUP: Final = re.compile(
    r"\((?:\?(?:(?P<look><?[=!])|(?P<plain>:)|<(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)>)|(?!\?))"
)
_REPEAT: Final = re.compile(r"(?:[*+?]|\{(?P<low>[0-9]+)(?:(?P<more>,)(?P<high>[0-9]+)?)?\})\??")


class _Unlike(Exception):  # noqa: N818  it is given up here and not told
    """The pattern cannot be read alike."""


def fits(pattern: str, text: str) -> bool | None:
    """Whether a pattern is found in a text; ``None`` where that cannot be said."""
    compiled = _compiled(pattern)
    if compiled is None:
        return None
    try:
        return compiled.search(text, timeout=TIMEOUT_S) is not None
    except TimeoutError:
        return None


def is_enforced(pattern: str) -> bool:
    """Whether it can be said what the pattern means."""
    return translated(pattern) is not None


@lru_cache(64)
def _compiled(pattern: str) -> Any:
    source = translated(pattern)
    if source is None:
        return None
    # Hardly a form has a pattern, and this takes a moment.
    import regex  # noqa: PLC0415  see above

    return regex.compile(source)


@lru_cache(64)
def translated(pattern: str) -> str | None:
    """The same pattern as the library ``regex`` reads it; ``None``: it cannot be read alike."""
    if len(pattern) > LENGTH_LIMIT:
        return None
    try:
        return _Reader(pattern).whole()
    except _Unlike:
        return None


class _Reader:
    """Reads one pattern from its beginning to its end."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._names: set[str] = set()
        self._size = 0

    def whole(self) -> str:
        """All of it. Raises ``_Unlike``."""
        found = self._alternatives(0)
        if self._at < len(self._pattern):
            # A parenthesis closes what was not opened.
            raise _Unlike
        return found

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self, what: re.Pattern[str]) -> re.Match[str] | None:
        found = what.match(self._pattern, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _alternatives(self, depth: int) -> str:
        if depth > _DEPTH_LIMIT:
            raise _Unlike
        out: list[str] = []
        while (char := self._next()) and char != ")":
            if char == "|":
                self._at += 1
                out.append("|")
                continue
            before = self._size
            self._size += 1
            term, repeats = self._term(depth)
            out.append(term + self._repeat(before) if repeats else term)
        return "".join(out)

    def _repeat(self, before: int) -> str:
        """What says how often the last term is repeated; ``before``: the size without it."""
        found = self._take(_REPEAT)
        if found is None:
            return ""
        low, high = (int(found[name] or 0) for name in ("low", "high"))
        self._size = before + (self._size - before) * max(low, high, 1)
        if self._size > _SIZE_LIMIT or (found["high"] and high < low):
            raise _Unlike
        return found[0]

    def _term(self, depth: int) -> tuple[str, bool]:
        """One term, and whether it can be repeated."""
        char = self._next()
        match char:
            case "(":
                return self._group(depth)
            case "[":
                return self._set(), True
            case "\\":
                return self._escaped()
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise _Unlike
        self._at += 1
        match char:
            case "^":
                return r"\A", False
            case "$":
                # There ``$`` is not found before a line ending that is the last character.
                return r"\Z", False
            case ".":
                return _set(_complement(_LINE_ENDS)), True
            case _:
                return _literal(ord(char)), True

    def _group(self, depth: int) -> tuple[str, bool]:
        found = self._take(_GROUP)
        if found is None or (found["name"] or "") in self._names:
            raise _Unlike
        if found["name"]:
            self._names.add(found["name"])
        inner = self._alternatives(depth + 1)
        if self._next() != ")":
            raise _Unlike
        self._at += 1
        # Nothing refers to groups, so none needs to be remembered.
        return f"(?{found['look'] or ':'}{inner})", found["look"] is None

    def _escaped(self) -> tuple[str, bool]:
        char = self._pattern[self._at + 1 : self._at + 2]
        if char in {"b", "B"}:
            self._at += 2
            word = _set(_WORD)
            at_end = f"(?<={word})(?!{word})|(?<!{word})(?={word})"
            inside = f"(?<={word})(?={word})|(?<!{word})(?!{word})"
            return f"(?:{at_end if char == 'b' else inside})", False
        point, ranges, category = self._escape(_SYNTAX)
        if category:
            return category, True
        return _literal(point) if ranges is None else _set(ranges), True

    def _escape(self, identities: Iterable[str]) -> tuple[int, _Ranges | None, str]:
        """What an escape stands for: a code point, a set of them, or a category."""
        found = self._take(_ESCAPE)
        if found is None:
            raise _Unlike
        if found["category"]:
            if found["category"] not in _CATEGORIES:
                raise _Unlike
            return 0, None, f"\\{found['not']}{{{found['category']}}}"
        if found["high"]:
            high, low = int(found["high"], 16), int(found["low"], 16)
            return 0x10000 + ((high - 0xD800) << 10) + low - 0xDC00, None, ""
        digits = found["x"] or found["u"] or found["point"]
        if digits:
            point = int(digits, 16)
            if point > _LAST or 0xD800 <= point <= 0xDFFF:
                raise _Unlike
            return point, None, ""
        if found["c"]:
            return ord(found["c"]) % 32, None, ""
        one = found["one"] or ""
        if found["zero"] or one in _CONTROLS:
            return _CONTROLS.get(one, 0), None, ""
        if one.lower() in _SETS:
            ranges = _SETS[one.lower()]
            return 0, ranges if one.islower() else _complement(ranges), ""
        if one not in identities:
            raise _Unlike
        return ord(one), None, ""

    def _set(self) -> str:
        self._at += 1
        negated = self._next() == "^"
        self._at += negated
        ranges: list[tuple[int, int]] = []
        categories: list[str] = []
        while self._next() != "]":
            start, several, category = self._member()
            if self._next() == "-" and self._pattern[self._at + 1 : self._at + 2] not in {"]", ""}:
                self._at += 1
                end, more, other = self._member()
                if several or more or category or other or end < start:
                    raise _Unlike
                ranges.append((start, end))
            elif category:
                categories.append(category)
            else:
                ranges += several or ((start, start),)
        self._at += 1
        if not ranges and not categories:
            return _set(((0, _LAST),)) if negated else "(?!)"
        return f"[{'^' if negated else ''}{_members(ranges)}{''.join(categories)}]"

    def _member(self) -> tuple[int, _Ranges | None, str]:
        char = self._next()
        if char == "\\":
            if self._pattern.startswith(r"\b", self._at):
                self._at += 2
                return 0x8, None, ""
            return self._escape({*_SYNTAX, "-"})
        if not char:
            raise _Unlike
        self._at += 1
        return ord(char), None, ""


def _literal(point: int) -> str:
    char = chr(point)
    return char if char.isascii() and char.isalnum() else f"\\U{point:08x}"


def _set(ranges: Iterable[tuple[int, int]]) -> str:
    return f"[{_members(ranges)}]"


def _members(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{_literal(start)}-{_literal(end)}" for start, end in ranges)


def _complement(ranges: _Ranges) -> _Ranges:
    bounds = [-1, *(bound for pair in ranges for bound in pair), _LAST + 1]
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return tuple((start + 1, end - 1) for start, end in pairs)
