# ruff: noqa: INP001 - a script beside the package
"""How long an editor waits for the answer to ``initialize``: this server beside bare pygls.

    python benchmarks/startup.py [--rounds N] [COMMAND ...]

Starts both in turn, sends ``initialize`` and stops the clock at the end of its answer.
COMMAND is the server to measure; without one a server on the main loop alone is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

BARE = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer
server = LanguageServer("bare", "1")
@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params): return None
server.start_io()
"""

OURS = """
import gc; gc.disable()
from lsprotocol import types
from acpls.lsp import mainloop
from acpls.lsp.protocol import EditorServer
class Application:
    def __init__(self, group, server): pass
    async def aclose(self): pass
server = EditorServer()
@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params): return None
mainloop.serve(Application, server)
"""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "processId": None,
        "rootUri": None,
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
            "textDocument": {"hover": {"contentFormat": ["markdown"]}},
            "workspace": {"applyEdit": True, "workspaceFolders": True},
        },
    },
}


def seconds_to_answer(command: list[str]) -> float:
    """Start a server and return the seconds until it has answered ``initialize``."""
    body = json.dumps(INITIALIZE).encode()
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise AssertionError
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        process.stdin.flush()
        length = 0
        while (line := process.stdout.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        answer = json.loads(process.stdout.read(length))
        took = time.perf_counter() - began
        process.stdin.close()
    if "result" not in answer:
        message = f"{command[0]} did not answer initialize: {answer}"
        raise RuntimeError(message)
    return took


def main() -> None:
    """Measure, and print medians in milliseconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    ours = arguments.command or [sys.executable, "-c", OURS]
    bare = [sys.executable, "-c", BARE]
    # The first start of each reads its files from disk.
    seconds_to_answer(ours), seconds_to_answer(bare)
    pairs = [(seconds_to_answer(ours), seconds_to_answer(bare)) for _ in range(arguments.rounds)]
    ours_s, bare_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    report = f"ours {ours_s * 1000:.0f} ms, bare pygls {bare_s * 1000:.0f} ms"
    sys.stdout.write(f"{report}, ratio {ours_s / bare_s:.2f} ({arguments.rounds} rounds)\n")


if __name__ == "__main__":
    main()
