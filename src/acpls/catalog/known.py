"""The bundled list of agents (``agents.toml``), read once when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from acpls.catalog.entries import Entry, Way, npx, uvx
from acpls.settings import DEMO_AGENT, AgentSpec
from acpls.settings.layers import joined, nested

if TYPE_CHECKING:
    from collections.abc import Sequence


def known_agents() -> Mapping[str, AgentSpec]:
    """The known agents by name, as the plain programs that they are once installed."""
    return {name: entry.ways[0].spec for name, entry in known_entries().items()}


@cache
def known_entries() -> Mapping[str, Entry]:
    """The known agents by name, with every way to start them; the plain program comes first."""
    return {name: _entry(name, row) for name, row in _list()["agents"].items()}


def dated() -> str:
    """The day when the list was made, ISO 8601."""
    return str(_list()["date"])


def lent_to(layers: Sequence[object]) -> Mapping[str, AgentSpec]:
    """The known agents, as ``settings.parse`` takes them, if these raw layers need any.

    They do when an agent has no command in any of them; otherwise the list is not read.
    """
    named: dict[str, Any] = {DEMO_AGENT: {"command": ""}}
    for layer in layers:
        agents = nested(layer).get("agents") if isinstance(layer, Mapping) else None
        if isinstance(agents, Mapping):
            named = joined(named, agents)
    wanting = (entry for entry in named.values() if isinstance(entry, Mapping))
    return known_agents() if any("command" not in entry for entry in wanting) else {}


@cache
def _list() -> Mapping[str, Any]:
    # Every start of the server passes here without needing either.
    import tomllib  # noqa: PLC0415  see above
    from importlib import resources  # noqa: PLC0415  see above

    return tomllib.loads((resources.files(__package__) / "agents.toml").read_text("utf-8"))


def _entry(name: str, row: Mapping[str, Any]) -> Entry:
    args = row.get("args", [])
    ways = [Way("program", AgentSpec(row["command"], tuple(args)))]
    if "npx" in row:
        ways.append(npx(row["npx"], row.get("run"), args))
    if "uvx" in row:
        run = row["command"]
        own = row["uvx"].split("==")[0] == run
        ways.append(uvx(row["uvx"], None if own else run, args))
    return Entry(
        name,
        row["title"],
        row["version"],
        tuple(ways),
        protocols=tuple(row["protocols"]),
        remark=row["remark"],
        registry=row.get("registry", ""),
    )
