"""The user's settings, as the commands see them: the file, the plugins, and what comes of them."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acpls import plugins
from acpls.catalog import known_entries, lent_to
from acpls.console.words import Misuse
from acpls.settings import DEMO_AGENT, AgentSpec, parse
from acpls.settings.layers import nested

if TYPE_CHECKING:
    from acpls.settings import Settings


def config_path() -> Path:
    """Where the user's settings file is, or would be."""
    import platformdirs  # noqa: PLC0415  only here

    return Path(platformdirs.user_config_dir("acpls", appauthor=False)) / "config.toml"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in effect. ``problem`` is one line when the file cannot be read."""

    path: Path
    exists: bool
    problem: str | None
    settings: Settings
    warnings: tuple[str, ...]
    layers: tuple[tuple[str, object], ...]

    def spec(self, name: str) -> AgentSpec:
        """An agent of the settings. Raises ``Misuse``."""
        if name in self.settings.agents:
            return self.settings.agents[name]
        if name in known_entries():
            hint = f"; it is known, and `acpls agents add {name}` adds it"
        else:
            near = difflib.get_close_matches(name, [*self.settings.agents, *known_entries()], n=1)
            there = ", ".join(self.settings.agents)
            hint = f'; did you mean "{near[0]}"?' if near else f"; there is {there}"
        raise Misuse(f'no agent "{name}" in {self.path}{hint}')

    def chosen(self, names: list[str]) -> list[tuple[str, AgentSpec]]:
        """The agents of these names, or all of them. Raises ``Misuse``."""
        wanted = dict.fromkeys(names) if names else self.settings.agents
        return [(name, self.spec(name)) for name in wanted]

    def problems(self) -> list[str]:
        """What is wrong with the settings, a line each."""
        own = [] if self.problem is None else [f"{self.path}: {self.problem}"]
        return [*own, *self.warnings]

    def source(self, name: str, key: str | None = None) -> str:
        """Where an agent, or one key of it, comes from."""
        for source, layer in reversed(self.layers):
            agents = nested(layer).get("agents") if isinstance(layer, Mapping) else None
            entry = agents.get(name) if isinstance(agents, Mapping) else None
            if isinstance(entry, Mapping) and (key is None or entry.get(key) is not None):
                return source
        return "built in" if name == DEMO_AGENT else "the list of known agents"


def read_config() -> Config:
    """Read the user's file and the plugins; problems are told as values."""
    import tomllib  # noqa: PLC0415  only here

    path, layer, problem, exists = config_path(), None, None, True
    try:
        layer = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        exists = False
    except (OSError, ValueError) as wrong:
        problem = f"it cannot be read: {wrong}"
    layers = (("a plugin", plugins.load().layer), ("config.toml", layer))
    raw = [given for _, given in layers]
    demo = AgentSpec(sys.executable, ("-m", "acpls", "demo-agent"))
    settings, warnings = parse(raw, demo, lent_to(raw))
    return Config(path, exists, problem, settings, warnings, layers)
