"""Agents of other people, each made ready to work offline, between our server and a model.

``playing`` sets a stage: a small project, a fake editor on the real server, which starts the
agent, which asks the scripted model. Its programs get an environment made for them: a home of
their own, no account, and no way to any network but the loopback.

Invariant: everything that a stage starts carries the stage's mark in its environment, so that
what outlives it is found wherever it has moved to.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import anyio
import install
import psutil
from model_server import ModelServer

from acpls.testing.editor import FULL, FakeEditor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from pathlib import Path

    from model_server import Script

Json: TypeAlias = dict[str, Any]

SERVE = [sys.executable, "-m", "acpls", "serve"]
MARK = "ACPLS_STAGE"
# A model turn takes milliseconds, the start of an agent on a busy machine many seconds.
WITHIN = 40.0
# Nothing listens at the discard port: who tries to leave the loopback fails at once.
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True)
class RealAgent:
    """An agent, how it is started, and what it needs to know of its model.

    ``allow`` and ``reject`` are the ids of its options for one permission. ``prepare`` writes
    the files that it wants to find in its home and gives the environment; its arguments are
    that home and the address of the model server.
    """

    name: str
    package: str
    protocol: Literal[1, 2]
    allow: str
    reject: str
    command: list[str] | None
    prepare: Callable[[Path, str], Mapping[str, str]]

    def setting(self, home: Path, model: str) -> Json:
        """The agent's entry in the settings."""
        assert self.command is not None  # tests of a missing agent are not collected
        program, *arguments = self.command
        env = dict(self.prepare(home, model))
        return {"command": program, "args": arguments, "env": env, "protocol": self.protocol}


def _claude_home(home: Path, model: str) -> dict[str, str]:
    config = home / "claude"
    config.mkdir()
    # Left to itself it starts in a mode in which the model decides what is allowed.
    settings = {"permissions": {"defaultMode": "default"}}
    (config / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(config),
        "DISABLE_AUTOUPDATER": "1",
    }


def _pilc_home(home: Path, model: str) -> dict[str, str]:
    config = home / ".pi-python"
    config.mkdir()
    lines = {
        "provider": "openai",
        "model_id": "scripted",
        "id": "scripted",
        "base_url": f"{model}/v1",
        "api_key_env": "MODEL_KEY",
    }
    # A string of JSON is one of TOML too.
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    (config / "agent.toml").write_text(f"[model]\n{text}", encoding="utf-8")
    return {"MODEL_KEY": "none"}


def _fast_agent_home(home: Path, model: str) -> dict[str, str]:
    return {"FAST_AGENT_HOME": str(home / "fast-agent")}


def _passthrough(command: list[str] | None) -> list[str] | None:
    """fast-agent with a model inside that does what the prompt says, and no more."""
    return command and [*command, "--model", "passthrough", "-x"]


_CLAUDE = install.claude()
CLAUDE_1 = RealAgent("claude", "claude-agent-acp", 1, "allow-once", "reject", _CLAUDE, _claude_home)
CLAUDE_2 = RealAgent("claude", "claude-agent-acp", 2, "allow-once", "reject", _CLAUDE, _claude_home)
PILC = RealAgent(
    "pilc", "pi-agent-cli-lc", 1, "allow-once", "reject-once", install.pilc(), _pilc_home
)
FAST_AGENT = RealAgent(
    "fast-agent",
    "fast-agent-mcp",
    1,
    "allow_once",
    "reject_once",
    _passthrough(install.fast_agent()),
    _fast_agent_home,
)


@dataclass(slots=True)
class Stage:
    """A running server with its editor, its agent and the agent's model."""

    agent: RealAgent
    editor: FakeEditor
    model: ModelServer
    mark: str

    async def prompt(self, text: str) -> None:
        """Send a prompt."""
        await self.editor.command("acpls.session.prompt", {"text": text}, within=WITHIN)

    async def question(self) -> Json:
        """The next question that the agent asks, which stays open."""
        asked = await self.editor.next("acp/question/ask", within=WITHIN)
        (question,) = [
            question
            for question in await self.editor.command("acpls.question.list")
            if question["question"] == asked["question"]
        ]
        assert isinstance(question, dict)
        return question

    async def answer(self, question: Json, option: str) -> Json:
        """Answer a question; what the editor is told of it then."""
        chosen = {"question": question["question"], "option": option}
        await self.editor.command("acpls.question.answer", chosen)
        settled = await self.editor.next("acp/question/settled", within=WITHIN)
        assert isinstance(settled, dict)
        return settled

    async def end_of_turn(self) -> str:
        """Wait until the turn is over, and say how it ended."""
        ended = await self.editor.next("acp/session/changed", _ends_turn, within=WITHIN)
        (reason,) = [
            change["stopReason"] for change in ended["changes"] if change.get("stopReason")
        ]
        return str(reason)

    async def told(self) -> str:
        """All that the agent said in the session."""
        session = await self.editor.command("acpls.session.get")
        return "".join(
            block.get("text", "")
            for entry in session["entries"]
            if entry["type"] == "message" and entry["role"] == "agent"
            for block in entry["content"]
        )

    async def tool_calls(self) -> dict[str, str]:
        """The state of each tool call of the session, by what it does."""
        session = await self.editor.command("acpls.session.get")
        return {
            entry["kind"]: entry["status"]
            for entry in session["entries"]
            if entry["type"] == "toolCall"
        }

    def pieces(self) -> int:
        """In how many pieces the agent's words came so far."""
        told = self.editor.seen("acp/session/changed")
        changes = [change for params in told for change in params["changes"]]
        return sum(change["type"] == "message" and change["role"] == "agent" for change in changes)

    def kill_server(self) -> None:
        """End the server in a way that it cannot see."""
        (server,) = [process for process, command in _marked(self.mark) if command == SERVE]
        server.kill()

    async def hunks(self, uri: str) -> list[Json]:
        """The hunks under review in a file, from its top."""
        changes = await self.editor.command("acpls.review.list", {"uri": uri})
        return [hunk for change in changes for hunk in change["hunks"]]


@asynccontextmanager
async def playing(agent: RealAgent, folder: Path, script: Script) -> AsyncIterator[Stage]:
    """A stage in ``folder``, whose project is ``folder / "project"``.

    At its end nothing of it may be left running, nor anything unread in the editor.
    """
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir(exist_ok=True)
    mark = uuid.uuid4().hex
    with ModelServer(script) as model:
        editor = FakeEditor(
            SERVE,
            root=project,
            capabilities=FULL,
            initialization_options={
                "agents": {agent.name: agent.setting(home, model.url)},
                "defaultAgent": agent.name,
            },
            env=_environment(home, mark),
            within=WITHIN,
        )
        try:
            async with editor:
                yield Stage(agent, editor, model, mark)
            await until(lambda: not running(mark), within=15)
            left = running(mark)
        finally:
            # pytest shows it beside a test that fails.
            sys.stderr.write(editor.stderr.decode(errors="replace"))
            for process, _ in _marked(mark):
                process.kill()
    assert not left, f"still running: {left}"
    assert not model.faults
    assert not model.unknown


def running(mark: str) -> list[str]:
    """The command lines of what carries the mark."""
    return [shlex.join(command) for _, command in _marked(mark)]


async def until(holds: Callable[[], bool], within: float = WITHIN) -> bool:
    """Wait for what nobody tells us of, such as the end of a process; whether it came."""
    deadline = time.monotonic() + within
    while not (came := holds()) and time.monotonic() < deadline:  # noqa: ASYNC110  see above
        await anyio.sleep(0.02)
    return came


def text_of(file: Path) -> str:
    """What the file holds on the disk."""
    return file.read_text(encoding="utf-8")


def _environment(home: Path, mark: str) -> dict[str, str]:
    """What the programs of a stage get; nothing of the user's but the search path."""
    kept = ("PATH", "PYTHONPATH", "COVERAGE_PROCESS_CONFIG", "SYSTEMROOT")
    tmp = home / "tmp"
    tmp.mkdir()
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        **{
            name: NOWHERE for both in ("http_proxy", "https_proxy") for name in (both, both.upper())
        },
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TMPDIR": str(tmp),
        MARK: mark,
    }


def _ends_turn(params: Json) -> bool:
    return any(
        change["type"] == "state" and change.get("stopReason") for change in params["changes"]
    )


def _marked(mark: str) -> Iterator[tuple[psutil.Process, list[str]]]:
    for process in psutil.process_iter():
        try:
            command = process.cmdline()
            marked = process.environ().get(MARK) == mark
        except (psutil.Error, OSError):
            continue  # it has ended, or is none of ours
        # The dead that nobody has buried have no command line.
        if marked and command:
            yield process, command
