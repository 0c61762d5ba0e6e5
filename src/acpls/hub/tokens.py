"""What the hub gives an effect to find its way back when the event comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acpls.events import Disk, RequestId
    from acpls.session.asks import Failure


@dataclass(frozen=True, slots=True)
class CancelDue:
    """The time that an agent has to confirm a cancel."""

    session: str
    turn: str | None


@dataclass(frozen=True, slots=True)
class NextPrompt:
    """A queued prompt may be sent, unless its agent turns out to be gone."""

    session: str


@dataclass(frozen=True, slots=True)
class AskDue:
    """The time that an agent has to reply to an ask, in seconds."""

    number: int
    limit_s: float


@dataclass(frozen=True, slots=True)
class NotReopened:
    """A session was not opened again, unless that was because its agent is gone."""

    session: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class ForLogin:
    """A program that logs in to an agent."""

    agent: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An ask failed for ``reason``: to be told, unless the end of its agent says so too."""

    agent: str
    reason: str
    message: str
    detail: str


@dataclass(frozen=True, slots=True)
class HeldChanges:
    """The time that document changes are held for a version that is missing before them."""

    uri: str


@dataclass(frozen=True, slots=True)
class ForAgent:
    """A file read or written because the agent asked for it."""

    agent: str
    request: RequestId
    session: str
    line: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class WrittenForAgent:
    """A file read again after it was written for the agent: only what it holds counts.

    ``before``: what the file held; ``started``: the text that the agent's edit began with.
    """

    agent: str
    request: RequestId
    session: str
    before: Disk
    started: str | None


@dataclass(frozen=True, slots=True)
class ForClaim:
    """A file read because a tool call claims to change it."""

    session: str
    tool_call: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A file read because the editor opened it, to know whether ``text`` is saved."""

    uri: str
    text: str


@dataclass(frozen=True, slots=True)
class InStep:
    """An open document without unsaved changes is brought in step with its file.

    ``tries``: how often the editor has failed to do so.
    """

    path: str
    tries: int = 0


@dataclass(frozen=True, slots=True)
class EditDue:
    """The time within which an edit that the editor says it made is to be seen."""

    edit: int


@dataclass(frozen=True, slots=True)
class ForVerdict:
    """A step of carrying out the verdict that is at work on a file."""

    path: str


@dataclass(frozen=True, slots=True)
class ForConversation:
    """A step of keeping a session's conversation document up to date.

    ``ticket``: the command that opens the document; ``show``: to the user, then.
    ``quotes``: how many of the quotes are in what is written, ``sent``: the draft that went
    out and is part of it.
    """

    session: str
    ticket: object = None
    show: bool = False
    quotes: int = 0
    sent: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The file that keeps conversations out of version control."""
