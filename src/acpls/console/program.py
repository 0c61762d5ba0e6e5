"""The program of an agent on this machine, looked up as it is when the agent is started."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from acpls.client import machine
from acpls.client.environment import overlaid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.settings import AgentSpec

# Programs that run what they download, by themselves or with a word after them.
_RUNNERS = {"npx", "bunx", "uvx", "pnpx"}
_RUNNING = {
    ("npm", "exec"),
    ("npm", "x"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
    ("bun", "x"),
    ("uv", "run"),
    ("uv", "tool"),
    ("pipx", "run"),
    ("deno", "run"),
}


def found(spec: AgentSpec) -> str | None:
    """The path of an agent's program; ``None`` when it is not there."""
    return machine.path_of(spec.command, environment(spec.env), spec.cwd or ".")


def environment(*over: Mapping[str, str]) -> dict[str, str]:
    """Our environment with others laid over it, the last one on top."""
    env = dict(os.environ)
    for layer in over:
        env = overlaid(env, layer)
    return env


def would_download(spec: AgentSpec) -> bool:
    """Tell whether starting this may download a program first."""
    name = spec.command.replace("\\", "/").rpartition("/")[2].lower()
    runner = name.removesuffix(".exe").removesuffix(".cmd").removesuffix(".ps1")
    first = next((word for word in spec.args if not word.startswith("-")), "")
    return runner in _RUNNERS or (runner, first) in _RUNNING
