"""The host: files in order of arrival, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls.client import disk
from acpls.effects import ReadFile, WriteFile
from acpls.events import AgentReady, FileRead, FileWritten
from rim_stage import Stage, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


def read(it: Stage, token: object, path: Path) -> None:
    it.host.perform(ReadFile(token, str(path), (str(it.folder),)))


def write(it: Stage, token: object, path: Path, text: str) -> None:
    it.host.perform(WriteFile(token, str(path), text, (str(it.folder),)))


async def test_one_path_is_used_in_order_of_arrival(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        file = tmp_path / "f"
        for number in range(20):
            write(it, number, file, str(number))
            read(it, number, tmp_path / "." / "x" / ".." / "f")
        await it.wait(FileRead, 20)
        kinds = [(type(e), e.token) for e in it.events]
        assert kinds == [(kind, n) for n in range(20) for kind in (FileWritten, FileRead)]
        assert [e.disk.text for e in it.of(FileRead)] == [str(n) for n in range(20)]
        assert [e.before.text for e in it.of(FileWritten)] == [None, *map(str, range(19))]


async def test_different_paths_do_not_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    look = disk.read

    def slow(path: str, roots: tuple[str, ...]) -> Any:
        if path.endswith("slow"):
            gate.wait(5)
        return look(path, roots)

    monkeypatch.setattr(disk, "read", slow)
    async with stage(tmp_path) as it:
        read(it, "slow", tmp_path / "slow")
        read(it, "fast", tmp_path / "fast")
        assert (await it.wait(FileRead)).token == "fast"
        gate.set()
        await it.wait(FileRead, 2)


async def test_closing_waits_for_writes_that_were_begun(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        for number in range(5):
            write(it, number, tmp_path / f"f{number % 2}", str(number))
        await it.host.aclose()
        assert len(it.of(FileWritten)) == 5
        assert (tmp_path / "f0").read_text() == "4"


async def test_a_bug_of_ours_is_a_problem_of_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(disk, "read", trip)
    monkeypatch.setattr(disk, "write", trip)
    async with stage(tmp_path) as it:
        read(it, 1, tmp_path / "f")
        write(it, 2, tmp_path / "f", "x")
        written = await it.wait(FileWritten)
        assert written.problem == "cannot be used: a bug"
        assert it.of(FileRead)[0].disk.problem == "cannot be used: a bug"


async def test_effects_may_come_from_plain_callbacks(tmp_path: Path) -> None:
    """A timer of the event loop is no task, and performs effects all the same."""
    import asyncio  # noqa: PLC0415  the only test that looks below anyio

    async with stage(tmp_path) as it:
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: it.start("hello()\nwhile read(): tell('asked')"))
        loop.call_soon(lambda: it.ask(1))
        loop.call_soon(lambda: read(it, 1, tmp_path / "f"))
        await it.text("asked")
        await it.wait(FileRead)
        loop.call_soon(it.end)
        with anyio.fail_after(5):
            await it.until(lambda: [1] if "a" not in it.host._agents else [])
        assert it.of(FileRead)[0].disk.text is None


async def test_the_real_protocol_is_loaded_with_the_first_agent(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.host._dialects = None
        answer = '{"protocolVersion": 1, "agentCapabilities": {}}'
        it.start(f"reply(read(), {answer})\nserve()", protocol=1)
        assert (await it.wait(AgentReady)).facts.protocol == 1


def test_importing_the_host_imports_no_protocol() -> None:
    code = "import sys, acpls.client.host; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "acpls.client.host" in modules
    heavy = ("pydantic", "acpls.wire", "acpls.client.v1", "acpls.client.v2", "acpls.client.conn")
    assert [m for m in modules if m.startswith(heavy)] == []
