"""What is known of an agent: its names, and the ways to start it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acpls.settings import AgentSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Way:
    """A way to start an agent.

    ``program``: a program that the user has installed, looked up on PATH. ``npx``, ``uvx``: a
    runner that downloads the package at the first start.
    """

    kind: Literal["program", "npx", "uvx"]
    spec: AgentSpec


@dataclass(frozen=True, slots=True)
class Entry:
    """An agent of the bundled list or of a registry file.

    ``ways`` are in order of preference. ``problems`` say, a line each, which ways there might
    have been. ``protocols``: the versions of ACP that were measured; ``remark``: what it needs.
    """

    id: str
    title: str
    version: str = ""
    ways: tuple[Way, ...] = ()
    problems: tuple[str, ...] = ()
    protocols: tuple[int, ...] = ()
    remark: str = ""
    registry: str = ""


def npx(
    package: str, run: str | None, args: Sequence[str], env: Mapping[str, str] | None = None
) -> Way:
    """A package of npm's; ``run`` is its program, where it has several."""
    # Without "--yes" it would ask on a terminal that it does not have.
    named = (package,) if run is None else ("--package", package, run)
    return Way("npx", AgentSpec("npx", ("--yes", *named, *args), dict(env or {})))


def uvx(
    package: str, run: str | None, args: Sequence[str], env: Mapping[str, str] | None = None
) -> Way:
    """A package of Python's; ``run`` is its program, where that is named otherwise."""
    named = (package,) if run is None else ("--from", package, run)
    return Way("uvx", AgentSpec("uvx", (*named, *args), dict(env or {})))
