"""The real server as a child process, between a fake editor and scripted agents.

Every test that uses it also tests what holds always: the editor gets no traceback, no path of
the installation, no long error; and the server has no bug to write to its standard error.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import psutil
import pytest

import acpls
from acpls.testing import pages
from acpls.testing.agent import command, received
from acpls.testing.editor import FULL, IGNORED, FakeEditor
from acpls.testing.link import Link
from acpls.testing.script import check

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from acpls.testing.frames import Json

SERVER = [sys.executable, "-m", "acpls", "serve"]
INSTALLATION = str(Path(acpls.__file__).parent)
LINE_LIMIT = 80
WITHIN_S = 15.0
LOOK_EVERY_S = 0.1
TOLD = IGNORED | {"acp/question/settled"}
"""What a test with questions need not read."""

both_versions = pytest.mark.parametrize("version", [1, 2])
"""Runs a test with an agent of ACP 1, and with one of ACP 2."""


class Tap(Link):
    """A connection that remembers everything the server said, answers too."""

    def __init__(self, take: Callable[[Json], None]) -> None:
        super().__init__(take)
        self.heard: list[Json] = []

    def _got(self, message: Json) -> None:
        self.heard.append(message)
        super()._got(message)


class Seat(FakeEditor):
    """Where the user sits: an editor, with the project open and the real server running.

    ``agents`` are scripts by name; the first is the default agent. ``settings`` are laid
    over the initialization options, ``entry`` over each agent's, ``env`` over the environment
    of the server. ``warns``: warnings on the
    server's standard error are expected.
    """

    def __init__(
        self,
        folder: Path,
        agents: Mapping[str, tuple[Json, int | str]],
        *,
        settings: Json | None = None,
        entry: Json | None = None,
        warns: bool = False,
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        self.project = folder / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self.warns = warns
        self.logs = {name: folder / f"{name}.jsonl" for name in agents}
        self._scripts: dict[str, Path] = {}
        entries = {}
        for name, (script, version) in agents.items():
            argv = command(script, folder, protocol=version, log=self.logs[name])
            self._scripts[name] = Path(argv[argv.index("--script") + 1])
            entries[name] = {"command": argv[0], "args": argv[1:], **(entry or {})}
        super().__init__(
            SERVER,
            root=self.project,
            initialization_options={"agents": entries, **(settings or {})},
            # What the user chose in one test is none of another's business.
            env={
                **os.environ,
                "XDG_CONFIG_HOME": str(folder / "config"),
                "XDG_STATE_HOME": str(folder / "state"),
                **(env or {}),
            },
            **options,
        )
        # In the place of the connection made already; the desk sends through it too.
        self._link.abandon()
        self._link = self.tap = Tap(self._take)
        self._send = self._link.notify

    # --- waiting -------------------------------------------------------------------------

    async def until(self, found: Callable[[], Any], within: float = WITHIN_S) -> Any:
        """Waits until something is found.

        It is looked for whenever the server has said something, and now and then, since what
        agents note in their logs is told by nobody.
        """
        with anyio.move_on_after(within):
            while True:
                news, ended = self._news, self._link.ended.is_set()
                if hit := found():
                    return hit
                assert not ended, "the server ended"
                await self.stirs(news)
        raise TimeoutError(f"not within {within} s; the last words:\n{self._last_words()}")

    async def asked(
        self,
        command: str,
        argument: Any,
        fits: Callable[[Any], object],
        within: float = WITHIN_S,
    ) -> Any:
        """The answer to a command, when it is one that fits; it is asked again till then."""
        answer: Any = None
        with anyio.move_on_after(within):
            while True:
                news = self._news
                answer = await self.command(command, argument)
                if fits(answer):
                    return answer
                await self.stirs(news)
        raise TimeoutError(f"{command} still answers {json.dumps(answer)[:3000]}")

    async def stirs(self, news: anyio.Event | None = None) -> None:
        """Waits until something is said, or it is time to look without that."""
        with anyio.move_on_after(LOOK_EVERY_S):
            await (news or self._news).wait()

    def _last_words(self) -> str:
        return "\n".join(json.dumps(message)[:300] for message in self.tap.heard[-12:])

    async def popup(self) -> str:
        """The next error message that the user sees."""
        params = await self.next("window/showMessage", within=WITHIN_S)
        assert params["type"] == 1
        return str(params["message"])

    async def idle(self, session: str = "s1", stop: str | None = None) -> Json:
        """Waits until a client with ``sessions`` is told that the turn ended; that change."""
        change: Json = await self.until(lambda: self._ended(session))
        self._ends[session] = self._ends.get(session, 0) + 1
        if stop is not None:
            assert change["stopReason"] == stop
        return change

    @property
    def _ends(self) -> dict[str, int]:
        return self.__dict__.setdefault("_ends_read", {})  # type: ignore[no-any-return]  # set below

    def _ended(self, session: str) -> Json | None:
        ends = [c for c in self.changes(session, "state") if "stopReason" in c]
        read = self._ends.get(session, 0)
        return ends[read] if len(ends) > read else None

    # --- what it came to -------------------------------------------------------------------

    def changes(self, session: str, kind: str) -> list[Json]:
        """The changes of one type that a client with ``sessions`` was told of."""
        return [
            change
            for told in self.seen("acp/session/changed")
            if told["session"] == session
            for change in told["changes"]
            if change["type"] == kind
        ]

    def said(self, session: str = "s1", role: str = "agent") -> str:
        """What a client with ``sessions`` has put together of the messages of one side."""
        messages: dict[str, str] = {}
        for change in self.changes(session, "message"):
            if change["role"] != role:
                continue
            blocks = change.get("content", [])
            if "append" in change:
                blocks = [change["append"]]
            before = "" if "content" in change else messages.get(change["message"], "")
            messages[change["message"]] = before + "".join(b.get("text", "") for b in blocks)
        return "".join(messages.values())

    async def get(self, session: str = "s1") -> Json:
        """The session as the server has it."""
        whole: Json = await self.command("acpls.session.get", {"session": session})
        return whole

    def heard_by(self, agent: str = "fake", method: str | None = None) -> list[Json]:
        """The messages that the agent was sent; with a method, their parameters."""
        messages = received(self.logs[agent])
        if method is None:
            return messages
        return [message["params"] for message in messages if message.get("method") == method]

    def answers_to(self, agent: str = "fake") -> list[Json]:
        """The answers that the agent got to its own requests, in order."""
        return [message for message in self.heard_by(agent) if "method" not in message]

    @property
    def server_pid(self) -> int:
        """The server's process."""
        assert self._process is not None
        return self._process.pid

    def play(self, agent: str, script: Json) -> None:
        """From its next start on, the agent plays this script."""
        check(script)
        self._scripts[agent].write_text(json.dumps(script))

    def family(self) -> list[psutil.Process]:
        """The server's process and all its descendants."""
        server = psutil.Process(self.server_pid)
        return [server, *server.children(recursive=True)]

    @staticmethod
    def path_of(uri: str) -> Path:
        """The path of a file's URI."""
        return pages.to_path(uri)

    def below_heading(self, talk: str) -> int:
        """The offset of the line under the last heading of a conversation."""
        text = self.text(talk)
        return text.index("\n", text.rindex("\n## You") + 1) + 1

    def file(self, name: str, content: str | bytes) -> Path:
        """A file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def span(self, uri: str, start: int, end: int) -> Json:
        """The LSP range between two offsets, in characters, of a document."""
        text = self.text(uri)
        first, last = (pages.position(text, at, self.encoding) for at in (start, end))
        return {"start": first, "end": last}

    # --- the end ---------------------------------------------------------------------------

    def hang_up(self) -> None:
        """Closes the server's input."""
        self._link.close()

    async def exit_code(self) -> int:
        """Waits for the server's end."""
        assert self._process is not None
        with anyio.fail_after(WITHIN_S):
            return await self._process.wait()

    # --- what always holds -------------------------------------------------------------------

    def check_wire(self) -> None:
        """No traceback, no path of the installation, no error that fills the screen."""
        for message in self.tap.heard:
            whole = json.dumps(message, ensure_ascii=False)
            assert "Traceback" not in whole, whole[:2000]
            assert INSTALLATION not in whole, whole[:2000]
            short = message.get("error", {}).get("message", "")
            if message.get("method") == "window/showMessage":
                assert message["params"]["type"] == 1, "only errors may pop up"
                short = message["params"]["message"]
            assert len(short.splitlines()) <= 1, short
            assert len(short) <= LINE_LIMIT, short
        for line in self.stderr.decode(errors="replace").splitlines():
            assert line.startswith("WARNING "), self.stderr[-3000:]
            assert self.warns, line


@asynccontextmanager
async def seat(
    folder: Path,
    script: Json | None = None,
    version: int | str = 2,
    *,
    agents: Mapping[str, tuple[Json, int | str]] | None = None,
    **options: Any,
) -> AsyncIterator[Seat]:
    """A seat, from the start of the server to its end; see ``Seat`` and ``FakeEditor``."""
    options.setdefault("capabilities", FULL)
    at = Seat(folder, agents or {"fake": (script or {}, version)}, **options)
    try:
        async with at:
            yield at
    except BaseException as error:
        error.add_note(f"the server's standard error: {at.stderr.decode(errors='replace')[-3000:]}")
        raise
    at.check_wire()


async def open_conversation(at: Seat) -> str:
    """Has the conversation document made, and opens it as the user of a plain editor would."""
    told = await at.command("acpls.session.openConversation")
    return at.open(at.path_of(told["uri"]))


def outcomes(at: Seat, agent: str = "fake") -> dict[int | str, Json]:
    """What the agent got for each of its requests, in the order in which it got it."""
    answers = at.answers_to(agent)
    assert len({a["id"] for a in answers}) == len(answers), "a request was answered twice"
    return {a["id"]: a.get("result", {"error": a.get("error")}) for a in answers}


async def hunks_told(at: Seat, uri: str, count: int) -> list[Json]:
    """The pending hunks of a file, when a client with ``reviews`` is told of that many."""

    def found() -> list[list[Json]]:
        told = [p for p in at.seen("acp/review/changed") if p["uri"] == uri]
        return [told[-1]["hunks"]] if told and len(told[-1]["hunks"]) == count else []

    hunks: list[Json] = (await at.until(found))[0]
    return hunks


async def play(at: Seat, text: str = "go", stop: str = "end_turn") -> None:
    """One prompt, till the end of its turn."""
    await at.command("acpls.session.prompt", {"text": text})
    await at.idle(stop=stop)
