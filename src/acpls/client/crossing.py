"""What is changed in words between the hub and an agent, on their way: paths and programs.

The hub knows the editor's paths only; the agent knows its own. An MCP server is named by a
program, which the agent must be given as an absolute path (ACP, session setup).

Invariant: pure, but for the ``find`` that it is given. Every field that holds a path or a
``file:`` URI stands in one of the two tables below, which a test holds against the types.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acpls import events as ev
from acpls.client import dialect
from acpls.session import asks, content, updates
from acpls.text.patch import FilePatch
from acpls.text.pathmap import PathMap, normal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acpls.session.asks import Ask, McpServer, Opening

    Move = Callable[[str], str]
    # A program's absolute path, or ``None``, by its name, the folder that a relative path
    # begins in, and what the environment has besides the agent's own.
    Find = Callable[[str, str, Mapping[str, str]], str | None]

T = TypeVar("T")
A = TypeVar("A")

PATHS: Final[Mapping[type, tuple[str, ...]]] = {
    asks.KnownSession: ("cwd", "additional_directories"),
    asks.ListSessions: ("cwd",),
    asks.Opening: ("cwd", "additional_directories"),
    content.AboutCommand: ("cwd",),
    content.FileChange: ("path", "old_path"),
    content.Fragment: ("path",),
    content.Location: ("path",),
    dialect.CreateTerminal: ("cwd",),
    ev.FileReadAsked: ("path",),
    ev.FileWriteAsked: ("path",),
    FilePatch: ("old_path", "new_path"),
    updates.SubagentPatched: ("cwd",),
    updates.TerminalPatched: ("cwd",),
}
URIS: Final[Mapping[type, tuple[str, ...]]] = {
    content.Media: ("uri",),
    content.Resource: ("uri",),
    content.ResourceLink: ("uri",),
}
# Folders that are compared with others, and so have one spelling, mapped or not.
_FOLDERS: Final = (asks.KnownSession, asks.ListSessions, asks.Opening)


class Crossing:
    """The border of one agent. ``find`` looks programs up where the agent would."""

    def __init__(self, agent: str, paths: PathMap, find: Find) -> None:
        self._agent = agent
        self._paths = paths
        self._find = find

    def outwards(self, ask: Ask) -> tuple[Ask, tuple[ev.LeftOut, ...]]:
        """An ask in the agent's words, and what of it had to be left out."""
        if isinstance(ask, asks.Prompt) and not self._paths:
            return ask, ()
        left_out: tuple[ev.LeftOut, ...] = ()
        if isinstance(ask, asks.NewSession | asks.ResumeSession | asks.ForkSession):
            opening, left_out = self._with_programs(ask.opening)
            ask = replace(ask, opening=opening)
        moved = _moved(ask, self._paths.to_agent, self._paths.uri_to_agent)
        return moved, left_out

    def answer(self, answer: A) -> A:
        """An answer in the agent's words; only the reason of a failure has paths in it."""
        if not self._paths or not isinstance(answer, asks.Failure):
            return answer
        return replace(answer, message=self._paths.text_to_agent(answer.message))

    def inwards(self, told: T) -> T:
        """What an agent told, in the editor's words; what it was made from stays (``raw``)."""
        if not self._paths and not isinstance(told, ev.Replied):
            return told
        moved: T = _moved(told, self._paths.to_editor, self._paths.uri_to_editor)
        return moved

    def _with_programs(self, opening: Opening) -> tuple[Opening, tuple[ev.LeftOut, ...]]:
        if self._paths:
            # The programs are on another machine, where only the agent can look.
            return opening, ()
        servers: list[McpServer] = []
        left_out: list[ev.LeftOut] = []
        for server in opening.mcp_servers:
            if server.kind != "stdio":
                servers.append(server)
                continue
            program = self._find(server.command, opening.cwd, dict(server.env))
            if program is None:
                what = f"the program {server.command!r} of the MCP server {server.name!r}"
                left_out.append(ev.LeftOut(self._agent, f"{what} was not found, so it is left out"))
            else:
                servers.append(replace(server, command=program))
        return replace(opening, mcp_servers=tuple(servers)), tuple(left_out)


def _moved(value: Any, path: Move, uri: Move) -> Any:
    """The value with every path and URI in it moved; itself, where there is nothing to move."""
    if isinstance(value, tuple):
        items = tuple(_moved(item, path, uri) for item in value)
        changed = any(new is not old for new, old in zip(items, value, strict=True))
        return items if changed else value
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kind = type(value)
    in_path = _normally(path) if kind in _FOLDERS else path
    changes = {}
    for field in fields(value):
        old = getattr(value, field.name)
        if field.name in PATHS.get(kind, ()):
            new = _each(old, in_path)
        elif field.name in URIS.get(kind, ()):
            new = _each(old, uri)
        else:
            new = _moved(old, path, uri)
        if new is not old:
            changes[field.name] = new
    return replace(value, **changes) if changes else value


def _each(value: Any, move: Move) -> Any:
    if isinstance(value, tuple):
        return tuple(map(move, value))
    return move(value) if isinstance(value, str) else value


def _normally(move: Move) -> Move:
    return lambda path: normal(move(path))
