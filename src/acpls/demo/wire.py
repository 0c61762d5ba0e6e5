"""JSON-RPC 2.0 as JSON lines over two byte streams: reading, sending, awaiting replies.

One thread reads ``incoming``; any thread may send, and may wait for a reply.

Invariant: one message is one line, never two threads' messages mixed; nothing else is
written to the stream.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acpls.demo.terms import Json, RequestId

LINE_LIMIT = 32 * 1024 * 1024
"""Bytes of the longest line that is read; a longer one ends the connection."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_FOUND = -32002
CANCELLED = -32800
UNSUPPORTED_VERSION = -32022


class Fault(Exception):  # noqa: N818  the word for an error response, ours or the client's
    """An error response: raised to send one, and when one is received."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def json(self) -> Json:
        """The ``error`` member of a response."""
        error: Json = {"code": self.code, "message": self.message}
        return error | ({"data": self.data} if self.data is not None else {})


@dataclass(slots=True)
class _Awaited:
    done: bool = False
    result: Any = None
    fault: Fault | None = None


class Wire:
    """A connection to the client; ``sink`` is unbuffered and may write less than it is given."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._sending = threading.Lock()
        self._awaited: dict[int, _Awaited] = {}
        self._next = 0
        self.changed = threading.Condition()
        """Guards what threads share; notified whenever a waiting thread may go on."""

    def incoming(self) -> Iterator[Json]:
        """The client's messages until the end of input. Broken lines are answered here."""
        while True:
            line = self._source.readline(LINE_LIMIT + 1)
            if not line or len(line) > LINE_LIMIT:
                return
            if not line.strip():
                continue
            try:
                message = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                self.fail(None, Fault(PARSE_ERROR, "This line is not JSON in UTF-8."))
                continue
            if isinstance(message, dict):
                yield message
            else:
                self.fail(None, Fault(INVALID_REQUEST, "A message is one JSON object a line."))

    def tell(self, method: str, params: Json) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def reply(self, request: RequestId, result: Json) -> None:
        """Answer a request of the client."""
        self._send({"id": request, "result": result})

    def fail(self, request: RequestId, fault: Fault) -> None:
        """Answer a request of the client with an error."""
        self._send({"id": request, "error": fault.json()})

    def request(self, method: str, params: Json, *, awaited: bool = True) -> int:
        """Send a request, its number is returned; see ``take`` for its reply."""
        with self.changed:
            number = self._next
            self._next += 1
            if awaited:
                self._awaited[number] = _Awaited()
        self._send({"id": number, "method": method, "params": params})
        return number

    def take(self, number: int, gave_up: Callable[[], bool]) -> Any:
        """Wait for the reply to a request: its result.

        Raises ``Fault`` for an error reply, ``TimeoutError`` as soon as ``gave_up()`` holds;
        a reply that comes later is dropped.
        """
        with self.changed:
            awaited = self._awaited[number]
            self.changed.wait_for(lambda: awaited.done or gave_up())
            del self._awaited[number]
        if not awaited.done:
            raise TimeoutError(f"gave up waiting for the reply to {number}")
        if awaited.fault:
            raise awaited.fault
        return awaited.result

    def replied(self, message: Json) -> None:
        """Hand a response of the client to whoever waits for it; unknown ids are ignored."""
        with self.changed:
            number = message.get("id")
            awaited = self._awaited.get(number) if isinstance(number, int) else None
            if awaited is None or awaited.done:
                return
            awaited.done = True
            error = message.get("error")
            if error is None:
                awaited.result = message.get("result")
            else:
                text = error.get("message") if isinstance(error, dict) else None
                code = error.get("code") if isinstance(error, dict) else None
                awaited.fault = Fault(
                    code if isinstance(code, int) else INTERNAL_ERROR, str(text or error)
                )
            self.changed.notify_all()

    def _send(self, message: Json) -> None:
        whole = {"jsonrpc": "2.0"} | message
        try:
            line = json.dumps(whole, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:  # half of a surrogate pair: only an escape can say it
            line = json.dumps(whole).encode("ascii")
        with self._sending:
            left = memoryview(line + b"\n")
            try:
                while left:
                    left = left[self._sink.write(left) :]
            except OSError:
                # The client is gone; the end of input comes next and ends everything.
                return
