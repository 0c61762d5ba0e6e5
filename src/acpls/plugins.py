"""Python packages that add agents or watch sessions: entry points of ``acpls.plugins``.

An entry point names a module or an object with one or both of::

    def agents() -> Mapping[str, Mapping[str, object]]: ...
    def watch(session: str, event: SessionTold) -> None: ...

``agents`` gives entries as they stand under ``agents`` in the settings; every layer of the
user's lies above them. ``watch`` is told each update of each session, in order, after the
server took it in; ``session`` is the key that editors see. Both run in the server's only
thread: what takes long belongs into a thread of the plugin's own.

Invariant: whatever a plugin does wrong is one line in the log, and the server goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from importlib.metadata import EntryPoint

    from acpls.events import SessionTold

GROUP: Final = "acpls.plugins"

# A plugin that wants to end the process has not earned it.
_WRONGS: Final = BaseException

_log = logging.getLogger(__name__)


class Plugins:
    """What the plugins want: ``layer``, raw settings that lie below all others, and to watch."""

    def __init__(self, plugins: Mapping[str, object]) -> None:
        self.layer: dict[str, Any] = {"agents": {}}
        self._watches: dict[str, Callable[[str, SessionTold], object]] = {}
        for name, plugin in plugins.items():
            self._take_agents(name, plugin)
            watch = getattr(plugin, "watch", None)
            if watch is None:
                continue
            if callable(watch) and not iscoroutinefunction(watch):
                self._watches[name] = watch
            else:
                _log.warning("plugin %s cannot watch: its watch is no plain function", name)

    def watch(self, session: str, event: SessionTold) -> None:
        """Tell every plugin that watches; one that raises is told nothing more."""
        if not self._watches:
            return
        for name, watch in list(self._watches.items()):
            try:
                watch(session, event)
            except _WRONGS as wrong:
                del self._watches[name]
                _log.warning("plugin %s watches no longer: %s", name, _line(wrong))

    def _take_agents(self, name: str, plugin: object) -> None:
        agents = getattr(plugin, "agents", None)
        if not callable(agents):
            return
        try:
            given = agents()
            if not isinstance(given, Mapping):
                raise TypeError(f"agents() gave a {type(given).__name__}, not a mapping")
            entries = {agent: dict(entry) for agent, entry in given.items()}
        except _WRONGS as wrong:
            _log.warning("plugin %s adds no agents: %s", name, _line(wrong))
            return
        for agent, entry in entries.items():
            if agent in self.layer["agents"]:
                _log.warning("plugin %s: another one has the agent %s", name, _line(agent))
            else:
                self.layer["agents"][agent] = entry


def load() -> Plugins:
    """Load all plugins that are installed, by name; what cannot be loaded is left out."""
    # Looking through everything that is installed takes a while.
    from importlib.metadata import entry_points  # noqa: PLC0415  see above

    return Plugins(_loaded(sorted(entry_points(group=GROUP), key=lambda it: (it.name, it.value))))


def _loaded(points: Iterable[EntryPoint]) -> dict[str, object]:
    plugins: dict[str, object] = {}
    for point in points:
        if point.name in plugins:
            _log.warning("plugin %s is there twice; %s is left out", point.name, point.value)
            continue
        try:
            plugins[point.name] = point.load()
        except _WRONGS as wrong:
            _log.warning("plugin %s cannot be loaded: %s", point.name, _line(wrong))
    return plugins


def _line(what: object) -> str:
    """A text of somebody else's as one short line."""
    named = f"{type(what).__name__}: {what}" if isinstance(what, BaseException) else str(what)
    return "".join(letter if letter.isprintable() else " " for letter in named)[:200]
