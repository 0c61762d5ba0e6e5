"""A conversation with one agent: started, asked, ended, all through the client rim.

Invariant: when the conversation is over, by whatever way, so is the agent.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio

from acpls import __version__
from acpls.client.dialect import ClientInfo
from acpls.client.host import INITIALIZE_LIMIT_S, Host
from acpls.effects import SendAnswer, SendAsk, StartAgent
from acpls.events import (
    AgentEnded,
    AgentMisspoke,
    AgentReady,
    AgentStarting,
    AskFailed,
    FileReadAsked,
    FileWriteAsked,
    FormAsked,
    LinkAsked,
    Notified,
    QuestionAsked,
    Replied,
)
from acpls.session.asks import Accepted, Cancelled, Declined, Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from anyio.abc import TaskGroup

    from acpls.client.host import Emitted
    from acpls.events import RequestId
    from acpls.session.asks import AgentFacts, Answer, Ask, Reply
    from acpls.settings import AgentSpec

ASK_LIMIT_S = 60.0
REMIND_S = 15.0
_INTERNAL_ERROR = -32603
# Unstable in both versions; agents that send it today put a mark before it.
_AUTH_STATUS: Final = frozenset({"auth/status_update", "_auth/status_update"})
_NO_FILES = Failure(_INTERNAL_ERROR, "no files are read or written here")


class Failed(Exception):  # noqa: N818  what failed is the agent
    """An ask failed, or the agent did; ``failure`` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Talk:
    """A conversation that has begun; made by ``talking``.

    ``seconds``: from the start to the agreed protocol, once it is. ``nonsense``: how many
    things it said that are no messages. ``login``: what it says by itself of being logged in.
    """

    seconds: float | None = None
    nonsense: int = 0
    login: str | None = None

    def __init__(
        self,
        name: str,
        spec: AgentSpec,
        tasks: TaskGroup,
        *,
        doing: Callable[[str], None],
        link: Callable[[LinkAsked], bool],
        limit_s: float,
    ) -> None:
        self._name = name
        self._doing = doing
        self._link = link
        self._facts: AgentFacts | None = None
        self._ended: AgentEnded | None = None
        self._outcomes: dict[int, Reply | Failure] = {}
        self._asked = 0
        self._news = anyio.Event()
        self._since = self._waiting_since = time.monotonic()
        self._host = Host(tasks, self._hear, ClientInfo("acpls", __version__), limit_s=limit_s)
        self._host.perform(StartAgent(name, spec))
        tasks.start_soon(self._remind)

    async def ready(self) -> AgentFacts:
        """Wait for what the agent says of itself. Raises ``Failed``."""
        while self._facts is None:
            if self._ended is not None:
                ended = self._ended
                raise Failed(Failure(_INTERNAL_ERROR, ended.reason, ended.detail or None))
            await self._wait()
        return self._facts

    async def ask(self, ask: Ask, limit_s: float | None = ASK_LIMIT_S) -> Reply:
        """Ask, and wait for the reply, for ever when there is no limit. Raises ``Failed``."""
        self._asked += 1
        number = self._asked
        self._waiting_since = time.monotonic()
        self._host.perform(SendAsk(self._name, number, ask))
        with anyio.move_on_after(limit_s):
            while number not in self._outcomes:
                await self._wait()
        outcome = self._outcomes.pop(number, None)
        if outcome is None:
            raise Failed(Failure(_INTERNAL_ERROR, f"no answer within {limit_s:g} seconds"))
        if isinstance(outcome, Failure):
            raise Failed(outcome)
        return outcome

    def log(self) -> list[str]:
        """The last lines of the agent's standard error, and its faults."""
        return self._host.log(self._name).splitlines()

    async def aclose(self) -> None:
        """End the agent."""
        await self._host.aclose()

    async def _wait(self) -> None:
        self._news = anyio.Event()
        await self._news.wait()

    async def _remind(self) -> None:
        while True:
            await anyio.sleep(REMIND_S)
            self._doing(f"still waiting, {time.monotonic() - self._waiting_since:.0f} s")

    def _hear(self, event: Emitted) -> None:
        match event:
            case AgentStarting():
                self._doing(event.doing)
            case AgentReady():
                self.seconds = time.monotonic() - self._since
                self._facts = event.facts
            case AgentEnded():
                self._ended = event
            case AgentMisspoke():
                self.nonsense += 1
            case Notified(method=method, params=params) if method in _AUTH_STATUS:
                self.login = _login(params)
            case Replied():
                self._outcomes[event.ask] = event.reply
            case AskFailed():
                self._outcomes[event.ask] = event.failure
            case LinkAsked():
                self._answer(event.request, Accepted() if self._link(event) else Declined())
            case FormAsked():
                self._doing("it asks to fill in a form, which was declined: log in from an editor")
                self._answer(event.request, Declined())
            case QuestionAsked():
                self._answer(event.request, Cancelled())
            case FileReadAsked() | FileWriteAsked():
                self._answer(event.request, _NO_FILES)
        self._news.set()

    def _answer(self, request: RequestId, answer: Answer) -> None:
        self._host.perform(SendAnswer(self._name, request, answer))


@asynccontextmanager
async def talking(
    name: str,
    spec: AgentSpec,
    *,
    doing: Callable[[str], None],
    link: Callable[[LinkAsked], bool] = lambda _: False,
    limit_s: float = INITIALIZE_LIMIT_S,
) -> AsyncIterator[Talk]:
    """Start an agent, and end it afterwards.

    ``doing`` is told what is waited for. ``link`` shows the user a page that the agent wants
    visited, and says whether it could. ``limit_s``: seconds for each answer to ``initialize``.
    """
    # A task group would wrap what its body raises.
    wrong: Exception | None = None
    async with anyio.create_task_group() as tasks:
        talk = Talk(name, spec, tasks, doing=doing, link=link, limit_s=limit_s)
        try:
            yield talk
        except Exception as raised:  # noqa: BLE001  it is raised again below
            wrong = raised
        finally:
            await talk.aclose()
            tasks.cancel_scope.cancel()
    if wrong is not None:
        raise wrong


def _login(params: Any) -> str | None:
    """What an ``auth/status_update`` says, in the agent's words (unstable in both versions)."""
    status = params.get("authStatus") if isinstance(params, dict) else None
    if not isinstance(status, dict):
        return None
    label = status.get("label")
    kind = "not logged in" if status.get("kind") == "none" else "logged in"
    return f"{kind} ({' '.join(label.split())[:80]})" if isinstance(label, str) and label else kind
