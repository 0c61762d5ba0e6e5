"""Starts an agent's process and connects to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.client import machine, process
from acpls.client.connection import Connection
from acpls.client.crossing import Crossing
from acpls.client.environment import overlaid
from acpls.client.programs import SETTING
from acpls.client.terminals import Ground
from acpls.text.pathmap import PathMap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio.abc import TaskGroup

    from acpls.client.watch import Watch
    from acpls.events import AgentEvent
    from acpls.settings import AgentSpec


async def open_connection(
    agent: str,
    spec: AgentSpec,
    tasks: TaskGroup,
    emit: Callable[[AgentEvent], None],
    log: Callable[[str], None],
    *,
    base: Mapping[str, str],
    watch: Watch | None = None,
) -> Connection:
    """Start the agent's process and the writer. ``base``: the environment that the agent's
    own variables are laid over. Raises ``process.StartError``.
    """
    env = overlaid(base, spec.env)
    log(f"acpls: starting {spec.command} in {machine.folder_of(spec.cwd)}")
    log(f"acpls: with PATH {env.get('PATH', '')}")
    log(f"acpls: with variables of its own: {', '.join(spec.env) or 'none'}")
    try:
        child = await process.start(
            [spec.command, *spec.args], env, spec.cwd, watch=watch, told=log
        )
    except process.StartError as problem:
        log(f"acpls: {problem}")
        todo = problem.todo.replace(SETTING, f"agents.{agent}.command")
        raise process.StartError(f"{problem}; {todo}" if todo else str(problem)) from None
    log(f"acpls: started {child.program}")

    def find(command: str, cwd: str, over: Mapping[str, str]) -> str | None:
        return machine.path_of(command, overlaid(env, over), cwd)

    connection = Connection(
        agent,
        child,
        tasks,
        emit,
        log,
        crossing=Crossing(agent, PathMap(spec.path_map), find),
        ground=Ground(base, spec.cwd, watch),
        limit_bytes=spec.max_line_bytes,
    )
    tasks.start_soon(connection.write)
    return connection
