"""Protocol version 1: how the demo agent says things in it.

Invariant: no I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.demo.diffs import fragments
from acpls.demo.terms import (
    MODES,
    PACES,
    Change,
    Display,
    Version,
    option_json,
    place_json,
    select_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.demo.terms import Call, Choices, Command, Content, Json, Question, Step


class Version1(Version):
    """ACP 1: modes, files and terminals of the client, the turn's end as a response."""

    number = 1
    # Version 1 has no status for a stopped call.
    stopped_status = "failed"

    def __init__(self, info: Json) -> None:
        self._info = info

    def initialized(self) -> Json:
        return {
            "protocolVersion": 1,
            "agentInfo": self._info,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": False, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
            },
            "authMethods": [],
        }

    def session(self, choices: Choices, commands: Sequence[Command]) -> Json:
        del commands  # told by an update in this version
        return {
            "modes": {
                "currentModeId": choices.mode,
                "availableModes": [
                    {"id": mode, "name": name, "description": text} for mode, name, text in MODES
                ],
            },
            "configOptions": self.options(choices),
        }

    def greeting(self, commands: Sequence[Command]) -> list[Json]:
        listed: list[Json] = []
        for command in commands:
            entry: Json = {"name": command.name, "description": command.description}
            if command.hint:
                entry["input"] = {"hint": command.hint}
            listed.append(entry)
        return [{"sessionUpdate": "available_commands_update", "availableCommands": listed}]

    def options(self, choices: Choices) -> list[Json]:
        return [{"id": "pace"} | select_json("How fast it speaks", "Pace", PACES, choices.pace)]

    def settable(self) -> dict[str, Sequence[str]]:
        return {"pace": [value for value, _, _ in PACES]}

    def echo(self, message: str, prompt: list[Json]) -> list[Json]:
        del message  # ids of messages are optional here, and left out
        return [{"sessionUpdate": "user_message_chunk", "content": block} for block in prompt]

    def chunk(self, kind: str, message: str, text: str) -> Json:
        del message
        return {"sessionUpdate": f"{kind}_chunk", "content": {"type": "text", "text": text}}

    def call(self, call: Call, changed: Sequence[str], *, new: bool) -> Json:
        kind = "tool_call" if new else "tool_call_update"
        return {"sessionUpdate": kind} | _call(call, changed)

    def plan(self, plan: str, steps: Sequence[Step]) -> Json:
        del plan  # there is one plan a session
        return {
            "sessionUpdate": "plan",
            "entries": [
                {"content": step.content, "priority": step.priority, "status": step.status}
                for step in steps
            ],
        }

    def question(self, question: Question) -> Json:
        if question.call is None:
            raise ValueError("version 1 asks about tool calls only")
        fields = ("title", "kind", "status", "content", "locations", "rawInput")
        return {
            "toolCall": _call(question.call, fields),
            "options": option_json(question.options),
        }

    def states(self, state: str) -> list[Json]:
        del state
        return []

    def accepted(self, message: str) -> Json | None:
        del message  # the response comes at the end of the turn
        return None

    def finished(self, reason: str, error: Json | None) -> tuple[Json | None, list[Json]]:
        del error  # goes out as the error of the response
        return {"stopReason": reason}, []


def _call(call: Call, changed: Sequence[str]) -> Json:
    values: dict[str, Any] = {
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "content": [item for one in call.content for item in _content(one)],
        "locations": place_json(call.places),
        "rawInput": call.raw_input,
    }
    wanted = {key: values[key] for key in changed if values[key] is not None}
    return {"toolCallId": call.id} | wanted


def _content(content: Content) -> list[Json]:
    if isinstance(content, Change):
        return _diffs(content)
    if isinstance(content, Display):
        return [{"type": "terminal", "terminalId": content.terminal}]
    return [{"type": "content", "content": {"type": "text", "text": content.text}}]


def _diffs(change: Change) -> list[Json]:
    whole: Json = {"type": "diff", "path": str(change.path)}
    if change.operation == "add":
        return [whole | {"oldText": None, "newText": change.new}]
    if change.operation == "delete":
        # The version has no word for it; some agents mark a deletion this way.
        return [whole | {"oldText": change.old, "newText": "", "_meta": {"kind": "delete"}}]
    if change.operation == "move":
        return []
    return [
        whole | {"oldText": hunk.old, "newText": hunk.new}
        for hunk in fragments(change.old, change.new)
    ]
