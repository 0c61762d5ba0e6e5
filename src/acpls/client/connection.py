"""One agent: its process, its messages in order, and the dialect they are told in.

Reading: bytes, frames, dialect, events, ``emit``; strictly in wire order and all in the
loop thread. Writing: a queue that plain functions fill and one task empties, so that
messages leave in the order of the calls and a slow reader never blocks us.

Invariant: nothing an agent sends raises out of here.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from typing import TYPE_CHECKING, Any

import anyio

from acpls.client import process
from acpls.client.dialect import Misfit
from acpls.client.lastwords import how_it_ended, telling_line
from acpls.client.terminals import Terminals
from acpls.events import AgentEnded, AgentMisspoke, AskFailed, Replied, RequestWithdrawn
from acpls.session.asks import Failure, NewSession, SessionOpened
from acpls.wire import jsonrpc
from acpls.wire.jsonrpc import Bad, Error, Message, Noise, Notification, Request, Result, TooLong

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls.client.dialect import Asked, Dialect, TerminalAnswer, TerminalRequest
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import Answer, Ask
    from acpls.settings import AgentSpec

_MIB = 1024 * 1024
_MAX_BAD_LINES = 1000
_MAX_TOLD_NOISE = 3
_MAX_TOLD_FAULTS = 50
_MAX_UNSENT_BYTES = 128 * _MIB
_REQUEST_CANCELLED = -32800
_DETAIL_LINES = 20
_DETAIL_CHARACTERS = 4000

_logger = logging.getLogger(__name__)


class Connection:
    """A running agent process and the JSON-RPC conversation with it.

    ``emit`` takes the events, in order; it must not block. ``log`` takes lines for the
    agent's log. Made by ``open_connection``.
    """

    def __init__(
        self,
        agent: str,
        child: process.Child,
        tasks: TaskGroup,
        emit: Callable[[AgentEvent], None],
        log: Callable[[str], None],
        *,
        limit_bytes: int,
        watch: process.Watch | None = None,
        cwd: str | None = None,
    ) -> None:
        self.agent = agent
        self._child = child
        self._emit = emit
        self._log = log
        self._framer = jsonrpc.Framer(limit_bytes)
        self._frames: deque[jsonrpc.Frame] = deque()
        self._output_ended = False
        self._fault: str | None = None
        self._bad_lines = 0
        self._told_noise = 0
        self._told_faults = 0
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0
        self._to_send = anyio.Event()
        self._dialect: Dialect | None = None
        self._next_id = 1
        self._pending: dict[RequestId, tuple[int, Ask]] = {}
        self._open: set[RequestId] = set()
        self._terminal_requests: dict[RequestId, object] = {}
        self._folders: dict[str, str] = {}
        self._terminals = Terminals(agent, tasks, self._deliver_event, watch=watch, cwd=cwd)

    # --- messages ---------------------------------------------------------------------

    async def receive(self) -> Message | None:
        """Wait for the next message; what is none is dealt with here. ``None``: the end."""
        while self._fault is None:
            while self._frames:
                message = self._sift(self._frames.popleft())
                if message is not None:
                    return message
                if self._fault is not None:
                    return None
            if self._output_ended:
                return None
            data = await self._child.receive()
            self._output_ended = not data
            self._frames.extend(self._framer.feed(data) if data else self._framer.end())
        return None

    def send_request(self, method: str, params: Any) -> int:
        """Queue a request of the connection's own and give its id."""
        number, self._next_id = self._next_id, self._next_id + 1
        self.send(jsonrpc.request(number, method, params))
        return number

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message; it leaves after those queued before."""
        line = jsonrpc.encode(message)
        self._unsent.append(line)
        self._unsent_bytes += len(line)
        self._to_send.set()
        if self._unsent_bytes > _MAX_UNSENT_BYTES and self._fault is None:
            self._end_for(f"it left {_MAX_UNSENT_BYTES // _MIB} MiB of messages unread")

    async def write(self) -> None:
        """Write the queue out until the agent no longer reads. Runs as a task."""
        try:
            while True:
                while self._unsent:
                    line = self._unsent.popleft()
                    await self._child.send(line)
                    self._unsent_bytes -= len(line)
                self._to_send = anyio.Event()
                await self._to_send.wait()
        except process.ChildGone:
            self._unsent.clear()
            self._unsent_bytes = 0

    def note(self, line: str) -> None:
        """Write a line to the agent's log."""
        self._log(f"acpls: {line}"[:500])

    # --- asks and answers -------------------------------------------------------------

    def begin(self, dialect: Dialect) -> None:
        """From now on messages are understood as ``dialect`` does."""
        self._dialect = dialect

    async def deliver(self) -> None:
        """Deliver everything the agent says, until it says no more."""
        while (message := await self.receive()) is not None:
            match message:
                case Request():
                    self._requested(message)
                case Notification():
                    self._notified(message)
                case _:
                    self._replied(message)

    def send_ask(self, number: int, ask: Ask) -> None:
        """Send an ask; its reply, or ``AskFailed``, is emitted when it comes."""
        call = self._spoken().say(ask)
        if isinstance(call, Failure):
            self._emit(AskFailed(self.agent, number, call))
            return
        if call.expects_reply:
            self._pending[self.send_request(call.method, call.params)] = (number, ask)
        else:
            self.send(jsonrpc.notification(call.method, call.params))
        self._emit_all(call.events)

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> None:
        """Answer a request of the agent; a second answer is ignored."""
        if request not in self._open:
            self._log(f"acpls: no request {request!r} is open; its answer was dropped")
            return
        self._open.discard(request)
        self._terminal_requests.pop(request, None)
        response = self._spoken().answer(request, answer)
        if response.failure is None:
            self.send(jsonrpc.result(request, response.result))
        else:
            self.send(jsonrpc.error(request, response.failure.code, response.failure.message))
        self._emit_all(response.events)

    def fail_pending(self, reason: str) -> None:
        """Fail every ask that is still without a reply."""
        pending, self._pending = self._pending, {}
        for number, ask in pending.values():
            self._fail(number, ask, Failure(jsonrpc.INTERNAL_ERROR, reason))

    # --- the end ----------------------------------------------------------------------

    async def ending(self) -> AgentEnded:
        """Say why the output ended, with the last words; waits a moment for the exit."""
        if self._fault is not None:
            return AgentEnded(
                self.agent, f"{self.agent} was ended: {self._fault}", None, self._tail()
            )
        exit_code = await self._child.exited(within_s=1.0)
        how = "closed its output" if exit_code is None else how_it_ended(exit_code)
        words = telling_line(self._child.last_words())
        reason = f"{self.agent} {how}" + (f": {words}" if words else "")
        return AgentEnded(self.agent, reason, exit_code, self._tail())

    async def aclose(self, grace_s: float = 1.0) -> None:
        """End the agent and everything it or its terminals started."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._terminals.aclose)
                tasks.start_soon(self._child.end, grace_s)

    def _tail(self) -> str:
        return "\n".join(self._child.last_words()[-_DETAIL_LINES:])

    def _end_for(self, fault: str) -> None:
        self._fault = fault
        self._log(f"acpls: {fault}")
        self._child.stop_reading()

    # --- incoming ---------------------------------------------------------------------

    def _sift(self, frame: jsonrpc.Frame) -> Message | None:
        match frame:
            case TooLong():
                limit = f"{frame.limit_bytes / _MIB:g} MiB"
                self._end_for(f"it sent a line longer than the limit of {limit}")
            case Noise():
                self._log(f"not a message: {frame.text}")
                self._told_noise += 1
                if self._told_noise <= _MAX_TOLD_NOISE:
                    self._emit(AgentMisspoke(self.agent, f"not a message: {frame.text}"))
                self._count_bad_line()
            case Bad():
                self._misspoke(f"bad message ({frame.problem}): {frame.text}")
                if frame.replies:
                    self._replied_badly(frame)
                else:
                    self.send(jsonrpc.error(frame.id, frame.code, frame.problem))
                self._count_bad_line()
            case _:
                self._bad_lines = 0
                return frame
        return None

    def _count_bad_line(self) -> None:
        self._bad_lines += 1
        if self._bad_lines > _MAX_BAD_LINES and self._fault is None:
            self._end_for(f"it sent more than {_MAX_BAD_LINES} lines in a row that are no messages")

    def _requested(self, message: Request) -> None:
        if message.id in self._open:
            self._misspoke(f"request id {message.id!r} is in use; {message.method} was skipped")
            return
        try:
            asked = self._spoken().asked(message.id, message.method, message.params)
        except Misfit as misfit:
            self._misspoke(f"{message.method}: {misfit}")
            self.send(jsonrpc.error(message.id, jsonrpc.INVALID_PARAMS, str(misfit)))
        except Exception as bug:  # noqa: BLE001  one message that trips us must not end the agent
            self._tripped(message.method, bug)
            self.send(jsonrpc.error(message.id, jsonrpc.INTERNAL_ERROR, "internal error"))
        else:
            self._accept(message, asked)

    def _accept(self, message: Request, asked: Asked) -> None:
        if asked.failure is not None:
            self._log(f"acpls: refused {message.method}: {asked.failure.message}")
            self.send(jsonrpc.error(message.id, asked.failure.code, asked.failure.message))
        else:
            self._open.add(message.id)
        self._emit_all(asked.events)
        if asked.terminal is not None:
            self._run_terminal(message.id, asked.terminal)

    def _run_terminal(self, request: RequestId, wanted: TerminalRequest) -> None:
        # The agent may withdraw this request and use its id again.
        mark = self._terminal_requests[request] = object()

        def answer(answer: Answer | TerminalAnswer) -> None:
            if self._terminal_requests.get(request) is mark:
                self.answer(request, answer)

        self._terminals.perform(wanted, answer, self._folders.get(wanted.session))

    def _notified(self, message: Notification) -> None:
        try:
            events = self._spoken().told(message.method, message.params)
        except Misfit as misfit:
            self._misspoke(f"{message.method}: {misfit}")
        except Exception as bug:  # noqa: BLE001  see above
            self._tripped(message.method, bug)
        else:
            self._emit_all(events)

    def _replied(self, message: Result | Error) -> None:
        pending = self._pending.pop(message.id, None)
        if pending is None:
            self._log(f"acpls: dropped a reply to the unknown request {message.id!r}")
            return
        number, ask = pending
        if isinstance(message, Error):
            self._fail(number, ask, as_failure(message))
            return
        try:
            events = self._spoken().replied(number, ask, message.result)
        except Misfit as misfit:
            self._misspoke(f"reply: {misfit}")
            problem = f"{self.agent} sent a reply that does not fit: {misfit}"
            self._fail(number, ask, Failure(jsonrpc.INTERNAL_ERROR, problem))
            return
        except Exception as bug:  # noqa: BLE001  see above
            self._tripped("a reply", bug)
            self._fail(number, ask, Failure(jsonrpc.INTERNAL_ERROR, "internal error in acpls"))
            return
        self._remember_folder(ask, events)
        self._emit_all(events)

    def _replied_badly(self, frame: Bad) -> None:
        pending = self._pending.pop(frame.id, None)
        if pending is not None:
            problem = f"{self.agent} sent a broken reply: {frame.problem}"
            self._fail(*pending, Failure(jsonrpc.INTERNAL_ERROR, problem))

    def _fail(self, number: int, ask: Ask, failure: Failure) -> None:
        self._emit_all(self._spoken().failed(number, ask, failure))

    def _remember_folder(self, ask: Ask, events: tuple[AgentEvent, ...]) -> None:
        if not isinstance(ask, NewSession):
            return
        for event in events:
            if isinstance(event, Replied) and isinstance(event.reply, SessionOpened):
                self._folders[event.reply.session] = ask.cwd

    # --- outgoing events --------------------------------------------------------------

    def _emit_all(self, events: tuple[AgentEvent, ...]) -> None:
        for event in events:
            self._deliver_event(event)

    def _deliver_event(self, event: AgentEvent) -> None:
        if isinstance(event, RequestWithdrawn) and event.request in self._terminal_requests:
            self.answer(event.request, Failure(_REQUEST_CANCELLED, "cancelled"))
            return
        self._emit(event)

    def _misspoke(self, problem: str) -> None:
        self._log(f"fault: {problem}")
        self._told_faults += 1
        if self._told_faults <= _MAX_TOLD_FAULTS:
            self._emit(AgentMisspoke(self.agent, problem))

    def _tripped(self, over: str, bug: Exception) -> None:
        _logger.error("%s: could not take in %s", self.agent, over, exc_info=bug)
        self._log(f"acpls: internal error over {over}; see the log of acpls itself")

    def _spoken(self) -> Dialect:
        assert self._dialect is not None
        return self._dialect


async def open_connection(
    agent: str,
    spec: AgentSpec,
    tasks: TaskGroup,
    emit: Callable[[AgentEvent], None],
    log: Callable[[str], None],
    watch: process.Watch | None = None,
) -> Connection:
    """Start the agent's process and the writer. Raises ``process.StartError``."""
    child = await process.start(
        [spec.command, *spec.args], spec.env, spec.cwd, watch=watch, told=log
    )
    connection = Connection(
        agent,
        child,
        tasks,
        emit,
        log,
        limit_bytes=spec.max_line_bytes,
        watch=watch,
        cwd=spec.cwd,
    )
    tasks.start_soon(connection.write)
    return connection


def as_failure(error: Error) -> Failure:
    """Put an error reply as a failure: one line, and all the rest as detail."""
    lines = error.message.strip().splitlines() or [f"error {error.code}"]
    detail = [] if len(lines) == 1 else [error.message]
    if error.data is not None:
        detail.append(json.dumps(error.data, ensure_ascii=False))
    return Failure(
        error.code, lines[0][:500], "\n".join(detail)[:_DETAIL_CHARACTERS] if detail else None
    )
