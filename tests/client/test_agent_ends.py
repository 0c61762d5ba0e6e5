"""How agents end: by themselves, by us, badly; asks fail first and nothing is left."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest

from acpls.effects import StartAgent
from acpls.events import AgentEnded, AgentStarting, AskFailed, Replied
from acpls.session.asks import Failure, SessionOpened
from acpls.settings import AgentSpec
from rim_stage import all_gone, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_death_fails_the_asks_then_tells_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = "hello()\nread()\nread()\nprint('Error: boom', file=sys.stderr)\ntell('last')"
        it.start(body + "\nsys.exit(3)")
        it.prompt(1)
        it.prompt(2)
        ended = await it.wait(AgentEnded)
        reason = "a ended with exit code 3: Error: boom"
        assert ended == AgentEnded("a", reason, 3, "Error: boom")
        failure = Failure(-32603, reason)
        assert it.events[-3:] == [AskFailed("a", 1, failure), AskFailed("a", 2, failure), ended]
        assert it.texts()[-1] == "last"
        it.prompt(3)
        assert it.events[-1] == AskFailed("a", 3, Failure(-32603, "a is not running"))


async def test_death_by_signal_with_a_worker_that_holds_the_pipes(tmp_path: Path) -> None:
    body = """
hello()
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
tell(str(worker.pid))
read()
os.kill(os.getpid(), signal.SIGKILL)
"""
    async with stage(tmp_path) as it:
        it.start(body)
        it.prompt(1)
        with anyio.fail_after(5):
            ended = await it.wait(AgentEnded)
        assert ended.reason == "a was ended by SIGKILL"
        worker = next(int(t) for t in it.texts() if t != "sent")
        assert all_gone([worker], 0.5)


async def test_closing_the_output_is_an_end_too(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nos.close(1)\ntime.sleep(60)")
        ended = await it.wait(AgentEnded)
        assert (ended.reason, ended.exit_code) == ("a closed its output", None)


async def test_a_wanted_end_and_a_start_right_after_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\ntell('first')\nserve()")
        await it.text("first")
        it.start("hello()\ntell('never')\nserve()")  # it runs: nothing happens
        it.prompt(1)
        it.end()
        it.prompt(2)
        it.start("hello()\ntell('second')\nserve()")
        it.ask(3)
        replied = await it.wait(Replied)
        assert replied == Replied("a", 3, SessionOpened("s"))
        ended = it.of(AgentEnded)
        assert ended == [AgentEnded("a", "a was ended", wanted=True)]
        assert {e.ask: e.failure.message for e in it.of(AskFailed)} == {
            1: "a was ended",
            2: "a is not running",
        }
        kinds = [type(e) for e in it.events if isinstance(e, AgentStarting | AgentEnded)]
        assert kinds == [*[AgentStarting] * 2, AgentEnded, *[AgentStarting] * 2]
        assert [t for t in it.texts() if t != "sent"] == ["first", "second"]


async def test_an_end_before_the_start_has_begun(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nserve()")
        it.ask(1)
        it.end()
        it.end("nobody")
        await it.wait(AgentEnded)
        assert it.events == [
            AskFailed("a", 1, Failure(-32603, "a was ended")),
            AgentEnded("a", "a was ended", wanted=True),
        ]


async def test_a_missing_program_is_one_clear_line(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.host.perform(StartAgent("a", AgentSpec("no-such-agent", env={"PATH": "/x"})))
        it.ask(1)
        ended = await it.wait(AgentEnded)
        assert ended.reason == (
            "a could not be started: the program 'no-such-agent' was not found in /x, "
            "the only folder of PATH; install it, or give its full path in agents.a.command"
        )
        assert len(it.of(AskFailed)) == 1


async def test_a_bug_of_ours_ends_one_agent_only(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.host._dialects = lambda _version, _agent: None  # type: ignore[assignment,return-value]  # never called here
        it.start("hello()\nserve()")
        ended = await it.wait(AgentEnded)
        assert ended.reason == "a: internal error in acpls"


async def test_several_agents_live_side_by_side_and_end_in_parallel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acpls.client.process._TERM_S", 0.5)
    body = "hello(1)\nsignal.signal(15, signal.SIG_IGN)\ntell(str(os.getpid()))\ntime.sleep(60)"
    async with stage(tmp_path) as it:
        for name in "abc":
            it.start(body, name=name, protocol="auto")
        await it.until(lambda: it.texts()[2:])
        with anyio.fail_after(3):
            await it.host.aclose()
        assert all(e.wanted for e in it.of(AgentEnded))
        assert len(it.of(AgentEnded)) == 3
        assert all_gone([int(t) for t in it.texts()], 0.1)
        it.start("hello()", name="d")
        await anyio.lowlevel.checkpoint()
        assert [e for e in it.of(AgentStarting) if e.agent == "d"] == []


async def test_a_cancelled_task_group_leaves_nothing_either(tmp_path: Path) -> None:
    pids: list[int] = []

    async def scene() -> None:
        async with stage(tmp_path) as it:
            it.start("hello()\ntell(str(os.getpid()))\nserve()")
            await it.until(it.texts)
            pids.extend(map(int, it.texts()))
            done.set()
            await anyio.sleep_forever()

    done = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scene)
        await done.wait()
        assert os.getpgid(pids[0]) == pids[0]
        tasks.cancel_scope.cancel()
    assert all_gone(pids, 0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], signal.SIGCONT)
