"""Bytes from and to the editor: frames cut out of a stream, a reader and a writer with threads.

Invariant: the loop thread never waits for the editor, neither to read nor to write.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_log = logging.getLogger("acpls.lsp")

_CHUNK_BYTES: Final = 64 * 1024
_HEADER_LIMIT_BYTES: Final = 64 * 1024


class ByteSource(Protocol):
    """What a ``StdinReader`` reads: a buffered binary stream."""

    def read1(self, size: int, /) -> bytes:
        """Return what is there, waiting for at least one byte; nothing at end of input."""


class ByteSink(Protocol):
    """What a ``QueueWriter`` writes to: a binary stream."""

    def write(self, data: bytes, /) -> object:
        """Take all of ``data``, waiting as long as the other side does not read."""

    def flush(self) -> object:
        """Pass on what is buffered."""


class Frames:
    """Cuts a byte stream into message bodies by their ``Content-Length`` (LSP, base protocol).

    Lines may end in CRLF or LF and other headers are skipped. A header block without a
    usable length is logged and skipped, since nothing says where its body would end.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._length: int | None = None
        self._in_body = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take the next bytes of the stream; yield each body that they complete.

        The iterator has to be used up before the next call.
        """
        self._buffer += data
        while True:
            if self._in_body:
                length = self._length or 0
                if len(self._buffer) < length:
                    return
                body = bytes(self._buffer[:length])
                del self._buffer[:length]
                self._length, self._in_body = None, False
                yield body
            elif not self._header_line():
                return

    def _header_line(self) -> bool:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            if self._searched > _HEADER_LIMIT_BYTES:
                _log.warning("skipped %d bytes that are no header", self._searched)
                self._buffer.clear()
                self._searched = 0
            return False
        line = bytes(self._buffer[:end]).strip()
        del self._buffer[: end + 1]
        self._searched = 0
        if line:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                self._length = _length(value.strip())
        elif self._length is not None:
            self._in_body = True
        else:
            _log.warning("skipped a header block without a usable Content-Length")
        return True


def _length(value: bytes) -> int | None:
    # int() alone would also take a sign, underscores and spaces.
    return int(value) if value.isdigit() and len(value) < len("1000000000000") else None


class StdinReader:
    """Reads a blocking stream without blocking the loop, in a thread of its own.

    The thread cannot be interrupted: a process that ends while it waits has to end by
    ``os._exit``, since a normal end of the interpreter would wait for the thread.
    """

    def __init__(self, stream: ByteSource) -> None:
        self._stream = stream
        # The loop's default executor would be joined when the loop closes.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="acpls-stdin")

    async def chunk(self) -> bytes:
        """Return the next bytes; nothing at the end of input, or when it can't be read."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, self._stream.read1, _CHUNK_BYTES)
        except (OSError, ValueError) as error:
            _log.warning("the editor's input ended: %s", error)
            return b""


class QueueWriter:
    """Writes to a blocking stream through an unbounded queue and one daemon thread.

    pygls accepts it as a writer. Once the stream is broken everything is dropped.
    """

    def __init__(self, stream: ByteSink, on_broken: Callable[[], None] | None = None) -> None:
        """``on_broken`` is called once, in the writing thread, when the stream breaks."""
        self._stream = stream
        self._on_broken = on_broken
        self._queue: deque[bytes] = deque()
        self._pending_bytes = 0
        self._broken = False
        self._closed = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="acpls-stdout", daemon=True).start()

    @property
    def pending_bytes(self) -> int:
        """How many bytes the stream has not taken yet."""
        return self._pending_bytes

    @property
    def broken(self) -> bool:
        """Whether the other side has closed the stream."""
        return self._broken

    def write(self, data: bytes) -> None:
        """Queue ``data``; returns at once. After ``close`` or a break it is dropped."""
        with self._changed:
            if not data or self._closed or self._broken:
                return
            self._queue.append(data)
            self._pending_bytes += len(data)
            self._changed.notify_all()

    def close(self) -> None:
        """Take nothing more; what is queued is still written."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def drain(self, timeout_s: float) -> bool:
        """Wait, blocking, until all is written; say whether it was within ``timeout_s``."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while self._pending_bytes and not self._broken:
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    break
            return not self._pending_bytes and not self._broken

    def when_broken(self, call: Callable[[], None]) -> None:
        """Set what is called once when the stream breaks; at once if it is broken already."""
        with self._changed:
            self._on_broken = call
            broken = self._broken
        if broken:
            call()

    def _run(self) -> None:
        while data := self._next():
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._break(error)
                return
            with self._changed:
                self._pending_bytes -= len(data)
                self._changed.notify_all()

    def _next(self) -> bytes:
        with self._changed:
            while not self._queue:
                if self._closed:
                    return b""
                self._changed.wait()
            parts, size = [], 0
            while self._queue and size < _CHUNK_BYTES:
                parts.append(self._queue.popleft())
                size += len(parts[-1])
        return b"".join(parts)

    def _break(self, error: Exception) -> None:
        _log.info("the editor no longer reads: %s", error)
        with self._changed:
            self._broken = True
            self._queue.clear()
            self._pending_bytes = 0
            call, self._on_broken = self._on_broken, None
            self._changed.notify_all()
        if call is not None:
            call()
