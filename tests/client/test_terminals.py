"""The terminals that an agent of version 1 has us run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import anyio
import psutil
import pytest

from acpls.client.dialect import CreateTerminal
from acpls.client.terminals import Ground, Terminals, _whole_characters
from acpls.events import AgentEnded, AgentMisspoke, Replied, RequestWithdrawn, SessionTold
from acpls.session.asks import NewSession, Opening
from acpls.session.content import UNSET, Exit
from acpls.session.updates import TerminalGrew, TerminalPatched
from rim_stage import Stage, all_gone, runs, stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

AGENT = """
hello()
count = 0
def call(method, **params):
    global count
    count += 1
    say(id=count, method=method, params=params)
    return count
def answer():
    message = read()
    if "method" in message:
        reply(message, {"session": "s"})
        return answer()
    return message
def ask(method, **params):
    number = call(method, **params)
    message = answer()
    assert message["id"] == number, message
    return message.get("result", message.get("error"))
def create(command, *args, **more):
    return ask("create", command=command, args=args, **more)["id"]
def do(op, terminal):
    return ask("terminal", op=op, id=terminal)
def out(value):
    tell(json.dumps(value))
PY = sys.executable
"""


async def run(it: Stage, body: str) -> list[Any]:
    """Run the body and give what it put out."""
    it.start(AGENT + body + "\ntell('done')\nserve()")
    await it.text("done")
    return [json.loads(t) for t in it.texts() if t != "done"]


def shown(it: Stage, name: str = "terminal-1") -> bytes:
    """What a view of the terminal holds after all that was told."""
    data = b""
    for update in updates(it, name):
        if isinstance(update, TerminalGrew):
            data += update.data
        elif isinstance(update.output, bytes):
            data = update.output
    return data


def updates(it: Stage, name: str = "terminal-1") -> list[TerminalGrew | TerminalPatched]:
    told = [e.update for e in it.of(SessionTold) if e.session == "s"]
    wanted = [u for u in told if isinstance(u, TerminalGrew | TerminalPatched)]
    return [u for u in wanted if u.terminal == name]


async def test_a_program_runs_without_a_shell(tmp_path: Path) -> None:
    body = """
t = create(PY, "-c", "import os, sys; print(sys.argv[1:], os.environ['A']); sys.exit(3)",
           "$HOME", "a b", env={"A": "ä"})
out(do("wait_for_exit", t))
out(do("output", t))
out(do("wait_for_exit", t))
"""
    async with stage(tmp_path) as it:
        text = "['$HOME', 'a b'] ä\n"
        assert await run(it, body) == [
            [3, None],
            {"text": text, "truncated": False, "exit": [3, None]},
            [3, None],
        ]
        first, *_, last = updates(it)
        assert isinstance(first, TerminalPatched)
        assert isinstance(first.command, str)
        assert first.command.endswith(" '$HOME' 'a b'")
        assert (first.cwd, first.output, first.exit) == (str(tmp_path), b"", UNSET)
        assert last == TerminalPatched("terminal-1", exit=Exit(3))
        assert shown(it) == text.encode()


async def test_a_shell_line_and_a_path_with_spaces_both_run(tmp_path: Path) -> None:
    program = tmp_path / "my program"
    program.write_text("#!/bin/sh\necho mine")
    program.chmod(0o755)
    body = f"""
for command in ("echo one && echo two >&2", {str(program)!r}):
    t = create(command)
    do("wait_for_exit", t)
    out(do("output", t)["text"])
"""
    async with stage(tmp_path) as it:
        assert await run(it, body) == ["one\ntwo\n", "mine\n"]


async def test_the_folder_is_the_requests_or_the_sessions_or_the_agents(tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    body = f"""
def where(**more):
    t = create("pwd", **more)
    do("wait_for_exit", t)
    out(do("output", t)["text"].strip())
where()
reply(read(), {{"session": "s"}})
where()
where(cwd={str(tmp_path.parent)!r})
"""
    async with stage(tmp_path) as it:
        it.start(AGENT + body + "\ntell('done')\nserve()")
        await it.until(it.texts)
        it.ask(1, NewSession(Opening(str(tmp_path / "session"))))
        await it.wait(Replied)
        await it.text("done")
        folders = [json.loads(t) for t in it.texts()[:-1]]
        assert folders == [str(tmp_path), str(tmp_path / "session"), str(tmp_path.parent)]


async def test_output_is_cut_from_the_front_at_a_character(tmp_path: Path) -> None:
    body = """
for limit in (5, 0, 100):
    t = create(PY, "-c", "print('x' + 'ä' * 5, end='')", env={"PYTHONUTF8": "1"}, limit=limit)
    do("wait_for_exit", t)
    out(do("output", t))
"""
    async with stage(tmp_path) as it:
        exit_ = [0, None]
        assert await run(it, body) == [
            {"text": "ää", "truncated": True, "exit": exit_},
            {"text": "", "truncated": True, "exit": exit_},
            {"text": "xäääää", "truncated": False, "exit": exit_},
        ]
        assert shown(it) == "xäääää".encode()


async def test_kill_and_release_end_the_whole_group(tmp_path: Path) -> None:
    body = """
code = "import os, time; os.fork(); print(os.getpid(), flush=True); time.sleep(60)"
for op in ("kill", "release"):
    t = create(PY, "-c", code)
    while (text := do("output", t)["text"]).count("\\n") < 2:
        time.sleep(0.01)
    out([int(pid) for pid in text.split()])
    waiting = call("terminal", op="wait_for_exit", id=t)
    killing = call("terminal", op=op, id=t)
    answers = {m["id"]: m["result"] for m in (answer(), answer())}
    out([answers[waiting], answers[killing]])
    after = do("output", t)
    out(after.get("exit", after.get("message")))
"""
    async with stage(tmp_path) as it:
        told = await run(it, body)
        for pids, answers, _ in (told[:3], told[3:]):
            assert answers == [[None, "SIGTERM"], {}]
            assert all_gone(pids, 0.1)
        assert told[2] == [None, "SIGTERM"]
        assert told[5] == "there is no terminal 'terminal-2'"
        # What was printed stays to be shown after the release.
        assert shown(it, "terminal-2").count(b"\n") == 2
        assert updates(it, "terminal-2")[-1] == TerminalPatched(
            "terminal-2", exit=Exit(signal="SIGTERM")
        )


async def test_mistakes_are_answered(tmp_path: Path) -> None:
    body = """
out(ask("create", command="no-such-program")["message"][:41])
out(ask("create", command="pwd", cwd="/no/folder")["message"])
out(do("output", "terminal-9"))
t = create("pwd")
out(ask("terminal", op="output", id=t, s="other")["message"])
out(do("resize", t)["message"])
"""
    async with stage(tmp_path) as it:
        assert await run(it, body) == [
            "the program 'no-such-program' was not fou",
            "the folder '/no/folder' to start in does not exist",
            {"code": -32602, "message": "there is no terminal 'terminal-9'"},
            "there is no terminal 'terminal-1'",
            "terminals know no 'resize'",
        ]


async def test_a_withdrawn_wait_is_answered_and_its_id_is_free_again(tmp_path: Path) -> None:
    body = """
t = create("sleep", "60")
say(id="w", method="terminal", params={"op": "wait_for_exit", "id": t})
say(method="withdraw", params={"id": "w"})
out(answer()["error"])
say(id="w", method="terminal", params={"op": "kill", "id": t})
out(answer()["result"])
"""
    async with stage(tmp_path) as it:
        told = await run(it, body)
        assert told == [{"code": -32800, "message": "cancelled"}, {}]
        assert it.of(RequestWithdrawn) == []
        assert it.of(AgentMisspoke) == []


async def test_terminals_end_with_their_agent_and_are_told_so(tmp_path: Path) -> None:
    body = """
for _ in range(2):
    create(PY, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
call("terminal", op="wait_for_exit", id="terminal-1")
"""
    async with stage(tmp_path) as it:
        await run(it, body)
        await it.until(lambda: [1] if shown(it) and shown(it, "terminal-2") else [])
        pids = [int(shown(it)), int(shown(it, "terminal-2"))]
        assert all(runs(pid) for pid in pids)
        it.end()
        await it.wait(AgentEnded)
        assert not any(runs(pid) for pid in pids)
        for name in ("terminal-1", "terminal-2"):
            assert updates(it, name)[-1] == TerminalPatched(name, exit=Exit(signal="SIGTERM"))
        assert it.events[-1] == it.of(AgentEnded)[0]


async def test_a_flood_is_told_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acpls.client.terminals._DEFAULT_LIMIT_BYTES", 10_000)
    body = """
t = create(PY, "-c", "for n in range(200_000): print(f'{n:07}')")
do("wait_for_exit", t)
out(len(do("output", t)["text"]))
"""
    async with stage(tmp_path) as it:
        assert await run(it, body) == [10_000]
        assert shown(it).endswith(b"0199998\n0199999\n")
        assert len(shown(it)) <= 30_000
        held = sum(len(u.data) for u in updates(it) if isinstance(u, TerminalGrew))
        assert held < 1_600_000


async def test_half_a_character_waits_for_its_other_half(tmp_path: Path) -> None:
    body = """
code = '''
import sys
sys.stdout.buffer.write(b"x" + bytes([0xc3])); sys.stdout.flush()
sys.stderr.write("")
import time; time.sleep(60)
'''
t = create(PY, "-c", code)
while not (text := do("output", t)["text"]):
    time.sleep(0.01)
out(text)
do("kill", t)
do("wait_for_exit", t)
out(do("output", t)["text"])
"""
    async with stage(tmp_path) as it:
        assert await run(it, body) == ["x", "x\ufffd"]


async def test_a_terminal_that_starts_too_late_is_ended_unseen() -> None:
    answers: list[object] = []
    told: list[object] = []
    async with anyio.create_task_group() as tasks:
        terminals = Terminals("a", tasks, told.append, Ground(os.environ))
        terminals.perform(CreateTerminal("s", "sleep", ("62",)), answers.append, None)
        await terminals.aclose()
    assert (answers, told) == ([], [])
    commands = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    assert ["sleep", "62"] not in commands


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"", 0),
        (b"ab", 2),
        ("ä".encode(), 2),
        ("ä".encode()[:1], 0),
        ("a€".encode()[:3], 1),
        ("a😀".encode()[:4], 1),
        ("😀".encode(), 4),
        (b"\x80" * 6, 6),
    ],
)
def test_where_the_last_whole_character_ends(data: bytes, whole: int) -> None:
    assert _whole_characters(data) == whole


async def test_a_terminal_that_starts_while_the_agent_ends_is_ended(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        body = "for n in range(8): call('create', command='sleep', args=[f'61.{os.getpid()}{n}'])"
        it.start(AGENT + "tell(str(os.getpid()))\n" + body)
        ended = await it.wait(AgentEnded)
        assert ended.reason == "a ended with exit code 0"
        mark = f"61.{it.texts()[0]}"
        commands = [p.info["cmdline"] or [] for p in psutil.process_iter(["cmdline"])]
        assert [c for c in commands if c[:1] == ["sleep"] and c[-1].startswith(mark)] == []
