"""A raw client of a scripted agent: sends lines, checks what comes back against the schema."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from jsonschema import Draft202012Validator

from acpls.testing.agent import command

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
DATA = Path(__file__).parents[1] / "data"
WITHIN = 5
INIT_1: Json = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
}
INIT_2: Json = {"protocolVersion": 2, "info": {"name": "test", "version": "1"}}


@cache
def schema(version: int) -> tuple[Json, dict[tuple[str, str], str]]:
    """The schema, and its definitions by method and kind."""
    whole = json.loads((DATA / f"acp-schema-v{version}.json").read_text("utf-8"))
    kinds = ("Request", "Response", "Notification")
    names = {
        (definition["x-method"], kind): name
        for name, definition in whole["$defs"].items()
        for kind in kinds
        if "x-method" in definition and name.endswith(kind)
    }
    return whole, names


@cache
def validator(version: int, name: str) -> Draft202012Validator:
    whole, _ = schema(version)
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]})


def validate(version: int, method: str, kind: str, value: Any) -> None:
    _, names = schema(version)
    if (method, kind) in names:
        validator(version, names[method, kind]).validate(value)


class Client:
    """A raw client: sends lines, checks each line that comes back against the schema."""

    def __init__(
        self, script: Json, folder: Path, protocol: str = "auto", *, strict: bool = True
    ) -> None:
        self.folder = folder
        self.log = folder / "log.jsonl"
        self.version = 1 if protocol == "1" else 2
        self.strict = strict
        self.updates: list[Json] = []
        self.told: list[Json] = []
        self._methods: dict[int, str] = {}
        self._inbox: queue.SimpleQueue[Json | str | None] = queue.SimpleQueue()
        self._count = 0
        self.process = subprocess.Popen(
            command(script, folder, protocol=protocol, log=self.log),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        self._end()
        self.process.stdout.close()
        self.process.stderr.close()

    def _end(self) -> None:
        try:
            self.process.wait(WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(WITHIN)
            raise
        finally:
            self._reader.join(WITHIN)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self._inbox.put(json.loads(line))
            except ValueError:
                self._inbox.put(line.decode())
        self._inbox.put(None)

    def write(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def send(self, message: Json) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(WITHIN)

    def next(self) -> Json | str | None:
        """The next message, text that is none, or ``None`` at the end of the stream."""
        return self._inbox.get(timeout=WITHIN)

    def begin(self, method: str, params: Any) -> int:
        number = self._count
        self._count += 1
        self._methods[number] = method
        self.send({"id": number, "method": method, "params": params})
        return number

    def until(self, found: Callable[[Json], bool]) -> Json:
        """Reads on to the first message that fits; keeps the updates on the way."""
        while True:
            message = self.next()
            assert isinstance(message, dict), message
            self._check(message)
            if message.get("method") == "session/update":
                self.updates.append(message["params"]["update"])
            elif "method" in message:
                self.told.append(message)
            if found(message):
                return message

    def _check(self, message: Json) -> None:
        assert message["jsonrpc"] == "2.0"
        if "result" in message and self._methods[message["id"]] == "initialize":
            self.version = message["result"]["protocolVersion"]
        if not self.strict:
            return
        if "method" in message:
            kind = "Request" if "id" in message else "Notification"
            validate(self.version, message["method"], kind, message.get("params"))
        elif "result" in message:
            method = self._methods[message["id"]]
            validate(self.version, method, "Response", message["result"])

    def response(self, number: int) -> Json:
        return self.until(lambda m: "method" not in m and m.get("id") == number)

    def call(self, method: str, params: Any) -> Any:
        response = self.response(self.begin(method, params))
        assert "result" in response, response
        return response["result"]

    def error(self, method: str, params: Any) -> Json:
        error: Json = self.response(self.begin(method, params))["error"]
        return error

    def asked(self, method: str) -> Json:
        return self.until(lambda m: m.get("method") == method and "id" in m)

    def answer(self, request: Json, result: Any) -> None:
        self.send({"id": request["id"], "result": result})

    def choose(self, request: Json, option: str) -> None:
        outcome = {"outcome": "selected", "optionId": option}
        self.answer(request, {"outcome": outcome})

    def open(self, init: Json) -> str:
        self.call("initialize", init)
        opened = self.call("session/new", {"cwd": str(self.folder), "mcpServers": []})
        session: str = opened["sessionId"]
        return session

    def prompt(self, session: str, text: str = "go") -> int:
        blocks = [{"type": "text", "text": text}]
        return self.begin("session/prompt", {"sessionId": session, "prompt": blocks})

    def end(self, number: int) -> str:
        """Reads to the end of the turn and gives its stop reason."""
        if self.version == 1:
            return str(self.response(number)["result"]["stopReason"])
        idle = self.until(lambda m: state_of(m) == "idle")
        return str(idle["params"]["update"]["stopReason"])

    def turn(self, init: Json) -> str:
        return self.end(self.prompt(self.open(init)))

    def text(self, kind: str = "agent_message_chunk") -> str:
        chunks = (u for u in self.updates if u["sessionUpdate"] == kind)
        return "".join(u["content"]["text"] for u in chunks)

    def kinds(self) -> list[str]:
        return [u["sessionUpdate"] for u in self.updates]

    def of(self, kind: str) -> list[Json]:
        return [u for u in self.updates if u["sessionUpdate"] == kind]


def state_of(message: Json) -> str | None:
    update = (message.get("params") or {}).get("update") or {}
    state: str | None = update.get("state")
    return state


both = pytest.mark.parametrize("init", [INIT_1, INIT_2], ids=["v1", "v2"])
