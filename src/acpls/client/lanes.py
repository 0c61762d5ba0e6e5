"""Work in threads that is done in order for each thing, and side by side for different ones.

Invariant: what was added is done, and what comes of it is told, whoever is cancelled.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from anyio.abc import TaskGroup

THREADS: Final = 8
"""How much is done at a time: each may have a long file in memory, and others need threads too."""

ToldT = TypeVar("ToldT")


class Lanes(Generic[ToldT]):
    """A queue for each name. ``tell`` is called in the event loop and must not block.

    Work may block, must not raise, and tells nothing where it comes to nothing (``None``).
    """

    def __init__(self, tasks: TaskGroup, tell: Callable[[ToldT], None]) -> None:
        self._tasks = tasks
        self._tell = tell
        self._queues: dict[Hashable, deque[tuple[Callable[[], ToldT | None], anyio.Event]]] = {}
        self._empty = anyio.Event()
        self._limiter: anyio.CapacityLimiter | None = None

    def add(self, name: Hashable, work: Callable[[], ToldT | None]) -> anyio.Event:
        """Do some work after all that was added by this name; the event: it is done and told."""
        done = anyio.Event()
        queue = self._queues.get(name)
        if queue is not None:
            queue.append((work, done))
        else:
            self._queues[name] = deque([(work, done)])
            self._tasks.start_soon(self._go, name)
        return done

    async def wait(self) -> None:
        """Wait until there is nothing left to be done."""
        while self._queues:
            self._empty = anyio.Event()
            await self._empty.wait()

    async def _go(self, name: Hashable) -> None:
        queue = self._queues[name]
        self._limiter = self._limiter or anyio.CapacityLimiter(THREADS)
        try:
            while queue:
                work, done = queue.popleft()
                # A write that has begun is finished and told, whoever is cancelled.
                with anyio.CancelScope(shield=True):
                    told = await anyio.to_thread.run_sync(work, limiter=self._limiter)
                if told is not None:
                    self._tell(told)
                done.set()
        finally:
            del self._queues[name]
            if not self._queues:
                self._empty.set()
