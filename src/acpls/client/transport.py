"""What a connection needs of whatever carries an agent's bytes: the ``Transport``.

A child process with its pipes fulfils it (``process.Child``). Another way to reach an agent,
such as HTTP or a WebSocket, is one more class; what lies above does not change. ACP leaves
room for such transports (specification, transports).
"""

from __future__ import annotations

from typing import Protocol


class TransportGone(Exception):  # noqa: N818  not an error: agents come and go
    """The other side no longer reads."""


class Transport(Protocol):
    """A stream of bytes in each direction, and the end of whoever is at the other side.

    Messages are lines, so a transport that has frames of its own ends each with a newline.
    """

    async def receive(self) -> bytes:
        """Wait for more bytes, in order; ``b""`` is the end, then and ever after.

        What was not asked for yet is held back at the source, not gathered without bound.
        """

    async def send(self, data: bytes) -> None:
        """Send bytes, and wait while the other side does not read. Raises ``TransportGone``."""

    async def deaf(self) -> None:
        """Wait until the other side reads no more."""

    def stop_reading(self) -> None:
        """Take no more bytes; ``receive`` gives the end from now on."""

    async def exited(self, within_s: float | None = None) -> int | None:
        """Wait, at most so many seconds, for the other side's end; give its exit code.

        ``None``: it has not ended, or its way of ending has no code.
        """

    def last_words(self) -> list[str]:
        """Give the last lines that were said beside the protocol, oldest first."""

    async def end(self, grace_s: float = 1.0) -> None:
        """End the other side with everything it started, or let go of it where it is not ours.

        It is given ``grace_s`` seconds to leave by itself. A second call waits for the first.
        """
