"""What agents tell, ask and reply.

Positions inside events are zero-based code-point offsets or lines, converted at the rim.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from acpls.session.asks import AgentFacts, Failure, Reply
    from acpls.session.content import Choosable, Json, Subject
    from acpls.session.updates import ToolCallPatched, Update

RequestId: TypeAlias = int | str | None


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
    """An update of the session that the agent calls ``session``.

    ``raw`` is what it was made from, as it came, for whoever stores or forwards it; one
    message may make several updates, and some are made of none.
    """

    agent: str
    session: str
    update: Update
    raw: Json | None = None


@dataclass(frozen=True, slots=True)
class Notified:
    """The agent said something of a kind that we do not know, of one of its sessions or not."""

    agent: str
    method: str
    params: Any
    session: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of an ask was left out, since the agent cannot take it; ``what`` is one line."""

    agent: str
    what: str


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply to ask number ``ask``; ``raw`` is its result as it came."""

    agent: str
    ask: int
    reply: Reply
    raw: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AskFailed:
    """Ask number ``ask`` was answered with an error, or can no longer be answered."""

    agent: str
    ask: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent waits for the user's permission under its own request id; ``raw`` are the
    request's params as they came.

    ``call``: the tool call that it is about, as it stood in the request. ``session`` may be
    one that was never opened here, and works for one that was.
    """

    agent: str
    request: RequestId
    session: str
    title: str | None
    options: tuple[Choosable, ...]
    description: str | None = None
    subject: Subject = None
    raw: Any = field(default=None, compare=False)
    call: ToolCallPatched | None = None


@dataclass(frozen=True, slots=True)
class FormAsked:
    """The agent waits for values that the user fills in (``elicitation/create``, form).

    ``schema`` is its restricted JSON Schema, as it came. ``session`` is ``None`` when it is
    about one of our own asks, such as a login.
    """

    agent: str
    request: RequestId
    session: str | None
    message: str
    schema: Json
    tool_call: str | None = None


@dataclass(frozen=True, slots=True)
class LinkAsked:
    """The agent waits for the user to do something at a page (``elicitation/create``, url).

    ``link`` is the agent's id for it, by which ``LinkDone`` may say that it was done.
    """

    agent: str
    request: RequestId
    session: str | None
    message: str
    url: str
    link: str
    tool_call: str | None = None


@dataclass(frozen=True, slots=True)
class LinkDone:
    """What a link was for has been done."""

    agent: str
    link: str


@dataclass(frozen=True, slots=True)
class RequestWithdrawn:
    """The agent no longer waits for its request (``$/cancel_request``)."""

    agent: str
    request: RequestId


@dataclass(frozen=True, slots=True)
class AnswerLost:
    """The answer to a request of the agent did not leave for it any more: it is gone."""

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


AgentEvent: TypeAlias = (
    AgentStarting
    | AgentReady
    | AgentEnded
    | AgentMisspoke
    | SessionTold
    | Notified
    | LeftOut
    | Replied
    | AskFailed
    | QuestionAsked
    | FormAsked
    | LinkAsked
    | LinkDone
    | RequestWithdrawn
    | AnswerLost
    | FileReadAsked
    | FileWriteAsked
)
