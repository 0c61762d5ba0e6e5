"""A small coding agent on the Python SDK of ACP, which speaks both versions of the protocol.

The environment that it runs in has the SDK and nothing of ours. A model server, whose address
is in ``MODEL_URL``, decides what it does with its three tools; before it edits or runs
something it asks. Its edits go to the disk, and it shows each as a diff.

Invariant: every message that it sends has passed through the SDK's own models.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import sys
import uuid
from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from acp import schema as v1  # type: ignore[import-not-found, unused-ignore]  # only where it runs
from acp.experimental import v2  # type: ignore[import-not-found, unused-ignore]  # see above
from acp.experimental.negotiation import (  # type: ignore[import-not-found, unused-ignore]  # see above
    AgentProtocolRouter,
)

Json: TypeAlias = dict[str, Any]

NAME = {"name": "dual", "version": "1"}
ALLOW, REJECT = "allow-it", "reject-it"
OPTIONS = [
    {"optionId": ALLOW, "name": "Allow", "kind": "allow_once"},
    {"optionId": REJECT, "name": "Reject", "kind": "reject_once"},
]
KINDS = {"read": "read", "edit": "edit", "bash": "execute"}
TOOLS = {
    "read": ("path",),
    "edit": ("path", "old_string", "new_string"),
    "bash": ("command",),
}


@dataclass(slots=True)
class Talk:
    """A session: what was said to the model and by it, and the turn that runs."""

    cwd: str
    messages: list[Json] = field(default_factory=list)
    turn: asyncio.Task[None] | None = None


class Coder:
    """What both versions have in common; ``link`` is the SDK's side of the connection."""

    def __init__(self, link: Any) -> None:
        self.link = link
        self.talks: dict[str, Talk] = {}

    @abstractmethod
    async def update(self, session: str, update: Json) -> None:
        """Tell the client something."""

    @abstractmethod
    async def say(self, session: str, text: str, message: str) -> None:
        """Tell the client a piece of a message."""

    @abstractmethod
    def diff(self, path: str, old: str, new: str) -> Json:
        """An edit as the content of a tool call."""

    @abstractmethod
    async def ask(self, session: str, call: Json) -> Any:
        """Ask the user about a tool call; what was answered."""

    def open(self, cwd: str) -> str:
        """Begin a session; its id."""
        session = uuid.uuid4().hex
        self.talks[session] = Talk(cwd)
        return session

    def begin(self, session: str, prompt: list[Any]) -> asyncio.Task[None]:
        """Start a turn."""
        talk = self.talks[session]
        said = "\n".join(block.text for block in prompt if block.type == "text")
        talk.messages.append({"role": "user", "content": said})
        talk.turn = asyncio.create_task(self._turn(session, talk))
        return talk.turn

    def stop(self, session: str) -> None:
        """Cancel the turn that runs, if one does."""
        turn = self.talks[session].turn
        if turn:
            turn.cancel()

    async def _turn(self, session: str, talk: Talk) -> None:
        while True:
            said, calls = "", []
            message = uuid.uuid4().hex
            async for delta in answered(talk.messages):
                if delta.get("content"):
                    said += delta["content"]
                    await self.say(session, delta["content"], message)
                calls += delta.get("tool_calls", ())
            answer: Json = {"role": "assistant", "content": said}
            talk.messages.append({**answer, "tool_calls": calls} if calls else answer)
            if not calls:
                return
            for call in calls:
                result = await self._use(session, talk, call)
                told = {"role": "tool", "tool_call_id": call["id"], "content": result}
                talk.messages.append(told)

    async def _use(self, session: str, talk: Talk, call: Json) -> str:
        name = call["function"]["name"]
        given: Json = json.loads(call["function"]["arguments"])
        shown: Json = {
            "toolCallId": call["id"],
            "title": f"{name} {given.get('path') or given.get('command')}",
            "kind": KINDS[name],
            "status": "pending",
            "rawInput": given,
        }
        if "path" in given:
            shown["locations"] = [{"path": given["path"]}]
        if name == "edit":
            old = text_of(given["path"])
            new = old.replace(given["old_string"], given["new_string"], 1)
            shown["content"] = [self.diff(given["path"], old, new)]
        await self.update(session, {"sessionUpdate": "tool_call", **shown})
        done = "failed"
        result = "The user does not want that."
        try:
            if name == "read" or await self._allowed(session, shown):
                result = await self._do(name, given, talk.cwd)
                done = "completed"
        finally:
            ended = {"toolCallId": call["id"], "status": done}
            await self.update(session, {"sessionUpdate": "tool_call_update", **ended})
        return result

    async def _allowed(self, session: str, call: Json) -> bool:
        answer = await self.ask(session, call)
        return getattr(answer.outcome, "option_id", None) == ALLOW

    async def _do(self, name: str, given: Json, cwd: str) -> str:
        if name == "bash":
            return await run(given["command"], cwd)
        if name == "read":
            return text_of(given["path"])
        replace(given["path"], given["old_string"], given["new_string"])
        return "It is edited."


class Coder1(Coder):
    """The agent in version 1, where the answer to a prompt is the end of the turn."""

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        return v1.InitializeResponse.model_validate({"protocolVersion": 1, "agentInfo": NAME})

    async def new_session(self, cwd: str, **_: Any) -> Any:
        return v1.NewSessionResponse(session_id=self.open(cwd))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        turn = self.begin(session_id, prompt)
        await asyncio.wait([turn])
        if turn.cancelled():
            return v1.PromptResponse(stop_reason="cancelled")
        turn.result()
        return v1.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.stop(session_id)

    async def update(self, session: str, update: Json) -> None:
        told = v1.SessionNotification.model_validate({"sessionId": session, "update": update})
        await self.link.session_update(session, told.update)

    async def say(self, session: str, text: str, message: str) -> None:
        content = {"type": "text", "text": text}
        await self.update(session, {"sessionUpdate": "agent_message_chunk", "content": content})

    def diff(self, path: str, old: str, new: str) -> Json:
        return {"type": "diff", "path": path, "oldText": old, "newText": new}

    async def ask(self, session: str, call: Json) -> Any:
        asked = v1.RequestPermissionRequest.model_validate(
            {"sessionId": session, "toolCall": call, "options": OPTIONS}
        )
        return await self.link.request_permission(session, asked.tool_call, asked.options)


class Coder2(Coder):
    """The agent in version 2, where a prompt is taken at once and a state tells the end."""

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        capabilities: Json = {"session": {"prompt": {}}}
        return v2.schema.InitializeResponse.model_validate(
            {"protocolVersion": 2, "info": NAME, "capabilities": capabilities}
        )

    async def new_session(self, cwd: str, **_: Any) -> Any:
        return v2.schema.NewSessionResponse(session_id=self.open(cwd))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> Any:
        await self.update(session_id, {"sessionUpdate": "state_update", "state": "running"})
        turn = self.begin(session_id, prompt)
        self.end = asyncio.create_task(self._tell_end(session_id, turn))
        return v2.schema.PromptResponse(message_id=uuid.uuid4().hex)

    async def cancel_session(self, session_id: str, **_: Any) -> None:
        self.stop(session_id)

    async def update(self, session: str, update: Json) -> None:
        if update["sessionUpdate"] == "tool_call":  # here it is the first of its updates
            update = {**update, "sessionUpdate": "tool_call_update"}
        told = v2.schema.UpdateSessionNotification.model_validate(
            {"sessionId": session, "update": update}
        )
        await self.link.session_update(session, told.update)

    async def say(self, session: str, text: str, message: str) -> None:
        content = {"type": "text", "text": text}
        said = {"sessionUpdate": "agent_message_chunk", "messageId": message, "content": content}
        await self.update(session, said)

    def diff(self, path: str, old: str, new: str) -> Json:
        lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, path)
        text = f"diff --git {path} {path}\n{''.join(lines)}"
        changes = [{"operation": "modify", "path": path, "fileType": "text"}]
        patch = {"format": "git_patch", "text": text}
        return {"type": "diff", "changes": changes, "patch": patch}

    async def ask(self, session: str, call: Json) -> Any:
        asked = v2.schema.RequestPermissionRequest.model_validate(
            {
                "sessionId": session,
                "title": call["title"],
                "subject": {"type": "tool_call", "toolCall": call},
                "options": OPTIONS,
            }
        )
        await self.update(session, {"sessionUpdate": "state_update", "state": "requires_action"})
        answer = await self.link.request_permission(
            session, asked.title, asked.options, subject=asked.subject
        )
        await self.update(session, {"sessionUpdate": "state_update", "state": "running"})
        return answer

    async def _tell_end(self, session: str, turn: asyncio.Task[None]) -> None:
        await asyncio.wait([turn])
        reason = "cancelled" if turn.cancelled() else "end_turn"
        idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason}
        await self.update(session, idle)
        if not turn.cancelled():
            turn.result()


async def answered(messages: list[Json]) -> Any:
    """What the model says next, in pieces: the deltas of streamed chat completions."""
    address = urlsplit(os.environ["MODEL_URL"])
    tools = [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {
                    "type": "object",
                    "properties": {key: {"type": "string"} for key in keys},
                    "required": list(keys),
                },
            },
        }
        for name, keys in TOOLS.items()
    ]
    asked = {"model": "scripted", "stream": True, "messages": messages, "tools": tools}
    body = json.dumps(asked).encode()
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    try:
        while line := await reader.readline():
            if line.startswith(b"data: {"):
                for choice in json.loads(line[len(b"data: ") :])["choices"]:
                    yield choice["delta"]
    finally:
        writer.close()


def text_of(path: str) -> str:
    """What the file holds."""
    return Path(path).read_text(encoding="utf-8")


def replace(path: str, old: str, new: str) -> None:
    """Replace a text in a file, where it stands first."""
    Path(path).write_text(text_of(path).replace(old, new, 1), encoding="utf-8")


async def run(command: str, cwd: str) -> str:
    """Run a command in a session of its own, as many agents do; what it printed."""
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        printed, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    return printed.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(asyncio.run(AgentProtocolRouter(v1=Coder1, v2=Coder2).run()))
