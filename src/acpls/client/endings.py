"""Gives a text with plain line feeds the line endings of the file it replaces."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from acpls.text.diff import Hunk, diff

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANY_ENDING = re.compile(r"\r\n|\n|\r")
_NOT_BARE_CR = re.compile(r"\r\n|\n")


def with_endings_of(old: str, new: str) -> str:
    """Write ``new`` with the endings of ``old``, unless ``new`` has CRLF of its own.

    Lines that both texts have keep the ending they had; all others get the most frequent
    one. A bare CR is an ending, except when ``new`` has one too: then it is data.
    """
    if "\r" not in old or "\r\n" in new:
        return new
    pattern = _NOT_BARE_CR if "\r" in new else _ANY_ENDING
    old_bodies, old_endings = _cut(old, pattern)
    new_bodies, new_endings = _cut(new, pattern)
    counts = Counter(ending for ending in old_endings if ending)
    if not counts:
        return new
    usual = counts.most_common(1)[0][0]
    endings = [usual if ending else "" for ending in new_endings]
    kept = set()
    for old_index, new_index in _same_lines(old_bodies, new_bodies):
        if endings[new_index] and old_endings[old_index]:
            endings[new_index] = old_endings[old_index]
            kept.add(new_index)
    _part(new_bodies, endings, kept)
    return "".join(body + ending for body, ending in zip(new_bodies, endings, strict=True))


def _cut(text: str, pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Cut into lines; the last one has the ending ``""`` and may be empty."""
    bodies, endings, start = [], [], 0
    for match in pattern.finditer(text):
        bodies.append(text[start : match.start()])
        endings.append(match.group())
        start = match.end()
    return [*bodies, text[start:]], [*endings, ""]


def _part(bodies: list[str], endings: list[str], kept: set[int]) -> None:
    """Keep a CR and the LF of an empty line after it from becoming one CRLF."""
    for index in range(len(endings) - 1):
        if endings[index] == "\r" and not bodies[index + 1] and endings[index + 1] == "\n":
            # A CRLF of its own keeps a line apart from both neighbours, whatever they have.
            endings[index if index not in kept and index + 1 in kept else index + 1] = "\r\n"


def _same_lines(old: list[str], new: list[str]) -> Iterator[tuple[int, int]]:
    # A bare carriage return that is left in a line is data, but would end it for a diff.
    texts = ("\n".join([*lines, ""]).replace("\r", "\0") for lines in (old, new))
    at = grown = 0
    for hunk in (*diff(*texts), Hunk(len(old), len(old), (), ())):
        yield from ((index, index + grown) for index in range(at, hunk.start))
        at = hunk.end
        grown += len(hunk.new) - len(hunk.old)
