"""Our side of the watchdog: tells it what to end should we die, and keeps it alive.

Invariant: while a tree is recorded, a watchdog that dies is noticed at once and a new one is
told everything.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from acpls.client import watchdog

if TYPE_CHECKING:
    from collections.abc import Callable

_POSIX = os.name == "posix"
_DOG_S = 3.0
# Watchdogs that die at once, one after the other, are not replaced until the next child.
_SHORT_LIFE_S = 1.0
_MAX_SHORT_LIVES = 3


class Watch:
    """The watchdog's keeper; its process starts with the first child.

    Where there are no process groups (Windows) it does nothing. ``replaced`` is called in
    the event loop when a watchdog had to be replaced.
    """

    def __init__(self, replaced: Callable[[], None] = lambda: None) -> None:
        self._replaced = replaced
        self._dog: subprocess.Popen[bytes] | None = None
        self._expected: set[str] = set()
        self._trees: dict[int, str] = {}
        self._short_lives = 0

    def expect(self, tag: str) -> None:
        """Record a mark before any process carries it; ``add`` or ``dismiss`` follows."""
        self._expected.add(tag)
        self._tell(f"+0 {tag}\n")

    def dismiss(self, tag: str) -> None:
        """Nothing will carry the mark."""
        self._expected.discard(tag)

    def add(self, group: int, tag: str) -> None:
        """Record a process group and its mark."""
        self._expected.discard(tag)
        self._trees[group] = tag
        self._tell(f"+{group} {tag}\n")

    def remove(self, group: int) -> None:
        """Forget a group that was ended."""
        if self._trees.pop(group, None) is not None:
            self._write(f"-{group}\n")

    async def aclose(self) -> None:
        """Let the watchdog end what is left, and itself."""
        dog, self._dog = self._dog, None
        if dog is None or dog.stdin is None:
            return
        dog.stdin.close()
        with anyio.CancelScope(shield=True), contextlib.suppress(subprocess.TimeoutExpired):
            await anyio.to_thread.run_sync(dog.wait, _DOG_S)

    def _tell(self, line: str) -> None:
        if not _POSIX:
            return
        if self._dog is None or self._dog.returncode is not None:
            self._start()
        else:
            self._write(line)

    def _write(self, line: str) -> None:
        if self._dog is not None and self._dog.stdin is not None:
            with contextlib.suppress(OSError):
                os.write(self._dog.stdin.fileno(), line.encode())

    def _start(self) -> None:
        """Start a watchdog and tell it all that there is."""
        if self._dog is not None and self._dog.stdin is not None:
            self._dog.stdin.close()
        dog = self._dog = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for tag in self._expected:
            self._write(f"+0 {tag}\n")
        for group, tag in self._trees.items():
            self._write(f"+{group} {tag}\n")
        loop, born = asyncio.get_running_loop(), time.monotonic()

        def wait() -> None:
            dog.wait()
            with contextlib.suppress(RuntimeError):  # the loop is closed: we are gone too
                loop.call_soon_threadsafe(self._died, dog, time.monotonic() - born)

        # The event loop of asyncio may have no watcher for children that are not its own.
        threading.Thread(target=wait, name="acpls-watchdog", daemon=True).start()

    def _died(self, dog: subprocess.Popen[bytes], lived_s: float) -> None:
        if dog is not self._dog or not (self._trees or self._expected):
            return
        self._short_lives = 0 if lived_s >= _SHORT_LIFE_S else self._short_lives + 1
        if self._short_lives <= _MAX_SHORT_LIVES:
            self._start()
            self._replaced()
