"""Stands between an editor and the server: sees every message, asks the server on its own
account, and holds messages back, so that what is a matter of luck happens each time.

``python tap.py COMMAND...`` is what the editor starts. The test is at the other end of the
socket that ``ACPLS_TAP`` names (``tapped``). One line of JSON is one word::

    {"from": "editor", "message": {...}}      whatever passes; from the "server" with "held"
    {"ask": {"id": "tap-3", ...}}             a request; its answer comes as {"answer": {...}}
    {"hold": "workspace/applyEdit"}           the next one of the server's, until {"let": true}

The server's standard error goes to the file that ``ACPLS_TAP_ERRORS`` names.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MINE = "tap-"


class Relay:
    """Carries messages from one side to the other."""

    def __init__(self, talk: socket.socket, server: subprocess.Popen[bytes]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._talk = talk
        self._to_server, self._from_server = server.stdin, server.stdout
        self._lock = threading.Lock()
        self._hold: str | None = None
        self._held: list[bytes] = []

    def from_editor(self) -> None:
        """Until the editor ends, which the server is told."""
        for body in _messages(sys.stdin.buffer):
            # Told only then, so that what the test asks next comes after it.
            self._pass_on(self._to_server, body)
            self._tell({"from": "editor", "message": json.loads(body)})
        self._to_server.close()

    def from_server(self) -> None:
        """Until the server ends."""
        for body in _messages(self._from_server):
            message = json.loads(body)
            if str(message.get("id", "")).startswith(MINE):
                self._tell({"answer": message})
                continue
            with self._lock:
                held = self._hold is not None and message.get("method") == self._hold
                if held:
                    self._hold = None
                    self._held.append(body)
            if not held:
                self._pass_on(sys.stdout.buffer, body)
            self._tell({"from": "server", "message": message, "held": held})

    def from_test(self) -> None:
        """Until the test ends."""
        for line in self._talk.makefile("rb"):
            word = json.loads(line)
            if "ask" in word:
                self._pass_on(self._to_server, json.dumps(word["ask"]).encode())
            elif "hold" in word:
                with self._lock:
                    self._hold = word["hold"]
            else:
                with self._lock:
                    self._hold, held, self._held = None, self._held, []
                for body in held:
                    self._pass_on(sys.stdout.buffer, body)

    def _pass_on(self, to: IO[bytes], body: bytes) -> None:
        try:
            with self._lock:
                to.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                to.flush()
        except (OSError, ValueError):
            # It is gone; who sent this learns of that by itself.
            return

    def _tell(self, word: dict[str, Any]) -> None:
        try:
            self._talk.sendall(json.dumps(word).encode() + b"\n")
        except OSError:
            return


def _messages(stream: IO[bytes]) -> Iterator[bytes]:
    size = 0
    while line := stream.readline():
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
        elif not line.strip():
            yield stream.read(size)


def main() -> int:
    """Carry messages until the server ends; its exit code comes back."""
    talk = socket.socket(socket.AF_UNIX)
    talk.connect(os.environ["ACPLS_TAP"])
    with Path(os.environ["ACPLS_TAP_ERRORS"]).open("ab") as errors:
        server = subprocess.Popen(
            sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
    relay = Relay(talk, server)
    for work in (relay.from_editor, relay.from_test):
        threading.Thread(target=work, daemon=True).start()
    relay.from_server()
    return server.wait()


if __name__ == "__main__":
    sys.exit(main())
