"""Tells of changes under folders as they happen, by what the system tells of them.

What the system tells is a hint: a folder that came or went stands for all that is in it, a
large burst may have lost some, and a folder that is watched from now on may have changed just
before. For all of these the roots are told as unsure, and whoever listens looks for himself.

Invariant: no file is opened here, and nothing that goes wrong is more than a line in the log.
"""

from __future__ import annotations

import contextlib
import logging
import math
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import anyio
import anyio.to_thread

from acpls.client.hints import Ground, Hints, sift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anyio.abc import TaskGroup

DEBOUNCE_MS: Final = 50
HEAD_PAUSE_S: Final = 0.2
RETRY_S: Final = 1.0
# How long a thread waits at most before it looks for roots that were missing.
_TIMEOUT_MS: Final = 1000
_MOST_TRIES: Final = 5
_HAS_INOTIFY = sys.platform == "linux"

_logger = logging.getLogger(__name__)


class Notifier(Protocol):
    """What is used of the Rust side of watchfiles, and what ``Inotify`` is as well."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event, /
    ) -> set[tuple[int, str]] | str:
        """Block until something changed; a word when nothing did, or (``overflow``) too much."""

    def close(self) -> None:
        """End the watching."""


class Listener(Protocol):
    """Who is told. What may block is called in threads, all else in the event loop."""

    def folders(self, root: str, start: str | None = None) -> Iterable[str]:
        """The folders in a root, or in one of its folders, of which somebody wants to hear,
        each before those in it; none has symbolic links. May block.
        """

    def is_ignored(self, path: str, roots: tuple[str, ...]) -> bool:
        """Whether nobody wants to hear of the path. May block."""

    def changed(self, paths: Iterable[str], gone: frozenset[str]) -> None:
        """These came, went, or were touched; each is spelled under a root as it was given.

        They are files, but ``gone`` may have been folders.
        """

    def unsure(self, roots: tuple[str, ...]) -> None:
        """More may have changed under these roots, which are all that are watched."""

    def head_moved(self, root: str) -> None:
        """Something was committed or checked out in a repository under the root."""


Folders: TypeAlias = "Callable[[str, str | None], Iterable[str]]"
Opened: TypeAlias = "Callable[[tuple[str, ...], Folders], tuple[Ground, Notifier | None]]"


@dataclass(eq=False)
class _Turn:
    """The watching of one set of roots, from the wish for it to its end."""

    roots: tuple[str, ...]
    stop: threading.Event = field(default_factory=threading.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _notifier: Notifier | None = None

    def end(self) -> None:
        """For the event loop, which does not wait for what blocks."""
        self.stop.set()
        self.scope.cancel()
        self.take(None)

    def take(self, notifier: Notifier | None) -> None:
        """Have this one closed instead of the one before; at once, where it is over."""
        with self._lock:
            before, self._notifier = self._notifier, notifier
        for one in (before, notifier if self.stop.is_set() else None):
            # One of Rust is closed by the thread that is still in it.
            with contextlib.suppress(RuntimeError):
                if one is not None:
                    one.close()


def open_notifier(roots: tuple[str, ...], folders: Folders) -> tuple[Ground, Notifier | None]:
    """Begin to watch those of the roots that are there; ``None`` when none is. Blocks.

    ``folders``: as in ``Listener``. Raises whatever the system has against it.
    """
    ground = Ground.of(roots)
    if not ground.watched:
        return ground, None
    if _HAS_INOTIFY:
        # What watchfiles has there stops all threads until it has seen each folder.
        from acpls.client.inotify import Inotify  # noqa: PLC0415  only where there is one

        with contextlib.suppress(AttributeError):
            reals = tuple(dict.fromkeys(real for _, real in ground.roots))
            outer = tuple(dict.fromkeys(folder for _, folder in ground.outer))
            return ground, Inotify(reals, outer, folders)
    # It takes a while to import and is not needed before somebody prompts.
    from watchfiles._rust_notify import RustNotify  # noqa: PLC0415  see above

    return ground, RustNotify(
        list(ground.watched),
        debug=False,
        force_polling=False,
        poll_delay_ms=0,
        recursive=True,
        ignore_permission_denied=True,
    )


class Watching:
    """Watches one set of roots at a time. ``tasks`` must outlive it.

    ``opened`` begins to watch, ``retry_s`` is how often it is looked for roots when there is
    none: both for tests.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        listener: Listener,
        *,
        opened: Opened = open_notifier,
        retry_s: float = RETRY_S,
    ) -> None:
        self._tasks = tasks
        self._listener = listener
        self._opened = opened
        self._retry_s = retry_s
        self._roots: tuple[str, ...] = ()
        # Oldest first; there is more than one only while the set changes.
        self._turns: list[_Turn] = []
        self._pauses: dict[str, anyio.CancelScope] = {}
        self._limiter: anyio.CapacityLimiter | None = None
        self._warned = False

    def watch(self, roots: tuple[str, ...]) -> None:
        """From now on tell of changes under these roots, and of no others; none ends it."""
        if roots == self._roots and self._turns:
            return
        self._roots = roots
        if roots:
            turn = _Turn(roots)
            self._turns.append(turn)
            self._tasks.start_soon(self._live, turn)
        else:
            self._end_all()

    async def aclose(self) -> None:
        """End the watching; what was not told by now is not told any more."""
        self._roots = ()
        self._end_all()
        for turn in list(self._turns):
            await turn.done.wait()

    def _end_all(self) -> None:
        for turn in self._turns:
            turn.end()
        for pause in self._pauses.values():
            pause.cancel()

    # --- one set of roots ---------------------------------------------------------------

    async def _live(self, turn: _Turn) -> None:
        try:
            with turn.scope:
                await self._keep(turn)
        except Exception as problem:  # noqa: BLE001  the walks do without it
            self._warn(problem)
        finally:
            # Whoever is still in a thread comes back by that.
            turn.end()
            self._turns.remove(turn)
            turn.done.set()

    async def _keep(self, turn: _Turn) -> None:
        while True:
            ground, notifier = await self._open(turn)
            # What happened before that, nobody has heard.
            self._listener.unsure(self._roots)
            try:
                await self._listen(turn, ground, notifier)
            finally:
                turn.take(None)

    async def _open(self, turn: _Turn) -> tuple[Ground, Notifier | None]:
        """Begin to watch, then let the older ones end."""
        self._limiter = self._limiter or anyio.CapacityLimiter(math.inf)

        def begin() -> tuple[Ground, Notifier | None]:
            found = self._opened(turn.roots, self._listener.folders)
            turn.take(found[1])
            return found

        tries = 0
        while True:
            tries += 1
            try:
                found = await anyio.to_thread.run_sync(
                    begin, abandon_on_cancel=True, limiter=self._limiter
                )
            except FileNotFoundError:
                # Some folder went while it was begun to watch it.
                if tries == _MOST_TRIES:
                    raise
                await anyio.sleep(self._retry_s)
            except Exception:
                # Two at a time may be more than the system allows.
                if not await self._end_older(turn):
                    raise
            else:
                await self._end_older(turn)
                return found

    async def _end_older(self, turn: _Turn) -> bool:
        older = self._turns[: self._turns.index(turn)]
        for one in older:
            one.end()
            await one.done.wait()
        return bool(older)

    async def _listen(self, turn: _Turn, ground: Ground, notifier: Notifier | None) -> None:
        """Tell what changes until a root comes or goes."""

        def is_ignored(path: str) -> bool:
            # Nobody waits for the rest of a large burst.
            return turn.stop.is_set() or self._listener.is_ignored(path, turn.roots)

        def wait() -> Hints:
            raw = _next(notifier, turn.stop)
            if raw is None:
                roots = frozenset(root for root, _ in ground.roots)
                return Hints(heads=roots, is_unsure=True)
            return sift(raw, ground, is_ignored)

        while True:
            if notifier is None:
                await anyio.sleep(self._retry_s)
            hints = await anyio.to_thread.run_sync(
                wait, abandon_on_cancel=True, limiter=self._limiter
            )
            self._tell(hints.under(self._roots))
            if hints.roots_moved:
                return

    def _tell(self, hints: Hints) -> None:
        if hints.paths:
            self._listener.changed(hints.paths, hints.gone)
        if hints.is_unsure:
            self._listener.unsure(self._roots)
        for root in hints.heads:
            if root not in self._pauses:
                self._pauses[root] = anyio.CancelScope()
                self._tasks.start_soon(self._tell_head, root)

    async def _tell_head(self, root: str) -> None:
        """Tell it after a pause, in which the many small changes of one commit are over."""
        pause = self._pauses[root]
        with pause:
            await anyio.sleep(HEAD_PAUSE_S)
        del self._pauses[root]
        if not pause.cancel_called:
            self._listener.head_moved(root)

    def _warn(self, problem: Exception) -> None:
        level = logging.DEBUG if self._warned else logging.WARNING
        self._warned = True
        _logger.log(
            level,
            "files are not watched, so that changes are seen later, when a turn ends: %s",
            problem,
        )


def _next(notifier: Notifier | None, stop: threading.Event) -> set[tuple[int, str]] | None:
    """What is told next; ``None``: more than can be told."""
    if notifier is None:
        return set()
    try:
        raw = notifier.watch(DEBOUNCE_MS, DEBOUNCE_MS, _TIMEOUT_MS, stop)
    finally:
        if stop.is_set():
            notifier.close()
    if isinstance(raw, str):
        return None if raw == "overflow" else set()
    return raw
