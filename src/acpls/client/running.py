"""One start of an agent: from the start through its asks to its end, told in that order."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from acpls.client.process import StartError
from acpls.events import AgentEnded, AskFailed
from acpls.session.asks import Failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

    from acpls.client.connection import Connection
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask
    from acpls.settings import AgentSpec

INTERNAL_ERROR = -32603

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hold:
    """Why an ask waits: for ``over``, but no longer than until ``latest_s`` of the loop's clock."""

    over: anyio.Event
    latest_s: float

    @property
    def is_over(self) -> bool:
        """Whether the ask may be sent."""
        return self.over.is_set() or anyio.current_time() >= self.latest_s

    async def wait(self) -> None:
        """Wait for the end of it."""
        with anyio.CancelScope(deadline=self.latest_s):
            await self.over.wait()


class Running:
    """One start of an agent, from the start to its end.

    Invariant: asks are sent in the order in which they came, whatever one of them waits for.
    """

    def __init__(
        self,
        name: str,
        spec: AgentSpec,
        emit: Callable[[AgentEvent], None],
        log: Callable[[str], None],
        before: Running | None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.log = log
        self.connection: Connection | None = None
        self.wanted_end = False
        self.done = anyio.Event()
        self._emit = emit
        self._before = before
        self._waiting: deque[tuple[int, Ask, Hold | None]] = deque()
        self._sending = False
        self._holding = False
        self._tasks: TaskGroup | None = None
        # Set before ``connection``, while the asks that waited are sent.
        self._spoken_to: Connection | None = None
        self._scope: anyio.CancelScope | None = None
        self._ended = AgentEnded(name, f"{name} was ended", wanted=True)

    def send_ask(self, number: int, ask: Ask, hold: Hold | None = None) -> bool:
        """Send an ask, now or when the agent is ready, ``hold`` is over and all that came
        before is sent; say whether it can be.
        """
        if self.wanted_end:
            return False
        self._waiting.append((number, ask, hold))
        self._send_waiting()
        return True

    def withdraw_ask(self, number: int) -> None:
        """Wait no longer for the reply to an ask; one that waits itself is never sent."""
        kept = [waiting for waiting in self._waiting if waiting[0] != number]
        if len(kept) < len(self._waiting):
            self._waiting.clear()
            self._waiting.extend(kept)
            # Those behind it may have waited for nothing else.
            self._send_waiting()
        elif self._spoken_to is not None:
            self._spoken_to.withdraw_ask(number)

    def end(self) -> None:
        """Begin to end the agent."""
        self.wanted_end = True
        if self._scope is not None:
            self._scope.cancel()

    async def live(self, opened: Callable[[Running, TaskGroup], Awaitable[Connection]]) -> None:
        """Start, serve and end; never raises for what an agent does."""
        if self._before is not None:
            await self._before.done.wait()
            self._before = None
        try:
            async with anyio.create_task_group() as tasks:
                try:
                    await self._serve(opened, tasks)
                finally:
                    if self.connection is not None:
                        # One that fell silent by itself has nothing left to finish.
                        await self.connection.aclose(1.0 if self.wanted_end else 0.2)
                    tasks.cancel_scope.cancel()
        except Exception:
            _logger.exception("%s: could not be kept running", self.name)
            self._ended = AgentEnded(self.name, f"{self.name}: internal error in acpls")

    def finish(self) -> None:
        """Tell the end: first of every ask without a reply, then of the agent."""
        self.wanted_end = True
        connection, self.connection, self._spoken_to = self.connection, None, None
        if connection is not None:
            connection.fail_pending(self._ended.reason)
        for number, _, _ in self._waiting:
            failure = Failure(INTERNAL_ERROR, self._ended.reason)
            self._emit(AskFailed(self.name, number, failure))
        self._waiting.clear()
        self._emit(self._ended)
        self.done.set()

    async def _serve(
        self, opened: Callable[[Running, TaskGroup], Awaitable[Connection]], tasks: TaskGroup
    ) -> None:
        with anyio.CancelScope() as self._scope:
            if self.wanted_end:
                return
            try:
                connection = await opened(self, tasks)
            except StartError as problem:
                reason = f"{self.name} could not be started: {problem}"
                self._ended = AgentEnded(self.name, reason)
                return
            except Exception as problem:
                ended = getattr(problem, "ended", None)
                if not isinstance(ended, AgentEnded):
                    raise
                self._ended = ended
                return
            self._tasks, self._spoken_to = tasks, connection
            self._send_waiting()
            self.connection = connection
            await connection.deliver()
            self._ended = await connection.ending()

    def _send_waiting(self) -> None:
        """Send what waits, up to the first that is held."""
        # What is asked meanwhile, by whoever hears of one of these, goes to the queue's end.
        if self._sending or self._spoken_to is None:
            return
        self._sending = True
        try:
            while self._waiting:
                number, ask, hold = self._waiting[0]
                if hold is not None and not hold.is_over:
                    self._begin_to_hold()
                    return
                self._waiting.popleft()
                self._spoken_to.send_ask(number, ask)
        finally:
            self._sending = False

    def _begin_to_hold(self) -> None:
        if not self._holding and self._tasks is not None:
            self._holding = True
            self._tasks.start_soon(self._hold)

    async def _hold(self) -> None:
        while self._waiting and (hold := self._waiting[0][2]) is not None:
            await hold.wait()
            self._send_waiting()
        self._holding = False
