"""What we can ask of an agent, and what it replies, in words of no version.

Every ask is sent with a number of the hub's own; the reply comes back as an event with
that number, at its place in the agent's stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from acpls.session.content import Block, Command, Option


# --- asks ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewSession:
    """Open a session in ``cwd``, an absolute path of the agent's machine."""

    cwd: str
    additional_directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """Give the agent a prompt."""

    session: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop the session's foreground work. Nothing is replied."""

    session: str


@dataclass(frozen=True, slots=True)
class SetOption:
    """Set an option of the session."""

    session: str
    option: str
    value: str | bool


@dataclass(frozen=True, slots=True)
class CloseSession:
    """Close the session on the agent's side."""

    session: str


Ask: TypeAlias = NewSession | Prompt | Cancel | SetOption | CloseSession


# --- replies -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A session is open under the agent's id ``session``. ``None``: not reported."""

    session: str
    options: tuple[Option, ...] | None = None
    commands: tuple[Command, ...] | None = None


@dataclass(frozen=True, slots=True)
class PromptTaken:
    """The agent took the prompt (ACP 2) as the message ``message``, or (ACP 1, ``None``)
    has worked it off; the turn's end is told by ``TurnChanged``.
    """

    message: str | None = None


@dataclass(frozen=True, slots=True)
class OptionsReplied:
    """The option was set; the complete list, when the agent gives one."""

    options: tuple[Option, ...] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """It was done, and there is nothing more to say."""


Reply: TypeAlias = SessionOpened | PromptTaken | OptionsReplied | Done


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the agent or the connection put it.

    ``code`` is the JSON-RPC code, which agents also fill with numbers of their own;
    ``message`` is one line; ``detail`` is the rest, for the log.
    """

    code: int
    message: str
    detail: str | None = None


# --- what an agent is told in answer to its requests ----------------------------------


@dataclass(frozen=True, slots=True)
class Selected:
    """The user chose this option of a permission request."""

    option: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The question was withdrawn, or its turn was cancelled."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file that the agent asked for."""

    text: str


Answer: TypeAlias = Selected | Cancelled | FileText | Done | Failure


# --- agents --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What an agent said of itself in ``initialize``.

    ``title`` is its name for people. ``embedded_context``: it takes resources with their
    contents in a prompt. ``can_close``: it knows how to close a session.
    ``withdraws_questions``: after a cancel it withdraws its own open questions, so that we
    need not answer them at once. ``protocol`` is for people to read.
    """

    name: str
    version: str
    protocol: int
    embedded_context: bool = False
    can_close: bool = False
    withdraws_questions: bool = False
    auth_methods: tuple[tuple[str, str], ...] = ()
    title: str | None = None
