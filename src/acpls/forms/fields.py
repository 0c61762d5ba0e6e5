"""A form as values: its fields in the order in which the agent sent them.

Invariant: frozen; what users read of it is printable and in one line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind: TypeAlias = Literal["string", "number", "integer", "boolean", "array"]
Value: TypeAlias = str | int | float | bool | list[str]

_SECRET: Final = re.compile(
    r"pass(word|wd|phrase|code)\b|\b(secret|token|credential)s?\b|\bapi ?key\b"
    r"|\b(private|secret|access) ?key\b|\bpin\b",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Unreadable(Exception):  # noqa: N818  the agent's fault, told to the user in words
    """A form cannot be shown; ``str()`` says why, in one line."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that may be chosen; ``title`` is what people read."""

    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One value that is asked for.

    ``choices``: the only values there are (of an ``array``: for its items). ``low`` and
    ``high`` are limits, included: of characters (code points) for a text, of the value for
    a number, of the count for an ``array``. ``pattern`` is ECMA-262, and only shown where it is
    not ``enforced``; ``format`` may be a word that we do not know.
    """

    name: str
    kind: Kind
    title: str
    description: str | None = None
    required: bool = False
    default: Value | None = None
    choices: tuple[Choice, ...] | None = None
    low: float | None = None
    high: float | None = None
    pattern: str | None = None
    format: str | None = None
    enforced: bool = True

    @property
    def is_secret(self) -> bool:
        """Whether it seems to ask for something that nobody else may read."""
        if self.format == "password":
            return True
        words = (re.sub(r"[_\W]+", " ", _CAMEL.sub(" ", x)) for x in (self.name, self.title))
        return self.kind == "string" and any(_SECRET.search(each) for each in words)


@dataclass(frozen=True, slots=True)
class Form:
    """``message``: what the agent says besides. ``left_out``: the names of optional fields of
    kinds that we do not know, each in one line. ``schema`` is what it was read from, for
    editors that draw forms themselves.
    """

    fields: tuple[Field, ...] = ()
    title: str | None = None
    description: str | None = None
    left_out: tuple[str, ...] = ()
    message: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def secrets(self) -> tuple[Field, ...]:
        """The fields that seem to ask for a secret."""
        return tuple(each for each in self.fields if each.is_secret)


def one_line(text: str) -> str:
    """The same in one printable line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def printable(text: str) -> list[str]:
    """The printable lines of a text, without empty ones around it."""
    lines = [one_line(line) for line in re.split(r"\r\n|\r|\n", text)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def is_text(value: object) -> bool:
    """Whether this is a text of whole characters, that can be written down."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)
