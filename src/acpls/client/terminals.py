"""The terminals of ACP 1: programs that the agent has us run (``terminal/*``).

What they print is told as updates of their session, so that it stays readable after the
agent has let go of the terminal.

Invariant: at most one answer for each request; nothing that was started outlives ``aclose``.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from acpls.client import machine, process
from acpls.client.dialect import (
    CreateTerminal,
    TerminalCreated,
    TerminalExited,
    TerminalOutput,
)
from acpls.client.environment import overlaid
from acpls.client.lastwords import signal_name
from acpls.events import SessionTold
from acpls.session.asks import Done, Failure
from acpls.session.content import Exit
from acpls.session.updates import TerminalGrew, TerminalPatched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from anyio.abc import TaskGroup

    from acpls.client.dialect import TerminalAnswer, TerminalCall, TerminalRequest
    from acpls.client.watch import Watch
    from acpls.session.asks import Answer

    Reply: TypeAlias = Callable[[Answer | TerminalAnswer], None]

_DEFAULT_LIMIT_BYTES = 1024 * 1024
_PACE_S = 0.02
_LAST_WORDS_S = 0.5
_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603


@dataclass(frozen=True, slots=True)
class Ground:
    """Where programs run that an agent has us run.

    ``env`` is their whole environment, before what the request adds; ``cwd`` their folder
    where neither the request nor its session names one.
    """

    env: Mapping[str, str]
    cwd: str | None = None
    watch: Watch | None = None


class Terminals:
    """All terminals of one agent; ``tell`` takes the updates."""

    def __init__(
        self,
        agent: str,
        tasks: TaskGroup,
        tell: Callable[[SessionTold], None],
        ground: Ground,
    ) -> None:
        self._agent = agent
        self._tasks = tasks
        self._tell = tell
        self._ground = ground
        self._count = 0
        self._terminals: dict[str, _Terminal] = {}
        self._children: set[process.Child] = set()
        self._following: set[_Terminal] = set()
        self._closed = False

    def perform(self, wanted: TerminalRequest, answer: Reply, folder: str | None) -> None:
        """Do what the agent asks; ``answer`` is called once, now or later.

        ``folder`` is the session's, where it is known.
        """
        if isinstance(wanted, CreateTerminal):
            self._tasks.start_soon(self._create, wanted, answer, wanted.cwd or folder)
            return
        terminal = self._terminals.get(wanted.terminal)
        if terminal is None or terminal.session != wanted.session:
            answer(Failure(_INVALID_PARAMS, f"there is no terminal {wanted.terminal!r}"))
            return
        self._call(wanted, terminal, answer)

    async def aclose(self) -> None:
        """End everything that still runs."""
        self._closed = True
        async with anyio.create_task_group() as tasks:
            for child in list(self._children):
                tasks.start_soon(child.end, 0.0)
        with anyio.move_on_after(_LAST_WORDS_S):
            for terminal in list(self._following):
                await terminal.done.wait()

    def _call(self, wanted: TerminalCall, terminal: _Terminal, answer: Reply) -> None:
        match wanted.operation:
            case "output":
                answer(terminal.output())
            case "wait_for_exit" if terminal.exit is not None:
                answer(TerminalExited(terminal.exit))
            case "wait_for_exit":
                terminal.waiting.append(answer)
            case "kill":
                self._tasks.start_soon(self._kill, terminal, answer)
            case "release":
                del self._terminals[wanted.terminal]
                self._tasks.start_soon(self._kill, terminal, answer)
            case _:
                answer(Failure(_INVALID_PARAMS, f"terminals know no {wanted.operation!r}"))

    async def _create(self, wanted: CreateTerminal, answer: Reply, cwd: str | None) -> None:
        cwd = cwd or self._ground.cwd
        env = overlaid(self._ground.env, dict(wanted.env))
        try:
            child = await process.start(
                _argv(wanted), env, cwd, watch=self._ground.watch, listens=False, merged=True
            )
        except process.StartError as problem:
            answer(Failure(_INTERNAL_ERROR, str(problem)))
            return
        self._children.add(child)
        if self._closed:
            await child.end(0.0)
            return
        self._count += 1
        name = f"terminal-{self._count}"
        limit = _DEFAULT_LIMIT_BYTES if wanted.limit_bytes is None else max(wanted.limit_bytes, 0)
        terminal = self._terminals[name] = _Terminal(name, wanted.session, child, limit)
        command = wanted.command if not wanted.args else shlex.join([wanted.command, *wanted.args])
        answer(TerminalCreated(name))
        self._say(terminal, TerminalPatched(name, command, machine.folder_of(cwd), b""))
        self._following.add(terminal)
        await self._follow(terminal)
        self._following.discard(terminal)
        terminal.done.set()

    async def _follow(self, terminal: _Terminal) -> None:
        while data := await terminal.child.receive():
            terminal.keep(data)
            self._say(terminal, terminal.news(data))
            # A program that floods is read in steps: its own pipe slows it down.
            await anyio.sleep(_PACE_S)
        exit_code = await terminal.child.exited()
        terminal.exit = _as_exit(exit_code)
        self._say(terminal, TerminalPatched(terminal.name, exit=terminal.exit))
        for answer in terminal.waiting:
            answer(TerminalExited(terminal.exit))
        terminal.waiting.clear()

    async def _kill(self, terminal: _Terminal, answer: Reply) -> None:
        await terminal.child.end(0.0)
        self._children.discard(terminal.child)
        answer(Done())

    def _say(self, terminal: _Terminal, update: TerminalPatched | TerminalGrew) -> None:
        self._tell(SessionTold(self._agent, terminal.session, update))


class _Terminal:
    """One terminal. ``limit`` is how many bytes of output, from the end, are kept."""

    def __init__(self, name: str, session: str, child: process.Child, limit: int) -> None:
        self.name = name
        self.session = session
        self.child = child
        self.exit: Exit | None = None
        self.done = anyio.Event()
        self.waiting: list[Reply] = []
        self._limit = limit
        self._kept = bytearray()
        self._truncated = False
        self._shown_bytes = 0

    def keep(self, data: bytes) -> None:
        """Add output; what is over the limit goes from the front, whole characters only."""
        self._kept += data
        excess = len(self._kept) - self._limit
        if excess <= 0:
            return
        self._truncated = True
        while excess < len(self._kept) and self._kept[excess] & 0xC0 == 0x80:
            excess += 1
        del self._kept[:excess]

    def news(self, data: bytes) -> TerminalPatched | TerminalGrew:
        """Say how the shown output changes: it grows, or now and then is cut to what is kept."""
        self._shown_bytes += len(data)
        if self._shown_bytes <= 2 * max(self._limit, _DEFAULT_LIMIT_BYTES):
            return TerminalGrew(self.name, data)
        self._shown_bytes = len(self._kept)
        return TerminalPatched(self.name, output=bytes(self._kept))

    def output(self) -> TerminalOutput:
        """Give the output so far; a character that is still half printed waits."""
        data = bytes(self._kept)
        if self.exit is None:
            data = data[: _whole_characters(data)]
        return TerminalOutput(data.decode(errors="replace"), self._truncated, self.exit)


def _whole_characters(data: bytes) -> int:
    """Give the length of ``data`` without a character that is cut off at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return len(data) - back if needed > back else len(data)
    return len(data)


def _argv(wanted: CreateTerminal) -> list[str]:
    # Some agents send a whole shell line as the command.
    line = not wanted.args and any(c.isspace() for c in wanted.command.strip())
    if line and not Path(wanted.command).is_file():
        return ["/bin/sh", "-c", wanted.command]
    return [wanted.command, *wanted.args]


def _as_exit(exit_code: int | None) -> Exit:
    if exit_code is None:
        return Exit()
    name = signal_name(exit_code)
    return Exit(signal=name) if name is not None else Exit(code=exit_code)
