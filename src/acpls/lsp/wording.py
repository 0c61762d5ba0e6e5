"""Words for people to read: short lines, and titles that differ from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.lsp.messages import MESSAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE_LIMIT: Final = MESSAGE_LIMIT
"""Characters of a title, and of what is shown to the user as a message."""


def short(text: str, limit: int = TITLE_LIMIT) -> str:
    """One printable line of at most ``limit`` characters, cut at its end."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(printable.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def distinct(titles: Iterable[str]) -> list[str]:
    """The titles as short lines; those that would look the same are numbered."""
    result: list[str] = []
    seen: set[str] = set()
    for title in titles:
        line, number = short(title), 1
        while line in seen:
            number += 1
            mark = f" ({number})"
            line = short(title, TITLE_LIMIT - len(mark)) + mark
        seen.add(line)
        result.append(line)
    return result
