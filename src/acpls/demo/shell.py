"""The work that runs a command: in the client's terminal, or by itself.

The command is a program with arguments; no shell reads it.
"""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from acpls.demo.files import Sorry
from acpls.demo.permission import permitted
from acpls.demo.terms import Display, Text
from acpls.demo.wire import Fault

if TYPE_CHECKING:
    from acpls.demo.terms import Call, Json
    from acpls.demo.turn import Turn

_LINE_LIMIT = 65_536
"""Bytes of output that are sent at once at most; else a line at a time."""

_OUTPUT_LIMIT = 1_000_000
"""Bytes of output that a client's terminal should keep."""


def run(turn: Turn, rest: str) -> None:
    """Run a command, once the user allows it."""
    command = rest.strip().strip("`").strip()
    words = _split(command)
    if turn.client.terminals:
        _in_clients_terminal(turn, command, words)
    else:
        _by_itself(turn, command, words)


def _in_clients_terminal(turn: Turn, command: str, words: list[str]) -> None:
    call = turn.begin(command, "execute", status="pending", raw_input={"command": command})
    if not permitted(turn, call, "run", always=f"Always allow {command}", command=command):
        return
    turn.call(call.id, status="in_progress")
    request = {
        "command": words[0],
        "args": words[1:],
        "cwd": turn.session.cwd,
        "outputByteLimit": _OUTPUT_LIMIT,
    }
    try:
        terminal = {"terminalId": turn.request("terminal/create", request)["terminalId"]}
        turn.when_stopped(lambda: turn.order("terminal/kill", terminal))
        # Released by the same path whether it ends or is stopped.
        turn.at_end(lambda: turn.order("terminal/release", terminal))
        turn.call(call.id, content=[Display(terminal["terminalId"])])
        ended = turn.request("terminal/wait_for_exit", terminal)
        output = str(turn.request("terminal/output", terminal).get("output", ""))
    except (Fault, KeyError, TypeError, AttributeError) as error:
        turn.fail(call.id, f"The editor's terminal did not work: {error}")
        turn.say("The editor could not run that in a terminal.")
        return
    turn.session.characters += len(output)
    _report(turn, call, command, ended if isinstance(ended, dict) else {})


def _by_itself(turn: Turn, command: str, words: list[str]) -> None:
    shown = turn.version.number > 1
    terminal = turn.session.count("terminal")
    if shown:
        start = {"terminalId": terminal, "command": command, "cwd": turn.session.cwd}
        turn.update({"sessionUpdate": "terminal_update"} | start)
    call = turn.begin(
        command,
        "execute",
        status="pending",
        content=[Display(terminal)] if shown else (),
        raw_input={"command": command},
    )
    allowed = permitted(
        turn,
        call,
        "run",
        always=f"Always allow {command}",
        command=command,
        terminal=terminal if shown else None,
    )
    if not allowed:
        return
    turn.call(call.id, status="in_progress")
    try:
        process = _started(words, turn.session.cwd)
    except OSError as error:
        if shown:
            over: Json = {"terminalId": terminal, "exitStatus": {}}
            turn.update({"sessionUpdate": "terminal_update"} | over)
        why = f"`{words[0]}` cannot be started: {error.strerror or error}."
        turn.fail(call.id, why)
        raise Sorry(why) from None
    try:
        turn.when_stopped(lambda: _kill(process))
        if shown:
            turn.cancels[terminal] = lambda: _kill(process)
            able: Json = {"terminalId": terminal, "capabilities": {"cancel": {}}}
            turn.update({"sessionUpdate": "terminal_update"} | able)
        output = _streamed(turn, process, terminal if shown else None)
        process.wait()
    finally:
        _kill(process)
        ended = _exit(process.wait())
        turn.cancels.pop(terminal, None)
        if shown:
            update: Json = {"terminalId": terminal, "exitStatus": ended, "capabilities": None}
            turn.emit({"sessionUpdate": "terminal_update"} | update)
    if output and not shown:
        turn.call(call.id, content=[Text(f"```\n{output.rstrip()}\n```")])
    _report(turn, call, command, ended)


def _report(turn: Turn, call: Call, command: str, ended: Json) -> None:
    code = ended.get("exitCode")
    turn.call(call.id, status="completed" if code == 0 else "failed")
    if code == 0:
        turn.say(f"`{command}` went well (exit code 0).")
    elif code is not None:
        turn.say(f"`{command}` ended with exit code {code}.")
    else:
        turn.say(f"`{command}` was stopped by {ended.get('signal') or 'a signal'}.")


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:
        raise Sorry("I cannot read that command: a quote is missing its partner.") from None
    if not words:
        raise Sorry("Tell me what to run, like this: `run python -m unittest`.")
    if words[0] in {"python", "python3"}:
        # Many systems have only one of the two names; ours is certainly there.
        words[0] = shutil.which(words[0]) or sys.executable
    return words


def _started(words: list[str], cwd: str) -> subprocess.Popen[bytes]:
    # Its own input, because ours is the protocol; its own group, so that all of it ends.
    return subprocess.Popen(
        words,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _streamed(turn: Turn, process: subprocess.Popen[bytes], terminal: str | None) -> str:
    kept = bytearray()
    with process.stdout or open(os.devnull, "rb") as stream:  # noqa: PTH123  never None here
        while line := stream.readline(_LINE_LIMIT):
            turn.session.characters += len(line)
            kept += line
            del kept[:-_LINE_LIMIT]
            if terminal:
                chunk = {"terminalId": terminal, "data": base64.b64encode(line).decode("ascii")}
                turn.update({"sessionUpdate": "terminal_output_chunk"} | chunk)
    return kept.decode("utf-8", "replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return  # its number may belong to another process by now
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
    else:
        process.kill()


def _exit(code: int) -> Json:
    if code >= 0:
        return {"exitCode": code}
    return {"signal": signal.Signals(-code).name}
