"""What a process said last and how it ended, for people to read."""

from __future__ import annotations

import re
import signal
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE_CHARACTERS = 4096

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_SAYS_NOTHING = re.compile(r"\s*(?:Node\.js v\S+|at\s.+|[\]})]+[;,]?)?\s*")


class Ring:
    """The last lines of something, each cut at 4,096 characters."""

    def __init__(self, lines: int = 200) -> None:
        self._lines: deque[str] = deque(maxlen=lines)

    def add(self, line: str) -> None:
        """Add a line; the oldest one gives way."""
        self._lines.append(line[:LINE_CHARACTERS])

    def lines(self) -> list[str]:
        """Give the lines, oldest first."""
        return list(self._lines)


def telling_line(lines: Sequence[str]) -> str | None:
    """Give the last line that tells a person something; stack frames and brackets do not.

    It comes without colours and is cut at 300 characters.
    """
    for line in reversed(lines):
        plain = "".join(c for c in _ESCAPES.sub("", line) if c.isprintable() or c == "\t")
        if not _SAYS_NOTHING.fullmatch(plain):
            return plain.strip()[:300]
    return None


def how_it_ended(exit_code: int) -> str:
    """Say an exit in words: ``ended with exit code 3``, ``was ended by SIGKILL``."""
    name = signal_name(exit_code)
    return f"ended with exit code {exit_code}" if name is None else f"was ended by {name}"


def signal_name(exit_code: int) -> str | None:
    """Give the name of the signal that ended a process, if one did."""
    if exit_code >= 0:
        return None
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"
