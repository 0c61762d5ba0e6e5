"""One start of an agent: from the start through its asks to its end, told in that order."""

from __future__ import annotations

import logging
from collections import deque
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


class Running:
    """One start of an agent, from the start to its end."""

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
        self._waiting: deque[tuple[int, Ask]] = deque()
        # Set before ``connection``, while the asks that waited are sent.
        self._spoken_to: Connection | None = None
        self._scope: anyio.CancelScope | None = None
        self._ended = AgentEnded(name, f"{name} was ended", wanted=True)

    def send_ask(self, number: int, ask: Ask) -> bool:
        """Send an ask, now or when the agent is ready; say whether it can be."""
        if self.wanted_end:
            return False
        if self.connection is None:
            self._waiting.append((number, ask))
        else:
            self.connection.send_ask(number, ask)
        return True

    def withdraw_ask(self, number: int) -> None:
        """Wait no longer for the reply to an ask; one that waits itself is never sent."""
        kept = [waiting for waiting in self._waiting if waiting[0] != number]
        if len(kept) < len(self._waiting):
            self._waiting.clear()
            self._waiting.extend(kept)
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
        for number, _ in self._waiting:
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
            # What is asked meanwhile, also by whoever hears of this, goes to the queue's end.
            self._spoken_to = connection
            while self._waiting:
                connection.send_ask(*self._waiting.popleft())
            self.connection = connection
            await connection.deliver()
            self._ended = await connection.ending()
