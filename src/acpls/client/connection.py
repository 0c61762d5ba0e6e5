"""One agent: its process, its messages in order, and the dialect they are told in.

Reading: bytes, frames, dialect, events, ``emit``; strictly in wire order and all in the
loop thread. Writing: a queue that plain functions fill and one task empties, so that
messages leave in the order of the calls and a slow reader never blocks us.

Invariant: nothing an agent sends raises out of here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from acpls.client.dialect import Misfit
from acpls.client.faults import Faults
from acpls.client.inbox import Inbox
from acpls.client.lastwords import how_it_ended, telling_line
from acpls.client.outbox import Outbox
from acpls.client.terminals import Terminals
from acpls.events import (
    AgentEnded,
    AnswerLost,
    AskFailed,
    Notified,
    QuestionAsked,
    Replied,
    RequestWithdrawn,
)
from acpls.session.asks import Failure, ForkSession, NewSession, ResumeSession, SessionOpened
from acpls.wire import jsonrpc
from acpls.wire.jsonrpc import Error, Message, Notification, Request, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls.client.crossing import Crossing
    from acpls.client.dialect import Asked, Dialect, TerminalAnswer, TerminalRequest
    from acpls.client.terminals import Ground
    from acpls.client.transport import Transport
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import Answer, Ask

_REQUEST_CANCELLED = -32800
_GONE_S = 1.0
_DETAIL_LINES = 20
_DETAIL_CHARACTERS = 4000


class Connection:
    """The JSON-RPC conversation with one agent over its ``transport``.

    ``emit`` takes the events, in order; it must not block. ``log`` takes lines for the
    agent's log. ``crossing`` puts paths and programs in words of the other side; terminals
    run on the ``ground``. Whoever makes one runs ``write`` as a task.
    """

    def __init__(
        self,
        agent: str,
        transport: Transport,
        tasks: TaskGroup,
        emit: Callable[[AgentEvent], None],
        log: Callable[[str], None],
        *,
        crossing: Crossing,
        ground: Ground,
        limit_bytes: int,
    ) -> None:
        self.agent = agent
        self._transport = transport
        self._emit = emit
        self._log = log
        self._crossing = crossing
        self._faults = Faults(agent, emit, log)
        self._inbox = Inbox(agent, transport, self._faults, self.send, limit_bytes=limit_bytes)
        self._outbox = Outbox(transport, self._inbox.close)
        self._dialect: Dialect | None = None
        self._next_id = 1
        self._pending: dict[RequestId, tuple[int, Ask]] = {}
        self._open: set[RequestId] = set()
        self._terminal_requests: dict[RequestId, object] = {}
        self._folders: dict[str, str] = {}
        self._terminals = Terminals(agent, tasks, self._deliver_event, ground)

    # --- messages ---------------------------------------------------------------------

    async def receive(self) -> Message | None:
        """Wait for the next message; what is none is dealt with here. ``None``: the end."""
        return await self._inbox.receive()

    def send_request(self, method: str, params: Any) -> int:
        """Queue a request of the connection's own and give its id."""
        number, self._next_id = self._next_id, self._next_id + 1
        self.send(jsonrpc.request(number, method, params))
        return number

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message; it leaves after those queued before."""
        self._outbox.put(message)

    async def write(self) -> None:
        """Write the queue out until the agent no longer reads. Runs as a task."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._outbox.write)
            await self._transport.deaf()
            # Nearly always it is about to end, and its output and exit code say more.
            await anyio.sleep(_GONE_S)
            self._inbox.close("it no longer reads what it is sent")
            tasks.cancel_scope.cancel()

    def note(self, line: str) -> None:
        """Write a line of ours to the agent's log."""
        # What an agent calls things must not look like further lines.
        self._log("".join(c if c.isprintable() else " " for c in f"acpls: {line}"[:500]))

    # --- asks and answers -------------------------------------------------------------

    def begin(self, dialect: Dialect) -> None:
        """From now on messages are understood as ``dialect`` does."""
        self._dialect = dialect

    async def deliver(self) -> None:
        """Deliver everything the agent says, until it says no more."""
        while (message := await self.receive()) is not None:
            match message:
                case Notification():
                    self._notified(message)
                case Request():
                    self._requested(message)
                case _:
                    self._replied(message)

    def send_ask(self, number: int, ask: Ask) -> None:
        """Send an ask; its reply, or ``AskFailed``, is emitted when it comes."""
        ask, left_out = self._crossing.outwards(ask)
        call = self._spoken().say(ask)
        if isinstance(call, Failure):
            self._emit(AskFailed(self.agent, number, call))
            return
        if call.expects_reply:
            self._pending[self.send_request(call.method, call.params)] = (number, ask)
        else:
            self.send(jsonrpc.notification(call.method, call.params))
        self._emit_all((*left_out, *call.events))

    def withdraw_ask(self, number: int) -> None:
        """Tell the agent that nobody waits for the reply to an ask, and forget it."""
        for request, (other, ask) in self._pending.items():
            if other == number:
                del self._pending[request]
                self.send(jsonrpc.notification("$/cancel_request", {"requestId": request}))
                # The dialect must not wait for it either; what that would tell is not wanted.
                failure = Failure(_REQUEST_CANCELLED, "withdrawn")
                self._spoken().failed(number, ask, failure)
                return
        self.note(f"no reply to ask {number} is awaited; it was not withdrawn")

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> None:
        """Answer a request of the agent; a second answer is ignored."""
        if request not in self._open:
            self._log(f"acpls: no request {request!r} is open; its answer was dropped")
            return
        self._open.discard(request)
        self._terminal_requests.pop(request, None)
        response = self._spoken().answer(request, self._crossing.answer(answer))
        if response.failure is None:
            message = jsonrpc.result(request, response.result)
        else:
            failure = response.failure
            message = jsonrpc.error(request, failure.code, failure.message)
        self._outbox.put(message, lambda: self._emit(AnswerLost(self.agent, request)))
        self._emit_all(response.events)

    def fail_pending(self, reason: str) -> None:
        """Fail every ask that is still without a reply, and whatever was not sent."""
        pending, self._pending = self._pending, {}
        self._outbox.abandon()
        for number, ask in pending.values():
            self._fail(number, ask, Failure(jsonrpc.INTERNAL_ERROR, reason))

    # --- the end ----------------------------------------------------------------------

    async def ending(self) -> AgentEnded:
        """Say why the output ended, with the last words; waits a moment for the exit."""
        if self._inbox.fault is not None:
            return AgentEnded(
                self.agent, f"{self.agent} was ended: {self._inbox.fault}", None, self._tail()
            )
        exit_code = await self._transport.exited(within_s=1.0)
        how = "closed its output" if exit_code is None else how_it_ended(exit_code)
        # Some say why they end where messages are expected.
        words = telling_line(self._transport.last_words()) or self._faults.last_noise
        reason = f"{self.agent} {how}" + (f": {words}" if words else "")
        return AgentEnded(self.agent, reason, exit_code, self._tail())

    async def aclose(self, grace_s: float = 1.0) -> None:
        """End the agent and everything it or its terminals started."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._terminals.aclose)
                tasks.start_soon(self._transport.end, grace_s)

    def _tail(self) -> str:
        return "\n".join(self._transport.last_words()[-_DETAIL_LINES:])

    # --- incoming ---------------------------------------------------------------------

    def _requested(self, message: Request) -> None:
        if message.id in self._open:
            problem = f"request id {message.id!r} is in use; {message.method} was skipped"
            self._faults.misspoke(problem)
            return
        try:
            asked = self._spoken().asked(message.id, message.method, message.params)
        except Misfit as misfit:
            self._faults.misspoke(f"{message.method}: {misfit}")
            self.send(jsonrpc.error(message.id, jsonrpc.INVALID_PARAMS, str(misfit)))
        except Exception as bug:  # noqa: BLE001  one message that trips us must not end the agent
            self._faults.tripped(message.method, bug)
            self.send(jsonrpc.error(message.id, jsonrpc.INTERNAL_ERROR, "internal error"))
        else:
            self._accept(message, asked)

    def _accept(self, message: Request, asked: Asked) -> None:
        if asked.failure is not None:
            self._log(f"acpls: refused {message.method}: {asked.failure.message}")
            self.send(jsonrpc.error(message.id, asked.failure.code, asked.failure.message))
        elif asked.result is not None:
            self.send(jsonrpc.result(message.id, asked.result))
        else:
            self._open.add(message.id)
        self._emit_all(_with_raw(asked.events, message.params))
        if asked.terminal is not None:
            self._run_terminal(message.id, self._crossing.inwards(asked.terminal))

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
            self._faults.misspoke(f"{message.method}: {misfit}")
        except Exception as bug:  # noqa: BLE001  see above
            self._faults.tripped(message.method, bug)
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
            self._faults.misspoke(f"reply: {misfit}")
            problem = f"{self.agent} sent a reply that does not fit: {misfit}"
            self._fail(number, ask, Failure(jsonrpc.INTERNAL_ERROR, problem))
            return
        except Exception as bug:  # noqa: BLE001  see above
            self._faults.tripped("a reply", bug)
            self._fail(number, ask, Failure(jsonrpc.INTERNAL_ERROR, "internal error in acpls"))
            return
        self._remember_folder(ask, events)
        self._emit_all(_with_raw(events, message.result))

    def _fail(self, number: int, ask: Ask, failure: Failure) -> None:
        self._emit_all(self._spoken().failed(number, ask, failure))

    def _remember_folder(self, ask: Ask, events: tuple[AgentEvent, ...]) -> None:
        if not isinstance(ask, NewSession | ResumeSession | ForkSession):
            return
        for event in events:
            if isinstance(event, Replied) and isinstance(event.reply, SessionOpened):
                # Terminals run here, where the editor's paths hold.
                folder = self._crossing.inwards(ask.opening).cwd
                self._folders[event.reply.session] = folder

    # --- outgoing events --------------------------------------------------------------

    def _emit_all(self, events: tuple[AgentEvent, ...]) -> None:
        for event in events:
            self._deliver_event(self._crossing.inwards(event))

    def _deliver_event(self, event: AgentEvent) -> None:
        if isinstance(event, RequestWithdrawn) and event.request in self._terminal_requests:
            self.answer(event.request, Failure(_REQUEST_CANCELLED, "cancelled"))
            return
        if isinstance(event, Notified):
            # Its values may be anything, secrets too.
            keys = ", ".join(event.params) if isinstance(event.params, dict) else ""
            self.note(f"unknown notification {event.method} ({keys})")
        self._emit(event)

    def _spoken(self) -> Dialect:
        assert self._dialect is not None
        return self._dialect


def as_failure(error: Error) -> Failure:
    """Put an error reply as a failure: one line, and all the rest as detail."""
    lines = error.message.strip().splitlines() or [f"error {error.code}"]
    detail = [] if len(lines) == 1 else [error.message]
    if error.data is not None:
        detail.append(json.dumps(error.data, ensure_ascii=False))
    return Failure(
        error.code, lines[0][:500], "\n".join(detail)[:_DETAIL_CHARACTERS] if detail else None
    )


def _with_raw(events: tuple[AgentEvent, ...], raw: Any) -> tuple[AgentEvent, ...]:
    """The same events; those that stand for a whole message keep it."""
    return tuple(
        replace(event, raw=raw) if isinstance(event, Replied | QuestionAsked) else event
        for event in events
    )
