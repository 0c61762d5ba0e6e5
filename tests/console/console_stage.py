"""A stage for tests of the console commands: a home of its own, and small agents.

An agent is a script that answers by a plan: ``methods`` of ``authMethods``, ``new`` and
``login``: the answer, which is an error when it has a ``code``; ``"hang"`` is none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.catalog import toml_table
from acpls.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

AGENT = """
import json, os, sys

plan = json.load(open(sys.argv[1]))
log = open(sys.argv[1] + ".log", "a")
if "--log-in" in sys.argv:
    typed = sys.stdin.readline().strip()
    print("hello", typed, os.environ.get("EXTRA"), flush=True)
    sys.exit(plan.get("exit", 0))
log.write(json.dumps({"pid": os.getpid()}) + "\\n")
log.flush()
for line in plan.get("stderr", []):
    print(line, file=sys.stderr, flush=True)
if "die" in plan:
    sys.exit(plan["die"])

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def reply(request, answer):
    if answer == "hang":
        return
    if isinstance(answer, dict) and "code" in answer:
        say(id=request["id"], error=answer)
    else:
        say(id=request["id"], result=answer)

asked = {}
for line in sys.stdin:
    message = json.loads(line)
    log.write(line)
    log.flush()
    method = message.get("method")
    if method == "initialize":
        capabilities = {"session": {"delete": {}, "prompt": {"image": {}}, "mcp": {"http": {}}}}
        reply(message, plan.get("initialize") or {
            "protocolVersion": 2,
            "info": {"name": "tiny", "title": plan.get("title", "Tiny"), "version": "3.1"},
            "capabilities": capabilities,
            "authMethods": plan.get("methods", []),
        })
    elif method == "session/new":
        for line in plan.get("noise", []):
            print(line, flush=True)
        for params in plan.get("status", []):
            say(method="_auth/status_update", params=params)
        reply(message, plan.get("new", {"sessionId": "s1"}))
    elif method in ("auth/login", "authenticate") and "ask" in plan:
        asked["login"] = message
        say(id="ask", **plan["ask"])
    elif method == "auth/login":
        reply(message, plan.get("login", {}))
    elif method is None and message.get("id") == "ask":
        reply(asked["login"], plan.get("login", {}))
    elif "id" in message:
        reply(message, plan.get(method, {}))
"""


def at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Console:
    """A user without settings and with no program on PATH but those of a folder ``bin``."""
    variables = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PATH": str(tmp_path / "bin"),
    }
    (tmp_path / "bin").mkdir()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Console(tmp_path, capsys, variables)


def method(name: str, kind: str = "agent", **fields: Any) -> dict[str, Any]:
    """A way to log in."""
    return {"type": kind, "methodId": name, "name": name.title(), **fields}


@dataclass
class Ran:
    """What a command said; lines of it, and its exit code."""

    code: int
    out: str
    err: str


@dataclass
class Console:
    """A user's home, in which commands run in this process or as one of their own."""

    home: Path
    capsys: pytest.CaptureFixture[str]
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        """The user's settings file."""
        return self.home / "config" / "acpls" / "config.toml"

    def run(self, *argv: str) -> Ran:
        """Run a command in this process."""
        try:
            main(argv)
        except SystemExit as ended:
            code = ended.code
        assert isinstance(code, int)
        told = self.capsys.readouterr()
        return Ran(code, told.out, told.err)

    def start(self, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command as a process of its own."""
        env = {**os.environ, **self.variables, **options.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-m", "acpls", *argv],
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            **options,
        )

    def write(self, text: str) -> None:
        """Write the settings file."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_bytes(text.encode())

    def agent(self, name: str, plan: Mapping[str, Any] | None = None, **entry: Any) -> Path:
        """Add an agent that follows a plan to the settings; give the file of its log."""
        script, file = self.home / "agent.py", self.home / f"{name}.json"
        script.write_text(AGENT)
        file.write_text(json.dumps(plan or {}))
        entry = {"command": sys.executable, "args": [str(script), str(file)], **entry}
        before = self.config.read_text("utf-8") if self.config.exists() else ""
        self.write(before + toml_table(name, entry))
        return Path(f"{file}.log")


def heard(log: Path) -> list[str]:
    """The methods that an agent was called with."""
    messages = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return [message["method"] for message in messages if "method" in message]


def pids(log: Path) -> list[int]:
    """The processes that an agent ran as."""
    messages = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return [message["pid"] for message in messages if "pid" in message]
