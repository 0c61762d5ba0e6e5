"""Recorded conversations with real agents: where they lie, and how they are read.

A recording is a file of JSON lines. ``{"out": …}`` is what the recording client sent, and
``{"in": …}`` what the agent sent: a message without its ``jsonrpc``, or a text that is none.
``end`` and ``note`` say what else happened. Texts that are not ours to give away are stored
as marks, which reading puts filler of the same length in place of (``distill``).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

FOLDER: Final = Path(__file__).parents[1] / "recordings"

# Characters, and bytes inside a JSON string where these are more; or lines of numbers.
MARK: Final = re.compile(r"⟦(\d+)(?:/(\d+)|\.\.(\d+))?⟧")
_WORDS: Final = "left out "
# By how many bytes these are longer than a character.
_WIDE: Final = ((3, "\N{CLAPPING HANDS SIGN}"), (2, "…"), (1, "é"))

Direction: TypeAlias = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that one side sent: a message, or text that is none."""

    direction: Direction
    message: dict[str, Any] | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that was not said: how the agent ended, or what did not come."""

    text: str
    ends: bool = False


def names() -> list[str]:
    """All recordings, as ``agent/scenario``."""
    found = FOLDER.glob("*/*.jsonl")
    return sorted(file.relative_to(FOLDER).with_suffix("").as_posix() for file in found)


def lines_file(name: str) -> Path:
    """Where the recording lies."""
    return FOLDER / f"{name}.jsonl"


def account_file(name: str) -> Path:
    """Where its account lies."""
    return FOLDER / f"{name}.txt"


def read(name: str) -> list[Line | Remark]:
    """The recording, with texts of their real lengths."""
    with lines_file(name).open(encoding="utf-8", newline="\n") as file:
        return [_line(json.loads(line)) for line in file]


def _line(stored: dict[str, Any]) -> Line | Remark:
    if "end" in stored:
        return Remark(f"the agent's process ended ({stored['end']})", ends=True)
    if "note" in stored:
        return Remark(stored["note"])
    ((key, given),) = stored.items()
    direction: Direction = "in" if key == "in" else "out"
    assert key == direction
    if isinstance(given, str):
        return Line(direction, None, given)
    return Line(direction, {"jsonrpc": "2.0", **expanded(given)})


def expanded(value: Any) -> Any:
    """The value with filler in place of marks."""
    match value:
        case str():
            return MARK.sub(_expanded_mark, value) if "⟦" in value else value
        case list():
            return [expanded(item) for item in value]
        case dict():
            return {key: expanded(item) for key, item in value.items()}
        case _:
            return value


def _expanded_mark(mark: re.Match[str]) -> str:
    length = int(mark[1])
    if mark[3]:
        return "\n".join(map(str, range(length, int(mark[3]) + 1)))
    return filler(length, int(mark[2] or length))


@cache
def filler(characters: int, size_bytes: int) -> str:
    """Text of this length which takes so many bytes, as far as the length allows it."""
    excess, wide = size_bytes - characters, ""
    for more, sign in _WIDE:
        count = min(excess // more, characters - len(wide))
        wide += sign * count
        excess -= more * count
    narrow = characters - len(wide)
    return (_WORDS * (narrow // len(_WORDS) + 1))[:narrow] + wide
