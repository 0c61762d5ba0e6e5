"""Which texts are too large to be shown change by change.

Invariant: to judge a text takes a small part of the time that comparing it would take.
"""

from __future__ import annotations

from typing import Final

MOST_BYTES: Final = 2 * 1024 * 1024
"""Bytes of UTF-8 that a text may have, without a byte order mark."""

MOST_LINES: Final = 50_000
"""Lines that it may have, counted as LSP does."""

LONGEST_LINE: Final = 20_000
"""Characters (code points) that each of its lines may have, the ending not counted."""


def reason_not_shown(text: str) -> str | None:
    """Why a text has too much in it; completes "the whole file is one change:".

    ``None``: it can be compared, and its hunks can be shown.
    """
    if _is_over(text):
        return f"it has more than {MOST_BYTES // 1024 // 1024} MiB"
    if (lines := _lines(text)) > MOST_LINES:
        return f"it has {lines} lines, which is more than {MOST_LINES}"
    if (at := _long_line(text)) is not None:
        return f"line {_lines(text[:at]) + 1} has more than {LONGEST_LINE} characters"
    return None


def _is_over(text: str) -> bool:
    # No character takes more than four bytes, and none less than one.
    if not MOST_BYTES // 4 < len(text) <= MOST_BYTES:
        return len(text) > MOST_BYTES
    return not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES


def _lines(text: str) -> int:
    ended = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ended + (text != "" and not text.endswith(("\n", "\r")))


def _long_line(text: str) -> int | None:
    """Where the first line begins that is too long."""
    at = 0
    while len(text) - at > LONGEST_LINE:
        # From the last ending in reach on; the lines before are shorter.
        window = (at, at + LONGEST_LINE + 1)
        last = max(text.rfind("\n", *window), text.rfind("\r", *window))
        if last < 0:
            return at
        at = last + 1
    return None
