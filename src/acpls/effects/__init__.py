"""Everything that the hub can want done: the closed union that the rims perform.

Invariant: frozen values only; the hub makes them, the rims alone perform them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acpls.effects.files import (
    CompareWithHead,
    LoadReview,
    ReadFile,
    ReadStored,
    StoreReview,
    SyncFiles,
    WatchFiles,
    WriteFile,
)
from acpls.effects.permissions import KeepPermission, ReadPermissions
from acpls.effects.places import (
    KeepChoice,
    LoadChoices,
    LookAt,
    ReplyLinks,
    ReplyPlaces,
    ShowFollow,
    Spot,
)

if TYPE_CHECKING:
    from acpls.events import RequestId
    from acpls.session.asks import Answer, Ask
    from acpls.session.state import Part
    from acpls.settings import AgentSpec
    from acpls.text.diff import Edit

# What is defined elsewhere and belongs here all the same.
__all__ = [
    "CompareWithHead",
    "KeepChoice",
    "KeepPermission",
    "LoadChoices",
    "LoadReview",
    "LookAt",
    "ReadFile",
    "ReadPermissions",
    "ReadStored",
    "ReplyLinks",
    "ReplyPlaces",
    "ShowFollow",
    "Spot",
    "StoreReview",
    "SyncFiles",
    "WatchFiles",
    "WriteFile",
]


# --- towards agents ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartAgent:
    """Start the agent's process, unless it is running, and negotiate the version."""

    agent: str
    spec: AgentSpec


@dataclass(frozen=True, slots=True)
class EndAgent:
    """End the agent's process and everything it started."""

    agent: str


@dataclass(frozen=True, slots=True)
class SendAsk:
    """Ask the agent; asks of an agent that is still starting wait in order."""

    agent: str
    number: int
    ask: Ask


@dataclass(frozen=True, slots=True)
class WithdrawAsk:
    """Wait no longer for the reply to an ask, and tell the agent; nothing follows."""

    agent: str
    number: int


@dataclass(frozen=True, slots=True)
class SendAnswer:
    """Answer a request of the agent."""

    agent: str
    request: RequestId
    answer: Answer


# --- towards the editor --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EditBuffer:
    """Edit an open document; ``EditApplied`` or ``EditRefused`` with this number follows.

    ``edits`` do not overlap and are offsets into ``text``, the document at ``version``.
    ``versioned``: the edit names the version, so that editors can refuse a stale one.
    """

    number: int
    uri: str
    version: int
    text: str
    edits: tuple[Edit, ...]
    versioned: bool = True


@dataclass(frozen=True, slots=True)
class ChangeFile:
    """Let the editor delete a file, or rename it to ``new_uri``, so that it takes its
    documents along; ``EditApplied`` or ``EditRefused`` with this number follows, and neither
    proves anything.
    """

    number: int
    uri: str
    new_uri: str | None = None


@dataclass(frozen=True, slots=True)
class SaveDocument:
    """Let the editor save an open document; ``DocumentSaved`` with the token follows."""

    token: object
    uri: str


@dataclass(frozen=True, slots=True)
class ShowDocument:
    """Show a document to the user; lines are zero-based, ``end`` included."""

    uri: str
    line: int | None = None
    end: int | None = None
    take_focus: bool = False


@dataclass(frozen=True, slots=True)
class OpenLink:
    """Open a page (http or https) in the user's browser."""

    url: str


@dataclass(frozen=True, slots=True)
class RunProgram:
    """Run a program where the user can type into it; ``ProgramRan`` with the token follows.

    ``env`` goes over the environment of whoever runs it.
    """

    token: object
    title: str
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class PutQuestion:
    """Put a question to the user; ``QuestionPut`` follows unless it is settled before.

    ``dialog``: as a dialog, though the editor has means of its own.
    """

    question: str
    dialog: bool = False


@dataclass(frozen=True, slots=True)
class QuestionSettled:
    """Close whatever shows the question; ``by``: editor, rule, agent, cancel."""

    question: str
    by: str
    option: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyCommand:
    """The answer to a command: a JSON value."""

    ticket: object
    value: Any


@dataclass(frozen=True, slots=True)
class ReplyLog:
    """The answer to a command: the last ``lines`` lines of an agent's log."""

    ticket: object
    agent: str
    lines: int


@dataclass(frozen=True, slots=True)
class FailCommand:
    """A command failed: one line for the user, and where there is one the field at fault."""

    ticket: object
    code: int
    message: str
    detail: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class TellUser:
    """Something the user should know: ``error`` is shown, all else goes to the log."""

    level: Literal["error", "warning", "info"]
    message: str
    detail: str = ""


# --- what changed, for the views -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShowSession:
    """Something of a session changed: ``what`` is a part of it, ``key`` names which one.

    The views read the session when they tell the editor, so that many changes of one
    thing cost one message.
    """

    session: str
    what: Part
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ShowReview:
    """The hunks of a file changed."""

    path: str


@dataclass(frozen=True, slots=True)
class ShowQuestions:
    """The set of open questions changed."""


@dataclass(frozen=True, slots=True)
class ShowPlace:
    """The agent is at another place; ``move``: the editor should go there.

    Rows are zero-based, ``end`` is the last one; ``None`` where only the file is known.
    """

    session: str
    path: str
    line: int | None
    end: int | None
    reason: str
    tool_call: str | None
    move: bool


@dataclass(frozen=True, slots=True)
class ShowAgent:
    """An agent's state changed: ``starting``, ``ready``, ``needsLogin``, ``loggingIn``,
    ``ended``.
    """

    agent: str
    state: str
    message: str | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class After:
    """Handle ``TimePassed(token)`` after so many seconds."""

    seconds: float
    token: object


Effect: TypeAlias = (
    StartAgent
    | EndAgent
    | SendAsk
    | WithdrawAsk
    | SendAnswer
    | ReadFile
    | LookAt
    | KeepChoice
    | LoadChoices
    | WriteFile
    | SyncFiles
    | WatchFiles
    | CompareWithHead
    | ReadStored
    | StoreReview
    | LoadReview
    | ReadPermissions
    | KeepPermission
    | EditBuffer
    | ChangeFile
    | SaveDocument
    | ShowDocument
    | OpenLink
    | RunProgram
    | PutQuestion
    | QuestionSettled
    | ReplyCommand
    | ReplyLog
    | ReplyLinks
    | ReplyPlaces
    | FailCommand
    | TellUser
    | ShowSession
    | ShowReview
    | ShowQuestions
    | ShowFollow
    | ShowPlace
    | ShowAgent
    | After
)
