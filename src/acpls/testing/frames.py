"""LSP's base protocol, as the fake editor speaks it: headers, a length, JSON.

Invariant: whatever is not exactly a frame with a JSON-RPC 2.0 object in it is a
``FrameError``; nothing is skipped to get on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = dict[str, Any]

_HEADERS = {b"content-length", b"content-type"}


class FrameError(ValueError):
    """The peer does not keep to the base protocol; ``str()`` is one line."""


def frame(message: Json) -> bytes:
    """The bytes of one message; ``jsonrpc`` is put in."""
    body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Bytes in, messages out."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def clean(self) -> bool:
        """No begun frame is left."""
        return not self._rest

    def feed(self, data: bytes) -> Iterator[Json]:
        """The messages that these bytes complete. Raises ``FrameError``."""
        self._rest += data
        while b"\r\n\r\n" in self._rest:
            head, rest = self._rest.split(b"\r\n\r\n", 1)
            length = _length(head)
            if len(rest) < length:
                return
            self._rest = rest[length:]
            yield _message(rest[:length])


def _length(head: bytes) -> int:
    fields = {}
    for line in head.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon or name.lower() not in _HEADERS:
            raise FrameError(f"not a header: {line[:60]!r}")
        fields[name.lower()] = value.strip()
    try:
        return int(fields[b"content-length"])
    except (KeyError, ValueError):
        raise FrameError(f"no length in the header: {head[:60]!r}") from None


def _message(body: bytes) -> Json:
    try:
        message = json.loads(body)
    except ValueError:
        raise FrameError(f"not JSON: {body[:60]!r}") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise FrameError(f"not a JSON-RPC message: {body[:60]!r}")
    return message
