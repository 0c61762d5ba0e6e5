"""How the server's process ends: by which cause, with which code, and nothing left behind.

X01: what the server has started does not outlive the editor, however either of them ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import pytest_lsp
from lsprotocol import types

from acpls.lsp import mainloop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRAM = """
import logging, os, signal, subprocess, sys, time
import anyio
from acpls.lsp import mainloop
from acpls.lsp.protocol import EditorServer

mode = sys.argv[1]
mainloop.CLOSE_LIMIT_S, mainloop.DRAIN_LIMIT_S = 0.3, 0.5
if mode == "blocked":
    mainloop._HARD_LIMIT_S = 0.6
logging.basicConfig(level=logging.DEBUG if mode == "watch" else logging.WARNING)

class Application:
    def __init__(self, group, server):
        if mode == "no build":
            raise RuntimeError("cannot be built")
        self.child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        self.group, self.protocol = group, server.protocol
        self.protocol.on_request = self.on_request
        if mode == "late":
            group.start_soon(self.crash_late)

    def on_request(self, ticket, method, params):
        match params.command:
            case "child":
                print("a stray line on stdout")
                self.protocol.reply(ticket, self.child.pid)
            case "crash":
                self.group.start_soon(self.crash)
            case "flood":
                for _ in range(100):
                    self.protocol.notify("acp/flood", "x" * 100_000)
                self.protocol.reply(ticket)
            case "tick":
                print("ticked", file=sys.stderr, flush=True)
            case "bug":
                raise RuntimeError("a bug in a handler")

    async def crash(self):
        raise RuntimeError("a bug in a task")

    async def crash_late(self):
        try:
            await anyio.sleep_forever()
        finally:
            raise RuntimeError("a bug while ending")

    async def aclose(self):
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        print("closed", file=sys.stderr, flush=True)
        if mode == "slow":
            await anyio.sleep(1000)
        if mode == "blocked":
            time.sleep(1000)
        if mode == "bad":
            raise RuntimeError("a bug in aclose")

commands = ["child", "crash", "flood", "tick", "bug", "wait"]
server = EditorServer(commands=commands)

@server.feature("acp/exit")
def leave(params):
    sys.exit(params)

if mode == "broken":
    def receive(body, receive=server.protocol.receive):
        if b"acp/broken" in body:
            raise RuntimeError("a bug below the handlers")
        receive(body)
    server.protocol.receive = receive
if mode == "interrupt":
    def interrupted(*args):
        raise KeyboardInterrupt
    anyio.run = interrupted

mainloop.serve(Application, server, watch_every_s=0.02)
"""


class Run:
    """A server in a process of its own, and the pipes to it."""

    def __init__(self, program: Path, mode: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, program, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.stderr = self.process.stderr
        self.child: int | None = None

    def send(self, method: str, params: Any = None, **members: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **members}
        body = json.dumps(message).encode()
        self.stdin.write(b"Content-Length: %d\n\n" % len(body) + body)
        self.stdin.flush()

    def command(self, name: str) -> None:
        self.send("workspace/executeCommand", {"command": name}, id=name)

    def read(self) -> Any:
        name, _, length = self.stdout.readline().partition(b":")
        assert name == b"Content-Length"
        assert self.stdout.readline() == b"\r\n"
        return json.loads(self.stdout.read(int(length)))

    def initialize(self, process_id: int | None = None) -> Run:
        params: dict[str, Any] = {"processId": process_id, "rootUri": None, "capabilities": {}}
        self.send("initialize", params, id=0)
        assert "capabilities" in self.read()["result"]
        self.command("child")
        self.child = self.read()["result"]
        return self

    def wait_for(self, text: str) -> None:
        """Read stderr as far as the line with this text."""
        for line in self.stderr:
            if text in line.decode():
                return
        raise AssertionError(text)

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and the rest of stderr."""
        rest = self.stderr.read().decode()
        return self.process.wait(), rest

    def assert_clean(self) -> None:
        assert self.child is not None
        with pytest.raises(ProcessLookupError):
            os.kill(self.child, 0)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    runs: list[Run] = []

    def starter(mode: str = "") -> Run:
        runs.append(Run(program, mode))
        return runs[-1]

    yield starter
    for run in runs:
        run.process.kill()
        run.process.wait()
        if run.child is not None:
            with suppress(ProcessLookupError):
                os.kill(run.child, signal.SIGKILL)
        run.stdout.close()
        run.stderr.close()
        with suppress(BrokenPipeError):
            run.stdin.close()


def test_the_end_of_input_ends_with_0(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.stdin.close()
    code, said = run.ended()
    assert (code, "closed" in said) == (0, True)
    run.assert_clean()


def test_the_end_of_input_inside_a_message_ends_with_0(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.stdin.write(b"Content-Length: 10\r\n\r\n{")
    run.stdin.close()
    assert run.ended()[0] == 0
    run.assert_clean()


def test_shutdown_and_exit_end_with_0(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.send("shutdown", id=1)
    assert run.read() == {"jsonrpc": "2.0", "id": 1, "result": None}
    run.send("exit")
    code, said = run.ended()
    assert (code, "closed" in said) == (0, True)
    run.assert_clean()


def test_exit_alone_ends_with_1(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.send("exit")
    assert run.ended()[0] == 1
    run.assert_clean()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_with_stdin_open_ends_with_its_number(
    start: Callable[..., Run], number: signal.Signals
) -> None:
    run = start().initialize()
    run.command("wait")
    run.command("tick")
    run.wait_for("ticked")
    run.process.send_signal(number)
    answers = {(answer := run.read())["id"]: answer["error"]["code"] for _ in range(2)}
    assert answers == {"wait": -32800, "tick": -32800}
    code, said = run.ended()
    assert (code, "closed" in said) == (128 + number, True)
    run.assert_clean()


def test_a_crash_ends_with_1_and_a_traceback(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.command("crash")
    code, said = run.ended()
    assert code == 1
    assert "Traceback" in said
    assert "a bug in a task" in said
    run.assert_clean()


@pytest.mark.parametrize(("mode", "code"), [("no build", 1), ("interrupt", 130)])
def test_a_start_that_fails_ends_with_stdin_open(
    start: Callable[..., Run], mode: str, code: int
) -> None:
    run = start(mode)
    ended, said = run.ended()
    assert ended == code
    assert ("cannot be built" in said) == (mode == "no build")


def test_a_bug_in_a_handler_ends_nothing(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.command("bug")
    assert run.read()["error"]["message"] == "Internal error in workspace/executeCommand"
    run.wait_for("a bug in a handler")
    run.stdin.close()
    assert run.ended()[0] == 0


def test_a_bug_below_the_handlers_ends_nothing(start: Callable[..., Run]) -> None:
    run = start("broken").initialize()
    run.send("acp/broken")
    run.command("tick")
    run.wait_for("a bug below the handlers")
    run.wait_for("ticked")
    run.stdin.close()
    assert run.ended()[0] == 0


def test_a_second_signal_does_not_interrupt_the_cleaning_up(start: Callable[..., Run]) -> None:
    run = start("slow").initialize()
    run.process.send_signal(signal.SIGTERM)
    run.wait_for("closed")
    run.process.send_signal(signal.SIGINT)
    assert run.ended()[0] == 143
    run.assert_clean()


@pytest.mark.parametrize(("status", "code"), [(7, 7), ("words", 1)])
def test_a_handler_may_end_the_server(start: Callable[..., Run], status: object, code: int) -> None:
    run = start().initialize()
    run.send("acp/exit", status)
    assert run.ended()[0] == code
    run.assert_clean()


def test_a_client_that_does_not_read_stops_nothing(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.command("flood")
    run.command("tick")
    run.wait_for("ticked")
    got = [run.read() for _ in range(101)]
    assert sum(len(message.get("params", "")) for message in got) == 10_000_000
    assert got[-1]["id"] == "flood"
    run.stdin.close()
    assert run.ended()[0] == 0
    run.assert_clean()


def test_a_client_that_never_reads_does_not_keep_the_process(start: Callable[..., Run]) -> None:
    run = start().initialize()
    run.command("flood")
    run.command("tick")
    run.wait_for("ticked")
    run.process.terminate()
    assert run.ended()[0] == 143
    run.assert_clean()


def test_a_client_that_closes_our_stdout_ends_the_server_with_0(
    start: Callable[..., Run],
) -> None:
    run = start().initialize()
    run.stdout.close()
    run.command("flood")
    assert run.ended()[0] == 0
    run.assert_clean()


def test_the_death_of_the_editor_ends_with_1(start: Callable[..., Run]) -> None:
    editor = subprocess.Popen(["sleep", "1000"])
    run = start("watch").initialize(editor.pid)
    run.wait_for(f"watching the editor's process {editor.pid}")
    # Not waited for: it stays as a zombie, as where nobody collects orphans.
    editor.kill()
    assert run.ended()[0] == 1
    editor.wait()
    run.assert_clean()


def test_a_process_id_of_another_machine_ends_nothing(start: Callable[..., Run]) -> None:
    elsewhere = subprocess.Popen(["true"])
    elsewhere.wait()
    run = start("watch").initialize(elsewhere.pid)
    run.wait_for("not to be seen")
    run.stdin.close()
    assert run.ended()[0] == 0


@pytest.mark.parametrize("mode", ["slow", "blocked", "bad", "late"])
def test_an_application_that_does_not_close_well_changes_nothing(
    start: Callable[..., Run], mode: str
) -> None:
    run = start(mode).initialize()
    began = time.monotonic()
    run.stdin.close()
    assert run.ended()[0] == 0
    assert time.monotonic() - began < 10
    run.assert_clean()


@pytest.mark.parametrize("process", [0, -1, 2**40])
def test_only_real_process_numbers_are_watched(process: int) -> None:
    assert not mainloop._alive(process)


def test_a_process_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(process: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert mainloop._alive(os.getpid())


@pytest.mark.anyio
async def test_a_client_of_pytest_lsp_is_served(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    client = pytest_lsp.LanguageClient()
    await client.start_io(sys.executable, str(program), "")
    answer = await client.initialize_session(
        types.InitializeParams(
            capabilities=pytest_lsp.client_capabilities("neovim@v0.11"),
            process_id=os.getpid(),
            root_uri=None,
        )
    )
    assert answer.capabilities.position_encoding == "utf-32"
    child = await client.workspace_execute_command_async(types.ExecuteCommandParams("child"))
    assert isinstance(child, int)
    await client.shutdown_session()
    assert (client.messages, client.log_messages) == ([], [])
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
