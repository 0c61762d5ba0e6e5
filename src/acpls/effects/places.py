"""What is wanted because somebody follows an agent, or looks for what it mentions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LookAt:
    """See what is at these paths, without taking note of it; ``LookedAt`` with the same token
    follows. ``text``: read the first of them that is a file inside the roots.
    """

    token: object
    paths: tuple[str, ...]
    roots: tuple[str, ...]
    text: bool = False


@dataclass(frozen=True, slots=True)
class KeepChoice:
    """Remember what the user chose, a JSON value, for all later runs of the server."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class LoadChoices:
    """Give back what the user chose in earlier runs; ``ChoicesLoaded`` follows."""


@dataclass(frozen=True, slots=True)
class ReplyLinks:
    """The links in a document: the offsets of each in ``text``, and the URI that it leads to."""

    ticket: object
    text: str = ""
    links: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Spot:
    """A position in a file, zero-based and in code points, and the text of its line."""

    uri: str
    row: int = 0
    column: int = 0
    line: str = ""


@dataclass(frozen=True, slots=True)
class ReplyPlaces:
    """The places that were asked for, in order."""

    ticket: object
    places: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class ShowFollow:
    """Whether the editor goes where the agent is, or which agent, has changed."""
