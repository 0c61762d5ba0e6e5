"""As much of MessagePack-RPC as it takes to ask Neovim for something."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

WITHIN_S: Final = 15.0

# By the first byte: how many bytes the length has, and what it is the length of.
_SIZED: Final = {
    **{0xC4 + i: (1 << i, "bytes") for i in range(3)},
    **{0xC7 + i: (1 << i, "ext") for i in range(3)},
    **{0xD9 + i: (1 << i, "str") for i in range(3)},
    **{0xDC + i: (2 << i, "array") for i in range(2)},
    **{0xDE + i: (2 << i, "map") for i in range(2)},
}
_NUMBERS: Final = {
    **dict(zip(range(0xCC, 0xD0), [">B", ">H", ">I", ">Q"], strict=True)),
    **dict(zip(range(0xD0, 0xD4), [">b", ">h", ">i", ">q"], strict=True)),
    0xCA: ">f",
    0xCB: ">d",
}
_PLAIN: Final = {0xC0: None, 0xC2: False, 0xC3: True}


class Remote:
    """A connection to a program that answers requests."""

    def __init__(self, path: Path) -> None:
        """``OSError`` where nobody listens at that socket yet."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(WITHIN_S)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._stream = self._socket.makefile("rb")
        self._number = 0

    def request(self, method: str, *arguments: object) -> Any:
        """The result; ``AssertionError`` with the other side's words where it is an error."""
        self._number += 1
        self._socket.sendall(packed([0, self._number, method, list(arguments)]))
        while True:
            kind, *rest = self._next()
            if kind == 1 and rest[0] == self._number:
                _, error, result = rest
                assert error is None, error
                return result

    def close(self) -> None:
        """Nothing is asked any more."""
        self._stream.close()
        self._socket.close()

    def _take(self, size: int) -> bytes:
        data = self._stream.read(size)
        assert len(data) == size, "the connection was closed"
        return data

    def _next(self) -> Any:
        first = self._take(1)[0]
        if first in _PLAIN:
            return _PLAIN[first]
        if first < 0x80 or first >= 0xE0:
            return first if first < 0x80 else first - 0x100
        if first in _NUMBERS:
            form = _NUMBERS[first]
            return struct.unpack(form, self._take(struct.calcsize(form)))[0]
        if first in _SIZED:
            width, kind = _SIZED[first]
            return self._of(kind, int.from_bytes(self._take(width), "big"))
        if first >= 0xD4:
            return self._of("ext", 1 << (first - 0xD4))
        if first >= 0xA0:
            return self._of("str", first - 0xA0)
        return self._of("map", first - 0x80) if first < 0x90 else self._of("array", first - 0x90)

    def _of(self, kind: str, size: int) -> Any:
        match kind:
            case "array":
                return [self._next() for _ in range(size)]
            case "map":
                return {self._next(): self._next() for _ in range(size)}
            case "ext":
                return self._take(size + 1)
            case "str":
                return self._take(size).decode(errors="replace")
            case _:
                return self._take(size)


def packed(value: object) -> bytes:
    """Numbers from zero, texts, and lists of them."""
    if isinstance(value, int):
        return struct.pack(">BI", 0xCE, value)
    if isinstance(value, str):
        data = value.encode()
        return struct.pack(">BI", 0xDB, len(data)) + data
    assert isinstance(value, list), value
    return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
