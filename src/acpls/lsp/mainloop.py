"""The life of the server's process: what runs in it, what ends it, and with which exit code.

Invariant: however it ends, the application is closed first, then what is queued is written.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, TypeAlias

import anyio
import anyio.lowlevel

from acpls.lsp.transport import Frames, QueueWriter, StdinReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls.lsp.protocol import EditorServer

_log = logging.getLogger("acpls.lsp")

CLOSE_LIMIT_S: Final = 6.0
"""Seconds that an application may take to close."""

DRAIN_LIMIT_S: Final = 2.0
"""Seconds that an editor may take to read what is left."""

_HARD_LIMIT_S: Final = 10.0
_EXIT_CODE_OF_CRASH: Final = 1


class Application(Protocol):
    """What runs beside the connection to the editor."""

    async def aclose(self) -> None:
        """End everything that was started outside this process.

        The task group still runs; the editor may be gone.
        """


Build: TypeAlias = "Callable[[TaskGroup, EditorServer], Application]"


def serve(build: Build, server: EditorServer, *, watch_every_s: float = 1.0) -> NoReturn:
    """Serve the editor on stdin and stdout, then end the process.

    ``build`` is called once in the loop, before the first message is read; an exception
    in a task of its group ends the process, one in a handler does not. ``watch_every_s``:
    how often it is looked whether the editor's process, by its own account, is alive.

    Exit codes: 0 after ``shutdown`` and ``exit``, at the end of input and when the editor
    no longer reads; 1 after ``exit`` alone, when the editor's process is gone and after a
    crash (traceback on stderr); 128 plus the number of a signal that ended it.

    Garbage collection may be off until here: it would take a tenth of the time to load.
    """
    # The thousand classes of lsprotocol live as long as we do.
    gc.freeze()
    gc.enable()
    code = _EXIT_CODE_OF_CRASH
    writer = None
    try:
        reader, writer = _take_stdio()
        life = _Life(server, reader, writer, watch_every_s)
        code = anyio.run(life.run, build)
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException:  # noqa: BLE001 - nothing above us would tell the user
        traceback.print_exc()
    finally:
        # A normal end would wait for the thread that reads, and that for the editor.
        with suppress(Exception):
            if writer is not None:
                writer.drain(DRAIN_LIMIT_S)
            logging.shutdown()
            sys.stderr.flush()
        os._exit(code)


class _Life:
    """One run of the server, from the first message to the exit code."""

    def __init__(
        self, server: EditorServer, reader: StdinReader, writer: QueueWriter, watch_every_s: float
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._watch_every_s = watch_every_s
        self._code: int | None = None
        self._ended = anyio.Event()

    async def run(self, build: Build) -> int:
        """Run until something ends it; return the exit code."""
        loop = asyncio.get_running_loop()
        self._server.protocol.set_writer(self._writer)
        try:
            async with anyio.create_task_group() as group:
                # Before anything is started: a signal must not pass the cleaning up by.
                await group.start(self._end_on_signal)
                application = build(group, self._server)
                try:
                    self._writer.when_broken(
                        lambda: _call_in(loop, lambda: self._end(0, "the editor reads no more"))
                    )
                    group.start_soon(self._read)
                    group.start_soon(self._watch_editor)
                    await self._ended.wait()
                finally:
                    await self._close(application)
                    group.cancel_scope.cancel()
        except Exception:
            if self._code is None:
                raise
            _log.exception("a bug while ending")
        return _EXIT_CODE_OF_CRASH if self._code is None else self._code

    def _end(self, code: int, reason: str) -> None:
        if self._code is None:
            _log.debug("ending with code %d: %s", code, reason)
            self._code = code
            self._ended.set()

    async def _close(self, application: Application) -> None:
        code = _EXIT_CODE_OF_CRASH if self._code is None else self._code
        # For a task that will not be cancelled, or blocks the loop.
        last_resort = threading.Timer(_HARD_LIMIT_S, os._exit, (code,))
        last_resort.daemon = True
        last_resort.start()
        try:
            self._server.protocol.editor_gone()
            with anyio.move_on_after(CLOSE_LIMIT_S, shield=True) as limit:
                await application.aclose()
            if limit.cancelled_caught:
                _log.error("the cleaning up took longer than %g s", CLOSE_LIMIT_S)
        except Exception:  # noqa: BLE001 - a bug here must not change the exit code
            _log.exception("a bug while cleaning up")

    async def _read(self) -> None:
        frames = Frames()
        while chunk := await self._reader.chunk():
            for body in frames.feed(chunk):
                try:
                    self._server.protocol.receive(body)
                except SystemExit as exiting:
                    code = exiting.code
                    self._end(code if isinstance(code, int) else 1, "the editor said so")
                    return
                except Exception:  # noqa: BLE001 - one message must not end the others
                    _log.exception("a bug while handling a message")
                # A chunk can hold hundreds of messages; others have their turn between.
                await anyio.lowlevel.checkpoint()
        self._end(0, "the end of input")

    async def _end_on_signal(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        if sys.platform == "win32":
            task_status.started()
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                self._end(128 + number, f"signal {number}")

    async def _watch_editor(self) -> None:
        seen = False
        while True:
            await anyio.sleep(self._watch_every_s)
            process = self._server.process_id
            if process is None:
                continue
            if _alive(process):
                if not seen:
                    _log.debug("watching the editor's process %d", process)
                seen = True
            elif seen:
                self._end(1, "the editor's process is gone")
                return
            else:
                # Its number means nothing here: another machine, another container.
                _log.debug("the editor's process %d is not to be seen from here", process)
                return


def _alive(process: int) -> bool:
    # On Windows a signal of 0 would end the process, and below 1 are whole groups.
    if sys.platform == "win32" or process < 1:
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    # A dead process that nobody has waited for can still be signalled.
    with suppress(OSError, IndexError):
        status = Path(f"/proc/{process}/stat").read_bytes()
        return status.rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    return True


def _call_in(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed: nothing is left to end
        loop.call_soon_threadsafe(call)


def _take_stdio() -> tuple[StdinReader, QueueWriter]:
    """Keep stdin and stdout for the protocol alone.

    A child process would otherwise inherit them, and a stray ``print`` would break the
    stream of messages; now it goes to stderr.
    """
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return StdinReader(os.fdopen(source, "rb")), QueueWriter(os.fdopen(sink, "wb"))
