"""Child processes: agents, and the programs that run in their terminals.

A child leads a process group of its own and carries a mark in its environment, so that it
can be ended with everything it started, also what left the group, also when we die
(``watchdog``). Nothing here waits for a pipe that an orphan may hold open.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import uuid
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from acpls.client import machine, programs, watchdog
from acpls.client.lastwords import LINE_CHARACTERS, Ring
from acpls.client.transport import TransportGone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acpls.client.watch import Watch
    from acpls.client.windows import Job

_POSIX = os.name == "posix"
_NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_HIGH_WATER_BYTES = 1024 * 1024
_ORPHAN_S = 0.5
_TERM_S = 2.0
_KILL_S = 1.0


class StartError(Exception):
    """A program could not be started; ``str()`` is one line that says why.

    ``todo`` says what helps, where that is known; ``programs.SETTING`` may stand in it.
    """

    def __init__(self, why: str, todo: str = "") -> None:
        super().__init__(why)
        self.todo = todo


class ChildGone(TransportGone):
    """The child no longer reads."""


async def start(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    *,
    watch: Watch | None = None,
    told: Callable[[str], None] | None = None,
    listens: bool = True,
    merged: bool = False,
) -> Child:
    """Start ``argv`` with the environment ``env`` (``None``: our own) in the folder ``cwd``.

    ``told`` gets each line of standard error, and what is worth a line about the start.
    ``listens``: we write to its standard input, otherwise that is empty. ``merged``: its
    standard error goes where its standard output goes. Raises ``StartError``.
    """
    tag = f"acpls-{uuid.uuid4().hex}"
    own = os.environ if env is None else env
    full = {**own, watchdog.MARK: f"{os.environ.get(watchdog.MARK, '')} {tag}".strip()}
    program = machine.found(argv, full, cwd)
    if isinstance(program, programs.Missing):
        raise StartError(program.what, program.todo)
    if told is not None and program.note:
        told(f"acpls: {program.note}")
    child = Child(tag, watch, told)
    if watch is not None:
        watch.expect(tag)
    try:
        with anyio.CancelScope(shield=True):
            await asyncio.get_running_loop().subprocess_exec(
                lambda: child,
                *program.argv,
                stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merged else subprocess.PIPE,
                env=full,
                cwd=cwd,
                start_new_session=_POSIX,
                creationflags=0 if _POSIX else _NEW_GROUP,
            )
    except (OSError, ValueError) as problem:
        if watch is not None:
            watch.dismiss(tag)
        reason = getattr(problem, "strerror", None) or str(problem)
        raise StartError(f"{program.argv[0]!r} cannot be started: {reason}") from None
    child.program = program.argv[0]
    if watch is not None:
        watch.add(child.pid, tag)
    # No checkpoint here: a cancelled caller would lose a child that runs.
    return child


class Child(asyncio.SubprocessProtocol):
    """A running child process. Made by ``start``."""

    pid: int

    def __init__(self, tag: str, watch: Watch | None, told: Callable[[str], None] | None) -> None:
        self._tag = tag
        self._watch = watch
        self._told = told
        self._transport: asyncio.SubprocessTransport | None = None
        self._received: list[bytes] = []
        self._received_bytes = 0
        self._finished = False
        self._reading_paused = False
        self._arrived = asyncio.Event()
        self._stdin_open = False
        self._deaf = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._stderr = Ring()
        self._stderr_part = b""
        self._stderr_ended = asyncio.Event()
        self._ending: asyncio.Event | None = None
        self.program = ""
        """The file that was started, which may be the runner of a script."""
        self._job: Job | None = None

    @property
    def exit_code(self) -> int | None:
        """The exit code, minus the signal's number, or ``None`` while it runs."""
        return None if self._transport is None else self._transport.get_returncode()

    def last_words(self) -> list[str]:
        """Give the last lines of standard error, oldest first."""
        part = self._stderr_part.decode(errors="replace")
        return self._stderr.lines() + ([part] if part.strip() else [])

    async def receive(self) -> bytes:
        """Wait for more of standard output; ``b""`` is its end."""
        await anyio.lowlevel.checkpoint()
        while not self._received and not self._finished:
            self._arrived = asyncio.Event()
            await self._arrived.wait()
        data = b"".join(self._received)
        self._received.clear()
        self._received_bytes = 0
        self._pause(wanted=False)
        return data

    def stop_reading(self) -> None:
        """Take no more of standard output; ``receive`` gives its end."""
        self._finish()

    async def send(self, data: bytes) -> None:
        """Write to standard input; waits while the child does not read. Raises ``ChildGone``."""
        pipe = self._pipe(0)
        if not self._stdin_open or not isinstance(pipe, asyncio.WriteTransport):
            raise ChildGone
        pipe.write(data)
        await self._writable.wait()
        if not self._stdin_open:
            raise ChildGone

    async def deaf(self) -> None:
        """Wait until the child reads no more: it closed its input, or is gone."""
        await self._deaf.wait()

    async def exited(self, within_s: float | None = None) -> int | None:
        """Wait for the exit, and shortly for the rest of standard error; give the exit code."""
        with anyio.move_on_after(within_s):
            await self._exited.wait()
            with anyio.move_on_after(_ORPHAN_S / 2):
                await self._stderr_ended.wait()
        return self.exit_code

    async def end(self, grace_s: float = 1.0) -> None:
        """End the child and all its descendants; a second call waits for the first.

        It is given ``grace_s`` seconds to leave when its input ends, then two more after
        a polite signal.
        """
        with anyio.CancelScope(shield=True):
            if self._ending is not None:
                await self._ending.wait()
                return
            self._ending = asyncio.Event()
            try:
                await self._end_tree(grace_s)
            finally:
                if self._transport is not None:
                    self._transport.close()
                self._finish()
                if self._watch is not None:
                    self._watch.remove(self.pid)
                self._ending.set()

    async def _end_tree(self, grace_s: float) -> None:
        known = self._living({})
        if (pipe := self._pipe(0)) is not None:
            self._stdin_open = False
            pipe.close()
        with anyio.move_on_after(grace_s):
            await self._exited.wait()
        if not _POSIX:
            if self._job is not None:
                self._job.end()
            elif self._transport is not None and self.exit_code is None:
                self._transport.terminate()
            with anyio.move_on_after(_KILL_S):
                await self._exited.wait()
            return
        for number, wait_s in ((signal.SIGTERM, _TERM_S), (signal.SIGKILL, _KILL_S)):
            deadline = anyio.current_time() + wait_s
            pause_s = 0.01
            known = self._living(known)
            signalled = False
            while known and anyio.current_time() < deadline:
                if not signalled or number == signal.SIGKILL:
                    watchdog.send_signal(watchdog.groups_of(known) & {self.pid}, known, number)
                    signalled = True
                await anyio.sleep(pause_s)
                pause_s = min(pause_s * 2, 0.1)
                known = self._living(known)
        with anyio.move_on_after(_KILL_S):
            await self._exited.wait()

    def _living(self, known: dict[int, str]) -> dict[int, str]:
        return watchdog.living({self.pid}, {self._tag}, known) if _POSIX else {}

    # --- called by the event loop -----------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the running process over."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        self.pid = transport.get_pid()
        if not _POSIX:
            from acpls.client.windows import job_of  # noqa: PLC0415  nobody else needs it

            self._job = job_of(self.pid)
        self._stdin_open = transport.get_pipe_transport(0) is not None
        if transport.get_pipe_transport(2) is None:
            self._stderr_ended.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep output until it is asked for, and the last lines of standard error."""
        if fd == 2:
            self._hear(data)
        elif not self._finished:
            self._received.append(data)
            self._received_bytes += len(data)
            self._arrived.set()
            if self._received_bytes > _HIGH_WATER_BYTES:
                self._pause(wanted=True)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  asyncio's signature
        """Note which stream ended."""
        if fd == 0:
            self._reads_no_more()
        elif fd == 1:
            self._finish()
        else:
            self._stderr_ended.set()

    def _reads_no_more(self) -> None:
        self._stdin_open = False
        self._writable.set()
        self._deaf.set()

    def process_exited(self) -> None:
        """Note the exit; what still holds the pipes is given half a second."""
        self._exited.set()
        self._reads_no_more()
        asyncio.get_running_loop().call_later(_ORPHAN_S, self._abandon)

    def pause_writing(self) -> None:
        """Hold ``send`` back."""
        self._writable = asyncio.Event()

    def resume_writing(self) -> None:
        """Let ``send`` go on."""
        self._writable.set()

    def _abandon(self) -> None:
        if self._finished:
            return
        if self._received:
            # Nobody has looked yet, so there may be more in the pipe.
            asyncio.get_running_loop().call_later(_ORPHAN_S, self._abandon)
        else:
            self._finish()

    def _finish(self) -> None:
        self._finished = True
        self._arrived.set()

    def _pause(self, *, wanted: bool) -> None:
        pipe = self._pipe(1)
        if wanted == self._reading_paused or not isinstance(pipe, asyncio.ReadTransport):
            return
        self._reading_paused = wanted
        if wanted:
            pipe.pause_reading()
        else:
            pipe.resume_reading()

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return None if self._transport is None else self._transport.get_pipe_transport(fd)

    def _hear(self, data: bytes) -> None:
        *lines, part = (self._stderr_part + data).split(b"\n")
        self._stderr_part = part[:LINE_CHARACTERS]
        for line in lines:
            text = line[: 4 * LINE_CHARACTERS].decode(errors="replace").rstrip("\r")
            self._stderr.add(text)
            if self._told is not None:
                self._told(text)
