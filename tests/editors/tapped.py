"""The test's end of the tap (``tap``): what passes between an editor and the server."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tap import MINE

if TYPE_CHECKING:
    from collections.abc import Callable

    Json = dict[str, Any]

WITHIN_S: Final = 15.0
EDIT: Final = "workspace/applyEdit"
_PROGRAM: Final = Path(__file__).with_name("tap.py")


class Tap:
    """Listens from the start, so that the editor may start the server when it likes."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is the test's, with a short path: that of a socket has a limit."""
        self.passed: list[Json] = []
        self.errors = folder / "stderr.txt"
        self.errors.touch()
        self._answers: dict[str, Json] = {}
        self._number = 0
        self._news = threading.Condition()
        self._path = folder / "tap"
        self._path.unlink(missing_ok=True)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self._path))
        self._door.listen()
        self._talk: socket.socket | None = None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def launcher(self, folder: Path) -> Path:
        """A folder with a program ``acpls``, which is ours with a tap at its pipes."""
        folder.mkdir(exist_ok=True)
        program = folder / "acpls"
        words = [sys.executable, "-S", str(_PROGRAM), sys.executable, "-m", "acpls"]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
        return folder

    def environment(self) -> dict[str, str]:
        """What the program needs to find this end."""
        return {**os.environ, "ACPLS_TAP": str(self._path), "ACPLS_TAP_ERRORS": str(self.errors)}

    def _listen(self) -> None:
        try:
            talk, _ = self._door.accept()
        except OSError:
            return
        with self._news:
            self._talk = talk
            self._news.notify_all()
        with talk, talk.makefile("rb") as lines:
            for line in lines:
                word = json.loads(line)
                with self._news:
                    if "answer" in word:
                        self._answers[word["answer"]["id"]] = word["answer"]
                    else:
                        self.passed.append(word)
                    self._news.notify_all()

    def close(self) -> None:
        """Nobody listens any more; the other end has closed by now, if there ever was one."""
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._listener.join()

    # --- asking -------------------------------------------------------------------------------

    def command(self, name: str, argument: Json | None = None) -> Any:
        """The result of a command of the server's, which the editor knows nothing of."""
        arguments = [] if argument is None else [argument]
        return self.ask("workspace/executeCommand", {"command": name, "arguments": arguments})

    def ask(self, method: str, params: Json) -> Any:
        """The result of a request."""
        self._number += 1
        name = f"{MINE}{self._number}"
        self._say({"ask": {"jsonrpc": "2.0", "id": name, "method": method, "params": params}})
        self.until(lambda: name in self._answers, f"an answer to {method} {params}")
        answer = self._answers.pop(name)
        assert "error" not in answer, answer
        return answer["result"]

    def hold(self, method: str = EDIT) -> None:
        """Keep the next request of this kind from the editor, until it is let go."""
        self._say({"hold": method})

    def until_held(self) -> None:
        """Wait until there is one."""
        self.until(lambda: any(word.get("held") for word in self.passed), "something to hold")

    def let(self) -> None:
        """Let it go to the editor."""
        self._say({"let": True})

    def _say(self, word: Json) -> None:
        with self._news:
            came = self._news.wait_for(lambda: self._talk is not None, WITHIN_S)
        assert came, "the editor has not started the server"
        assert self._talk is not None
        self._talk.sendall(json.dumps(word).encode() + b"\n")

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is true of what has passed."""
        with self._news:
            assert self._news.wait_for(holds, WITHIN_S), f"waited in vain: {what}"

    # --- what has passed ------------------------------------------------------------------------

    def sent(self, side: str, method: str) -> list[Json]:
        """The messages of one side, ``editor`` or ``server``, of one method."""
        with self._news:
            words = list(self.passed)
        messages = [word["message"] for word in words if word["from"] == side]
        return [message for message in messages if message.get("method") == method]

    def answers(self, method: str = EDIT, *, by: str = "editor") -> list[Json]:
        """What one side answered to the other's requests of one method, in order."""
        other = "server" if by == "editor" else "editor"
        asked = {message["id"] for message in self.sent(other, method)}
        with self._news:
            words = list(self.passed)
        messages = [word["message"] for word in words if word["from"] == by]
        return [m for m in messages if "method" not in m and m.get("id") in asked]

    def last_words(self, count: int = 30) -> list[str]:
        """The end of what has passed, a line for each message."""
        with self._news:
            return [f"{word['from']}: {json.dumps(word)[:300]}" for word in self.passed[-count:]]
