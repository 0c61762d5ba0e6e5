# ruff: noqa: INP001 - a script beside the package
"""How an editor fares while an agent streams: chunks a second, notifications, hover latency.

    python benchmarks/stream.py [--chunks N] [--rounds N]

A scripted agent says N chunks, once in one burst and once spread over about two seconds;
meanwhile the editor asks for a hover every 20 ms. Beside it, in the same run: a bare pygls
server that echoes N small notifications, sent by the same editor in a burst, behind which
hovers have to wait, and spread.
Latencies are the editor's: from the request to the answer, its own reading included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from acpls.testing.agent import command
from acpls.testing.editor import FULL, FakeEditor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

HOVER_EVERY_S = 0.02
PARTS = 20
SPREAD_S = 2.0
LIMIT_S = 60.0

ECHO = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer
server = LanguageServer("echo", "1")

@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params): return None

@server.feature("bench/chunk")
def chunk(params): server.protocol.notify("bench/echo", {"text": params.text})

server.start_io()
"""


@dataclass
class Figures:
    """What one run came to. Times are in seconds."""

    name: str
    chunks: int
    took_s: float = 0.0
    notifications: int = 0
    hovers_s: list[float] = field(default_factory=list)

    def line(self) -> str:
        """The figures, for people."""
        ordered = sorted(self.hovers_s)
        worst_of_95 = ordered[int(len(ordered) * 0.95)] if len(ordered) > 1 else ordered[-1]
        return (
            f"{self.name:<24} {self.chunks} chunks in {self.took_s:5.2f} s"
            f" ({self.chunks / self.took_s:7.0f}/s), {self.notifications:5} notifications;"
            f" hover median {statistics.median(ordered) * 1000:5.1f}"
            f" p95 {worst_of_95 * 1000:5.1f} max {ordered[-1] * 1000:5.1f} ms"
            f" ({len(ordered)} asked)"
        )


async def hover_until(editor: FakeEditor, done: Callable[[], bool], figures: Figures) -> None:
    """Ask for hovers until it is done; the time that takes is the run's."""
    uri = editor.open_text("file:///hovered.txt", "x")
    params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    began = time.perf_counter()
    with anyio.fail_after(LIMIT_S):
        while not done():
            asked = time.perf_counter()
            await editor.request("textDocument/hover", params, LIMIT_S)
            figures.hovers_s.append(time.perf_counter() - asked)
            await anyio.sleep(HOVER_EVERY_S)
    figures.took_s = time.perf_counter() - began


async def ours(folder: Path, version: int, chunks: int, *, spread: bool) -> Figures:
    """Stream through this server, from an agent of this version of ACP."""
    figures = Figures(f"acpls, ACP {version}, {'spread' if spread else 'burst'}", chunks)
    part = {"chunks": chunks // PARTS}
    burst: list[Any] = [{"chunks": chunks}]
    turn = [x for _ in range(PARTS) for x in (part, {"sleep": SPREAD_S / PARTS})]
    argv = command({"turns": [turn if spread else burst]}, folder, protocol=version)
    entry = {"command": argv[0], "args": argv[1:]}
    async with FakeEditor(
        [sys.executable, "-m", "acpls", "serve"],
        root=folder,
        capabilities=FULL,
        initialization_options={"agents": {"stream": entry}},
        env={**os.environ, "XDG_CONFIG_HOME": str(folder)},
    ) as editor:
        await editor.command("acpls.session.new")
        before = len(editor.seen("acp/session/changed"))

        def done() -> bool:
            told = editor.seen("acp/session/changed")[before:]
            return any("stopReason" in change for p in told for change in p["changes"])

        await editor.command("acpls.session.prompt", {"text": "go"})
        await hover_until(editor, done, figures)
        figures.notifications = len(editor.seen("acp/session/changed")) - before
    return figures


async def echo(folder: Path, chunks: int, *, spread: bool) -> Figures:
    """Let a bare pygls server echo as many notifications."""
    figures = Figures(f"bare pygls, {'spread' if spread else 'burst'}", chunks)
    async with FakeEditor(
        [sys.executable, "-c", ECHO], root=folder, capabilities=FULL, ignore={"bench/echo"}
    ) as editor:

        async def send() -> None:
            for number in range(chunks):
                editor.notify("bench/chunk", {"text": f"{number} "})
                if spread and number % (chunks // PARTS) == 0:
                    await anyio.sleep(SPREAD_S / PARTS)

        def done() -> bool:
            figures.notifications = len(editor.seen("bench/echo"))
            return figures.notifications == chunks

        async with anyio.create_task_group() as tasks:
            if spread:
                tasks.start_soon(send)
            else:
                await send()
            await hover_until(editor, done, figures)
    return figures


async def runs(folder: Path, chunks: int) -> AsyncIterator[Figures]:
    """Everything once."""
    for version in (1, 2):
        yield await ours(folder, version, chunks, spread=False)
        yield await ours(folder, version, chunks, spread=True)
    yield await echo(folder, chunks, spread=False)
    yield await echo(folder, chunks, spread=True)


async def measure(chunks: int, rounds: int) -> None:
    """Measure, and print a line for each run."""
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            async for figures in runs(Path(folder), chunks):
                sys.stdout.write(figures.line() + "\n")
                sys.stdout.flush()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    anyio.run(measure, arguments.chunks, arguments.rounds)


if __name__ == "__main__":
    main()
