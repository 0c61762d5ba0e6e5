"""A raw ACP client for the tests of the demo agent: a process, lines, and a schema check.

Everything that the agent sends is checked against the protocol's JSON schema.
"""

from __future__ import annotations

import base64
import json
import queue
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_DATA = Path(__file__).parents[1] / "data"
_LIMIT_S = 10.0

# The schema's names of results, params of requests, and params of notifications.
_NAMES: dict[int, dict[str, str]] = {
    1: {
        "initialize": "InitializeResponse",
        "session/new": "NewSessionResponse",
        "session/load": "LoadSessionResponse",
        "session/resume": "ResumeSessionResponse",
        "session/list": "ListSessionsResponse",
        "session/close": "CloseSessionResponse",
        "session/delete": "DeleteSessionResponse",
        "session/set_mode": "SetSessionModeResponse",
        "session/set_config_option": "SetSessionConfigOptionResponse",
        "session/prompt": "PromptResponse",
        "session/update": "SessionNotification",
        "session/request_permission": "RequestPermissionRequest",
        "elicitation/create": "CreateElicitationRequest",
        "fs/read_text_file": "ReadTextFileRequest",
        "fs/write_text_file": "WriteTextFileRequest",
        "terminal/create": "CreateTerminalRequest",
        "terminal/output": "TerminalOutputRequest",
        "terminal/wait_for_exit": "WaitForTerminalExitRequest",
        "terminal/kill": "KillTerminalRequest",
        "terminal/release": "ReleaseTerminalRequest",
        "$/cancel_request": "CancelRequestNotification",
    },
    2: {
        "initialize": "InitializeResponse",
        "session/new": "NewSessionResponse",
        "session/resume": "ResumeSessionResponse",
        "session/list": "ListSessionsResponse",
        "session/close": "CloseSessionResponse",
        "session/delete": "DeleteSessionResponse",
        "session/set_config_option": "SetSessionConfigOptionResponse",
        "session/prompt": "PromptResponse",
        "tool_call/cancel": "CancelToolCallResponse",
        "terminal/cancel": "CancelTerminalResponse",
        "session/update": "UpdateSessionNotification",
        "session/request_permission": "RequestPermissionRequest",
        "elicitation/create": "CreateElicitationRequest",
        "$/cancel_request": "CancelRequestNotification",
    },
}


@cache
def _validator(version: int, name: str) -> Draft202012Validator:
    schema = json.loads((_DATA / f"acp-schema-v{version}.json").read_text("utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


class AgentError(Exception):
    """An error response of the agent."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data: Any = error.get("data")


class DemoClient:
    """A client with one demo agent; ``answers`` are given to its permission requests.

    An answer is an option id, ``None`` (dismissed), ``"error"``, or ``"silence"``. ``filled`` is
    the result for a form.
    """

    def __init__(self, version: int, cwd: Path, *arguments: str, **offered: bool) -> None:
        self.version = version
        self.cwd = cwd
        self.offered = offered
        self.answers: list[str | None] = []
        self.filled: Any = {"action": "cancel"}
        self.buffers: dict[Path, str] = {}
        self.refused: set[str] = set()
        self.seen: list[dict[str, Any]] = []
        self.session = ""
        self._number = 0
        self._methods: dict[int, str] = {}
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        command = [sys.executable, "-m", "acpls.demo.agent", *arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    # --- sending ------------------------------------------------------------------------

    def raw(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")

    def request(self, method: str, **params: Any) -> int:
        self._number += 1
        self._methods[self._number] = method
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def ask(self, method: str, **params: Any) -> Any:
        return self.result(self.request(method, **params))

    def ours(self, method: str, **params: Any) -> Any:
        """Ask about our session."""
        return self.ask(method, sessionId=self.session, **params)

    def cancel(self) -> None:
        self.send({"method": "session/cancel", "params": {"sessionId": self.session}})

    # --- receiving ----------------------------------------------------------------------

    def message(self) -> dict[str, Any]:
        """The next message, checked, remembered, and answered if it is a request."""
        line = self._lines.get(timeout=_LIMIT_S)
        assert line is not None, "the agent has ended"
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.seen.append(message)
        self._check(message)
        if "method" in message and "id" in message:
            self._serve(message)
        return message

    def result(self, number: int) -> Any:
        while True:
            message = self.message()
            if "method" not in message and message["id"] == number:
                if "error" in message:
                    raise AgentError(message["error"])
                return message["result"]

    def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next update of a kind that has these fields."""
        while True:
            message = self.message()
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == kind and fields.items() <= update.items():
                found: dict[str, Any] = update
                return found

    def until_method(self, method: str) -> dict[str, Any]:
        while True:
            message = self.message()
            if message.get("method") == method:
                return message

    def _check(self, message: dict[str, Any]) -> None:
        if "error" in message:
            name, value = "Error", message["error"]
        elif "method" in message:
            name, value = _NAMES[self.version][message["method"]], message["params"]
        else:
            name = _NAMES[self.version][self._methods[message["id"]]]
            value = message["result"]
        problems = [
            f"{one.json_path}: {one.message[:300]}"
            for one in _validator(self.version, name).iter_errors(value)
        ]
        assert not problems, (message, problems)

    def _serve(self, message: dict[str, Any]) -> None:
        params = message["params"]
        result: Any = {}
        if message["method"] in self.refused:
            self.send({"id": message["id"], "error": {"code": -32603, "message": "not here"}})
            return
        if message["method"] == "session/request_permission":
            answer = self.answers.pop(0) if self.answers else "allow-once"
            if answer == "silence":
                return
            if answer == "error":
                self.send({"id": message["id"], "error": {"code": -32603, "message": "no"}})
                return
            chosen = {"outcome": "selected", "optionId": answer}
            result = {"outcome": chosen if answer else {"outcome": "cancelled"}}
        elif message["method"] == "elicitation/create":
            result = self.filled
        elif message["method"] == "fs/read_text_file":
            path = Path(params["path"])
            result = {"content": self.buffers.get(path, "") or path.read_bytes().decode()}
        elif message["method"] == "fs/write_text_file":
            path = Path(params["path"])
            self.buffers[path] = params["content"]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(params["content"].encode())
        elif message["method"] == "terminal/create":
            result = {"terminalId": "t-1"}
        elif message["method"] == "terminal/wait_for_exit":
            if self.answers[:1] == ["silence"]:
                return
            result = {"exitCode": 3}
        elif message["method"] == "terminal/output":
            result = {"output": "boiling", "truncated": False}
        self.send({"id": message["id"], "result": result})

    # --- conversations ------------------------------------------------------------------

    def open(self, pace: str = "quick") -> DemoClient:
        """Shake hands and open a session."""
        self.hello()
        return self.begin(pace)

    def begin(self, pace: str = "quick") -> DemoClient:
        """Open a session."""
        self.answers = []
        new = self.ask("session/new", cwd=str(self.cwd), mcpServers=[])
        self.session = new["sessionId"]
        kind = {} if self.version == 1 else {"type": "id"}
        self.ours("session/set_config_option", configId="pace", value=pace, **kind)
        return self

    def hello(self) -> Any:
        info = {"name": "test", "version": "1"}
        forms: dict[str, Any] = {"elicitation": {"form": {}}}
        if not self.offered.get("forms", True):
            forms = {}
        if self.version == 2:
            return self.ask("initialize", protocolVersion=2, info=info, capabilities=forms)
        files = {"readTextFile": self.offered.get("fs"), "writeTextFile": self.offered.get("fs")}
        offered = {"fs": files, "terminal": self.offered.get("terminal"), **forms}
        return self.ask(
            "initialize", protocolVersion=1, clientInfo=info, clientCapabilities=offered
        )

    def mode(self, mode: str) -> None:
        if self.version == 1:
            self.ours("session/set_mode", modeId=mode)
        else:
            self.ours("session/set_config_option", configId="mode", value=mode, type="id")

    def start(self, text: str) -> int:
        block = {"type": "text", "text": text}
        return self.request("session/prompt", sessionId=self.session, prompt=[block])

    def say(self, text: str, *answers: str | None) -> str:
        """Hold a whole turn; its stop reason."""
        self.seen.clear()
        self.answers = list(answers)
        return self.end(self.start(text))

    def end(self, number: int) -> str:
        if self.version == 1:
            reason = self.result(number)["stopReason"]
        else:
            reason = self.until("state_update", state="idle")["stopReason"]
        return str(reason)

    def finish(self) -> int:
        """Close the agent's input; its exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        while self._lines.get(timeout=_LIMIT_S) is not None:
            pass
        return self.process.wait(_LIMIT_S)

    def close(self) -> None:
        """End the agent, which must end well and have complained about nothing."""
        code = self.process.returncode if self.process.returncode is not None else self.finish()
        assert self.process.stdout
        assert self.process.stderr
        with self.process.stdout, self.process.stderr:
            assert (code, self.process.stderr.read()) == (0, b"")

    # --- what was seen ------------------------------------------------------------------

    def updates(self, *kinds: str) -> list[dict[str, Any]]:
        found = [
            one["params"]["update"] for one in self.seen if one.get("method") == "session/update"
        ]
        return [one for one in found if not kinds or one["sessionUpdate"] in kinds]

    def text(self) -> str:
        chunks = self.updates("agent_message_chunk")
        return "".join(one["content"]["text"] for one in chunks)

    def asked(self, method: str = "session/request_permission") -> list[dict[str, Any]]:
        return [one["params"] for one in self.seen if one.get("method") == method]

    def calls(self) -> dict[str, dict[str, Any]]:
        """Every tool call as it stands now."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates("tool_call", "tool_call_update"):
            if self.version == 1:
                assert (update["sessionUpdate"] == "tool_call") == (
                    update["toolCallId"] not in calls
                )
            calls.setdefault(update["toolCallId"], {}).update(update)
        return calls

    def output(self) -> bytes:
        """What terminals printed (version 2)."""
        return b"".join(
            base64.b64decode(one["data"]) for one in self.updates("terminal_output_chunk")
        )
