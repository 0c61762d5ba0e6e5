"""The steps that tell the client something, and those that do something to the process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Final

from acpls.testing import shapes
from acpls.testing.lines import as_line
from acpls.testing.turns import TurnEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.testing.shapes import Json
    from acpls.testing.turns import Turn

_CHUNKS_AT_ONCE = 256
_LOOK_EVERY_S = 0.01
_SLEEP = "import sys, time; time.sleep(float(sys.argv[1]))"


def _message(turn: Turn, kind: str, step: Json, text: str) -> None:
    pieces = max(1, min(step.get("pieces", 1), len(text)))
    size = -(-len(text) // pieces) if text else 1
    if turn.run_of != kind:
        turn.run_of = kind
        turn.messages += 1
    made = None
    if turn.agent.version != 1:
        made = f"{turn.session.key}-{turn.since}-{turn.messages}"
    for at in range(0, max(1, len(text)), size):
        update = {
            "sessionUpdate": kind,
            "content": shapes.text_block(text[at : at + size]),
        }
        if (message := step.get("message", made)) is not None:
            update["messageId"] = message
        turn.update(update)


def _say(turn: Turn, step: Json) -> None:
    _message(turn, "agent_message_chunk", step, step["say"])


def _think(turn: Turn, step: Json) -> None:
    _message(turn, "agent_thought_chunk", step, step["think"])


def _user(turn: Turn, step: Json) -> None:
    _message(turn, "user_message_chunk", step, step["user"])


def _chunks(turn: Turn, step: Json) -> None:
    update = {
        "sessionUpdate": "agent_message_chunk",
        "content": shapes.text_block("\x00"),
        "messageId": f"{turn.session.key}-{turn.since}-chunks",
    }
    if turn.agent.version == 1:
        del update["messageId"]
    params = {"sessionId": turn.session.key, "update": update}
    line = as_line({"jsonrpc": "2.0", "method": "session/update", "params": params})
    before, after = line.split(b"\\u0000")
    text = json.dumps(step.get("text", "{n} "), ensure_ascii=False)[1:-1].encode()
    for start in range(0, step["chunks"], _CHUNKS_AT_ONCE):
        numbers = range(start, min(start + _CHUNKS_AT_ONCE, step["chunks"]))
        texts = (text.replace(b"{n}", b"%d" % number) for number in numbers)
        turn.agent.wire.write(b"".join(before + each + after for each in texts))


def _big_line(turn: Turn, step: Json) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": shapes.text_block("\x00")}
    if turn.agent.version != 1:
        update["messageId"] = f"{turn.session.key}-{turn.since}-big"
    params = {"sessionId": turn.session.key, "update": update}
    line = as_line({"jsonrpc": "2.0", "method": "session/update", "params": params})
    before, after = line.split(b"\\u0000")
    room = step["big_line"] - len(before) - len(after)
    turn.agent.wire.write(before + b"x" * room + after)


def _plan(turn: Turn, step: Json) -> None:
    turn.update(shapes.plan(turn.agent.version, step["plan"], step.get("id", "plan")))


def _tool(turn: Turn, step: Json) -> None:
    shape = shapes.tool_call(turn.agent.version, step, turn.session.cwd)
    new = shape["toolCallId"] not in turn.session.tools
    turn.session.tools.add(shape["toolCallId"])
    kind = "tool_call_update"
    if turn.agent.version == 1 and step.get("as", "call" if new else "update") == "call":
        kind = "tool_call"
        shape.setdefault("title", shape["toolCallId"])
    turn.update({"sessionUpdate": kind, **shape})


def _state(turn: Turn, step: Json) -> None:
    turn.set_state(step["state"], **step.get("fields", {}))


def _commands(turn: Turn, step: Json) -> None:
    commands = [shapes.command(turn.agent.version, each) for each in step["commands"]]
    turn.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})


def _session_title(turn: Turn, step: Json) -> None:
    turn.update({"sessionUpdate": "session_info_update", "title": step["session_title"]})


def _set_option(turn: Turn, step: Json) -> None:
    for each in turn.session.options:
        if each["id"] == step["set_option"]:
            each["value"] = step["value"]
    _tell_options(turn)


def _mode(turn: Turn, step: Json) -> None:
    if turn.session.modes:
        turn.session.modes["current"] = step["mode"]
    if turn.agent.version == 1:
        turn.update({"sessionUpdate": "current_mode_update", "currentModeId": step["mode"]})
    else:
        _tell_options(turn)


def _tell_options(turn: Turn) -> None:
    options = turn.session.config(turn.agent.version)
    turn.update({"sessionUpdate": "config_option_update", "configOptions": options})


def _usage(turn: Turn, step: Json) -> None:
    used, size = step["usage"]
    turn.update({"sessionUpdate": "usage_update", "used": used, "size": size})


def _notice(turn: Turn, step: Json) -> None:
    offered = turn.agent.offers.get("session") or {}
    if turn.agent.version == 1 and offered.get("notices") is None:
        _message(turn, "agent_message_chunk", {}, step["notice"])
        return
    update = {"severity": step.get("severity", "info"), "title": step["notice"]}
    if "description" in step:
        update["description"] = step["description"]
    turn.update({"sessionUpdate": "notice", **update})


def _update(turn: Turn, step: Json) -> None:
    turn.update(step["update"])


def _wait_cancel(turn: Turn, step: Json) -> None:
    turn.cancelled.wait()
    turn.steps(step["wait_cancel"] or [], heed=False)
    raise TurnEnd("cancelled")


def _late(turn: Turn, step: Json) -> None:
    with turn.agent.news:
        turn.agent.news.wait_for(lambda: step["late"] in turn.agent.arrived[turn.since :])


def _sleep(turn: Turn, step: Json) -> None:
    if step["sleep"] == "forever":
        threading.Event().wait()
    elif turn.agent.heeds_cancel:
        turn.cancelled.wait(step["sleep"])
    else:
        threading.Event().wait(step["sleep"])


def _gate(turn: Turn, step: Json) -> None:
    gate = turn.resolve(step["gate"])
    while not gate.exists() and not turn.cancelled.wait(_LOOK_EVERY_S):
        pass


def _raw(turn: Turn, step: Json) -> None:
    turn.agent.wire.write(step["raw"].encode())


def _stderr(_turn: Turn, step: Json) -> None:
    sys.stderr.write(step["stderr"])
    sys.stderr.flush()


def _flood_stderr(_turn: Turn, step: Json) -> None:
    line = b"noise " * 12 + b"\n"
    whole = line * (step["flood_stderr"] // len(line) + 1)
    sys.stderr.buffer.write(whole[: step["flood_stderr"]])
    sys.stderr.buffer.flush()


def _spawn(turn: Turn, step: Json) -> None:
    sleep = shutil.which("sleep")
    seconds = str(step["spawn"])
    argv = [sleep, seconds] if sleep else [sys.executable, "-c", _SLEEP, seconds]
    child = subprocess.Popen(argv, start_new_session=step.get("own_session", False))
    turn.keep(step, str(child.pid))


def _ignore_eof(turn: Turn, _step: Json) -> None:
    turn.agent.ignores_eof = True


def _close_stdout(turn: Turn, _step: Json) -> None:
    turn.agent.wire.close()


def _die(_turn: Turn, step: Json) -> None:
    os._exit(step["die"] or 0)


def _kill(_turn: Turn, step: Json) -> None:
    os.kill(os.getpid(), step["kill"])


def _end(_turn: Turn, step: Json) -> None:
    raise TurnEnd(step["end"] or "end_turn")


def _fail(_turn: Turn, step: Json) -> None:
    raise TurnEnd("error", step["fail"])


TELLING: Final[dict[str, Callable[[Turn, Json], None]]] = {
    "say": _say,
    "think": _think,
    "user": _user,
    "chunks": _chunks,
    "big_line": _big_line,
    "plan": _plan,
    "tool": _tool,
    "state": _state,
    "commands": _commands,
    "session_title": _session_title,
    "set_option": _set_option,
    "mode": _mode,
    "usage": _usage,
    "notice": _notice,
    "update": _update,
    "wait_cancel": _wait_cancel,
    "late": _late,
    "sleep": _sleep,
    "gate": _gate,
    "raw": _raw,
    "stderr": _stderr,
    "flood_stderr": _flood_stderr,
    "spawn": _spawn,
    "ignore_eof": _ignore_eof,
    "close_stdout": _close_stdout,
    "die": _die,
    "kill": _kill,
    "end": _end,
    "fail": _fail,
}
