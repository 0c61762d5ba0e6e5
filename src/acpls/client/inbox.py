"""The messages of an agent, sifted from whatever its transport brings.

Invariant: messages come in wire order, and no more is read than is asked for.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from acpls.wire import jsonrpc
from acpls.wire.jsonrpc import Bad, Error, Message, Noise, Notification, Request, Result, TooLong

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.client.faults import Faults
    from acpls.client.transport import Transport

_MIB: Final = 1024 * 1024
_MAX_BAD_LINES: Final = 1000


class Inbox:
    """What arrives. ``answer`` sends the answers to broken requests.

    ``fault`` is why nothing more is read, in words that complete "it was ended: ...".
    """

    def __init__(
        self,
        agent: str,
        transport: Transport,
        faults: Faults,
        answer: Callable[[dict[str, Any]], None],
        *,
        limit_bytes: int,
    ) -> None:
        self.fault: str | None = None
        self._agent = agent
        self._transport = transport
        self._faults = faults
        self._answer = answer
        self._framer = jsonrpc.Framer(limit_bytes)
        self._frames: deque[jsonrpc.Frame] = deque()
        self._ended = False
        self._bad_lines = 0

    async def receive(self) -> Message | None:
        """Wait for the next message; what is none is dealt with here. ``None``: the end.

        A broken reply comes as an error reply, so that whoever waits for it hears of it.
        """
        while self.fault is None:
            while self._frames:
                message = self._sift(self._frames.popleft())
                if message is not None:
                    return message
                if self.fault is not None:
                    return None
            if self._ended:
                return None
            data = await self._transport.receive()
            self._ended = not data
            self._frames.extend(self._framer.feed(data) if data else self._framer.end())
        return None

    def close(self, fault: str) -> None:
        """Read no more, because of this."""
        if self.fault is None:
            self.fault = fault
            self._faults.final(fault)
            self._transport.stop_reading()

    def _sift(self, frame: jsonrpc.Frame) -> Message | None:
        match frame:
            case Notification() | Request() | Result() | Error():
                self._bad_lines = 0
                return frame
            case TooLong():
                limit = _size(frame.limit_bytes)
                self.close(f"it sent a line longer than the limit of {limit}")
                return None
            case Noise():
                # Programs that start by way of others may print any amount of it.
                self._faults.noise(frame.text)
                return None
            case Bad():
                self._faults.misspoke(f"bad message ({frame.problem}): {frame.text}")
                self._count()
                if frame.replies:
                    problem = f"{self._agent} sent a broken reply: {frame.problem}"
                    return jsonrpc.Error(frame.id, jsonrpc.INTERNAL_ERROR, problem)
                self._answer(jsonrpc.error(frame.id, frame.code, frame.problem))
                return None

    def _count(self) -> None:
        self._bad_lines += 1
        if self._bad_lines > _MAX_BAD_LINES:
            self.close(f"it sent more than {_MAX_BAD_LINES} lines in a row that cannot be read")


def _size(size_bytes: int) -> str:
    return f"{size_bytes} bytes" if size_bytes < _MIB else f"{size_bytes / _MIB:g} MiB"
