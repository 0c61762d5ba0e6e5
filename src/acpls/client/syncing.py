"""Looks through whole roots for files that changed, one walk after the other.

Invariant: each walk that was asked for is told to be over, after all that was found on it;
only the end of the server leaves one untold.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread

from acpls.events import FilesSynced

if TYPE_CHECKING:
    from collections.abc import Collection

    from anyio.abc import TaskGroup

# How many files are looked at side by side; more would only wait for the disk.
_ABREAST = 4

_logger = logging.getLogger(__name__)


class Walked(Protocol):
    """What a walk gives: the paths of files that seem to have changed, spelled under the roots
    as they were given; why some were passed over; and the roots without symbolic links.
    """

    @property
    def candidates(self) -> Collection[str]:
        """The files to look at."""

    @property
    def problem(self) -> str | None:
        """Why some files were not looked at."""

    @property
    def real_roots(self) -> tuple[str, ...]:
        """The roots without symbolic links, in their order."""


class Walker(Protocol):
    """Who walks and looks. ``walk`` blocks and is called in a thread."""

    def walk(self, roots: tuple[str, ...]) -> Walked:
        """Compare the files of the roots, by their names and times, with what is known."""

    def walked(self, roots: tuple[str, ...], real_roots: tuple[str, ...]) -> None:
        """All files were compared; the roots are these without symbolic links."""

    def look(self, path: str, roots: tuple[str, ...], token: object) -> anyio.Event:
        """Look at a file and tell if it changed; the event: that is done."""

    def tell(self, event: FilesSynced) -> None:
        """A walk that was asked for is over."""


@dataclass(eq=False)
class _Walk:
    """``tokens`` of those who asked for it; there are none when it is for ourselves."""

    roots: tuple[str, ...]
    tokens: list[object] = field(default_factory=list)
    over: anyio.Event = field(default_factory=anyio.Event)


class Syncing:
    """The walks of a host. ``tasks`` must outlive it."""

    def __init__(self, tasks: TaskGroup, walker: Walker) -> None:
        self._tasks = tasks
        self._walker = walker
        self._waiting: deque[_Walk] = deque()
        self._last: anyio.Event | None = None
        # What a walk of our own could not do is told with the next that somebody asked for.
        self._problems: list[str] = []
        self._scope: anyio.CancelScope | None = None
        self._ended = False

    @property
    def synced(self) -> anyio.Event | None:
        """Set when all walks are over that somebody asked for; ``None`` when there are none."""
        return None if self._last is None or self._last.is_set() else self._last

    def ask(self, roots: tuple[str, ...], token: object) -> None:
        """Walk, tell under the token what is found, and that it is over."""
        walk = self._wanted(roots)
        walk.tokens.append(token)
        # One that waited already may have others behind it that somebody asked for.
        asked = [waiting for waiting in self._waiting if waiting.tokens]
        self._last = (asked[-1] if asked else walk).over

    def check(self, roots: tuple[str, ...]) -> None:
        """Walk because something may have been missed; tell only what is found."""
        if roots:
            self._wanted(roots)

    def end(self) -> None:
        """Walk no more, and tell nothing of it."""
        self._ended = True
        self._waiting.clear()
        if self._scope is not None:
            self._scope.cancel()

    def _wanted(self, roots: tuple[str, ...]) -> _Walk:
        for waiting in self._waiting:
            # It has not begun, so it is right for whoever asks now.
            if waiting.roots == roots:
                return waiting
        walk = _Walk(roots)
        if not self._ended:
            self._waiting.append(walk)
            if self._scope is None:
                self._scope = anyio.CancelScope()
                self._tasks.start_soon(self._go, self._scope)
        return walk

    async def _go(self, scope: anyio.CancelScope) -> None:
        with scope:
            while self._waiting:
                await self._walk(self._waiting.popleft())
        self._scope = None

    async def _walk(self, walk: _Walk) -> None:
        try:
            walked = await anyio.to_thread.run_sync(
                self._walker.walk, walk.roots, abandon_on_cancel=True
            )
            self._walker.walked(walk.roots, walked.real_roots)
            await self._look(walk, walked.candidates)
            problem, real_roots = walked.problem, walked.real_roots
        except Exception as failed:
            _logger.exception("the files cannot be looked through")
            problem, real_roots = f"the files cannot be looked through: {failed}", walk.roots
        if problem is not None and problem not in self._problems:
            self._problems.append(problem)
        for token in walk.tokens:
            problems, self._problems = "; ".join(self._problems), []
            self._walker.tell(FilesSynced(token, time.time(), real_roots, problems or None))
        walk.over.set()

    async def _look(self, walk: _Walk, candidates: Collection[str]) -> None:
        token = walk.tokens[0] if walk.tokens else None
        paths = iter(candidates)

        async def look() -> None:
            for path in paths:
                await self._walker.look(path, walk.roots, token).wait()

        async with anyio.create_task_group() as tasks:
            for _ in range(_ABREAST):
                tasks.start_soon(look)
