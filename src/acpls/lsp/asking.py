"""Requests to the editor: their ids, their answers, and what ends them without one.

Invariant: nothing is kept of a request that is answered, given up or cut off.
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
from lsprotocol import types

from acpls.lsp import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cattrs import Converter

_INTERNAL_ERROR: Final = types.ErrorCodes.InternalError.value

_log = logging.getLogger("acpls.lsp")


class NoAnswer(Exception):  # noqa: N818 - nothing went wrong on our side
    """The editor did not answer in time, or is gone."""


class EditorError(Exception):
    """The editor answered with an error, or with a result that does not fit its type."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(slots=True)
class _Open:
    settled: anyio.Event = field(default_factory=anyio.Event)
    answer: Mapping[str, Any] | None = None


class Asks:
    """The open requests to one editor."""

    def __init__(self, send: Callable[[object], None]) -> None:
        """``send`` sends one message; it raises for what is no JSON."""
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[str, _Open] = {}
        self._ended = False

    async def ask(self, method: str, params: object, within_s: float) -> Mapping[str, Any]:
        """Send a request and return the whole answer; raises ``NoAnswer``."""
        if self._ended:
            raise NoAnswer(method)
        key = f"acpls-{next(self._numbers)}"
        asked = self._open[key] = _Open()
        sent = False
        try:
            self._send(messages.call(method, params, id=key))
            sent = True
            with anyio.move_on_after(within_s):
                await asked.settled.wait()
        finally:
            self._open.pop(key, None)
            # Also when the task that asks is cancelled: the editor need not go on then.
            if sent and not asked.settled.is_set():
                self._send(messages.call(types.CANCEL_REQUEST, {"id": key}))
        if asked.answer is None:
            raise NoAnswer(method)
        return asked.answer

    def settle(self, key: int | str, answer: Mapping[str, Any]) -> bool:
        """Hand over an answer; say whether somebody waits for it."""
        asked = self._open.pop(str(key), None)
        if asked is not None:
            asked.answer = answer
            asked.settled.set()
        return asked is not None

    def end(self) -> None:
        """Answer all open and all further requests with ``NoAnswer``."""
        self._ended = True
        for asked in self._open.values():
            asked.settled.set()
        self._open.clear()


def result(converter: Converter, kind: type[Any] | None, answer: Mapping[str, Any]) -> Any:
    """Return the result in an answer, plain JSON unless ``kind`` is the answer's LSP type.

    Raises ``EditorError``.
    """
    if (error := answer.get("error")) is not None:
        told = error if isinstance(error, dict) else {}
        code, message = told.get("code"), told.get("message")
        raise EditorError(
            code if isinstance(code, int) else _INTERNAL_ERROR,
            message if isinstance(message, str) else "The editor gave no reason",
        )
    if kind is None:
        return answer.get("result")
    whole = messages.answer(0, answer.get("result"))
    try:
        return converter.structure(whole, kind).result
    except Exception as unfit:
        _log.debug("an answer of the editor does not fit", exc_info=unfit)
        raise EditorError(_INTERNAL_ERROR, "The editor's answer does not fit") from unfit
