"""Why a line of an agent's led to no event: the only reasons there may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from recorded import Line

from acpls.events import (
    AgentMisspoke,
    AskFailed,
    FileReadAsked,
    FileWriteAsked,
    Notified,
    QuestionAsked,
    Replied,
    RequestWithdrawn,
    SessionTold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from player import Process, Step

TOLD_AGAIN: Final = "told again, though the session was to be opened without"

# Events that say something of a line; ``AgentMisspoke`` is a loss that is told at least.
_TELLING = (
    AskFailed,
    FileReadAsked,
    FileWriteAsked,
    Notified,
    QuestionAsked,
    Replied,
    RequestWithdrawn,
    SessionTold,
    AgentMisspoke,
)


def vanished(process: Process) -> list[Step]:
    """The lines of the agent's that led to nothing and have no reason to. Gives a reason to
    all others that led to nothing.
    """
    lost = []
    said = _Said()
    for step in process.steps:
        line = step.line
        if not isinstance(line, Line):
            continue
        if line.direction == "out":
            said.remember(line)
        elif not (step.alibi or any(isinstance(x, _TELLING) for x in step.events)):
            step.alibi = _alibi(line, said) or ""
            if not step.alibi:
                lost.append(step)
        if line.direction == "in":
            said.answered(line)
    return lost


@dataclass(slots=True)
class _Said:
    """What the client said. ``prompts``: the latest one by session; ``resuming``: sessions
    that are being opened again without being told again, by the number of the request.
    """

    prompts: dict[str, str] = field(default_factory=dict)
    resuming: dict[object, str] = field(default_factory=dict)

    def remember(self, line: Line) -> None:
        message = line.message or {}
        params = message.get("params") or {}
        if message.get("method") == "session/prompt":
            self.prompts[params["sessionId"]] = "".join(_texts(params["prompt"]))
        elif message.get("method") == "session/resume" and "replayFrom" not in params:
            self.resuming[message["id"]] = params["sessionId"]

    def answered(self, line: Line) -> None:
        if line.message is not None and "method" not in line.message:
            self.resuming.pop(line.message["id"], None)


def _alibi(line: Line, said: _Said) -> str | None:
    message = line.message
    if message is None:
        return "an empty line" if not line.text.strip() else None
    if message.get("method") != "session/update":
        return None
    params = message["params"]
    update = params["update"]
    content = update.get("content")
    if content is not None and params["sessionId"] in said.resuming.values():
        return TOLD_AGAIN
    match update["sessionUpdate"]:
        case "user_message_chunk":
            prompt = said.prompts.get(params["sessionId"], "")
            echoed = "".join(_texts([content]))
            if content["type"] != "text" or echoed in prompt:
                return "the agent repeats the prompt"
        case "agent_message_chunk" | "agent_thought_chunk":
            bare = {k: v for k, v in content.items() if k != "_meta"}
            if bare == {"type": "text", "text": ""} and "messageId" not in update:
                return "an empty piece of a message, sent for its _meta or for nothing"
        case _:
            pass
    return None


def _texts(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        if block["type"] == "text":
            yield block["text"]
