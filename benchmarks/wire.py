# ruff: noqa: INP001 - a script beside the package
"""What one ``session/update`` costs on its way from the agent's pipe into the session.

    python benchmarks/wire.py [--messages N] [--rounds N] [--acp VERSION] [--sdk PATH ...]

For both versions of ACP: microseconds of CPU time a message through a ``Connection`` (wire
and dialect) and ``Session.apply``. Beside it, in turn with it: ``json.loads`` alone on the
same lines, and the client of the Python package ``agent-client-protocol`` fed with the same
lines, which does nothing with what it is told; its models alone too.

``--sdk`` names where that package is: a virtual environment, its interpreter, or a folder
to import from; it may be given more than once. Without it the package is used if it is
installed here. Each SDK runs in a process of its own that stays for all rounds.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import anyio
import wire_lines

from acpls.client.connection import Connection
from acpls.client.crossing import Crossing
from acpls.client.negotiation import make_dialect
from acpls.client.terminals import Ground
from acpls.events import SessionTold
from acpls.session.state import Session
from acpls.text.pathmap import PathMap

if TYPE_CHECKING:
    from acpls.client.negotiation import Version
    from acpls.client.transport import Transport
    from acpls.events import AgentEvent

AGENT = "benchmark"
CHUNK_BYTES = 64 * 1024
LIMIT_BYTES = 32 * 1024 * 1024
MOST_TIMES_JSON = 4
LEAST_TIMES_FASTER = 2
MISSING = "agent-client-protocol is not installed here and no --sdk was given: not measured"


class Pipe:
    """In place of a child process: its output is there already, in reads as from a pipe."""

    def __init__(self, data: bytes) -> None:
        self._chunks = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]
        self._chunks.reverse()

    async def receive(self) -> bytes:
        """The next read; ``b""`` at the end."""
        await anyio.lowlevel.checkpoint()
        return self._chunks.pop() if self._chunks else b""


async def ours(version: Version, lines: list[bytes]) -> float:
    """CPU seconds from bytes to a session that has taken them in."""
    session = Session("s", AGENT, wire_lines.FOLDER, wire_lines.SESSION)
    told = 0

    def emit(event: AgentEvent) -> None:
        nonlocal told
        if not isinstance(event, SessionTold):
            raise TypeError(event)
        session.apply(event.update)
        told += 1

    pipe = cast("Transport", Pipe(b"".join(line + b"\n" for line in lines)))
    crossing = Crossing(AGENT, PathMap(), lambda *_: None)
    async with anyio.create_task_group() as tasks:
        connection = Connection(
            AGENT,
            pipe,
            tasks,
            emit,
            _print,
            crossing=crossing,
            ground=Ground({}),
            limit_bytes=LIMIT_BYTES,
        )
        connection.begin(make_dialect(version, AGENT))
        gc.collect()
        began = time.process_time()
        await connection.deliver()
        took = time.process_time() - began
    if told != len(lines):
        raise RuntimeError(f"{told} of {len(lines)} messages reached the session")
    return took


def json_alone(lines: list[bytes]) -> float:
    """CPU seconds to parse all lines."""
    gc.collect()
    began = time.process_time()
    for line in lines:
        json.loads(line)
    return time.process_time() - began


class Sdk:
    """A process that measures an SDK; see ``wire_sdk.py``. Raises ``OSError``."""

    def __init__(self, where: Path | None, version: Version, lines: Path) -> None:
        python, folder = _found(where)
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name("wire_sdk.py")), str(version), str(lines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | ({"PYTHONPATH": folder} if folder else {}),
        )
        self.name = self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def measure(self) -> tuple[float, float]:
        """CPU seconds of a round: end to end, and the models alone."""
        assert self._process.stdin is not None
        self._process.stdin.write("again\n")
        self._process.stdin.flush()
        end_to_end, models = map(float, self._answer().split())
        return end_to_end, models

    def _answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline().strip()
        if not answer:
            self._process.communicate()
            raise OSError("its process ended, see above")
        return answer


def _found(where: Path | None) -> tuple[str, str | None]:
    """The interpreter for an SDK, and a folder that it must be told to import from."""
    if where is None or where.is_file():
        return str(where or sys.executable), None
    for inside in ("bin/python", "Scripts/python.exe"):
        if (python := where / inside).is_file():
            return str(python), None
    return sys.executable, str(where)


@dataclass
class Column:
    """What one way took in every round, in seconds for all messages."""

    name: str
    rounds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The seconds of a usual round."""
        return statistics.median(self.rounds)

    def line(self, messages: int) -> str:
        """The figures, for people."""
        middle, least, most = (
            seconds / messages * 1e6
            for seconds in (self.median, min(self.rounds), max(self.rounds))
        )
        return f"  {self.name:<24}{middle:7.2f} us a message ({least:.2f} to {most:.2f})"


def measure(version: Version, messages: int, rounds: int, places: list[Path | None]) -> None:
    """Measure one version of ACP and print what came out."""
    lines = wire_lines.lines(version, messages)
    size = sum(map(len, lines)) / 1e6
    _print(f"ACP {version}: {len(lines)} updates, {size:.1f} MB; CPU time, {rounds} rounds")
    us, plain = Column("ours, end to end"), Column("json.loads alone")
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "lines"
        file.write_bytes(b"\n".join(lines))
        sdks = [x for where in places if (x := _started(stack, where, version, file)) is not None]
        columns = [(sdk, Column("SDK, end to end"), Column("SDK, models alone")) for sdk in sdks]
        for number in range(rounds + 1):
            # What is slow the first time, such as an import, is not counted.
            first = number == 0
            for column, took in _round(version, lines, us, plain, columns):
                column.rounds += [] if first else [took]
    _print(us.line(len(lines)))
    _print(plain.line(len(lines)))
    ratio = us.median / plain.median
    _print(f"  ours / json.loads: {ratio:.2f}; {_goal('most', MOST_TIMES_JSON, ratio)}")
    for sdk, whole, models in columns:
        _print(f"  {sdk.name}:")
        _print(whole.line(len(lines)))
        _print(models.line(len(lines)))
        ratio = whole.median / us.median
        _print(f"  SDK / ours: {ratio:.2f}; {_goal('least', LEAST_TIMES_FASTER, ratio)}")


def _round(
    version: Version,
    lines: list[bytes],
    us: Column,
    plain: Column,
    columns: list[tuple[Sdk, Column, Column]],
) -> list[tuple[Column, float]]:
    took = [(us, anyio.run(ours, version, lines)), (plain, json_alone(lines))]
    for sdk, whole, models in columns:
        took += zip((whole, models), sdk.measure(), strict=True)
    return took


def _started(stack: ExitStack, where: Path | None, version: Version, lines: Path) -> Sdk | None:
    try:
        return stack.enter_context(Sdk(where, version, lines))
    except OSError as error:
        _print(f"  the SDK at {where or sys.executable} cannot be measured: {error}")
        return None


def _goal(bound: str, goal: float, ratio: float) -> str:
    met = ratio <= goal if bound == "most" else ratio >= goal
    return f"the goal is at {bound} {goal}: {'met' if met else 'MISSED'}"


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--acp", type=int, choices=(1, 2), action="append")
    parser.add_argument("--sdk", type=Path, action="append")
    arguments: Any = parser.parse_args()
    places: list[Path | None] = arguments.sdk or []
    if not places and importlib.util.find_spec("acp") is not None:
        places = [None]
    for version in arguments.acp or (1, 2):
        measure(version, arguments.messages, arguments.rounds, places)
    if not places:
        _print(MISSING)


if __name__ == "__main__":
    main()
