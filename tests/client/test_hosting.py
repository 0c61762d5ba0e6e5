"""The host: prompts that wait for the files, the end of it, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import anyio
import pytest

from acpls.client.baselines import Baselines, Walked
from acpls.effects import ReadFile, SyncFiles, WithdrawAsk, WriteFile
from acpls.events import AgentEnded, AgentReady, AskFailed, FileRead, FilesSynced, FileWritten
from acpls.session.asks import Cancel
from rim_stage import Stage, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


def read(it: Stage, token: object, path: Path) -> None:
    it.host.perform(ReadFile(token, str(path), (str(it.folder),)))


def write(it: Stage, token: object, path: Path, text: str) -> None:
    it.host.perform(WriteFile(token, str(path), text, (str(it.folder),)))


# --- prompts and walks -------------------------------------------------------------------------

# Says of each message what it is, and of a prompt its text.
TELLING = "hello()\nwhile (m := read()): tell(m['params'].get('text') or m['method'])"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Until this is set no walk comes to its end."""
    gate = threading.Event()

    def walk(_: Baselines, roots: tuple[str, ...]) -> Walked:
        gate.wait(8)
        return Walked((), None, roots)

    monkeypatch.setattr(Baselines, "walk", walk)
    return gate


def sync(it: Stage, token: object) -> None:
    it.host.perform(SyncFiles(token, (str(it.folder),)))


def told(it: Stage) -> list[str]:
    """What the agents told, without what the dialect adds to a prompt."""
    return [text for text in it.texts() if text != "sent"]


async def ready(it: Stage, name: str = "a") -> None:
    it.start(TELLING, name=name)
    await it.until(lambda: [e for e in it.of(AgentReady) if e.agent == name])


async def test_a_prompt_waits_for_the_walk_before_it_and_all_later_asks_behind_it(
    tmp_path: Path, gate: threading.Event
) -> None:
    async with stage(tmp_path) as it:
        await ready(it)
        await ready(it, "b")
        it.prompt(1, "before")
        sync(it, 1)
        it.ask(2)
        it.prompt(3, "held")
        it.ask(4)
        it.prompt(5, "held too")
        it.ask(6, Cancel("s"))
        it.ask(7, name="b")
        await it.until(lambda: [1] if len(told(it)) == 3 else [])
        assert sorted(told(it)) == ["before", "new", "new"]
        gate.set()
        await it.text("cancel")
        assert told(it)[3:] == ["held", "new", "held too", "cancel"]
        sent = next(n for n, e in enumerate(it.events) if "held" in str(e))
        assert it.events.index(it.of(FilesSynced)[0]) < sent


async def test_a_prompt_waits_for_all_walks_before_it_and_for_none_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates = [threading.Event() for _ in range(3)]
    waiting = iter(gates)

    def walk(_: Baselines, roots: tuple[str, ...]) -> Walked:
        next(waiting).wait(8)
        return Walked((), None, roots)

    monkeypatch.setattr(Baselines, "walk", walk)
    async with stage(tmp_path) as it:
        await ready(it)
        sync(it, 1)
        await anyio.wait_all_tasks_blocked()
        sync(it, 2)
        it.prompt(1, "prompt")
        gates[0].set()
        await it.wait(FilesSynced)
        await anyio.wait_all_tasks_blocked()
        sync(it, 3)
        assert told(it) == []
        gates[1].set()
        await it.text("prompt")
        assert len(it.of(FilesSynced)) == 2
        gates[2].set()
        await it.wait(FilesSynced, 3)


async def test_a_prompt_does_not_wait_longer_than_its_limit(
    tmp_path: Path, gate: threading.Event
) -> None:
    async with stage(tmp_path) as it:
        it.host._sync_limit_s = 0.05
        await ready(it)
        sync(it, 1)
        it.prompt(1, "late")
        it.ask(2)
        it.host._sync_limit_s = 60.0
        it.prompt(3, "later")
        await it.text("new")
        assert told(it) == ["late", "new"]
        assert it.of(FilesSynced) == []
        gate.set()
        await it.text("later")


async def test_a_prompt_for_an_agent_that_starts_waits_for_both(
    tmp_path: Path, gate: threading.Event
) -> None:
    async with stage(tmp_path) as it:
        it.start(TELLING)
        it.ask(1)
        sync(it, 1)
        it.prompt(2, "held")
        await it.text("new")
        await anyio.wait_all_tasks_blocked()
        assert told(it) == ["new"]
        gate.set()
        await it.text("held")


async def test_without_a_walk_under_way_a_prompt_is_sent_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await ready(it)
        sync(it, 1)
        await it.wait(FilesSynced)
        it.prompt(1, "at once")
        assert it.texts() == ["sent"]
        await it.text("at once")


async def test_asks_behind_a_held_prompt_that_is_withdrawn_wait_no_longer(
    tmp_path: Path, gate: threading.Event
) -> None:
    async with stage(tmp_path) as it:
        await ready(it)
        sync(it, 1)
        it.prompt(1, "never")
        it.ask(2)
        await anyio.wait_all_tasks_blocked()
        assert told(it) == []
        it.host.perform(WithdrawAsk("a", 1))
        await it.text("new")
        it.prompt(3, "held")
        gate.set()
        await it.text("held")
        assert told(it) == ["new", "held"]


@pytest.mark.parametrize("how", ["dies", "is ended"])
async def test_asks_that_are_held_fail_with_their_agent(
    tmp_path: Path, gate: threading.Event, how: str
) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nread()\nsys.exit(3)")
        await it.wait(AgentReady)
        sync(it, 1)
        it.ask(1)
        it.prompt(2, "never")
        it.ask(3)
        if how == "is ended":
            it.end()
        await it.wait(AgentEnded)
        assert {e.ask for e in it.of(AskFailed)} == {1, 2, 3}
        assert it.of(FilesSynced) == []
        # The next start is not held up by what was.
        it.start(TELLING)
        it.ask(4)
        await it.text("new")
        it.prompt(5, "held")
        gate.set()
        await it.text("held")


async def test_closing_fails_what_is_held_and_sends_none_of_it(
    tmp_path: Path, gate: threading.Event
) -> None:
    async with stage(tmp_path) as it:
        await ready(it)
        sync(it, 1)
        it.prompt(1, "never")
        await anyio.wait_all_tasks_blocked()
        await it.host.aclose()
        assert [e.ask for e in it.of(AskFailed)] == [1]
        assert told(it) == []
        gate.set()


# --- the end -----------------------------------------------------------------------------------


async def test_closing_waits_for_writes_that_were_begun(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        for number in range(5):
            write(it, number, tmp_path / f"f{number % 2}", str(number))
        await it.host.aclose()
        assert len(it.of(FileWritten)) == 5
        assert (tmp_path / "f0").read_text() == "4"


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
    heavy = (
        *("pydantic", "acpls.wire", "acpls.client.v1", "acpls.client.v2", "acpls.client.conn"),
        *("watchfiles", "charset_normalizer", "acpls.client.baselines"),
    )
    assert [m for m in modules if m.startswith(heavy)] == []
