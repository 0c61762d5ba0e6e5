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

# What ``_meta`` says of a thing: ``None`` clears it, an object patches it by top-level key,
# of which one that is ``None`` is taken away (ACP 2, session updates).
Meta: TypeAlias = "Json | None | Unset"


@dataclass(frozen=True, slots=True)
class Background:
    """One thing that runs besides the turn. ``kind``: ``terminal``, ``tool_call``,
    ``subagent``, or other; ``id`` is the agent's id of it, where it has one.
    """

    kind: str
    id: str | None = None


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
    meta: Meta = UNSET


@dataclass(frozen=True, slots=True)
class ToolCallPatched:
    """A tool call was created or changed.

    ``title``, ``kind``, ``status``: strings as the agent sent them. ``raw_input`` and
    ``raw_output``: any JSON value. ``can_cancel``: it can be stopped by itself.
    ``of_subagent``: a subagent makes it that has no session of its own.
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
    can_cancel: bool | Unset = UNSET
    of_subagent: bool | Unset = UNSET
    meta: Meta = UNSET


@dataclass(frozen=True, slots=True)
class ToolCallGrew:
    """One item was added to the content of a tool call; an unknown id begins one."""

    tool_call: str
    item: ToolContent


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """The session's state, as ACP 2 names it: ``running``, ``idle``, ``requires_action``,
    ``unknown``, or a word of the agent's own, which means busy.

    ``stop_reason`` and ``error`` (one line) come with ``idle``. ``background``: all that
    runs besides the turn, as it is now; ``None``: not reported. ``final``: nothing that was
    begun goes on (ACP 1, where nothing can). ``error_code``: that of the error, in ACP 2.
    """

    state: str
    stop_reason: str | None = None
    error: str | None = None
    background: tuple[Background, ...] | None = None
    final: bool = False
    error_code: int | None = None


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
    meta: Meta = UNSET


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
    """A terminal was created or changed. ``output``: bytes that replace all there was.

    ``size``: columns and rows. ``can_cancel``: its command can be stopped by itself.
    """

    terminal: str
    command: str | None | Unset = UNSET
    cwd: str | None | Unset = UNSET
    output: bytes | None | Unset = UNSET
    exit: Exit | None | Unset = UNSET
    size: tuple[int, int] | None | Unset = UNSET
    can_cancel: bool | Unset = UNSET
    meta: Meta = UNSET


@dataclass(frozen=True, slots=True)
class TerminalGrew:
    """Bytes were added to a terminal's output; they may cut a character in two."""

    terminal: str
    data: bytes


@dataclass(frozen=True, slots=True)
class CompactionPatched:
    """The agent shortens what it remembers of the session, or has; ``error`` is one line.

    ``status``: ``in_progress``, ``completed``, ``failed``, ``cancelled``, or other.
    """

    compaction: str
    status: str | None | Unset = UNSET
    summary: tuple[Block, ...] | None | Unset = UNSET
    error: str | None | Unset = UNSET
    meta: Meta = UNSET


@dataclass(frozen=True, slots=True)
class CompactionGrew:
    """One block was added to the summary of a compaction."""

    compaction: str
    block: Block


@dataclass(frozen=True, slots=True)
class SubagentPatched:
    """Another session of the same agent works for this one; it tells of itself under its
    own id. ``state`` is a word as in ``TurnChanged``. ``can_cancel``: it can be stopped.
    """

    session: str
    title: str | None | Unset = UNSET
    description: str | None | Unset = UNSET
    state: str | None | Unset = UNSET
    cwd: str | None | Unset = UNSET
    can_cancel: bool | Unset = UNSET
    meta: Meta = UNSET


@dataclass(frozen=True, slots=True)
class SessionMessageSet:
    """A message between two sessions was created or changed; the ends are ids of sessions."""

    message: str
    sender: str | None | Unset = UNSET
    recipient: str | None | Unset = UNSET
    content: tuple[Block, ...] | None | Unset = UNSET
    meta: Meta = UNSET


@dataclass(frozen=True, slots=True)
class SessionMessageGrew:
    """One block was added to a message between sessions; an unknown id begins one."""

    message: str
    block: Block


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
    | CompactionPatched
    | CompactionGrew
    | SubagentPatched
    | SessionMessageSet
    | SessionMessageGrew
    | ReplayEnded
    | Other
)
