"""All agents by name: performs the hub's effects towards them, and lets the files be dealt with.

``perform`` only starts things; what comes of them arrives through ``emit``, in the loop
thread. The protocol itself is imported when the first agent starts, because the server
must be up before that.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import anyio
import anyio.to_thread

from acpls.client.environment import LoginShell, wants_login_shell
from acpls.client.files import Files
from acpls.client.lastwords import Ring
from acpls.client.memory import Memory
from acpls.client.programs import batch_overrides
from acpls.client.running import INTERNAL_ERROR, Hold, Running
from acpls.client.watch import Watch
from acpls.effects import EndAgent, SendAnswer, SendAsk, StartAgent, WithdrawAsk
from acpls.events import AgentReady, AgentStarting, AnswerLost, AskFailed, LeftOut
from acpls.session.asks import Failure, Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio.abc import TaskGroup

    from acpls.client.connection import Connection
    from acpls.client.dialect import ClientInfo
    from acpls.client.files import FileEffect, FileEvent
    from acpls.client.negotiation import Dialects
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask

    Emitted: TypeAlias = AgentEvent | FileEvent
    Effect: TypeAlias = StartAgent | EndAgent | SendAsk | WithdrawAsk | SendAnswer | FileEffect

INITIALIZE_LIMIT_S = 90.0
PROGRESS_S = 10.0
SYNC_LIMIT_S = 3.0
# Programs that fetch an agent before they start it.
_LOADERS = {"npx", "uvx", "bunx", "pnpm", "docker", "podman"}
_CLOSE_S = 5.0
_LOG_LINES = 1000

_logger = logging.getLogger(__name__)


class Host:
    """Performs effects. ``tasks`` must outlive it; ``emit`` must not block.

    ``dialects`` makes the dialect for a version, ``limit_s`` is how many seconds an agent
    has for ``initialize``, ``sync_limit_s`` how many a prompt waits for ``SyncFiles`` that were
    performed before it: all for tests. ``memory``: which version each was found to speak.
    ``state``: the folder for what is to be known in the next run; without one the files as
    they were are forgotten in the end. ``login_shell`` is the setting of that name; it counts
    for the agents that are started after it was set.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        emit: Callable[[Emitted], None],
        client: ClientInfo,
        *,
        dialects: Dialects | None = None,
        limit_s: float = INITIALIZE_LIMIT_S,
        sync_limit_s: float = SYNC_LIMIT_S,
        memory: Memory | None = None,
        state: Path | None = None,
    ) -> None:
        self._tasks = tasks
        self._emit = emit
        self._client = client
        self._dialects = dialects
        self._limit_s = limit_s
        self._sync_limit_s = sync_limit_s
        self.login_shell: Literal["auto"] | bool = False
        self._watch = Watch(lambda: _logger.warning("the watchdog had ended; it was replaced"))
        self._login = LoginShell(self._watch)
        self._memory = memory or Memory()
        self._agents: dict[str, Running] = {}
        self._logs: dict[str, Ring] = {}
        self._files = Files(tasks, emit, state)
        self._closed = False

    def perform(self, effect: Effect) -> None:
        """Start what the effect says; never blocks and never raises for what agents do."""
        match effect:
            case StartAgent():
                self._start(effect)
            case EndAgent():
                if (agent := self._agents.get(effect.agent)) is not None:
                    agent.end()
            case SendAsk():
                agent = self._agents.get(effect.agent)
                hold = self._hold(effect.ask)
                if agent is None or not agent.send_ask(effect.number, effect.ask, hold):
                    failure = Failure(INTERNAL_ERROR, f"{effect.agent} is not running")
                    self._emit(AskFailed(effect.agent, effect.number, failure))
            case WithdrawAsk():
                if (agent := self._agents.get(effect.agent)) is not None:
                    agent.withdraw_ask(effect.number)
            case SendAnswer():
                agent = self._agents.get(effect.agent)
                if agent is not None and agent.connection is not None:
                    agent.connection.answer(effect.request, effect.answer)
                else:
                    self._emit(AnswerLost(effect.agent, effect.request))
            case _:
                self._files.perform(effect)

    def log(self, agent: str) -> str:
        """Give the last lines the agent wrote to standard error, and its protocol faults."""
        ring = self._logs.get(agent)
        return "" if ring is None else "\n".join(ring.lines())

    async def aclose(self) -> None:
        """End all agents, within about five seconds, and finish what was begun on disk."""
        self._closed = True
        self._files.look_no_more()
        with anyio.move_on_after(_CLOSE_S, shield=True):
            for agent in list(self._agents.values()):
                agent.end()
            for agent in list(self._agents.values()):
                await agent.done.wait()
            await self._files.aclose()
        await self._watch.aclose()

    def _hold(self, ask: Ask) -> Hold | None:
        synced = self._files.synced
        if synced is None or not isinstance(ask, Prompt):
            return None
        return Hold(synced, anyio.current_time() + self._sync_limit_s)

    # --- starting ---------------------------------------------------------------------

    def _start(self, effect: StartAgent) -> None:
        running = self._agents.get(effect.agent)
        if self._closed or (running is not None and not running.wanted_end):
            return
        log = self._logs.setdefault(effect.agent, Ring(_LOG_LINES))
        agent = Running(effect.agent, effect.spec, self._emit, log.add, running)
        self._agents[effect.agent] = agent
        self._tasks.start_soon(self._live, agent)

    async def _live(self, agent: Running) -> None:
        try:
            await agent.live(self._open_with)
        finally:
            if self._agents.get(agent.name) is agent:
                del self._agents[agent.name]
            agent.finish()

    async def _open_with(self, agent: Running, tasks: TaskGroup) -> Connection:
        # Parsing libraries take a moment to import; the editor must not wait for them.
        await anyio.to_thread.run_sync(_import_protocol, self._dialects is None)
        from acpls.client import negotiation  # noqa: PLC0415  see above
        from acpls.client.starting import open_connection  # noqa: PLC0415  see above

        for warning in batch_overrides(agent.spec.env):
            agent.log(f"acpls: {warning}")
            self._emit(LeftOut(agent.name, warning))
        base = await self._environment(agent)

        async def start() -> Connection:
            return await open_connection(
                agent.name,
                agent.spec,
                tasks,
                self._emit,
                agent.log,
                base=base,
                watch=self._watch,
            )

        waiting = anyio.CancelScope()
        tasks.start_soon(self._say_that_we_wait, agent, waiting)
        try:
            agreed = await negotiation.Negotiation(
                agent=agent.name,
                spec=agent.spec,
                client=self._client,
                open=start,
                emit=self._emit,
                memory=self._memory,
                dialects=self._dialects or negotiation.make_dialect,
                limit_s=self._limit_s,
            ).run()
        finally:
            waiting.cancel()
        self._emit(AgentReady(agent.name, agreed.facts))
        return agreed.connection

    async def _environment(self, agent: Running) -> Mapping[str, str]:
        if not wants_login_shell(os.environ, sys.platform, setting=self.login_shell):
            return dict(os.environ)
        if not self._login.known:
            doing = "asking the login shell for its environment"
            self._emit(AgentStarting(agent.name, doing))
        return await self._login.environment(agent.log)

    async def _say_that_we_wait(self, agent: Running, waiting: anyio.CancelScope) -> None:
        loads = Path(agent.spec.command).stem.lower() in _LOADERS
        why = f"; {agent.spec.command} may be downloading it" if loads else ""
        waited_s = 0.0
        with waiting:
            while True:
                await anyio.sleep(PROGRESS_S)
                waited_s += PROGRESS_S
                doing = f"still waiting, {waited_s:g} seconds so far{why}"
                self._emit(AgentStarting(agent.name, doing))


def _import_protocol(dialects: bool) -> None:  # noqa: FBT001  run_sync takes no keywords
    importlib.import_module("acpls.client.negotiation")
    importlib.import_module("acpls.client.starting")
    if dialects:
        importlib.import_module("acpls.client.v1")
        importlib.import_module("acpls.client.v2")
