"""A scripted agent: speaks ACP 1 and 2 over stdio and does what a script says.

Run it as ``python -m acpls.testing.agent --script FILE.json [--protocol 1|2|auto]
[--log FILE]``; ``command`` builds that from a script. ``acpls.testing.script`` says what a
script can hold. With ``--log`` every message that comes in is appended as one JSON line;
``received`` reads them. ``--login METHOD`` is the program of a login of kind ``terminal``. A
small script, as a test writes it::

    argv = command({"turns": [[{"say": "Hello"}, {"ask": "Go on?"}]]}, tmp_path)

It is strict where an agent may be: wrong parameters are answered with -32602, unknown
methods with -32601, unknown sessions with -32002. Exit code 2: the script is wrong; 70: a step
could not be played, such as the removal of a file that is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing.acts import TELLING
from acpls.testing.asks import ASKING
from acpls.testing.deeds import DOING
from acpls.testing.lines import Wire
from acpls.testing.logins import Logins
from acpls.testing.player import Player
from acpls.testing.script import check
from acpls.testing.turns import Agent
from acpls.testing.visits import VISITING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acpls.testing.shapes import Json


def command(
    script: Mapping[str, Any],
    folder: Path,
    *,
    protocol: str | int = "auto",
    log: Path | None = None,
) -> list[str]:
    """The program and arguments of an agent that plays ``script``, written into ``folder``.

    Raises ``ScriptError`` when the script is wrong.
    """
    check(script)
    handle, name = tempfile.mkstemp(prefix="script-", suffix=".json", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(script, file)
    argv = [sys.executable, "-m", "acpls.testing.agent", "--script", name]
    argv += ["--protocol", str(protocol)]
    return argv if log is None else [*argv, "--log", str(log)]


def received(log: Path) -> list[Json]:
    """What the agents that wrote this log were sent, in order. Broken text: ``{"broken"}``."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def _give_up(failure: threading.ExceptHookArgs) -> None:
    # Else the turn would never end, and the test would only see a time limit pass.
    sys.excepthook(failure.exc_type, failure.exc_value or Exception(), failure.exc_traceback)
    sys.stderr.flush()
    os._exit(70)


def main(argv: Sequence[str] | None = None) -> int:
    """Plays till its input ends. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m acpls.testing.agent", description="A scripted ACP agent."
    )
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--protocol", choices=("1", "2", "auto"), default="auto")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--login", metavar="METHOD")
    given = parser.parse_args(argv)
    try:
        script = json.loads(given.script.read_text(encoding="utf-8"))
        check(script)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{given.script}: {error}\n")
        return 2
    if given.login is not None:
        return Logins(script).in_terminal(given.login)
    if "term" in script.get("ignore", []):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.excepthook = _give_up
    wire = Wire(sys.stdin.buffer, sys.stdout.buffer, given.log)
    wire.word_ids = script.get("ids") == "words"
    agent = Agent(wire, script, {**TELLING, **ASKING, **VISITING, **DOING})
    agent.ignores_eof = "eof" in script.get("ignore", [])
    player = Player(agent, given.protocol)
    player.start()
    inbox: queue.SimpleQueue[Json] = queue.SimpleQueue()

    def read() -> None:
        for message in wire.messages(player.at_once):
            inbox.put(message)
        if agent.ignores_eof:
            return
        # Whatever still waits in another thread goes down with the process.
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        player.handle(inbox.get())


if __name__ == "__main__":
    sys.exit(main())
