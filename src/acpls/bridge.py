"""Joins the two rims and the hub: the only module that sees both.

Invariant: events are handled one after the other, in the order in which they came; an
event that comes while another is handled waits.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING

import anyio

from acpls import __version__
from acpls import effects as ef
from acpls.catalog import lent_to
from acpls.client.dialect import ClientInfo
from acpls.client.host import Host
from acpls.events import EditorLeft, SessionTold, TimePassed
from acpls.hub import Hub
from acpls.lsp.rim import EditorRim
from acpls.plugins import Plugins

if TYPE_CHECKING:
    from pathlib import Path

    from anyio.abc import TaskGroup

    from acpls.client.memory import Memory
    from acpls.events import Event
    from acpls.lsp.protocol import EditorServer
    from acpls.settings import AgentSpec

INTERNAL_ERROR = -32603
BUG = "A bug in acpls; its log says more"

_log = logging.getLogger("acpls")


class Bridge:
    """The running server between one editor and its agents."""

    def __init__(
        self,
        tasks: TaskGroup,
        server: EditorServer,
        default_agent: AgentSpec,
        *,
        launch: str,
        config_layer: object = None,
        plugins: Plugins | None = None,
        memory: Memory | None = None,
        state: Path | None = None,
    ) -> None:
        self._tasks = tasks
        self._plugins = plugins or Plugins({})
        self._hub = Hub(default_agent, launch, below=self._plugins.layer, lent_to=lent_to)
        client = ClientInfo("acpls", __version__)
        self._host = Host(tasks, self.post, client, memory=memory, state=state)
        self.rim = EditorRim(tasks, server, self._hub, self.post, config_layer)
        self._events: deque[Event] = deque()
        self._handling = False
        self._bugs: set[str] = set()

    def post(self, event: Event) -> None:
        """Handle an event, and all that come of it meanwhile."""
        self._events.append(event)
        if self._handling:
            return
        self._handling = True
        try:
            while self._events:
                self._handle(self._events.popleft())
        finally:
            self._handling = False

    def _handle(self, event: Event) -> None:
        try:
            effects = self._hub.handle(event, time.monotonic())
        except Exception:  # noqa: BLE001 -- one event must not end the others
            self._bug(event)
            return
        self._host.login_shell = self._hub.state.settings.login_shell
        for effect in effects:
            try:
                self._perform(effect)
            except Exception:  # noqa: BLE001 -- one effect must not end the others
                self._bug(effect)
        if isinstance(event, SessionTold):
            session = self._hub.state.session_of(event.agent, event.session)
            if session is not None:
                self._plugins.watch(session.key, event)

    def _bug(self, what: Event | ef.Effect) -> None:
        """Log the exception at hand, tell of each kind once, and leave no command waiting."""
        kind = type(what).__name__
        _log.exception("a bug while handling %s", kind)
        try:
            ticket = getattr(what, "ticket", None)
            self.rim.perform(ef.FailCommand(ticket, INTERNAL_ERROR, BUG))
            if kind not in self._bugs:
                self._bugs.add(kind)
                self.rim.perform(ef.TellUser("error", BUG))
        except Exception:  # noqa: BLE001 -- nobody is left to be told
            _log.exception("a bug while telling of a bug")

    def _perform(self, effect: ef.Effect) -> None:
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
                | ef.ReadPermissions()
                | ef.KeepPermission()
            ):
                self._host.perform(effect)
            case ef.After(seconds, token):
                self._tasks.start_soon(self._wait, seconds, token)
            case ef.ReplyLog(ticket, agent, lines):
                text = "\n".join(self._host.log(agent).split("\n")[-lines:])
                self.rim.perform(ef.ReplyCommand(ticket, {"text": text}))
            case _:
                self.rim.perform(effect)

    async def _wait(self, seconds: float, token: object) -> None:
        await anyio.sleep(seconds)
        self.post(TimePassed(token))

    async def aclose(self) -> None:
        """End all agents, keep what is to last, and finish what was begun on disk."""
        self.post(EditorLeft())
        await self._host.aclose()
