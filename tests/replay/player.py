"""Plays a recording into a real connection, and notes what comes of each line.

The agent's process is a stand-in that says what the agent said. What the recording client
asked is asked by ``Connection.send_ask``, so the numbers of requests differ from the
recorded ones; in the agent's replies they are put right. All else is given as recorded.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel
from asking import Junk, answer_of, ask_of
from recorded import Line, Remark, read
from sessions import Sessions

from acpls.client.connection import Connection, as_failure
from acpls.client.crossing import Crossing
from acpls.client.dialect import ClientInfo, Misfit
from acpls.client.negotiation import make_dialect
from acpls.client.terminals import Ground
from acpls.session import asks
from acpls.text.pathmap import PathMap
from acpls.wire import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acpls.client.dialect import Call, Dialect, TerminalAnswer, TerminalRequest
    from acpls.client.memory import Version
    from acpls.client.terminals import Terminals
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import AgentFacts, Answer

LIMIT_BYTES: Final = 32 * 1024 * 1024
CLIENT: Final = ClientInfo("acpls", "0")


@dataclass(slots=True)
class Step:
    """One line, and what came of it.

    ``deed``: what acpls did where the recording client said something, or with a line of
    the agent's besides making events. ``alibi``: why a line of the agent's that led to no
    event is not lost.
    """

    line: Line | Remark
    deed: str = ""
    alibi: str = ""
    events: list[AgentEvent] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Process:
    """One process of the agent, from its start to its end."""

    facts: AgentFacts | None = None
    steps: list[Step] = field(default_factory=list)
    sessions: Sessions = field(default_factory=Sessions)
    # The asks that were never replied to, by number.
    unanswered: list[asks.Ask] = field(default_factory=list)


async def play(name: str) -> list[Process]:
    """Play a recording; it may hold more than one process of its agent."""
    agent = name.split("/", maxsplit=1)[0]
    processes = []
    async with anyio.create_task_group() as tasks:
        for part in _parts(read(name)):
            player = _Player(agent, part, tasks)
            await player.play()
            processes.append(player.process)
        tasks.cancel_scope.cancel()
    return processes


def _parts(lines: list[Line | Remark]) -> Iterator[list[Line | Remark]]:
    part: list[Line | Remark] = []
    for line in lines:
        part.append(line)
        if isinstance(line, Remark) and line.ends:
            yield part
            part = []
    if part:
        yield part


class _Player:
    """The client of one process; to the connection it is that process as well."""

    def __init__(self, agent: str, lines: list[Line | Remark], tasks: anyio.abc.TaskGroup) -> None:
        self._agent = agent
        self._lines = iter(lines)
        self._tasks = tasks
        self.process = Process()
        self._step = Step(Remark("the start"))
        self._connection = Connection(
            agent,
            _Played(self),
            tasks,
            self._emit,
            self._log,
            crossing=Crossing(agent, PathMap(), lambda *_: None),
            ground=Ground({}, None, None),
            limit_bytes=LIMIT_BYTES,
        )
        terminals: Terminals = _Recorded(self)  # type: ignore[assignment]  # nothing is run
        self._connection._terminals = terminals
        self._dialect: Dialect | None = None
        self._begun = False
        self._initialize: int | None = None
        # Numbers of requests: of the recording client's, and ours.
        self._numbers: dict[RequestId, int] = {}
        self._raw: dict[RequestId, str] = {}
        self._asked: dict[int, asks.Ask] = {}
        self._methods: dict[RequestId, str] = {}
        self._terminal_answers: dict[RequestId, Callable[[Answer | TerminalAnswer], None]] = {}

    async def play(self) -> None:
        """Play all lines."""
        self._tasks.start_soon(self._connection.write)
        while not self._begun:
            message = await self._connection.receive()
            if message is None:
                return
            self._before_begin(message)
        await self._connection.deliver()
        self.process.unanswered = [x for _, x in self._connection._pending.values()]

    # --- the start: what negotiation does ----------------------------------------------

    def _before_begin(self, message: jsonrpc.Message) -> None:
        match message:
            case jsonrpc.Result(id=number, result=result) if number == self._initialize:
                self._agree(result)
            case jsonrpc.Error(id=number) if number == self._initialize:
                self._step.alibi = f"initialize was refused: {as_failure(message).message}"
            case jsonrpc.Result() | jsonrpc.Error():
                self._connection.note(f"dropped a message before initialize: {message}")
                self._step.alibi = "a reply to what was sent before initialize"
            case _:
                self._connection.note(f"dropped a message before initialize: {message}")
                self._step.alibi = "said before initialize"

    def _agree(self, result: Any) -> None:
        said = result.get("protocolVersion")
        version: Version = 1
        if said == 2:
            if any(isinstance(result.get(x), dict) for x in ("info", "capabilities")):
                version = 2
            else:
                # An echo of the number; asked for version 1 it would say so.
                self._step.deed = "echoed ACP 2 without speaking it"
                result = {**result, "protocolVersion": 1}
        dialect = make_dialect(version, self._agent)
        try:
            self.process.facts = dialect.facts(result)
        except Misfit as misfit:
            self._step.alibi = f"its answer does not fit: {misfit}"
            return
        self._step.alibi = f"initialize was answered: ACP {version}"
        self._dialect, self._begun = dialect, True
        self._connection.begin(dialect)

    # --- the process ---------------------------------------------------------------------

    async def said(self) -> bytes:
        """What the agent says next, once the client has done what came before."""
        for line in self._lines:
            self._step = Step(line)
            self.process.sessions.step = len(self.process.steps)
            self.process.steps.append(self._step)
            if isinstance(line, Remark):
                continue
            if line.direction == "in":
                return self._heard(line)
            self._say(line)
            while self._connection._outbox._unsent:
                await anyio.lowlevel.checkpoint()
        self._step = Step(Remark("the recording ends"))
        return b""

    def read(self, data: bytes) -> None:
        """What acpls said to the agent."""
        self._step.sent.append(json.loads(data))

    def _heard(self, line: Line) -> bytes:
        message = line.message
        if message is None:
            return line.text.encode() + b"\n"
        if "method" in message:
            if "id" in message:
                self._methods[message["id"]] = message["method"]
        else:
            message = {**message, "id": self._ours(message["id"])}
        return jsonrpc.encode(message)

    def _ours(self, recorded: RequestId) -> RequestId:
        if recorded in self._raw:
            self._step.alibi = f"a reply to {self._raw[recorded]}"
        elif recorded is None or recorded not in self._numbers:
            self._step.alibi = "a reply to a line that is no request of acpls"
            return recorded
        return self._numbers[recorded]

    # --- the client ----------------------------------------------------------------------

    def _say(self, line: Line) -> None:
        message = line.message
        if message is None:
            self._step.deed = f"left out, since it is no message: {line.text!r}"
        elif "method" not in message:
            self._answer(message)
        elif message["method"] == "initialize" and not self._begun:
            self._ask_initialize(message)
        else:
            self._ask(message)

    def _ask_initialize(self, message: dict[str, Any]) -> None:
        version: Version = 2 if message["params"].get("protocolVersion") == 2 else 1
        call = make_dialect(version, self._agent).initialize(CLIENT)
        self._initialize = self._send(message, call)
        self._step.deed = f"initialize, ACP {version}"

    def _ask(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params")
        ask: asks.Ask | Junk
        if not self._begun:
            ask = Junk("initialize is not answered yet")
        else:
            ask = ask_of(method, params, self.process.sessions.by_native)
        if isinstance(ask, asks.Cancel) == ("id" in message) and not isinstance(ask, Junk):
            ask = Junk("a request in place of a notification, or the other way round")
        if isinstance(ask, Junk):
            self._send_raw(message, ask.why)
            return
        number = self.process.sessions.asked(ask)
        expected = self._connection._next_id
        self._connection.send_ask(number, ask)
        if isinstance(ask, asks.Cancel):
            self._step.deed = f"ask {number}"
        elif self._connection._next_id == expected:
            # It was refused by the dialect, so only the recorded reply is left to take in.
            self._send_raw(message, "acpls does not ask this of the agent")
        else:
            self._step.deed = f"ask {number}"
            self._numbers[message["id"]] = expected

    def _send(self, message: dict[str, Any], call: Call) -> int:
        number = self._connection.send_request(call.method, call.params)
        self._numbers[message["id"]] = number
        return number

    def _send_raw(self, message: dict[str, Any], why: str) -> None:
        method, params = message["method"], message.get("params")
        self._step.deed = f"sent as it is: {why}"
        if "id" in message:
            number = self._connection.send_request(method, params)
            self._numbers[message["id"]] = number
            self._raw[message["id"]] = f"{method}, which was sent as it is"
        else:
            self._connection.send(jsonrpc.notification(method, params))

    def _answer(self, message: dict[str, Any]) -> None:
        request = message["id"]
        method = self._methods.get(request)
        if method is None or request not in self._connection._open:
            self._step.deed = "left out, since no such request of the agent's is open"
            return
        answer = answer_of(method, message)
        self._step.deed = f"answered {method}"
        if request in self._terminal_answers:
            self._terminal_answers.pop(request)(answer)
        else:
            self._connection.answer(request, answer)

    def serve_terminal(
        self, wanted: TerminalRequest, answer: Callable[[Answer | TerminalAnswer], None]
    ) -> None:
        """The connection wants a terminal served, for the request that is being read."""
        line = self._step.line
        assert isinstance(line, Line)
        assert line.message is not None
        self._terminal_answers[line.message["id"]] = answer
        self._step.deed = f"request {line.message['id']!r}: {wanted}"
        self._step.alibi = "a request for a terminal, which the rim serves by itself"

    # --- what comes of it ----------------------------------------------------------------

    def _emit(self, event: AgentEvent) -> None:
        self._step.events.append(event)
        self.process.sessions.take(event)

    def _log(self, line: str) -> None:
        # A reply to what was sent as it is; the step's alibi says so.
        if not line.startswith("acpls: dropped a reply to the unknown request"):
            self._step.logs.append(line)


@dataclass(frozen=True, slots=True)
class _Played:
    """The agent's process, as far as a connection sees it: a ``Transport``."""

    player: _Player

    async def receive(self) -> bytes:
        return await self.player.said()

    async def send(self, data: bytes) -> None:
        self.player.read(data)

    def stop_reading(self) -> None:
        raise AssertionError("no agent that was recorded is to be ended for what it sent")

    async def exited(self, within_s: float | None = None) -> int | None:
        return None

    async def deaf(self) -> None:
        await anyio.sleep_forever()

    def last_words(self) -> list[str]:
        return []

    async def end(self, grace_s: float = 1.0) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Terminals in which nothing runs: what they answer was recorded."""

    player: _Player

    def perform(
        self,
        wanted: TerminalRequest,
        answer: Callable[[Answer | TerminalAnswer], None],
        folder: str | None,
    ) -> None:
        """See ``Terminals``."""
        self.player.serve_terminal(wanted, answer)
