"""Everything that an agent can tell about one of its sessions, in words of no version.

A dialect makes these from ``session/update``; ``Session.apply`` takes them in. In every
patch ``UNSET`` keeps what is there, ``None`` clears it, and a value replaces it whole
(ACP 2, session updates).

Invariant: values only, and one union that lists them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acpls.session.content import UNSET, Unset

if TYPE_CHECKING:
    from acpls.session.content import (
        Block,
        Command,
        Exit,
        Json,
        Location,
        Option,
        PlanEntry,
        ToolContent,
        Usage,
    )

Role: TypeAlias = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class MessageGrew:
    """One block was added to the end of a message; an unknown id begins one."""

    message: str
    role: Role
    block: Block


@dataclass(frozen=True, slots=True)
class MessageSet:
    """A message was created, replaced (``content``), cleared (``None``) or only named."""

    message: str
    role: Role
    content: tuple[Block, ...] | None | Unset = UNSET


@dataclass(frozen=True, slots=True)
class ToolCallPatched:
    """A tool call was created or changed.

    ``title``, ``kind``, ``status``: strings as the agent sent them. ``raw_input`` and
    ``raw_output``: any JSON value.
    """

    tool_call: str
    title: str | None | Unset = UNSET
    name: str | None | Unset = UNSET
    kind: str | None | Unset = UNSET
    status: str | None | Unset = UNSET
    content: tuple[ToolContent, ...] | None | Unset = UNSET
    locations: tuple[Location, ...] | None | Unset = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET


@dataclass(frozen=True, slots=True)
class ToolCallGrew:
    """One item was added to the content of a tool call; an unknown id begins one."""

    tool_call: str
    item: ToolContent


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """The session's state, as ACP 2 names it: ``running``, ``idle``, ``requires_action``,
    ``unknown``, or a word of the agent's own, which means busy.

    ``stop_reason`` and ``error`` (one line) come with ``idle``.
    """

    state: str
    stop_reason: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PlanSet:
    """A plan was set as a whole."""

    plan: str
    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class OptionsSet:
    """The complete list of options."""

    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class OptionChanged:
    """One option took another value; the rest of it stays (ACP 1, ``current_mode_update``)."""

    option: str
    value: str


@dataclass(frozen=True, slots=True)
class CommandsSet:
    """The complete list of slash commands."""

    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class InfoPatched:
    """The session's title or time of last change (ISO 8601)."""

    title: str | None | Unset = UNSET
    updated_at: str | None | Unset = UNSET


@dataclass(frozen=True, slots=True)
class UsageSet:
    """Context and cost so far."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class NoticeGiven:
    """Something the agent wants the user to see outside of its messages."""

    severity: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class TerminalPatched:
    """A terminal was created or changed. ``output``: bytes that replace all there was."""

    terminal: str
    command: str | None | Unset = UNSET
    cwd: str | None | Unset = UNSET
    output: bytes | None | Unset = UNSET
    exit: Exit | None | Unset = UNSET


@dataclass(frozen=True, slots=True)
class TerminalGrew:
    """Bytes were added to a terminal's output; they may cut a character in two."""

    terminal: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReplayEnded:
    """The replay of an old session is complete."""


@dataclass(frozen=True, slots=True)
class Other:
    """An update of an unknown kind, kept as it came."""

    payload: Json


Update: TypeAlias = (
    MessageGrew
    | MessageSet
    | ToolCallPatched
    | ToolCallGrew
    | TurnChanged
    | PlanSet
    | OptionsSet
    | OptionChanged
    | CommandsSet
    | InfoPatched
    | UsageSet
    | NoticeGiven
    | TerminalPatched
    | TerminalGrew
    | ReplayEnded
    | Other
)
