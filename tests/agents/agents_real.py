"""Agents of other people, each made ready to work offline, between our server and a model.

``playing`` sets a stage: a small project, a fake editor on the real server, which starts the
agent, which asks the scripted model. Its programs get an environment made for them: a home of
their own, no account, and no way to any network but the loopback.

Invariant: everything that a stage starts carries the stage's mark in its environment, so that
what outlives it is found wherever it has moved to.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import psutil
from model_script import Use
from model_server import ModelServer

from acpls.testing.editor import FULL, IGNORED, FakeEditor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

    from agents_known import RealAgent
    from model_script import Script

Json: TypeAlias = dict[str, Any]

SERVE = [sys.executable, "-m", "acpls", "serve"]
MARK = "ACPLS_STAGE"
# A model turn takes milliseconds, the start of an agent on a busy machine many seconds.
WITHIN = 40.0
# Nothing listens at the discard port: who tries to leave the loopback fails at once.
NOWHERE = "http://127.0.0.1:9"

# The file of the project, what is edited in it, and what the user typed below it.
# What comes as often as the agent likes; a document is saved for each write through us.
UNREAD = IGNORED | {"acp/document/save"}
TEXT = '''"""Greets people."""

import sys


def greet(name):
    return "Hello, " + name


def main():
    print(greet(sys.argv[1]))


if __name__ == "__main__":
    main()
'''
OLD, NEW = '"Hello, " + name', 'f"Grüße 🎉, {name}!"'
UNSAVED = "# Still to do: tests.\n"


@dataclass(slots=True)
class Stage:
    """A running server with its editor, its agent and the agent's model."""

    editor: FakeEditor
    model: ModelServer
    mark: str
    within: float = WITHIN

    async def prompt(self, text: str) -> None:
        """Send a prompt."""
        await self.editor.command("acpls.session.prompt", {"text": text}, within=self.within)

    async def question(self) -> Json:
        """The next question that the agent asks, which stays open."""
        asked = await self.editor.next("acp/question/ask", within=self.within)
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
        settled = await self.editor.next("acp/question/settled", within=self.within)
        assert isinstance(settled, dict)
        return settled

    async def end_of_turn(self) -> str:
        """Wait until the turn is over, and say how it ended."""
        ended = await self.editor.next("acp/session/changed", _ends_turn, within=self.within)
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

    async def tool_calls(self) -> list[tuple[str, str]]:
        """What each tool call of the session does, and its state."""
        session = await self.editor.command("acpls.session.get")
        return [
            (entry["kind"], entry["status"])
            for entry in session["entries"]
            if entry["type"] == "toolCall"
        ]

    def pieces(self) -> int:
        """In how many pieces the agent's words came so far."""
        told = self.editor.seen("acp/session/changed")
        changes = [change for params in told for change in params["changes"]]
        return sum(change["type"] == "message" and change["role"] == "agent" for change in changes)

    def kill_server(self) -> None:
        """End the server in a way that it cannot see."""
        (server,) = [process for process, command in _marked(self.mark) if command == SERVE]
        server.kill()

    async def hunks(self, uri: str, count: int | None = None) -> list[Json]:
        """The hunks under review in a file, from its top; ``count``: when there are so many.

        The last file of a turn may still be read when the turn ends.
        """
        told = self.editor.seen("acp/review/changed")
        if count is not None and not any(_shows(params, uri, count) for params in told):
            await self.editor.next(
                "acp/review/changed", lambda params: _shows(params, uri, count), within=WITHIN
            )
        changes = await self.editor.command("acpls.review.list", {"uri": uri})
        return [hunk for change in changes for hunk in change["hunks"]]


def _shows(review: Json, uri: str, count: int) -> bool:
    return review["uri"] == uri and len(review["hunks"]) == count


@asynccontextmanager
async def playing(agent: RealAgent, folder: Path, script: Script) -> AsyncIterator[Stage]:
    """A stage in ``folder``, whose project is ``folder / "project"``.

    At its end nothing of it may be left running, nor anything unread in the editor.
    """
    home = folder / "home"
    mark = uuid.uuid4().hex
    with ModelServer(script) as model:
        home.mkdir()
        editor = seated(agent.name, agent.setting(home, model.url), folder, mark)
        try:
            async with editor:
                yield Stage(editor, model, mark)
            await until(lambda: not running(mark), within=15)
            left = running(mark)
        finally:
            # pytest shows it beside a test that fails.
            sys.stderr.write(editor.stderr.decode(errors="replace"))
            kill(mark)
    assert not left, f"still running: {left}"
    assert not model.faults
    assert not model.unknown


def seated(
    name: str, entry: Json, folder: Path, mark: str, ignore: Iterable[str] = UNREAD
) -> FakeEditor:
    """An editor on the real server in ``folder / "project"``, with one agent in its settings."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    return FakeEditor(
        SERVE,
        root=project,
        capabilities=FULL,
        initialization_options={"agents": {name: entry}, "defaultAgent": name},
        env=_environment(folder / "home", mark),
        within=WITHIN,
        ignore=ignore,
    )


def kill(mark: str) -> None:
    """End what carries the mark."""
    for process, _ in _marked(mark):
        process.kill()


def running(mark: str) -> list[str]:
    """The command lines of what carries the mark."""
    return [shlex.join(command) for _, command in _marked(mark)]


async def until(holds: Callable[[], bool], within: float = WITHIN) -> bool:
    """Wait for what nobody tells us of, such as the end of a process; whether it came."""
    deadline = time.monotonic() + within
    while not (came := holds()) and time.monotonic() < deadline:  # noqa: ASYNC110  see above
        await anyio.sleep(0.02)
    return came


def project(folder: Path) -> Path:
    """Make the project for a stage in ``folder``; its file that the agents work on."""
    path = folder / "project" / "hello.py"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    return path


def edit(file: Path, old: str, new: str) -> Use:
    """Replace a text in the file, by whole lines."""
    (line,) = [line for line in TEXT.splitlines() if old in line]
    given = {"path": str(file), "old": line, "new": line.replace(old, new)}
    return Use("edit", {**given, "text": TEXT.replace(old, new)})


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
