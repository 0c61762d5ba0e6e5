"""JSON-RPC 2.0 over lines of bytes, as ACP agents speak it on their pipes.

``Framer`` is fed whatever bytes arrive and gives what they mean, in order. What is not a
message is classed too: ``Noise`` was never meant for us (a log line), ``Bad`` was.

Invariant: no I/O and no exception for anything a peer can send.
"""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic_core import from_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

Id: TypeAlias = int | str | None


@dataclass(frozen=True, slots=True)
class Request:
    """A request; it must be answered under the same id (ACP 1 allows ``null``)."""

    id: Id
    method: str
    params: Any = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that nobody answers."""

    method: str
    params: Any = None


@dataclass(frozen=True, slots=True)
class Result:
    """The good answer to a request."""

    id: Id
    result: Any


@dataclass(frozen=True, slots=True)
class Error:
    """The bad answer to a request; ``data`` is any JSON value."""

    id: Id
    code: int
    message: str
    data: Any = None


Message: TypeAlias = Request | Notification | Result | Error


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is no message; ``text`` is its beginning, for a log."""

    text: str


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that was meant as a message and is none.

    To be answered with ``code`` under ``id``, except when it ``replies``: then it is a
    broken answer to our request ``id``.
    """

    id: Id
    code: int
    problem: str
    text: str
    replies: bool = False


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line passed the limit; the rest of it is skipped."""

    limit_bytes: int


Frame: TypeAlias = Message | Noise | Bad | TooLong


class Framer:
    """Cuts bytes into lines and lines into frames.

    ``limit_bytes`` is the longest line, without its end, that is looked at. The time
    needed grows with the number of bytes only, however they are split.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[Frame]:
        """Give the frames that these bytes complete."""
        frames: list[Frame] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if self._parts or self._skipping or end - start > self._limit_bytes:
                self._take(data[start:end], frames)
                self._finish(frames)
            elif (frame := read_line(data[start:end])) is not None:
                frames.append(frame)
            start = end + 1
        self._take(data[start:], frames)
        return frames

    def end(self) -> list[Frame]:
        """Give what a last line without an end means: a whole message, or noise."""
        frames: list[Frame] = []
        self._finish(frames)
        return [Noise(f.text) if isinstance(f, Bad) else f for f in frames]

    def _take(self, piece: bytes, frames: list[Frame]) -> None:
        if self._skipping or not piece:
            return
        self._size += len(piece)
        if self._size <= self._limit_bytes:
            self._parts.append(piece)
            return
        self._parts.clear()
        self._skipping = True
        frames.append(TooLong(self._limit_bytes))

    def _finish(self, frames: list[Frame]) -> None:
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        self._skipping = False
        if (frame := read_line(line)) is not None:
            frames.append(frame)


def read_line(line: bytes) -> Message | Noise | Bad | None:
    """Say what one line means; ``None`` when there is nothing on it."""
    # Nearly every line begins with its message, so there is nothing to look for before it.
    line = line.rstrip(_BLANK) if line.startswith(b"{") else _without_prefix(line)
    if not line:
        return None
    if line[:1] not in b"{[":
        return Noise(_excerpt(line))
    try:
        value = from_json(line, allow_inf_nan=False, cache_strings="keys")
    except ValueError as problem:
        if line[:1] == b"{":
            return _broken(line, str(problem))
        return Noise(_excerpt(line))
    if isinstance(value, dict):
        if "jsonrpc" not in value or (value["jsonrpc"] != "2.0" and "method" not in value):
            return Noise(_excerpt(line))
        message = _message(value)
        if not isinstance(message, str):
            return message
        return Bad(
            value.get("id") if _is_id(value.get("id")) else None,
            INVALID_REQUEST,
            message,
            _excerpt(line),
            replies="method" not in value and ("result" in value or "error" in value),
        )
    if any(isinstance(item, dict) and "jsonrpc" in item for item in value):
        return Bad(None, INVALID_REQUEST, "ACP has no batches", _excerpt(line))
    return Noise(_excerpt(line))


def encode(message: dict[str, Any]) -> bytes:
    """Write a message as one line, its end included."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8, but JSON can still spell it.
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def request(id_: Id, method: str, params: Any) -> dict[str, Any]:
    """Build a request."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def notification(method: str, params: Any) -> dict[str, Any]:
    """Build a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(id_: Id, value: Any) -> dict[str, Any]:
    """Build a good answer."""
    return {"jsonrpc": "2.0", "id": id_, "result": value}


def error(id_: Id, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """Build a bad answer; ``data`` is left out when it is ``None``."""
    body = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": id_, "error": body if data is None else {**body, "data": data}}


# --- the shape of a message ----------------------------------------------------------


def _message(value: dict[str, Any]) -> Message | str:
    """Give the message, or what is wrong with it."""
    if value["jsonrpc"] != "2.0":
        return "jsonrpc is not 2.0"
    if "id" in value and not _is_id(value["id"]):
        return "the id is neither an integer nor a string"
    if "method" in value:
        return _asking(value)
    if "id" not in value:
        return "neither a method nor an id"
    return _answering(value)


def _asking(value: dict[str, Any]) -> Message | str:
    method, params = value["method"], value.get("params")
    if not isinstance(method, str):
        return "the method is not a string"
    if "result" in value or "error" in value:
        return "a method together with a result or an error"
    if not (params is None or isinstance(params, dict | list)):
        return "the params are neither an object nor an array"
    if "id" in value:
        return Request(value["id"], method, params)
    return Notification(method, params)


def _answering(value: dict[str, Any]) -> Message | str:
    problem = value.get("error")
    # A null beside the other one is how JSON-RPC 1.0 spelled "absent"; it is unambiguous.
    if problem is None:
        if "result" not in value:
            return "neither a method, nor a result, nor an error"
        return Result(value["id"], value["result"])
    if value.get("result") is not None:
        return "both a result and an error"
    if not isinstance(problem, dict):
        return "the error is not an object"
    code, text = problem.get("code"), problem.get("message")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(text, str):
        return "the error has no integer code or no message"
    return Error(value["id"], code, text, problem.get("data"))


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, int | str) and not isinstance(value, bool))


# --- what is no JSON but was meant as a message --------------------------------------

_MAX_OUTLINED_BYTES = 1024 * 1024
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
# An escape of a whole surrogate pair, of half of one, or of anything else.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def _broken(line: bytes, problem: str) -> Message | Noise | Bad:
    """Say what can be said of a line that is no JSON, such as its id for the answer."""
    outline = _outline(line)
    replies = "method" not in outline and ("result" in outline or "error" in outline)
    id_ = None
    if outline.get("jsonrpc") == b'"2.0"' and (scalar := outline.get("id")):
        with contextlib.suppress(ValueError):
            known = from_json(scalar)
            id_ = known if _is_id(known) else None
    if id_ is None or replies:
        # Agents cut texts in the middle of a character. What is shown may lose its half;
        # what is asked for, such as a file's text, may not.
        whole = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], line)
        whole = whole.decode(errors="replace").encode()
        if whole != line and not isinstance(message := read_line(whole), Bad | None):
            return message
    return Bad(id_, PARSE_ERROR, f"not JSON: {problem}", _excerpt(line), replies)


def _outline(line: bytes) -> dict[str, bytes | None]:
    """The members of the outermost object as far as they can be read; scalars as they stand."""
    found: dict[str, bytes | None] = {}
    depth, name, expects = 0, "", "name"
    for token in map(re.Match.group, _TOKEN.finditer(line, 0, _MAX_OUTLINED_BYTES)):
        if depth == 1 and token not in b"}]:,":
            if expects == "name":
                name = token.strip(b'"').decode(errors="replace")
            else:
                found[name] = None if token in b"{[" else token
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif depth == 1 and token in b":,":
            expects = "name" if token == b"," else "value"
    return found


# --- what may stand around a frame ----------------------------------------------------

_BLANK = bytes(range(0x1B)) + bytes(range(0x1C, 0x21))
_PREFIX = re.compile(
    rb"\xef\xbb\xbf"  # byte order mark
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: window titles
    rb"|\x1b[ -/]*[0-~]"
)
_MAX_PREFIXES = 64
_EXCERPT_BYTES = 400


def _without_prefix(line: bytes) -> bytes:
    line = line.strip(_BLANK)
    if line.startswith(b"{"):
        return line
    for _ in range(_MAX_PREFIXES):
        match = _PREFIX.match(line)
        if match is None:
            break
        line = line[match.end() :].lstrip(_BLANK)
    return line


def _excerpt(line: bytes) -> str:
    text = line[:_EXCERPT_BYTES].decode(errors="replace")
    return text + "…" if len(line) > _EXCERPT_BYTES else text
