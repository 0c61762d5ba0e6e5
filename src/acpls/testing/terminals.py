"""The step that runs a program: in the client's terminal (ACP 1) or by the agent itself."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING, Any

from acpls.testing import shapes

if TYPE_CHECKING:
    from acpls.testing.shapes import Json
    from acpls.testing.turns import Turn


def run_terminal(turn: Turn, step: Json) -> None:
    """A ``terminal`` step. A cancelled turn kills what it runs."""
    if turn.agent.version == 1 and turn.agent.offers.get("terminal"):
        _in_the_client(turn, step)
    else:
        _by_itself(turn, step)


def _in_the_client(turn: Turn, step: Json) -> None:
    command, *args = step["terminal"]
    params: Json = {
        "sessionId": turn.session.key,
        "command": command,
        "args": args,
        "cwd": str(turn.session.cwd),
    }
    if "limit" in step:
        params["outputByteLimit"] = step["limit"]
    created = turn.agent.wire.request("terminal/create", params)
    result = created.wait()
    if created.error is not None:
        return
    named = {"sessionId": turn.session.key, "terminalId": result["terminalId"]}
    _show(turn, step, {"type": "terminal", "terminalId": result["terminalId"]})
    if step.get("wait", True):
        turn.on_cancel(lambda: _tell(turn, "terminal/kill", named))
        turn.agent.wire.request("terminal/wait_for_exit", named).wait()
        output = turn.agent.wire.request("terminal/output", named).wait()
        turn.keep(step, output["output"] if output else "")
    if step.get("release", True):
        turn.agent.wire.request("terminal/release", named).wait()


def _tell(turn: Turn, method: str, params: Json) -> None:
    turn.agent.wire.request(method, params)


def _by_itself(turn: Turn, step: Json) -> None:
    terminal = step.get("id", f"{turn.session.key}-terminal-{turn.since}")
    two = turn.agent.version != 1
    if two:
        update = {"sessionUpdate": "terminal_update", "terminalId": terminal}
        command = " ".join(step["terminal"])
        turn.update({**update, "command": command, "cwd": str(turn.session.cwd)})
        _show(turn, step, {"type": "terminal", "terminalId": terminal})
    child = subprocess.Popen(
        step["terminal"],
        cwd=turn.session.cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    turn.on_cancel(child.kill)
    output = b""
    assert child.stdout is not None
    for line in child.stdout:
        output += line
        if two:
            chunk = {"terminalId": terminal, "data": base64.b64encode(line).decode()}
            turn.update({"sessionUpdate": "terminal_output_chunk", **chunk})
    code = child.wait()
    text = output.decode(errors="replace")
    turn.keep(step, text)
    if two:
        turn.update({**update, "exitStatus": _exit(code)})
    else:
        _show(turn, step, {"type": "content", "content": shapes.text_block(text)})


def _exit(code: int) -> dict[str, Any]:
    return {"signal": f"SIG{-code}"} if code < 0 else {"exitCode": code}


def _show(turn: Turn, step: Json, content: Json) -> None:
    if "shown_in" in step:
        update = {"sessionUpdate": "tool_call_update", "toolCallId": step["shown_in"]}
        turn.update({**update, "content": [content]})
