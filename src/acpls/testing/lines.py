"""The scripted agent's own JSON-RPC, one message a line, over blocking streams.

Invariant: responses are handed to their requests by the reading thread itself, so that the
thread that works off messages may wait for one.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from acpls.testing.shapes import Json


class Refusal(Exception):  # noqa: N818  an answer, not a failure of this program
    """A request is answered with this error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Sent:
    """A request to the client. ``wait`` gives its result, or ``None`` with ``error`` set."""

    def __init__(self, number: int | str) -> None:
        self.number = number
        self.result: Any = None
        self.error: Json | None = None
        self._answered = threading.Event()

    def wait(self) -> Any:
        """Blocks till the answer is there."""
        self._answered.wait()
        return self.result

    @property
    def answered(self) -> bool:
        """The answer is there."""
        return self._answered.is_set()

    def take(self, message: Json) -> None:
        """The answer came."""
        self.result, self.error = message.get("result"), message.get("error")
        self._answered.set()


class Wire:
    """Both directions of the agent's stdio."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, log: Path | None = None) -> None:
        self._source = source
        self._sink = sink
        self._log = log.open("a", encoding="utf-8") if log else None
        self._lock = threading.Lock()
        self._open: dict[int | str, Sent] = {}
        self._count = 0
        self.word_ids = False

    def send(self, message: Json) -> None:
        """One message."""
        self.write(as_line(message))

    def write(self, raw: bytes) -> None:
        """Bytes as they are. A client that no longer reads is not a failure."""
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._sink.write(raw)
            self._sink.flush()

    def close(self) -> None:
        """Closes the outgoing side."""
        with self._lock:
            # Python keeps descriptor 1 open when its stdout is closed.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._sink.fileno())
            os.close(nowhere)

    def notify(self, method: str, params: Any) -> None:
        """A notification; ``params`` of ``None`` are left out."""
        self.send(_message(method, params))

    def request(self, method: str, params: Any) -> Sent:
        """A request that is under way when this returns."""
        with self._lock:
            sent = Sent(f"agent-{self._count}" if self.word_ids else self._count)
            self._count += 1
            self._open[sent.number] = sent
        self.send({"id": sent.number} | _message(method, params))
        return sent

    def answer(self, number: Any, result: Any) -> None:
        """The result of a request of the client."""
        self.send({"jsonrpc": "2.0", "id": number, "result": result})

    def refuse(self, number: Any, refusal: Refusal) -> None:
        """The error of a request of the client."""
        self.send({"jsonrpc": "2.0", "id": number, "error": refusal.error})

    def messages(self, at_once: Callable[[Json], bool]) -> Iterator[Json]:
        """Requests and notifications till the end of input.

        ``at_once`` sees each before it is given out, and says whether it is dealt with.
        """
        for line in self._source:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except ValueError:
                self._record({"broken": line.decode(errors="replace")})
                self.refuse(None, Refusal(-32700, "Parse error"))
                continue
            self._record(message)
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                self.refuse(None, Refusal(-32600, "Invalid request"))
            elif "method" in message:
                if not at_once(message):
                    yield message
            elif (sent := self._open.pop(message.get("id", ""), None)) is not None:
                sent.take(message)

    def _record(self, message: Any) -> None:
        if self._log is not None:
            self._log.write(json.dumps(message) + "\n")
            self._log.flush()


def as_line(message: Json) -> bytes:
    """A message as it goes over the wire."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _message(method: str, params: Any) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}
