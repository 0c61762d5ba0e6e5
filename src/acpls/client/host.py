"""All agents by name, and the disk: performs the hub's effects towards both.

``perform`` only starts things; what comes of them arrives through ``emit``, in the loop
thread. The protocol itself is imported when the first agent starts, because the server
must be up before that.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

import anyio
import anyio.to_thread

from acpls.client import disk
from acpls.client.lastwords import Ring
from acpls.client.process import StartError, Watch
from acpls.effects import EndAgent, ReadFile, SendAnswer, SendAsk, StartAgent, WriteFile
from acpls.events import AgentEnded, AgentReady, AskFailed, Disk, FileRead, FileWritten
from acpls.session.asks import Failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import TaskGroup

    from acpls.client.connection import Connection
    from acpls.client.dialect import ClientInfo
    from acpls.client.negotiation import Dialects, Memory
    from acpls.events import AgentEvent
    from acpls.session.asks import Ask
    from acpls.settings import AgentSpec

    Emitted: TypeAlias = AgentEvent | FileRead | FileWritten
    Effect: TypeAlias = StartAgent | EndAgent | SendAsk | SendAnswer | ReadFile | WriteFile

INITIALIZE_LIMIT_S = 90.0
_CLOSE_S = 5.0
_LOG_LINES = 1000
_INTERNAL_ERROR = -32603

_logger = logging.getLogger(__name__)


class Host:
    """Performs effects. ``tasks`` must outlive it; ``emit`` must not block.

    ``dialects`` makes the dialect for a version, ``limit_s`` is how many seconds an agent
    has for ``initialize``: both for tests.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        emit: Callable[[Emitted], None],
        client: ClientInfo,
        *,
        dialects: Dialects | None = None,
        limit_s: float = INITIALIZE_LIMIT_S,
    ) -> None:
        self._tasks = tasks
        self._emit = emit
        self._client = client
        self._dialects = dialects
        self._limit_s = limit_s
        self._watch = Watch()
        self._memory: Memory = {}
        self._agents: dict[str, _Agent] = {}
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
                    failure = Failure(_INTERNAL_ERROR, f"{effect.agent} is not running")
                    self._emit(AskFailed(effect.agent, effect.number, failure))
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
        agent = _Agent(effect.agent, effect.spec, self._emit, log.add, running)
        self._agents[effect.agent] = agent
        self._tasks.start_soon(self._live, agent)

    async def _live(self, agent: _Agent) -> None:
        try:
            await agent.live(self._open_with)
        finally:
            if self._agents.get(agent.name) is agent:
                del self._agents[agent.name]
            agent.finish()

    async def _open_with(self, agent: _Agent, tasks: TaskGroup) -> Connection:
        # Parsing libraries take a moment to import; the editor must not wait for them.
        await anyio.to_thread.run_sync(_import_protocol, self._dialects is None)
        from acpls.client import negotiation  # noqa: PLC0415  see above
        from acpls.client.connection import open_connection  # noqa: PLC0415  see above

        async def start() -> Connection:
            return await open_connection(
                agent.name, agent.spec, tasks, self._emit, agent.log, self._watch
            )

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
        self._emit(AgentReady(agent.name, agreed.facts))
        return agreed.connection

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


class _Agent:
    """One start of an agent, from the start to its end."""

    def __init__(
        self,
        name: str,
        spec: AgentSpec,
        emit: Callable[[AgentEvent], None],
        log: Callable[[str], None],
        before: _Agent | None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.log = log
        self.connection: Connection | None = None
        self.wanted_end = False
        self.done = anyio.Event()
        self._emit = emit
        self._before = before
        self._waiting: deque[tuple[int, Ask]] = deque()
        self._scope: anyio.CancelScope | None = None
        self._ended = AgentEnded(name, f"{name} was ended", wanted=True)

    def send_ask(self, number: int, ask: Ask) -> bool:
        """Send an ask, now or when the agent is ready; say whether it can be."""
        if self.wanted_end:
            return False
        if self.connection is None:
            self._waiting.append((number, ask))
        else:
            self.connection.send_ask(number, ask)
        return True

    def end(self) -> None:
        """Begin to end the agent."""
        self.wanted_end = True
        if self._scope is not None:
            self._scope.cancel()

    async def live(self, opened: Callable[[_Agent, TaskGroup], Awaitable[Connection]]) -> None:
        """Start, serve and end; never raises for what an agent does."""
        if self._before is not None:
            await self._before.done.wait()
            self._before = None
        try:
            async with anyio.create_task_group() as tasks:
                try:
                    await self._serve(opened, tasks)
                finally:
                    if self.connection is not None:
                        # One that fell silent by itself has nothing left to finish.
                        await self.connection.aclose(1.0 if self.wanted_end else 0.2)
                    tasks.cancel_scope.cancel()
        except Exception:
            _logger.exception("%s: could not be kept running", self.name)
            self._ended = AgentEnded(self.name, f"{self.name}: internal error in acpls")

    def finish(self) -> None:
        """Tell the end: first of every ask without a reply, then of the agent."""
        self.wanted_end = True
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.fail_pending(self._ended.reason)
        for number, _ in self._waiting:
            failure = Failure(_INTERNAL_ERROR, self._ended.reason)
            self._emit(AskFailed(self.name, number, failure))
        self._waiting.clear()
        self._emit(self._ended)
        self.done.set()

    async def _serve(
        self, opened: Callable[[_Agent, TaskGroup], Awaitable[Connection]], tasks: TaskGroup
    ) -> None:
        with anyio.CancelScope() as self._scope:
            if self.wanted_end:
                return
            try:
                connection = await opened(self, tasks)
            except StartError as problem:
                reason = f"{self.name} could not be started: {problem}"
                self._ended = AgentEnded(self.name, reason)
                return
            except Exception as problem:
                ended = getattr(problem, "ended", None)
                if not isinstance(ended, AgentEnded):
                    raise
                self._ended = ended
                return
            # What is asked meanwhile, also by whoever hears of this, goes to the queue's end.
            while self._waiting:
                connection.send_ask(*self._waiting.popleft())
            self.connection = connection
            await connection.deliver()
            self._ended = await connection.ending()


def _import_protocol(dialects: bool) -> None:  # noqa: FBT001  run_sync takes no keywords
    importlib.import_module("acpls.client.negotiation")
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
