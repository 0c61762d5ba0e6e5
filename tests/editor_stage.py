"""A stage for tests of the editor rim: a real hub and rim, and an editor in memory.

The editor's messages are fed to the protocol and the server's are kept in a list; what the
hub wants of agents and of the disk is kept too, and answered by the test.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import Hub
from acpls.hub.commands import COMMANDS
from acpls.hub.tokens import ForConversation
from acpls.lsp.doorstep import Doorstep
from acpls.lsp.protocol import EditorServer
from acpls.lsp.rim import EditorRim
from acpls.lsp.transport import Frames
from acpls.review.composing import Author
from acpls.review.held import of_text
from acpls.session import updates as up
from acpls.session.asks import NewSession, SessionOpened
from acpls.session.content import Choosable, Text
from acpls.settings import AgentSpec
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from anyio.abc import TaskGroup

    from acpls.review.held import Held
    from acpls.session.content import Subject

EffectT = TypeVar("EffectT")

CLIENTS = Path(__file__).parent / "data" / "clients"
AGENT = "demo"
NATIVE = "native"
EVERYTHING = {
    "version": 1,
    "sessions": True,
    "questions": True,
    "reviews": True,
    "places": True,
    "focus": True,
}
YES_NO = (
    Choosable("yes", "Allow", "allow_once"),
    Choosable("always", "Always allow", "allow_always"),
    Choosable("no", "Reject", "reject_once"),
)


def captured(name: str) -> dict[str, Any]:
    """What a real editor sends in ``initialize``."""
    params: dict[str, Any] = json.loads((CLIENTS / f"{name}.json").read_text("utf-8"))
    return params


def announcing(*what: str, **capabilities: Any) -> dict[str, Any]:
    """Params of ``initialize`` of an editor that announces some of ``acp``."""
    acp = {"version": 1, **dict.fromkeys(what, True)}
    return {"capabilities": {**capabilities, "experimental": {"acp": acp}}}


def claiming(**capabilities: Any) -> dict[str, Any]:
    """Params of ``initialize`` of an editor without ``acp``."""
    return {"capabilities": capabilities}


class Editor:
    """The other side: ``reads`` takes what came, ``next`` waits for it."""

    def __init__(self) -> None:
        self.server = EditorServer("acpls", "1", commands=COMMANDS)
        self.protocol = self.server.protocol
        self.protocol.set_writer(self)
        self.inbox: list[dict[str, Any]] = []
        self.pending_bytes = 0
        self._frames = Frames()
        self._news = anyio.Event()
        self._number = 0

    def write(self, data: bytes) -> None:
        self.inbox += [json.loads(body) for body in self._frames.feed(data)]
        self._news.set()

    def close(self) -> None:
        raise AssertionError("nobody closes the writer but the main loop")

    # --- what it sends -----------------------------------------------------------------

    def _send(self, **message: Any) -> None:
        self.protocol.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self._send(method=method, params=params)

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; ``answered`` has its answer."""
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        return self._number

    def reply(self, request: dict[str, Any], result: Any = None) -> None:
        self._send(id=request["id"], result=result)

    def refuse(self, request: dict[str, Any], code: int = -32601, message: str = "no") -> None:
        self._send(id=request["id"], error={"code": code, "message": message})

    def answered(self, number: int) -> dict[str, Any]:
        """Take the answer to a request."""
        (answer,) = [m for m in self.inbox if m.get("id") == number and "method" not in m]
        self.inbox.remove(answer)
        return answer

    def result(self, method: str, params: Any = None) -> Any:
        """Send a request that is answered at once."""
        answer = self.answered(self.ask(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    def command(self, name: str, argument: Any = None) -> Any:
        arguments = [] if argument is None else [argument]
        return self.result("workspace/executeCommand", {"command": name, "arguments": arguments})

    def command_error(self, name: str, *arguments: Any) -> dict[str, Any]:
        params = {"command": name, "arguments": list(arguments)}
        error: dict[str, Any] = self.answered(self.ask("workspace/executeCommand", params))["error"]
        return error

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        params = {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": list(changes),
        }
        self.notify("textDocument/didChange", params)

    def shut(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def actions(self, uri: str, *where: int, only: list[str] | None = None) -> list[Any]:
        """Code actions from (line, character) to (line, character), of all kinds or of some."""
        start = {"line": where[0], "character": where[1]} if where else {"line": 0, "character": 0}
        end = {"line": where[2], "character": where[3]} if len(where) > 2 else start
        context: dict[str, Any] = {"diagnostics": []}
        if only is not None:
            context["only"] = only
        params = {
            "textDocument": {"uri": uri},
            "range": {"start": start, "end": end},
            "context": context,
        }
        found: list[Any] = self.result("textDocument/codeAction", params)
        return found

    def titles(self, uri: str, *where: int, only: list[str] | None = None) -> list[str]:
        return [action["title"] for action in self.actions(uri, *where, only=only)]

    def hover(self, uri: str, line: int, character: int = 0) -> Any:
        position = {"line": line, "character": character}
        return self.result(
            "textDocument/hover", {"textDocument": {"uri": uri}, "position": position}
        )

    # --- what came -----------------------------------------------------------------------

    def reads(self, method: str | None = None) -> list[Any]:
        """Take the params of all messages of a method, or all messages."""
        if method is None:
            taken, self.inbox = self.inbox, []
            return taken
        taken = [message for message in self.inbox if message.get("method") == method]
        self.inbox = [message for message in self.inbox if message.get("method") != method]
        return [message.get("params") for message in taken]

    def methods(self) -> list[str]:
        return [message["method"] for message in self.inbox if "method" in message]

    async def next(self, method: str) -> dict[str, Any]:
        """Wait for a message of a method and take it."""
        with anyio.fail_after(5):
            while True:
                for message in self.inbox:
                    if message.get("method") == method:
                        self.inbox.remove(message)
                        return message
                self._news = anyio.Event()
                await self._news.wait()


class Stage:
    """The rim between a hub and an editor. ``events`` and ``wanted`` are all that passed."""

    def __init__(self, tasks: TaskGroup, config: object = None) -> None:
        self.editor = Editor()
        self.hub = Hub(AgentSpec("agent"), "launch")
        self.state = self.hub.state
        self.now_s = 1000.0
        self.events: list[Any] = []
        self.wanted: list[Any] = []
        self._news = anyio.Event()
        self.rim = EditorRim(tasks, self.editor.server, self.hub, self.emit, config)
        Doorstep(self.editor.server, lambda: self.rim)
        self.views = self.rim.views

    def emit(self, event: ev.Event) -> None:
        self.events.append(event)
        self._news.set()
        for effect in self.hub.handle(event, self.now_s):
            self.perform(effect)

    def perform(self, effect: ef.Effect) -> None:
        match effect:
            case (
                ef.StartAgent()
                | ef.EndAgent()
                | ef.SendAsk()
                | ef.WithdrawAsk()
                | ef.SendAnswer()
                | ef.ReadFile()
                | ef.WriteFile()
                | ef.SyncFiles()
                | ef.WatchFiles()
                | ef.CompareWithHead()
                | ef.ReadStored()
                | ef.StoreReview()
                | ef.LoadReview()
                | ef.LookAt()
                | ef.KeepChoice()
                | ef.LoadChoices()
                | ef.KeepPermission()
                | ef.After()
                | ef.ReplyLog()
            ):
                self.wanted.append(effect)
            case ef.ReadPermissions(token, paths):
                # There are no rules, so each question is put.
                self.emit(ev.PermissionsRead(token, dict(zip(paths, paths, strict=True)), (), 0))
            case _:
                self.rim.perform(effect)

    def initialize(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Initialise as this editor; the server's capabilities come back."""
        whole = {"processId": None, "rootUri": "file:///p", "capabilities": {}, **(params or {})}
        able: dict[str, Any] = self.editor.result("initialize", whole)["capabilities"]
        self.editor.notify("initialized", {})
        return able

    def of(self, kind: type[EffectT]) -> list[EffectT]:
        """What the hub wanted, of one kind."""
        return [effect for effect in self.wanted if isinstance(effect, kind)]

    async def event(self, kind: type[EffectT]) -> EffectT:
        """Wait for the first event of a kind and take it."""
        with anyio.fail_after(5):
            while True:
                for event in self.events:
                    if isinstance(event, kind):
                        self.events.remove(event)
                        return event
                self._news = anyio.Event()
                await self._news.wait()

    async def until(self, true: Callable[[], bool]) -> None:
        """Let the tasks run until something is true."""
        with anyio.fail_after(5):
            while not true():
                await anyio.lowlevel.checkpoint()

    async def settle(self) -> None:
        """Let all tasks that can run do so."""
        for _ in range(10):
            await anyio.lowlevel.checkpoint()

    # --- agents ---------------------------------------------------------------------------

    def session(self, native: str = NATIVE) -> str:
        """Open a session; its key comes back."""
        self.emit(ev.CommandGiven("acpls.session.new"))
        ask = [a for a in self.of(ef.SendAsk) if isinstance(a.ask, NewSession)][-1]
        self.emit(ev.Replied(AGENT, ask.number, SessionOpened(native)))
        return str(self.state.current)

    def told(self, update: up.Update, native: str = NATIVE) -> None:
        self.emit(ev.SessionTold(AGENT, native, update))

    def says(self, text: str, message: str = "m1") -> None:
        self.told(up.MessageGrew(message, "agent", Text(text)))

    def prompts(self, text: str = "go") -> None:
        self.emit(ev.CommandGiven("acpls.session.prompt", {"text": text}))

    def idle(self) -> None:
        self.told(up.TurnChanged("idle", "end_turn"))

    def question(
        self,
        request: int = 1,
        title: str = "Edit a.py",
        options: tuple[Choosable, ...] = YES_NO,
        subject: Subject = None,
    ) -> str:
        """An agent asks; the question's key comes back."""
        asked = ev.QuestionAsked(AGENT, request, NATIVE, title, options, subject=subject)
        self.emit(asked)
        return list(self.state.questions.all)[-1]

    def link(self, url: str = "https://a.example/x", session: str | None = None) -> str:
        """An agent wants a page visited; the question's key comes back."""
        self.emit(ev.LinkAsked(AGENT, 9, session, "Log in to Demo", url, "l"))
        return list(self.state.questions.all)[-1]

    def answers(self) -> list[Any]:
        """What agents were answered."""
        return [effect.answer for effect in self.of(ef.SendAnswer)]

    # --- review -----------------------------------------------------------------------------

    def reviewed(self, path: str, base: str, target: str, session: str = "s1") -> list[str]:
        """An agent wrote a file; the keys of its hunks come back."""
        return self.wrote(path, of_text(base), of_text(target), session)

    def wrote(self, path: str, base: Held | None, target: Held, session: str = "s1") -> list[str]:
        """The same for a file of any kind; without a base nobody knows what it held."""
        self.state.ledger.agent_wrote(path, base, target, Author(session), "store")
        self.perform(ef.ShowReview(path))
        change = self.state.ledger.files.get(path)
        return [hunk.key for hunk in change.hunks] if change is not None else []

    def proposed(self, path: str, base: str, target: str, *, held: object = None) -> list[str]:
        """An agent wants a file to hold something, and waits for the verdict where it is held;
        the keys of its hunks come back.
        """
        author = Author("s1", "call")
        change = self.state.ledger.propose(path, of_text(base), of_text(target), author, held=held)
        assert change is not None
        self.perform(ef.ShowReview(path))
        return [hunk.key for hunk in change.hunks]

    def conversation(self) -> str:
        """Open the conversation document of the current session; its URI comes back."""
        self.emit(ev.CommandGiven("acpls.session.openConversation"))
        while reads := [r for r in self.of(ef.ReadFile) if isinstance(r.token, ForConversation)]:
            read = reads[0]
            self.wanted.remove(read)
            self.emit(ev.FileRead(read.token, ev.Disk(read.path, None)))
        text = ""
        for write in self.of(ef.WriteFile):
            self.wanted.remove(write)
            if write.path.endswith(".md"):
                text = write.text or ""
            self.emit(ev.FileWritten(write.token, write.path, ev.Disk(write.path, None)))
        (conversation,) = self.state.conversations.values()
        assert conversation.uri == uris.from_path(conversation.path)
        self.editor.open(conversation.uri, text, language="markdown")
        return conversation.uri


@asynccontextmanager
async def stage(
    params: dict[str, Any] | None = None, config: object = None
) -> AsyncIterator[Stage]:
    """A rim whose editor is initialised; its tasks end afterwards."""
    async with anyio.create_task_group() as tasks:
        it = Stage(tasks, config)
        it.initialize(params)
        yield it
        tasks.cancel_scope.cancel()
