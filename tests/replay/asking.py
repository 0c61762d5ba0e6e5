"""What the recording client asked, in the words that acpls asks it with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from acpls.client import lift
from acpls.client.dialect import Misfit, TerminalCreated, TerminalExited, TerminalOutput
from acpls.session import asks
from acpls.session.content import Exit
from acpls.wire import v1 as wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.client.dialect import TerminalAnswer
    from acpls.session.asks import Answer, Ask
    from acpls.session.content import Block
    from acpls.session.state import Session


@dataclass(frozen=True, slots=True)
class Junk:
    """A message that acpls has no ask for; ``why`` says what is odd about it."""

    why: str


# --- requests and notifications --------------------------------------------------------


def ask_of(method: str, params: Any, sessions: Mapping[str, Session]) -> Ask | Junk:
    """The ask that a message of the recording client stands for."""
    try:
        return _ask_of(method, params, sessions)
    except (KeyError, TypeError, Misfit) as problem:
        return Junk(f"its params are broken ({type(problem).__name__}: {problem})")


def _ask_of(method: str, it: Any, sessions: Mapping[str, Session]) -> Ask | Junk:
    match method:
        case "session/new":
            return asks.NewSession(_opening(it))
        case "session/load":
            return asks.ResumeSession(it["sessionId"], _opening(it), replay=True)
        case "session/resume":
            return asks.ResumeSession(it["sessionId"], _opening(it), replay="replayFrom" in it)
        case "session/fork":
            return asks.ForkSession(it["sessionId"], _opening(it))
        case "session/list":
            return asks.ListSessions(it.get("cwd"), it.get("cursor"))
        case "session/delete":
            return asks.DeleteSession(it["sessionId"])
        case "session/close":
            return asks.CloseSession(it["sessionId"])
        case "session/prompt":
            return asks.Prompt(it["sessionId"], tuple(_block(x) for x in it["prompt"]))
        case "session/cancel":
            return asks.Cancel(it["sessionId"])
        case "session/set_config_option":
            return asks.SetOption(it["sessionId"], it["configId"], it["value"])
        case "session/set_mode":
            return _chosen(it["sessionId"], "mode", it["modeId"], sessions)
        case "session/set_model":
            return _chosen(it["sessionId"], "model", it["modelId"], sessions)
        case "authenticate":
            return asks.LogIn(it["methodId"])
        case _:
            return Junk("acpls has no such ask")


def _opening(it: Mapping[str, Any]) -> asks.Opening:
    assert not it["mcpServers"]
    return asks.Opening(it["cwd"])


def _block(it: object) -> Block:
    return lift.block(lift.read(wire.ContentChunk, {"content": it}).content)


def _chosen(native: str, category: str, value: str, sessions: Mapping[str, Session]) -> Ask | Junk:
    """Modes and models are options here, of whatever name."""
    session = sessions.get(native)
    for option in () if session is None else session.options:
        if option.category == category:
            return asks.SetOption(native, option.option, value)
    return Junk(f"the session has no option for its {category}")


# --- answers ---------------------------------------------------------------------------

_PLAIN: Final = {"fs/write_text_file", "terminal/kill", "terminal/release"}


def answer_of(method: str, message: Mapping[str, Any]) -> Answer | TerminalAnswer:
    """What the recording client answered to a request of the agent's."""
    if "error" in message:
        error = message["error"]
        return asks.Failure(error["code"], error["message"])
    result = message["result"]
    if method in _PLAIN:
        return asks.Done()
    match method:
        case "session/request_permission":
            outcome = result["outcome"]
            if outcome["outcome"] == "cancelled":
                return asks.Cancelled()
            return asks.Selected(outcome["optionId"])
        case "fs/read_text_file":
            return asks.FileText(result["content"])
        case "terminal/create":
            return TerminalCreated(result["terminalId"])
        case "terminal/output":
            status = result.get("exitStatus")
            how = None if status is None else _exit(status)
            return TerminalOutput(result["output"], result["truncated"], how)
        case "terminal/wait_for_exit":
            return TerminalExited(_exit(result))
        case _:
            raise AssertionError(f"an answer to {method} is not understood")


def _exit(it: Mapping[str, Any]) -> Exit:
    return Exit(it.get("exitCode"), it.get("signal"))
