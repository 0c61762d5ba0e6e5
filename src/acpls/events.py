"""Everything that can happen: the closed union that the hub handles.

Times are seconds of a monotonic clock and are given to ``Hub.handle`` beside the event.
Positions inside events are zero-based code-point offsets or lines, converted at the rim.

Invariant: frozen values only; the rims make them, the hub alone reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.session.asks import AgentFacts, Failure, Reply
    from acpls.session.content import Choosable, Subject
    from acpls.session.updates import Update
    from acpls.text.buffers import ContentChange

RequestId: TypeAlias = int | str | None


# --- from the agent rim --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AgentStarting:
    """The agent's process is being started; ``doing`` says in words what is waited for."""

    agent: str
    doing: str


@dataclass(frozen=True, slots=True)
class AgentReady:
    """The agent has answered ``initialize``; asks sent before are on their way now."""

    agent: str
    facts: AgentFacts


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """The agent's process is gone, or could not be started.

    ``reason`` is one line for the user, with the agent's last words when it had any;
    ``detail`` is the rest. ``wanted``: we ended it ourselves.
    """

    agent: str
    reason: str
    exit_code: int | None = None
    detail: str = ""
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class AgentMisspoke:
    """The agent sent something that does not fit the protocol; it was skipped."""

    agent: str
    problem: str


@dataclass(frozen=True, slots=True)
class SessionTold:
    """An update of the session that the agent calls ``session``."""

    agent: str
    session: str
    update: Update


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply to ask number ``ask``."""

    agent: str
    ask: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class AskFailed:
    """Ask number ``ask`` was answered with an error, or can no longer be answered."""

    agent: str
    ask: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent waits for the user's permission under its own request id."""

    agent: str
    request: RequestId
    session: str
    title: str | None
    options: tuple[Choosable, ...]
    description: str | None = None
    subject: Subject = None


@dataclass(frozen=True, slots=True)
class RequestWithdrawn:
    """The agent no longer waits for its request (``$/cancel_request``)."""

    agent: str
    request: RequestId


@dataclass(frozen=True, slots=True)
class FileReadAsked:
    """The agent asks for a file's text; ``line`` is one-based, ``limit`` counts lines."""

    agent: str
    request: RequestId
    session: str
    path: str
    line: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class FileWriteAsked:
    """The agent asks that a file hold exactly this text."""

    agent: str
    request: RequestId
    session: str
    path: str
    text: str


# --- from the editor rim -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EditorReady:
    """The editor is initialised. ``roots`` are absolute paths, the first one the main root.

    ``sessions``, ``questions``, ``reviews``, ``places``: what it announced for itself
    (docs/protocol.md, handshake). ``dialogs``: it has dialogs; ``gentle_dialogs``: they are
    known not to eat what the user types.
    """

    roots: tuple[str, ...]
    sessions: bool = False
    questions: bool = False
    reviews: bool = False
    places: bool = False
    focus: bool = False
    dialogs: bool = False
    gentle_dialogs: bool = False


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Raw settings, lowest precedence first; what is wrong in them becomes a warning."""

    layers: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BufferOpened:
    """The editor opened a document."""

    uri: str
    version: int
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class BufferChanged:
    """The editor changed a document; each change applies to the result of the one before."""

    uri: str
    version: int
    changes: tuple[ContentChange, ...]


@dataclass(frozen=True, slots=True)
class BufferSaved:
    """The editor wrote a document to disk."""

    uri: str


@dataclass(frozen=True, slots=True)
class BufferClosed:
    """The editor no longer owns a document."""

    uri: str


@dataclass(frozen=True, slots=True)
class FocusChanged:
    """The document the user looks at, and whether they are typing in it."""

    uri: str | None
    typing: bool


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """A command of the editor's user, with checked arguments.

    ``ticket`` names the request that waits for the answer; ``None``: nobody waits.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ticket: object = None


@dataclass(frozen=True, slots=True)
class CommandAbandoned:
    """The editor no longer waits for the command with this ticket."""

    ticket: object


@dataclass(frozen=True, slots=True)
class QuestionPut:
    """What came of putting a question to the user: the option chosen, or ``None`` when it
    was dismissed, could not be shown, or was answered with an error.
    """

    question: str
    option: str | None


@dataclass(frozen=True, slots=True)
class EditApplied:
    """The editor says that it made edit number ``edit``."""

    edit: int


@dataclass(frozen=True, slots=True)
class EditRefused:
    """The editor did not make edit number ``edit``, or did not answer in time."""

    edit: int
    reason: str


# --- from the world ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Disk:
    """What a file holds on disk.

    ``text`` is decoded UTF-8 with every line ending as it is and without a byte order
    mark; ``None`` when there is no file, or, with ``problem``, when it cannot be read as
    text. ``inside``: with its symbolic links resolved it lies in one of the roots that
    the effect named; a file outside is not read.
    """

    path: str
    text: str | None
    problem: str | None = None
    bom: bool = False
    inside: bool = True


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file was read for the purpose ``token``."""

    token: object
    disk: Disk


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file was written, or removed, for the purpose ``token``; ``problem``: it was not.

    ``before`` is what the file held just before.
    """

    token: object
    path: str
    before: Disk
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A time limit asked for by ``After`` has passed."""

    token: object


Event: TypeAlias = (
    AgentStarting
    | AgentReady
    | AgentEnded
    | AgentMisspoke
    | SessionTold
    | Replied
    | AskFailed
    | QuestionAsked
    | RequestWithdrawn
    | FileReadAsked
    | FileWriteAsked
    | EditorReady
    | SettingsChanged
    | BufferOpened
    | BufferChanged
    | BufferSaved
    | BufferClosed
    | FocusChanged
    | CommandGiven
    | CommandAbandoned
    | QuestionPut
    | EditApplied
    | EditRefused
    | FileRead
    | FileWritten
    | TimePassed
)

AgentEvent: TypeAlias = (
    AgentStarting
    | AgentReady
    | AgentEnded
    | AgentMisspoke
    | SessionTold
    | Replied
    | AskFailed
    | QuestionAsked
    | RequestWithdrawn
    | FileReadAsked
    | FileWriteAsked
)
