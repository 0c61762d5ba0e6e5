"""The messages for an agent: a queue that plain functions fill and one task empties."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import anyio

from acpls.client.transport import TransportGone
from acpls.wire import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Callable

    Lost = Callable[[], None]

    from acpls.client.transport import Transport

_MIB: Final = 1024 * 1024
_MAX_UNSENT_BYTES: Final = 128 * _MIB


class Outbox:
    """What is to be sent, in order. ``close`` is called when the agent leaves too much unread."""

    def __init__(self, transport: Transport, close: Callable[[str], None]) -> None:
        self._transport = transport
        self._close = close
        # The first one is being sent.
        self._unsent: deque[tuple[bytes, Lost | None]] = deque()
        self._unsent_bytes = 0
        self._gone = False
        self._to_send = anyio.Event()

    def put(self, message: dict[str, Any], lost: Lost | None = None) -> None:
        """Queue a message; it leaves after those queued before. ``lost`` is called when it is
        known that it will not.
        """
        line = jsonrpc.encode(message)
        if self._gone:
            if lost is not None:
                lost()
            return
        self._unsent.append((line, lost))
        self._unsent_bytes += len(line)
        self._to_send.set()
        if self._unsent_bytes > _MAX_UNSENT_BYTES:
            self._close(f"it left {_MAX_UNSENT_BYTES // _MIB} MiB of messages unread")

    async def write(self) -> None:
        """Write the queue out until the agent no longer reads. Runs as a task."""
        try:
            while True:
                while self._unsent:
                    line, _ = self._unsent[0]
                    await self._transport.send(line)
                    self._unsent.popleft()
                    self._unsent_bytes -= len(line)
                self._to_send = anyio.Event()
                await self._to_send.wait()
        except TransportGone:
            self.abandon()

    def abandon(self) -> None:
        """Nothing is sent any more; what was not is lost."""
        self._gone = True
        unsent, self._unsent = self._unsent, deque()
        self._unsent_bytes = 0
        for _, lost in unsent:
            if lost is not None:
                lost()
