"""Protocol version 2: how the demo agent says things in it.

Invariant: no I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.demo.diffs import git_patch
from acpls.demo.terms import (
    MODES,
    PACES,
    Change,
    Display,
    Text,
    Version,
    option_json,
    place_json,
    select_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.demo.terms import Call, Choices, Command, Content, Json, Question, Step


class Version2(Version):
    """ACP 2: config options, structured diffs, states, terminals of the agent's own."""

    number = 2
    stopped_status = "cancelled"

    def __init__(self, info: Json) -> None:
        self._info = info

    def initialized(self) -> Json:
        return {
            "protocolVersion": 2,
            "info": self._info,
            "capabilities": {"session": {"prompt": {"embeddedContext": {}}, "delete": {}}},
            "authMethods": [],
        }

    def session(self, choices: Choices, commands: Sequence[Command]) -> Json:
        return {
            "configOptions": self.options(choices),
            "availableCommands": [_command(command) for command in commands],
        }

    def greeting(self, commands: Sequence[Command]) -> list[Json]:
        del commands  # told by the response in this version
        return []

    def options(self, choices: Choices) -> list[Json]:
        return [
            {"configId": "mode", "category": "mode"}
            | select_json("What it asks about", "Mode", MODES, choices.mode),
            {"configId": "pace"} | select_json("How fast it speaks", "Pace", PACES, choices.pace),
        ]

    def settable(self) -> dict[str, Sequence[str]]:
        return {
            "mode": [value for value, _, _ in MODES],
            "pace": [value for value, _, _ in PACES],
        }

    def echo(self, message: str, prompt: list[Json]) -> list[Json]:
        return [{"sessionUpdate": "user_message", "messageId": message, "content": prompt}]

    def chunk(self, kind: str, message: str, text: str) -> Json:
        content = {"type": "text", "text": text}
        return {"sessionUpdate": f"{kind}_chunk", "messageId": message, "content": content}

    def call(self, call: Call, changed: Sequence[str], *, new: bool) -> Json:
        del new  # the first update creates the call
        return {"sessionUpdate": "tool_call_update"} | _call(call, changed)

    def plan(self, plan: str, steps: Sequence[Step]) -> Json:
        entries = [
            {"content": step.content, "priority": step.priority, "status": step.status}
            for step in steps
        ]
        content = {"type": "items", "planId": plan, "entries": entries}
        return {"sessionUpdate": "plan_update", "plan": content}

    def question(self, question: Question) -> Json:
        params: Json = {"title": question.title, "options": option_json(question.options)}
        if question.description:
            params["description"] = question.description
        if question.command is not None:
            subject: Json = {"type": "command", "command": question.command, "cwd": question.cwd}
            if question.call:
                subject["toolCallId"] = question.call.id
            if question.terminal:
                subject["terminalId"] = question.terminal
            params["subject"] = subject
        elif question.call:
            fields = ("title", "kind", "status", "content", "locations", "rawInput")
            params["subject"] = {"type": "tool_call", "toolCall": _call(question.call, fields)}
        return params

    def states(self, state: str) -> list[Json]:
        return [{"sessionUpdate": "state_update", "state": state}]

    def accepted(self, message: str) -> Json | None:
        return {"messageId": message}

    def finished(self, reason: str, error: Json | None) -> tuple[Json | None, list[Json]]:
        update: Json = {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason}
        return None, [update | ({"error": error} if error else {})]


def _command(command: Command) -> Json:
    entry: Json = {
        "type": "command",
        "name": command.name,
        "description": command.description,
    }
    return entry | ({"input": {"type": "text", "hint": command.hint}} if command.hint else {})


def _call(call: Call, changed: Sequence[str]) -> Json:
    values: dict[str, Any] = {
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "content": _content(call.content),
        "locations": place_json(call.places),
        "rawInput": call.raw_input,
        "capabilities": {"cancel": {}},
    }
    wanted = {key: values[key] for key in changed if values[key] is not None}
    return {"toolCallId": call.id} | wanted


def _content(content: Sequence[Content]) -> list[Json]:
    changes = [one for one in content if isinstance(one, Change)]
    items: list[Json] = [_diff(changes)] if changes else []
    for one in content:
        if isinstance(one, Display):
            items.append({"type": "terminal", "terminalId": one.terminal})
        elif isinstance(one, Text):
            items.append({"type": "content", "content": {"type": "text", "text": one.text}})
    return items


def _diff(changes: Sequence[Change]) -> Json:
    listed: list[Json] = []
    for change in changes:
        entry: Json = {
            "operation": change.operation,
            "path": str(change.path),
            "fileType": "text",
        }
        if change.origin:
            entry["oldPath"] = str(change.origin)
        listed.append(entry)
    patch = {"format": "git_patch", "text": "".join(git_patch(change) for change in changes)}
    return {"type": "diff", "changes": listed, "patch": patch}
