"""All agents by name, and the disk: performs the hub's effects towards both.

``perform`` only starts things; what comes of them arrives through ``emit``, in the loop
thread. The protocol itself is imported when the first agent starts, because the server
must be up before that.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import anyio
import anyio.to_thread

from acpls.client import disk
from acpls.client.environment import LoginShell, wants_login_shell
from acpls.client.lastwords import Ring
from acpls.client.memory import Memory
from acpls.client.programs import batch_overrides
from acpls.client.running import INTERNAL_ERROR, Running
from acpls.client.watch import Watch
from acpls.effects import (
    EndAgent,
    ReadFile,
    SendAnswer,
    SendAsk,
    StartAgent,
    WithdrawAsk,
    WriteFile,
)
from acpls.events import AgentReady, AgentStarting, AskFailed, Disk, FileRead, FileWritten, LeftOut
from acpls.session.asks import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio.abc import TaskGroup

    from acpls.client.connection import Connection
    from acpls.client.dialect import ClientInfo
    from acpls.client.negotiation import Dialects
    from acpls.events import AgentEvent

    Emitted: TypeAlias = AgentEvent | FileRead | FileWritten
    Effect: TypeAlias = (
        StartAgent | EndAgent | SendAsk | WithdrawAsk | SendAnswer | ReadFile | WriteFile
    )

INITIALIZE_LIMIT_S = 90.0
PROGRESS_S = 10.0
# Programs that fetch an agent before they start it.
_LOADERS = {"npx", "uvx", "bunx", "pnpm", "docker", "podman"}
_CLOSE_S = 5.0
_LOG_LINES = 1000

_logger = logging.getLogger(__name__)


class Host:
    """Performs effects. ``tasks`` must outlive it; ``emit`` must not block.

    ``dialects`` makes the dialect for a version, ``limit_s`` is how many seconds an agent
    has for ``initialize``: both for tests. ``memory``: which version each was found to speak.
    ``login_shell`` is the setting of that name; it
    counts for the agents that are started after it was set.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        emit: Callable[[Emitted], None],
        client: ClientInfo,
        *,
        dialects: Dialects | None = None,
        limit_s: float = INITIALIZE_LIMIT_S,
        memory: Memory | None = None,
    ) -> None:
        self._tasks = tasks
        self._emit = emit
        self._client = client
        self._dialects = dialects
        self._limit_s = limit_s
        self.login_shell: Literal["auto"] | bool = False
        self._watch = Watch(lambda: _logger.warning("the watchdog had ended; it was replaced"))
        self._login = LoginShell(self._watch)
        self._memory = memory or Memory()
        self._agents: dict[str, Running] = {}
        self._logs: dict[str, Ring] = {}
        self._files: dict[str, deque[ReadFile | WriteFile]] = {}
        self._files_done = anyio.Event()
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
                if agent is None or not agent.send_ask(effect.number, effect.ask):
                    failure = Failure(INTERNAL_ERROR, f"{effect.agent} is not running")
                    self._emit(AskFailed(effect.agent, effect.number, failure))
            case WithdrawAsk():
                if (agent := self._agents.get(effect.agent)) is not None:
                    agent.withdraw_ask(effect.number)
            case SendAnswer():
                agent = self._agents.get(effect.agent)
                if agent is not None and agent.connection is not None:
                    agent.connection.answer(effect.request, effect.answer)
            case ReadFile() | WriteFile():
                self._queue_file(effect)

    def log(self, agent: str) -> str:
        """Give the last lines the agent wrote to standard error, and its protocol faults."""
        ring = self._logs.get(agent)
        return "" if ring is None else "\n".join(ring.lines())

    async def aclose(self) -> None:
        """End all agents, within about five seconds, and finish what was begun on disk."""
        self._closed = True
        with anyio.move_on_after(_CLOSE_S, shield=True):
            for agent in list(self._agents.values()):
                agent.end()
            for agent in list(self._agents.values()):
                await agent.done.wait()
            while self._files:
                self._files_done = anyio.Event()
                await self._files_done.wait()
        await self._watch.aclose()

    # --- agents -----------------------------------------------------------------------

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

    # --- files ------------------------------------------------------------------------

    def _queue_file(self, effect: ReadFile | WriteFile) -> None:
        path = os.path.normpath(effect.path)
        queue = self._files.get(path)
        if queue is not None:
            queue.append(effect)
            return
        self._files[path] = deque([effect])
        self._tasks.start_soon(self._work_on_file, path)

    async def _work_on_file(self, path: str) -> None:
        queue = self._files[path]
        try:
            while queue:
                effect = queue.popleft()
                # A write that has begun is finished and told, whoever is cancelled.
                with anyio.CancelScope(shield=True):
                    event = await anyio.to_thread.run_sync(_use_disk, effect)
                self._emit(event)
        finally:
            del self._files[path]
            self._files_done.set()


def _import_protocol(dialects: bool) -> None:  # noqa: FBT001  run_sync takes no keywords
    importlib.import_module("acpls.client.negotiation")
    importlib.import_module("acpls.client.starting")
    if dialects:
        importlib.import_module("acpls.client.v1")
        importlib.import_module("acpls.client.v2")


def _use_disk(effect: ReadFile | WriteFile) -> FileRead | FileWritten:
    try:
        if isinstance(effect, ReadFile):
            return FileRead(effect.token, disk.read(effect.path, effect.roots))
        return disk.write(effect)
    except Exception as problem:
        _logger.exception("%s: could not be read or written", effect.path)
        failed = Disk(effect.path, None, f"cannot be used: {problem}")
        if isinstance(effect, ReadFile):
            return FileRead(effect.token, failed)
        return FileWritten(effect.token, effect.path, failed, failed.problem)
