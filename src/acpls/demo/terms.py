"""The words of the demo agent: what a work says, before a protocol version shapes it.

Invariant: no I/O; nothing here knows a version.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Json: TypeAlias = dict[str, Any]
RequestId: TypeAlias = int | str | None

MODES = (
    ("ask", "Ask", "Asks before every change and every command"),
    ("code", "Code", "Edits without asking; asks before it deletes or runs something"),
    ("auto", "Auto", "Changes files without asking; asks before it runs something"),
)
PACES = (
    ("calm", "Calm", "Speaks at reading speed"),
    ("quick", "Quick", "Speaks as fast as it can"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A file that a tool call looks at; ``line`` is one-based."""

    path: Path
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """Plain or Markdown text in a tool call."""

    text: str


@dataclass(frozen=True, slots=True)
class Display:
    """A terminal shown in a tool call."""

    terminal: str


@dataclass(frozen=True, slots=True)
class Change:
    """One file changed: whole texts with the file's own line endings.

    ``origin`` is where a moved file was before.
    """

    operation: Literal["add", "modify", "delete", "move"]
    path: Path
    old: str = ""
    new: str = ""
    origin: Path | None = None


Content: TypeAlias = Text | Display | Change


@dataclass(slots=True)
class Call:
    """A tool call as told to the client so far."""

    id: str
    title: str
    kind: str
    status: str
    places: Sequence[Place] = ()
    content: Sequence[Content] = ()
    raw_input: Json | None = None

    @property
    def ended(self) -> bool:
        """No more work will be done on it."""
        return self.status in {"completed", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Option:
    """An answer that the user may choose; ``kind`` is a permission option kind."""

    id: str
    name: str
    kind: str

    @property
    def rejects(self) -> bool:
        """Choosing it means no."""
        return self.kind.startswith("reject")


@dataclass(frozen=True, slots=True)
class Question:
    """What the user is asked, about a tool call where there is one.

    ``command``, with ``cwd`` and ``terminal``, is set when a command line is asked about.
    """

    title: str
    options: Sequence[Option]
    call: Call | None = None
    description: str | None = None
    command: str | None = None
    cwd: str | None = None
    terminal: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a plan."""

    content: str
    status: str = "pending"
    priority: str = "medium"


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command."""

    name: str
    description: str
    hint: str = ""


@dataclass(slots=True)
class Choices:
    """What a session's user has set."""

    mode: str = "ask"
    pace: str = "calm"
    always: set[str] = field(default_factory=set)


class Version(ABC):
    """How one protocol version says things. Every method gives JSON and changes nothing."""

    number: int
    stopped_status: str
    """The status of a tool call that was stopped by ``session/cancel``."""

    @abstractmethod
    def initialized(self) -> Json:
        """The result of ``initialize``."""

    @abstractmethod
    def session(self, choices: Choices, commands: Sequence[Command]) -> Json:
        """What the responses about a session say besides its id."""

    @abstractmethod
    def greeting(self, commands: Sequence[Command]) -> list[Json]:
        """The updates right after a session is there."""

    @abstractmethod
    def options(self, choices: Choices) -> list[Json]:
        """The config options of a session, complete."""

    @abstractmethod
    def settable(self) -> dict[str, Sequence[str]]:
        """The config option ids that can be set, with their values."""

    @abstractmethod
    def echo(self, message: str, prompt: list[Json]) -> list[Json]:
        """The updates that hold the user's message."""

    @abstractmethod
    def chunk(self, kind: str, message: str, text: str) -> Json:
        """The update that streams text; ``kind`` is ``agent_message`` or ``agent_thought``."""

    @abstractmethod
    def call(self, call: Call, changed: Sequence[str], *, new: bool) -> Json:
        """The update for a tool call, with the fields named in ``changed``."""

    @abstractmethod
    def plan(self, plan: str, steps: Sequence[Step]) -> Json:
        """The update for a plan."""

    @abstractmethod
    def question(self, question: Question) -> Json:
        """The params of ``session/request_permission``, without the session."""

    @abstractmethod
    def states(self, state: str) -> list[Json]:
        """The updates that tell a change of state (version 1 tells none)."""

    @abstractmethod
    def accepted(self, message: str) -> Json | None:
        """The result that answers ``session/prompt`` at its begin, if this version does."""

    @abstractmethod
    def finished(self, reason: str, error: Json | None) -> tuple[Json | None, list[Json]]:
        """How a turn ends: the result of ``session/prompt`` (if due now), and updates."""


def place_json(places: Sequence[Place]) -> list[Json]:
    """``locations``, the same in both versions."""
    return [
        {"path": str(place.path)} | ({"line": place.line} if place.line else {}) for place in places
    ]


def select_json(text: str, name: str, values: Sequence[tuple[str, str, str]], current: str) -> Json:
    """A config option to select from, without its id and category."""
    return {
        "name": name,
        "description": text,
        "type": "select",
        "currentValue": current,
        "options": [
            {"value": value, "name": title, "description": meaning}
            for value, title, meaning in values
        ],
    }


def option_json(options: Sequence[Option]) -> list[Json]:
    """Permission options, the same in both versions."""
    return [{"optionId": one.id, "name": one.name, "kind": one.kind} for one in options]
