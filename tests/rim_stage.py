"""A stage for tests of the agent rim: a real ``Host``, small Python agents, a tiny dialect.

Agents are written as the body of a script in which ``read()`` gives the next message,
``say(...)`` writes one and ``params`` of ``initialize`` were seen; see ``PRELUDE``.
"""

from __future__ import annotations

import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
import psutil

from acpls.client.dialect import (
    Asked,
    Call,
    ClientInfo,
    CreateTerminal,
    Misfit,
    Response,
    TerminalCall,
    TerminalCreated,
    TerminalExited,
    TerminalOutput,
)
from acpls.client.host import Host
from acpls.effects import EndAgent, SendAsk, StartAgent
from acpls.events import (
    AskFailed,
    FileReadAsked,
    Notified,
    QuestionAsked,
    Replied,
    RequestWithdrawn,
    SessionTold,
)
from acpls.session.asks import (
    AgentFacts,
    Cancel,
    Done,
    Failure,
    FileText,
    ForkSession,
    NewSession,
    Opening,
    Prompt,
    ResumeSession,
    Selected,
    SessionOpened,
)
from acpls.session.content import Text
from acpls.session.updates import MessageGrew
from acpls.settings import AgentSpec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from acpls.client.dialect import TerminalAnswer, TerminalRequest
    from acpls.events import AgentEvent, RequestId
    from acpls.session.asks import Answer, Ask

EventT = TypeVar("EventT")

PRELUDE = """
import json, os, signal, subprocess, sys, time

def read():
    line = sys.stdin.readline()
    return json.loads(line) if line else None

def write(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()

def say(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))

def reply(request, result):
    say(id=request["id"], result=result)

def refuse(request, code, message, data=None):
    say(id=request["id"], error={"code": code, "message": message, "data": data})

def tell(text):
    say(method="tell", params={"session": "s", "text": text})

INFO = {"name": "tiny", "version": "1"}

def hello(version=2):
    first = read()
    answer = {"protocolVersion": version}
    reply(first, {**answer, "info": INFO} if version == 2 else answer)
    if version == 1 and first["params"]["protocolVersion"] == 2:
        reply(read(), answer)

def serve():
    while (message := read()) is not None:
        if "id" in message and message.get("method") in ("new", "resume", "fork"):
            reply(message, {"session": "s"})
        elif "id" in message and "method" in message:
            reply(message, {})
"""


class TinyDialect:
    """Just enough of a protocol: four methods that mean what they are called."""

    def __init__(self, version: int, agent: str) -> None:
        self.version = version
        self._agent = agent

    def initialize(self, client: ClientInfo) -> Call:
        return Call("initialize", {"protocolVersion": self.version, "me": client.name})

    def facts(self, result: object) -> AgentFacts:
        if not isinstance(result, dict) or result.get("broken"):
            raise Misfit("the facts are broken")
        return AgentFacts("tiny", "1", self.version)

    def say(self, ask: Ask) -> Call | Failure:
        if isinstance(ask, NewSession | ResumeSession | ForkSession):
            opening = ask.opening
            servers = [[server.name, server.command] for server in opening.mcp_servers]
            return Call(
                type(ask).__name__.removesuffix("Session").lower(),
                {"cwd": opening.cwd, "servers": servers},
            )
        if isinstance(ask, Prompt):
            texts = [b.text for b in ask.blocks if isinstance(b, Text)]
            return Call("prompt", {"text": "".join(texts)}, events=(self._grew("sent"),))
        if isinstance(ask, Cancel):
            return Call("cancel", {}, expects_reply=False)
        return Failure(-1, "this cannot be said")

    def replied(self, number: int, ask: Ask, result: object) -> tuple[AgentEvent, ...]:
        if result == "bug":
            raise RuntimeError("a bug of ours")
        if not isinstance(result, dict):
            raise Misfit("not an object")
        if isinstance(ask, NewSession | ResumeSession | ForkSession):
            return (Replied(self._agent, number, SessionOpened(result["session"])),)
        return (Replied(self._agent, number, Done()),)

    def failed(self, number: int, ask: Ask, failure: Failure) -> tuple[AgentEvent, ...]:
        return (AskFailed(self._agent, number, failure),)

    def told(self, method: str, params: Any) -> tuple[AgentEvent, ...]:
        if method == "bug":
            raise RuntimeError("a bug of ours")
        if method == "withdraw":
            return (RequestWithdrawn(self._agent, params["id"]),)
        if method != "tell":
            return (Notified(self._agent, method, params),)
        if "text" not in params:
            raise Misfit("no text")
        return (self._grew(params["text"]),)

    def asked(self, request: RequestId, method: str, params: Any) -> Asked:
        if method == "question":
            return Asked((QuestionAsked(self._agent, request, "s", "Sure?", ()),))
        if method == "file":
            return Asked((FileReadAsked(self._agent, request, "s", params["path"]),))
        if method == "at once":
            return Asked(result={"action": "cancel"})
        if method == "create":
            return Asked(terminal=_create(params))
        if method == "terminal":
            return Asked(terminal=TerminalCall(params["op"], params.get("s", "s"), params["id"]))
        if method == "misfit":
            raise Misfit("it does not fit")
        if method == "bug":
            raise RuntimeError("a bug of ours")
        return Asked(failure=Failure(-32601, "unknown method"))

    def answer(self, request: RequestId, answer: Answer | TerminalAnswer) -> Response:
        match answer:
            case Failure():
                return Response(failure=answer)
            case Selected(option):
                return Response(option, events=(self._grew(f"answered {option}"),))
            case FileText(text):
                return Response({"text": text})
            case TerminalCreated(terminal):
                return Response({"id": terminal})
            case TerminalOutput(text, truncated, exit_):
                code = None if exit_ is None else [exit_.code, exit_.signal]
                return Response({"text": text, "truncated": truncated, "exit": code})
            case TerminalExited(exit_):
                return Response([exit_.code, exit_.signal])
        return Response({})

    def _grew(self, text: str) -> SessionTold:
        return SessionTold(self._agent, "s", MessageGrew("m", "agent", Text(text)))


def _create(params: dict[str, Any]) -> TerminalRequest:
    return CreateTerminal(
        "s",
        params["command"],
        tuple(params.get("args", ())),
        tuple(params.get("env", {}).items()),
        params.get("cwd"),
        params.get("limit"),
    )


@dataclass
class Stage:
    """A host and everything it emitted so far."""

    folder: Path
    host: Host = field(init=False)
    events: list[Any] = field(default_factory=list)
    news: anyio.Event = field(default_factory=anyio.Event)

    def take(self, event: object) -> None:
        self.events.append(event)
        self.news.set()

    def start(
        self,
        body: str,
        *,
        name: str = "a",
        protocol: Literal["auto", 1, 2] = 2,
        limit: int = 1 << 20,
        env: dict[str, str] | None = None,
        args: tuple[str, ...] = (),
        **more: Any,
    ) -> None:
        """Start an agent that runs ``PRELUDE`` and then ``body``; ``more`` is of its spec."""
        script = self.folder / f"{name}.py"
        script.write_text(PRELUDE + body)
        spec = AgentSpec(
            sys.executable,
            ("-I", "-S", str(script), *args),
            env or {},
            str(self.folder),
            protocol,
            limit,
            **more,
        )
        self.host.perform(StartAgent(name, spec))

    def ask(self, number: int, ask: Ask | None = None, name: str = "a") -> None:
        self.host.perform(SendAsk(name, number, ask or NewSession(Opening("/"))))

    def prompt(self, number: int, text: str = "") -> None:
        self.ask(number, Prompt("s", (Text(text),)))

    def end(self, name: str = "a") -> None:
        self.host.perform(EndAgent(name))

    async def wait(self, kind: type[EventT], count: int = 1) -> EventT:
        """Wait for the ``count``-th event of a kind."""
        return await self.until(lambda: self.of(kind)[count - 1 :])

    async def until(self, found: Callable[[], list[EventT]]) -> EventT:
        with anyio.fail_after(8):
            while not (hits := found()):
                self.news = anyio.Event()
                await self.news.wait()
        return hits[0]

    async def text(self, wanted: str) -> None:
        """Wait until the agent has told this text."""
        await self.until(lambda: [t for t in self.texts() if t == wanted])

    def of(self, kind: type[EventT]) -> list[EventT]:
        return [e for e in self.events if isinstance(e, kind)]

    def texts(self) -> list[str]:
        """Every text told so far."""
        return [
            e.update.block.text
            for e in self.of(SessionTold)
            if isinstance(e.update, MessageGrew) and isinstance(e.update.block, Text)
        ]


@asynccontextmanager
async def stage(folder: Path, *, limit_s: float = 8.0) -> AsyncIterator[Stage]:
    """A running host; its agents are ended afterwards."""
    async with anyio.create_task_group() as tasks:
        it = Stage(folder)
        it.host = Host(
            tasks, it.take, ClientInfo("test", "0"), dialects=TinyDialect, limit_s=limit_s
        )
        try:
            yield it
        finally:
            await it.host.aclose()


def runs(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def all_gone(pids: list[int], within_s: float = 4.0) -> bool:
    """Wait until none of these runs."""
    deadline = time.monotonic() + within_s
    while any(runs(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
