"""However the server ends, nothing of what it started is left (X01)."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import psutil
import pytest
from server_stage import Seat

from acpls.testing.editor import FULL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

GONE_WITHIN_S = 8.0
LONG_S = 600
# In version 2 the agent runs its commands itself.
TERMINAL = [{"terminal": ["sleep", str(LONG_S)], "id": "term", "wait": False, "release": False}]


class _Over(Exception):  # noqa: N818  not an error
    """The scene is over; the editor need not take its leave."""


@asynccontextmanager
async def doomed(folder: Path, script: Json, version: int) -> AsyncIterator[Seat]:
    """A seat whose server ends before the editor has shut it down."""
    at = Seat(folder, {"fake": (script, version)}, capabilities=FULL)
    with suppress(_Over):
        async with at:
            yield at
            raise _Over
    at.check_wire()


async def left_of(processes: list[psutil.Process]) -> list[psutil.Process]:
    """The processes that still run after a while; zombies do not run."""
    left = processes
    with anyio.move_on_after(GONE_WITHIN_S):
        while left := [process for process in left if runs(process)]:  # noqa: ASYNC110  no event
            await anyio.sleep(0.02)
    return left


def runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


ENDS = {
    "its input closes": 0,
    "exit without shutdown": 1,
    "SIGTERM": 128 + signal.SIGTERM,
    "kill -9": -signal.SIGKILL,
}


async def ends(folder: Path, version: int, way: str, ignore: list[str]) -> None:
    """A whole scene: the agent has children, one in a session of its own; the server ends."""
    turn: list[Any] = [
        {"spawn": LONG_S},
        {"spawn": LONG_S, "own_session": True},
        *(TERMINAL if version == 1 else ()),
        {"say": "All are up."},
        {"sleep": "forever"},
    ]
    script = {"ignore": ignore, "cancel": "ignore", "turns": [turn]}
    async with doomed(folder, script, version) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: at.said() == "All are up.")
        family = at.family()
        names = [process.name() for process in family]
        assert names.count("sleep") == (3 if version == 1 else 2), names
        match way:
            case "its input closes":
                at.hang_up()
            case "exit without shutdown":
                at.notify("exit")
            case "SIGTERM":
                family[0].send_signal(signal.SIGTERM)
            case _:
                family[0].kill()
        assert await at.exit_code() == ENDS[way], way
        assert await left_of(family[1:]) == [], way


@pytest.mark.parametrize("version", [1, 2])
async def test_x01_a_server_that_is_killed_leaves_no_process(tmp_path: Path, version: int) -> None:
    """X01: kill -9, and an agent that ignores the end of its input and SIGTERM."""
    await ends(tmp_path / "scene", version, "kill -9", ["eof", "term"])


async def test_x01_a_server_that_ends_leaves_no_process(tmp_path: Path) -> None:
    """X01: an agent that ignores the end of its input is waited for, so all ways at once."""
    async with anyio.create_task_group() as tasks:
        for number, way in enumerate(ENDS):
            if way != "kill -9":
                tasks.start_soon(ends, tmp_path / str(number), 1, way, ["eof"])


async def test_x01_a_stopped_agent_takes_its_children_along(tmp_path: Path) -> None:
    """X01: the same for an agent that is stopped while the server stays."""
    turn: list[Any] = [
        {"spawn": LONG_S},
        {"spawn": LONG_S, "own_session": True},
        {"say": "Both are up."},
        {"sleep": "forever"},
    ]
    script = {"ignore": ["eof"], "turns": [turn]}
    async with doomed(tmp_path, script, 2) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: at.said() == "Both are up.")
        server, *family = at.family()
        sleepers = [process for process in family if process.name() == "sleep"]
        assert len(sleepers) == 2
        await at.command("acpls.agent.stop")
        assert await left_of(sleepers) == []
        assert server.is_running()
        await at.until(lambda: [c for c in at.changes("s1", "state") if c["state"] == "lost"])
        assert at.popups == []
