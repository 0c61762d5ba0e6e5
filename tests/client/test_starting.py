"""How agents start: what is logged, warned of and left out, and what may be withdrawn."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from acpls.client import host
from acpls.effects import SendAnswer, StartAgent, WithdrawAsk
from acpls.events import (
    AgentEnded,
    AgentMisspoke,
    AgentReady,
    AgentStarting,
    AskFailed,
    FileReadAsked,
    LeftOut,
    Notified,
    Replied,
    SessionTold,
)
from acpls.session.asks import (
    FileText,
    ForkSession,
    McpServer,
    NewSession,
    Opening,
    ResumeSession,
    SessionOpened,
)
from acpls.session.updates import TerminalPatched
from acpls.settings import AgentSpec
from rim_stage import all_gone, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

TELL_ALL = "hello()\nwhile (m := read()): tell(json.dumps(m))"


def heard(texts: list[str]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in texts if text.startswith("{")]


# --- starting -------------------------------------------------------------------------


async def test_x18_the_log_says_what_was_started_where_and_with_what(tmp_path: Path) -> None:
    """X18: whoever wonders which node was taken finds it in the agent's log."""
    async with stage(tmp_path) as it:
        path = f"{tmp_path}:/usr/bin"
        it.start(
            "hello()\nserve()", env={"PATH": path, "API_KEY": "secret"}, args=("--key=secret",)
        )
        await it.wait(AgentReady)
        log = it.host.log("a").splitlines()
        assert log[:4] == [
            f"acpls: starting {sys.executable} in {tmp_path}",
            f"acpls: with PATH {path}",
            "acpls: with variables of its own: PATH, API_KEY",
            f"acpls: started {sys.executable}",
        ]
        assert "secret" not in it.host.log("a")
        it.start("hello()\nserve()", name="b")
        await it.wait(AgentReady, 2)
        assert "acpls: with variables of its own: none" in it.host.log("b")


async def test_x18_each_agent_has_its_own_environment(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = "hello()\ntell(os.environ['WHICH'])\nserve()"
        it.start(body, env={"WHICH": "one"})
        it.start(body, name="b", env={"WHICH": "two"})
        await it.text("one")
        await it.text("two")


async def test_x17_the_program_is_found_by_the_path_of_the_agent(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/usr/bin/env no-such-interpreter\n")
    tool.chmod(0o755)
    async with stage(tmp_path) as it:
        path = f"{tool.parent}:/usr/bin"
        it.host.perform(StartAgent("a", AgentSpec("tool", env={"PATH": path})))
        ended = await it.wait(AgentEnded)
        assert ended.reason == (
            f"a could not be started: '{tool}' cannot run: 'no-such-interpreter' was not found "
            f"in the 2 folders of PATH ({tool.parent}, /usr/bin); install it, or add its folder "
            "to PATH"
        )
        log = it.host.log("a").splitlines()
        assert log[0].startswith("acpls: starting tool in /")
        assert log[1] == f"acpls: with PATH {path}"
        assert log[3].startswith(f"acpls: '{tool}' cannot run: 'no-such-interpreter' was not")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (AgentSpec(".", cwd="/"), "the program '.' is a folder, not a program"),
        (AgentSpec("sh", ("\ud83d",)), "argument 1 holds half of a surrogate pair"),
        (AgentSpec("sh", env={"KEY": "secret\0"}), "the variable KEY holds a null byte"),
    ],
)
async def test_what_cannot_be_started_is_one_clear_line(
    spec: AgentSpec, problem: str, tmp_path: Path
) -> None:
    async with stage(tmp_path) as it:
        it.host.perform(StartAgent("a", spec))
        ended = await it.wait(AgentEnded)
        assert problem in ended.reason
        assert "secret" not in ended.reason
        assert it.host.log("a").count("internal error") == 0


async def test_x15_a_batch_file_in_the_settings_is_warned_of_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        # An echo of our number makes the agent start a second time.
        body = """
first = read()
reply(first, {"protocolVersion": first["params"]["protocolVersion"]})
serve()
"""
        it.start(body, protocol="auto", env={"CLAUDE_CODE_EXECUTABLE": "C:\\npm\\claude.cmd"})
        await it.wait(AgentReady)
        (warning,) = it.of(LeftOut)
        assert warning.what.startswith("CLAUDE_CODE_EXECUTABLE names a batch file (C:\\npm\\")
        assert it.host.log("a").count("names a batch file") == 1


async def test_x05_attempts_leave_nothing_and_initialize_is_always_first(tmp_path: Path) -> None:
    """X05: each process is spoken to with ``initialize`` first and ended when it is of no use."""
    body = f"""
first = read()
with open({str(tmp_path / "seen")!r}, "a") as file:
    print(os.getpid(), first["method"], first["params"]["protocolVersion"], file=file)
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
print(child.pid, "child", 0, file=open({str(tmp_path / "seen")!r}, "a"))
answer = {{"protocolVersion": first["params"]["protocolVersion"]}}
reply(first, answer)
while (m := read()): tell(m["method"])
"""
    async with stage(tmp_path) as it:
        it.start(body, protocol="auto")
        it.ask(1)
        await it.text("new")
        seen = [line.split() for line in (tmp_path / "seen").read_text().splitlines()]
        assert [words[1:] for words in seen] == [
            ["initialize", "2"],
            ["child", "0"],
            ["initialize", "1"],
            ["child", "0"],
        ]
        pids = [int(words[0]) for words in seen]
        assert all_gone(pids[:2], 0.1)
    assert all_gone(pids, 0.1)


async def test_x21_starting_holds_nobody_up_and_says_what_it_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X21: effects return at once, asks wait in order, and the wait is told."""
    monkeypatch.setattr(host, "PROGRESS_S", 0.05)
    gate = tmp_path / "gate"
    body = f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\nhello()\nserve()"
    async with stage(tmp_path) as it:
        started = time.monotonic()
        it.start(body)
        it.ask(1)
        assert time.monotonic() - started < 0.1
        await it.until(lambda: [e for e in it.of(AgentStarting) if "still waiting" in e.doing][1:])
        assert it.of(AgentReady) == []
        gate.touch()
        assert (await it.wait(Replied)).reply == SessionOpened("s")
        doing = [e.doing for e in it.of(AgentStarting)]
        assert doing[0] == f"starting {sys.executable}"
        waits = [d for d in doing if d.startswith("still")]
        assert waits[:2] == [
            "still waiting, 0.05 seconds so far",
            "still waiting, 0.1 seconds so far",
        ]
        assert isinstance(it.events[-1], Replied)


async def test_x21_a_loader_is_named_as_what_may_take_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "PROGRESS_S", 0.05)
    loader = tmp_path / "npx"
    loader.write_text("#!/bin/sh\nexec sleep 60\n")
    loader.chmod(0o755)
    async with stage(tmp_path) as it:
        it.host.perform(StartAgent("a", AgentSpec(str(loader), cwd=str(tmp_path))))
        told = await it.until(lambda: [e for e in it.of(AgentStarting) if "still" in e.doing])
        assert told.doing == (f"still waiting, 0.05 seconds so far; {loader} may be downloading it")


# --- the environment of the login shell -----------------------------------------------


async def test_agents_and_their_terminals_have_the_login_shells_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X17: and what the settings say wins over it."""
    shell = tmp_path / "shell"
    asked = tmp_path / "asked"
    line = f'echo x >>{asked}; export FROM_SHELL=1 BOTH=shell; eval "$4"'
    shell.write_text(f"#!/bin/sh\n{line}\n")
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    body = """
hello()
tell(os.environ["FROM_SHELL"] + " " + os.environ["BOTH"])
say(id=1, method="create", params={"command": "printenv", "args": ["BOTH", "FROM_SHELL"]})
name = read()["result"]["id"]
say(id=2, method="terminal", params={"op": "wait_for_exit", "id": name})
read()
say(id=3, method="terminal", params={"op": "output", "id": name})
tell(read()["result"]["text"])
serve()
"""
    async with stage(tmp_path) as it:
        it.host.login_shell = True
        it.start(body, env={"BOTH": "settings"})
        it.start(body, name="b", env={"BOTH": "settings"})
        await it.until(lambda: it.texts()[3:])
        assert sorted(it.texts()) == ["1 settings"] * 2 + ["shell\n1\n"] * 2
        assert asked.read_text() == "x\n"
        doing = [e.doing for e in it.of(AgentStarting)]
        assert doing.count("asking the login shell for its environment") == 2
        it.start("hello()\ntell(os.environ['BOTH'])\nserve()", name="c")
        await it.text("shell")
        assert asked.read_text() == "x\n"


async def test_the_login_shell_is_not_asked_unless_the_setting_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/no/shell")
    async with stage(tmp_path) as it:
        it.start("hello()\nserve()")
        await it.wait(AgentReady)
        assert "login shell" not in it.host.log("a")
        it.host.login_shell = True
        it.start("hello()\nserve()", name="b")
        await it.wait(AgentReady, 2)
        assert "acpls: the login shell was not asked: the program '/no/shell'" in it.host.log("b")


# --- asks that are withdrawn ----------------------------------------------------------


async def test_an_ask_that_is_withdrawn_is_forgotten_and_the_agent_told(tmp_path: Path) -> None:
    body = """
hello()
one, two = read(), read()
withdrawn = read()
tell(f"{withdrawn['method']} {withdrawn['params']['requestId'] == one['id']}")
reply(one, {"session": "late"})
reply(two, {"session": "s"})
serve()
"""
    async with stage(tmp_path) as it:
        it.start(body)
        await it.wait(AgentReady)
        it.ask(1)
        it.ask(2)
        it.host.perform(WithdrawAsk("a", 1))
        it.host.perform(WithdrawAsk("a", 1))
        it.host.perform(WithdrawAsk("nobody", 1))
        assert await it.wait(Replied) == Replied("a", 2, SessionOpened("s"))
        await it.text("$/cancel_request True")
        assert len(it.of(Replied)) == 1
        assert it.of(AskFailed) == []
        log = it.host.log("a")
        assert "dropped a reply to the unknown request" in log
        assert log.count("no reply to ask 1 is awaited; it was not withdrawn") == 1
        it.end()
        await it.wait(AgentEnded)
        assert it.of(AskFailed) == []


async def test_an_ask_that_still_waits_is_dropped_when_it_is_withdrawn(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start(TELL_ALL)
        it.ask(1)
        it.prompt(2, "two")
        it.host.perform(WithdrawAsk("a", 1))
        await it.until(lambda: heard(it.texts()))
        assert [message["method"] for message in heard(it.texts())] == ["prompt"]
        it.end()
        await it.wait(AgentEnded)
        assert [e.ask for e in it.of(AskFailed)] == [2]


async def test_an_ask_is_withdrawn_while_those_that_waited_are_sent(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        take = it.take

        def take_and_withdraw(event: object) -> None:
            take(event)
            if it.texts() == ["sent"]:
                it.host.perform(WithdrawAsk("a", 1))

        it.host._emit = take_and_withdraw
        it.start(TELL_ALL)
        it.prompt(1, "one")
        it.ask(2)
        await it.until(lambda: heard(it.texts())[2:])
        methods = [message["method"] for message in heard(it.texts())]
        assert methods == ["prompt", "$/cancel_request", "new"]


# --- what else is passed on -----------------------------------------------------------


async def test_unknown_notifications_are_told_and_logged_without_their_values(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as it:
        body = """
hello()
say(method="_x/usage", params={"token": "secret", "used": 1})
say(method="other", params=["secret"])
say(method="a\\nb", params={"c\\nd": 1})
tell("done")
serve()
"""
        it.start(body)
        await it.text("done")
        assert it.of(Notified) == [
            Notified("a", "_x/usage", {"token": "secret", "used": 1}),
            Notified("a", "other", ["secret"]),
            Notified("a", "a\nb", {"c\nd": 1}),
        ]
        log = it.host.log("a").splitlines()
        assert "acpls: unknown notification _x/usage (token, used)" in log
        assert "acpls: unknown notification other ()" in log
        assert "acpls: unknown notification a b (c d)" in log
        assert "secret" not in it.host.log("a")


async def test_a_request_may_be_answered_by_its_dialect_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.start("hello()\nsay(id=5, method='at once')\ntell(json.dumps(read()))\nserve()")
        await it.until(lambda: heard(it.texts()))
        assert heard(it.texts()) == [{"jsonrpc": "2.0", "id": 5, "result": {"action": "cancel"}}]
        it.host.perform(SendAnswer("a", 5, FileText("")))
        assert "no request 5 is open" in it.host.log("a")


async def test_requests_that_cannot_be_read_are_answered_and_replies_fail_their_asks(
    tmp_path: Path,
) -> None:
    body = """
hello()
ask = read()
deep = "[" * 5000 + "]" * 5000
write('{"jsonrpc": "2.0", "id": 11, "method": "question", "params": ' + deep + "}")
write('{"jsonrpc": "2.0", "id": 12, "method": 5}')
write('[{"jsonrpc": "2.0", "id": 13, "method": "question"}]')
for _ in range(3):
    answer = read()
    tell(json.dumps([answer["id"], answer["error"]["code"]]))
write(f'{{"jsonrpc": "2.0", "id": {ask["id"]}, "result": ' + deep + "}")
serve()
"""
    async with stage(tmp_path) as it:
        it.start(body)
        it.ask(1)
        failed = await it.wait(AskFailed)
        assert failed.failure.message.startswith("a sent a broken reply: not JSON")
        assert it.texts() == ["[11, -32700]", "[12, -32600]", "[null, -32600]"]
        assert len(it.of(AgentMisspoke)) == 4


async def test_x05_a_broken_answer_to_initialize_is_not_waited_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        broken = """'{"jsonrpc": "2.0", "id": %d, "result": NaN}' % read()["id"]"""
        it.start(f"write({broken})\nserve()")
        ended = await it.wait(AgentEnded)
        assert "a sent a broken reply" in ended.reason


# --- MCP servers and mapped paths -----------------------------------------------------


async def test_programs_of_mcp_servers_are_looked_up_where_the_agent_would(tmp_path: Path) -> None:
    for folder in ("agent", "own"):
        tool = tmp_path / folder / f"{folder}-tool"
        tool.parent.mkdir()
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
    servers = (
        McpServer("one", "stdio", "agent-tool"),
        McpServer("two", "stdio", "own-tool", env=(("PATH", str(tmp_path / "own")),)),
        McpServer("three", "stdio", "own-tool", env=(("KEY", "secret"),)),
        McpServer("four", "stdio", "./own/own-tool"),
    )
    async with stage(tmp_path) as it:
        it.start(TELL_ALL, env={"PATH": f"{tmp_path / 'agent'}:{os.environ['PATH']}"})
        it.ask(1, NewSession(Opening(str(tmp_path), mcp_servers=servers)))
        await it.until(lambda: heard(it.texts()))
        assert heard(it.texts())[0]["params"]["servers"] == [
            ["one", str(tmp_path / "agent" / "agent-tool")],
            ["two", str(tmp_path / "own" / "own-tool")],
            ["four", str(tmp_path / "own" / "own-tool")],
        ]
        what = "the program 'own-tool' of the MCP server 'three' was not found, so it is left out"
        assert it.of(LeftOut) == [LeftOut("a", what)]
        assert "secret" not in it.host.log("a")


@pytest.mark.parametrize("kind", [NewSession, ResumeSession, ForkSession])
async def test_x22_a_mapped_agent_and_the_editor_each_see_their_own_paths(
    kind: Any, tmp_path: Path
) -> None:
    """X22: both ways, and terminals run in the editor's folder, where they are started."""
    here = tmp_path / "here"
    (here / "sub").mkdir(parents=True)
    body = """
hello()
ask = read()
tell(ask["params"]["cwd"])
reply(ask, {"session": "s"})
say(id=1, method="file", params={"path": "/there/f"})
tell(read()["result"]["text"])
for number, cwd in enumerate([None, "/there/sub"], 2):
    say(id=number, method="create", params={"command": "pwd", "cwd": cwd})
    name = read()["result"]["id"]
    say(id=-number, method="terminal", params={"op": "wait_for_exit", "id": name})
    read()
tell("done")
serve()
"""
    opening = Opening(f"{here}/")
    ask = kind(opening) if kind is NewSession else kind("s", opening)
    async with stage(tmp_path) as it:
        it.start(body, path_map=((str(here), "/there"),))
        it.ask(1, ask)
        asked = await it.wait(FileReadAsked)
        assert asked.path == str(here / "f")
        it.host.perform(SendAnswer("a", 1, FileText("text of f")))
        await it.text("done")
        assert it.texts()[:2] == ["/there", "text of f"]
        created = [
            e.update.cwd
            for e in it.of(SessionTold)
            if isinstance(e.update, TerminalPatched) and e.update.command == "pwd"
        ]
        assert created == [str(here), str(here / "sub")]
