"""JSON-RPC messages towards the editor: their shapes, short error lines, their bytes.

Invariant: an error's message is one printable line of at most ``MESSAGE_LIMIT`` characters.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cattrs import Converter

MESSAGE_LIMIT: Final = 80
"""Characters of an error's message: some editors stop for a key press at a longer one."""


def call(method: str, params: object, **members: object) -> dict[str, object]:
    """Return a notification, or with ``id`` a request; params that are ``None`` are left out."""
    message: dict[str, object] = {"jsonrpc": "2.0", **members, "method": method}
    return message if params is None else {**message, "params": params}


def answer(request: object, result: object) -> dict[str, object]:
    """Return the answer to the request with this id."""
    return {"jsonrpc": "2.0", "id": request, "result": result}


def refusal(
    request: object,
    code: int,
    message: str,
    detail: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> dict[str, object]:
    """Return an error answer; what ``message`` has beyond one short line goes to the detail.

    ``data.detail`` is the rest of ``message``, if any, followed by ``detail``.
    """
    printable = "".join(char if char.isprintable() else " " for char in message)
    line = " ".join(printable.split())
    if len(line) > MESSAGE_LIMIT or "\n" in message.strip():
        detail = f"{message}\n{detail}" if detail else message
    if len(line) > MESSAGE_LIMIT:
        line = line[: MESSAGE_LIMIT - 1] + "…"
    error: dict[str, object] = {"code": code, "message": line}
    told = {**(data or {}), **({"detail": detail} if detail else {})}
    if told:
        error["data"] = told
    return {"jsonrpc": "2.0", "id": request, "error": error}


def framed(message: object, converter: Converter) -> bytes:
    """Return a message as it goes over the wire; ``converter`` knows lsprotocol's objects.

    Raises ``TypeError`` or ``ValueError`` for what cannot be JSON, not-a-number included.
    """
    try:
        body = _encoded(message, converter, escaped=False)
    except UnicodeEncodeError:
        # Half of a surrogate pair, as JavaScript may send it, survives as an escape.
        body = _encoded(message, converter, escaped=True)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _encoded(message: object, converter: Converter, *, escaped: bool) -> bytes:
    def plain(value: Any) -> Any:
        if attrs.has(type(value)):
            return converter.unstructure(value)
        msg = f"{type(value).__name__} is no JSON"
        raise TypeError(msg)

    return json.dumps(
        message, default=plain, ensure_ascii=escaped, allow_nan=False, separators=(",", ":")
    ).encode()
