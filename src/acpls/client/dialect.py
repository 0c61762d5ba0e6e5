"""What a connection needs of a protocol version: the ``Dialect``.

A dialect is a pure, deterministic translator. It is given messages in wire order and
makes events of them; it is given asks and answers and makes messages of them. It keeps
what its version needs remembered (version 1: the open prompt, ids it made up, modes).

Invariant: no I/O, no clock; a peer's fault is a ``Misfit``, never another exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import AgentFacts, Answer, Ask, Failure
    from acpls.session.content import Exit, Json


class Misfit(Exception):  # noqa: N818  a peer's fault, not an error of ours
    """A message does not have the shape that its method demands. ``str()`` is one line."""


@dataclass(frozen=True, slots=True)
class Call:
    """A message to the agent. ``events`` are what sending it means by itself."""

    method: str
    params: Json
    expects_reply: bool = True
    events: tuple[AgentEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """The response to a request of the agent: a result or a failure."""

    result: Any = None
    failure: Failure | None = None
    events: tuple[AgentEvent, ...] = ()


# --- client terminals (ACP 1 only); run by the rim itself, nothing in them is decided ----


@dataclass(frozen=True, slots=True)
class CreateTerminal:
    """Run a program (no shell); ``limit_bytes`` of output are kept, from the end."""

    session: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class TerminalCall:
    """``operation``: ``output``, ``wait_for_exit``, ``kill`` or ``release``."""

    operation: str
    session: str
    terminal: str


@dataclass(frozen=True, slots=True)
class TerminalCreated:
    """A terminal runs under this id."""

    terminal: str


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """What a terminal printed so far; ``exit`` is ``None`` while it runs."""

    text: str
    truncated: bool = False
    exit: Exit | None = None


@dataclass(frozen=True, slots=True)
class TerminalExited:
    """The answer to ``wait_for_exit``."""

    exit: Exit


TerminalRequest: TypeAlias = CreateTerminal | TerminalCall
TerminalAnswer: TypeAlias = TerminalCreated | TerminalOutput | TerminalExited


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request of the agent means: events, a terminal to serve, or a failure or
    ``result`` that answers it at once.
    """

    events: tuple[AgentEvent, ...] = ()
    terminal: TerminalRequest | None = None
    failure: Failure | None = None
    result: Json | None = None


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """Who we say we are in ``initialize``."""

    name: str
    version: str
    title: str = "acpls"


@dataclass(slots=True)
class OpenRequest:
    """A request of the agent that was not answered yet."""

    request: RequestId
    method: str
    session: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


class Dialect(Protocol):
    """One protocol version, for one agent."""

    version: int

    def initialize(self, client: ClientInfo) -> Call:
        """The ``initialize`` request in this version's shape."""

    def facts(self, result: object) -> AgentFacts:
        """What the result of ``initialize`` says. Raises ``Misfit``."""

    def say(self, ask: Ask) -> Call | Failure:
        """The message for an ask, or why this version or agent cannot say it."""

    def replied(self, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
        """The events of a result, ``Replied`` among them. Raises ``Misfit``."""

    def failed(self, number: int, ask: Ask, failure: Failure) -> tuple[AgentEvent, ...]:
        """The events of an error reply, ``AskFailed`` among them, or ``Replied`` where the
        error says that what was asked for is so already.
        """

    def told(self, method: str, params: object) -> tuple[AgentEvent, ...]:
        """The events of a notification; one of an unknown method is ``Notified``. Raises
        ``Misfit``.
        """

    def asked(self, request: RequestId, method: str, params: object) -> Asked:
        """What a request means. Unknown methods give a failure -32601. Raises ``Misfit``."""

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> Response:
        """The response to a request that ``asked`` let through, once."""
