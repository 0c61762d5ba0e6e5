"""The steps that ask the client for something and wait for its answer, and file access."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Final

from acpls.testing import deeds, shapes
from acpls.testing.terminals import run_terminal
from acpls.testing.turns import TurnEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.testing.lines import Sent
    from acpls.testing.shapes import Json
    from acpls.testing.turns import Turn


def _ask(turn: Turn, step: Json) -> None:
    params: Json = {
        "sessionId": turn.session.key,
        "options": shapes.permission_options(step.get("options", ["allow_once", "reject_once"])),
    }
    call = step.get("call", {"tool": f"ask-{len(turn.asks)}", "title": step["ask"]})
    tool = shapes.tool_call(turn.agent.version, call, turn.session.cwd)
    if turn.agent.version == 1:
        if "command" in step:
            tool = {"kind": "execute", "rawInput": {"command": step["command"]}} | tool
        params["toolCall"] = tool
    else:
        params["title"] = step["ask"]
        if "description" in step:
            params["description"] = step["description"]
        if "command" in step:
            cwd = str(turn.resolve(step.get("cwd", ".")))
            params["subject"] = {"type": "command", "command": step["command"], "cwd": cwd}
            if "call" in step:
                params["subject"]["toolCallId"] = tool["toolCallId"]
        elif "call" in step:
            params["subject"] = {"type": "tool_call", "toolCall": tool}
    if "call" in step:
        turn.session.tools.add(tool["toolCallId"])
    turn.set_state("requires_action")
    sent = turn.agent.wire.request("session/request_permission", params)
    turn.asks[step.get("id", f"#{len(turn.asks)}")] = sent
    if turn.agent.version != 1 and turn.agent.heeds_cancel:
        # In ACP 2 the agent withdraws its questions; in ACP 1 the client answers them.
        turn.on_cancel(lambda: call_off(turn, sent))
    if step.get("wait", True):
        _answered(turn, step, sent)
    else:
        branch = threading.Thread(target=_branch, args=(turn, step, sent), daemon=True)
        turn.branches.append(branch)
        branch.start()


def _branch(turn: Turn, step: Json, sent: Sent) -> None:
    try:
        _answered(turn, step, sent)
    except TurnEnd as end:
        turn.branch_ends.append(end)


def _answered(turn: Turn, step: Json, sent: Sent) -> None:
    result = sent.wait()
    if all(each.answered for each in list(turn.asks.values())):
        turn.set_state("running")
    outcome = result.get("outcome") if isinstance(result, dict) else None
    kind = outcome.get("outcome") if isinstance(outcome, dict) else None
    if kind == "selected":
        assert isinstance(outcome, dict)
        turn.steps(step.get("then", {}).get(outcome["optionId"], []))
    elif kind == "cancelled":
        turn.steps(step.get("cancelled", []), heed=False)
    else:
        turn.steps(step.get("failed", []), heed=False)


def call_off(turn: Turn, sent: Sent) -> None:
    """Withdraw a request that the client has not answered yet."""
    if not sent.answered:
        turn.agent.wire.notify("$/cancel_request", {"requestId": sent.number})


def _withdraw(turn: Turn, step: Json) -> None:
    call_off(turn, turn.asks[step["withdraw"]])


def _by_client(turn: Turn, step: Json, ability: str) -> bool:
    via = step.get("via")
    offered = bool((turn.agent.offers.get("fs") or {}).get(ability))
    return turn.agent.version == 1 and (via == "client" or (via is None and offered))


def _read(turn: Turn, step: Json) -> None:
    path = turn.resolve(step["read"])
    if _by_client(turn, step, "readTextFile"):
        window = {key: step[key] for key in ("line", "limit") if key in step}
        params: Json = {"sessionId": turn.session.key, "path": str(path)} | window
        sent = turn.agent.wire.request("fs/read_text_file", params)
        result = sent.wait()
        turn.keep(step, result["content"] if sent.error is None else "")
        failed = sent.error is not None
    else:
        failed = not path.is_file()
        turn.keep(step, "" if failed else path.read_bytes().decode(errors="replace"))
    if failed:
        turn.steps(step.get("failed", []))


def _write(turn: Turn, step: Json) -> None:
    path = turn.resolve(step["write"])
    if _by_client(turn, step, "writeTextFile"):
        params = {"sessionId": turn.session.key, "path": str(path), "content": step["text"]}
        sent = turn.agent.wire.request("fs/write_text_file", params)
        sent.wait()
        if sent.error is not None:
            turn.steps(step.get("failed", []))
    else:
        deeds.write(path, step)


def _notify(turn: Turn, step: Json) -> None:
    turn.agent.wire.notify(step["notify"], step.get("params"))


def _request(turn: Turn, step: Json) -> None:
    sent = turn.agent.wire.request(step["request"], step.get("params"))
    if step.get("wait", True):
        turn.keep(step, json.dumps(sent.wait(), ensure_ascii=False))
        if sent.error is not None:
            turn.steps(step.get("failed", []))


ASKING: Final[dict[str, Callable[[Turn, Json], None]]] = {
    "ask": _ask,
    "withdraw": _withdraw,
    "read": _read,
    "write": _write,
    "notify": _notify,
    "request": _request,
    "terminal": run_terminal,
}
