"""A program in a pseudo terminal: what is typed into it, and what stands on its screen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import termios
import threading
import time
from typing import TYPE_CHECKING, Final

import psutil
from screen import COLUMNS, ROWS, Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

WITHIN_S: Final = 15.0
# Files and other processes tell nobody of a change; the screen does.
LOOK_EVERY_S: Final = 0.03


class Terminal:
    """A program that runs in a terminal of its own, from the start to ``end``."""

    def __init__(self, command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
        self._screen = Screen()
        self._news = threading.Condition()
        self._fd = ours
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._fd, 65536):
                with self._news:
                    reply = self._screen.feed(data)
                    self._news.notify_all()
                if reply:
                    os.write(self._fd, reply)

    # --- eyes and hands ---------------------------------------------------------------------

    def screen(self) -> str:
        """The text on the screen."""
        with self._news:
            return self._screen.text()

    def lines(self) -> list[str]:
        """The lines on the screen."""
        with self._news:
            return self._screen.lines()

    def write(self, text: str) -> None:
        """Type this as it is."""
        os.write(self._fd, text.encode())

    def until(self, holds: Callable[[], bool], what: str, within_s: float = WITHIN_S) -> None:
        """Wait until something is true, which is asked whenever the screen changes, too."""
        end = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < end, f"waited in vain: {what}\n{self.screen()}"
            assert self.process.poll() is None, f"the editor has ended\n{self.screen()}"
            with self._news:
                self._news.wait(LOOK_EVERY_S)

    def until_shown(self, text: str) -> None:
        """Wait until this stands on the screen."""
        self.until(lambda: text in self.screen(), f"{text!r} on the screen")

    # --- the end ----------------------------------------------------------------------------

    def family(self) -> list[psutil.Process]:
        """The editor and all that it started, and they did."""
        editor = psutil.Process(self.process.pid)
        return [editor, *editor.children(recursive=True)]

    def end(self) -> None:
        """Whatever still runs of it ends now."""
        if self.process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                for each in reversed(self.family()[1:]):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        each.send_signal(signal.SIGKILL)
            self.process.kill()
        self.process.wait()
        # Whoever is left over still holds the other side open, so that nothing ends the reading.
        self._reader.join(1)
        os.close(self._fd)
