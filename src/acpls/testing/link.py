"""The fake editor's connection: frames over byte streams, calls and their answers.

Invariant: messages go out in the order in which they were put, and are taken in the order in
which they came. What the peer does wrong is noted in ``faults``.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from acpls.testing.frames import FrameError, Frames, frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.testing.frames import Json


class ByteSource(Protocol):
    """The incoming half of a connection; raises ``anyio.EndOfStream`` at its end."""

    async def receive(self) -> bytes:
        """Some bytes."""


class ByteSink(Protocol):
    """The outgoing half of a connection."""

    async def send(self, item: bytes, /) -> None:
        """All of these bytes."""

    async def aclose(self) -> None:
        """No more will come."""


class CommandFailed(Exception):  # noqa: N818  its name in the tests that use it
    """A request was answered with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class Call:
    """A request to the server that may be waited for, or cancelled."""

    def __init__(self, link: Link, number: int, method: str) -> None:
        self.number = number
        self.method = method
        self._link = link
        self._answered = anyio.Event()
        self._answer: Json = {}

    @property
    def answered(self) -> bool:
        """The answer is there."""
        return self._answered.is_set()

    def cancel(self) -> None:
        """Tells the server that the answer is not wanted any more. It still has to come."""
        self._link.put({"method": "$/cancelRequest", "params": {"id": self.number}})

    async def result(self, within: float = 10) -> Any:
        """The result. Raises ``CommandFailed``, ``TimeoutError``, ``ConnectionError``."""
        with anyio.move_on_after(within):
            await self._answered.wait()
        if not self.answered:
            raise TimeoutError(f"{self.method} was not answered within {within} s")
        if "lost" in self._answer:
            raise ConnectionError(f"the server ended before it answered {self.method}")
        if "error" in self._answer:
            error = self._answer["error"]
            raise CommandFailed(error["code"], error["message"], error.get("data"))
        return self._answer["result"]

    def take(self, answer: Json) -> None:
        """The answer came."""
        self._answer = answer
        self._answered.set()


class Link:
    """A connection. ``take`` is called with each request and notification of the server."""

    def __init__(self, take: Callable[[Json], None]) -> None:
        self.faults: list[str] = []
        self.calls: dict[int, Call] = {}
        self.ended = anyio.Event()
        self.written = anyio.Event()
        self._take = take
        self._count = 0
        self._outbox, self._waiting = anyio.create_memory_object_stream[bytes](math.inf)

    def put(self, message: Json) -> None:
        """Sends one message, after those put before it."""
        # With the server gone nobody reads it; the reading side has noticed the end.
        with suppress(anyio.BrokenResourceError):
            self._outbox.send_nowait(frame(message))

    def call(self, method: str, params: Any) -> Call:
        """Sends a request. ``None`` for ``params`` leaves them out."""
        self._count += 1
        call = self.calls[self._count] = Call(self, self._count, method)
        self.put(_with_params({"id": self._count, "method": method}, params))
        if self.ended.is_set():
            self._lose()
        return call

    def notify(self, method: str, params: Any) -> None:
        """Sends a notification. ``None`` for ``params`` leaves them out."""
        self.put(_with_params({"method": method}, params))

    def close(self) -> None:
        """Nothing more is put."""
        self._outbox.close()

    def abandon(self) -> None:
        """Nothing is sent any more, not even what waits."""
        self._outbox.close()
        self._waiting.close()

    async def read(self, source: ByteSource) -> None:
        """Reads till the end of the stream or the first fault in it."""
        frames = Frames()
        try:
            while True:
                for message in frames.feed(await source.receive()):
                    self._got(message)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if not frames.clean:
                self.faults.append("the server ended in the middle of a message")
        except FrameError as fault:
            self.faults.append(f"bad framing: {fault}")
        finally:
            self.ended.set()
            self._lose()

    async def write(self, sink: ByteSink) -> None:
        """Writes what is put, till ``close``; then closes the stream."""
        try:
            async with self._waiting:
                async for data in self._waiting:
                    await sink.send(data)
            await sink.aclose()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # The reading side sees the end, and says so.
            pass
        finally:
            self.written.set()

    def _got(self, message: Json) -> None:
        if "method" in message:
            self._take(message)
            return
        call = self.calls.pop(message.get("id", 0), None)
        if call is None:
            self.faults.append(f"an answer to no request of ours: id {message.get('id')!r}")
        elif ("result" in message) == ("error" in message):
            self.faults.append(f"{call.method}: neither a result nor an error, or both")
            call.take({"lost": True})
        else:
            call.take(message)

    def _lose(self) -> None:
        for call in self.calls.values():
            call.take({"lost": True})


def _with_params(message: Json, params: Any) -> Json:
    return message if params is None else {**message, "params": params}
