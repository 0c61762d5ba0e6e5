"""The agents of the joined settings, and what their sessions are opened with."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from acpls.session.asks import McpServer, SystemPrompt
from acpls.settings.layers import joined, place_of
from acpls.settings.model import AgentSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Raw = Mapping[str, Any]

# Fields whose values are taken as they are.
_PLAIN: Final = {
    "command": "command",
    "env": "env",
    "cwd": "cwd",
    "protocol": "protocol",
    "maxLineBytes": "max_line_bytes",
    "options": "options",
    "authMethod": "auth_method",
}


def agents(
    entries: Mapping[str, Raw],
    servers: Mapping[str, Raw],
    known: Mapping[str, AgentSpec],
    problems: list[str],
) -> Iterator[tuple[str, AgentSpec]]:
    """The usable agents by name. ``servers`` are the MCP servers of all of them; ``known``
    lends what an entry of the same name leaves out.
    """
    for name, entry in entries.items():
        place = place_of("agents", name)
        wanted = {ours: entry[key] for key, ours in _PLAIN.items() if key in entry}
        if "args" in entry:
            wanted["args"] = tuple(entry["args"])
        if "pathMap" in entry:
            wanted["path_map"] = tuple(entry["pathMap"].items())
        if "systemPrompt" in entry:
            wanted["system_prompt"] = _system_prompt(entry["systemPrompt"])
        own = joined(servers, entry.get("mcpServers", {}))
        wanted["mcp_servers"] = tuple(_servers(own, f"{place}.mcpServers", problems))
        if "command" in wanted:
            if _is_shell_line(wanted["command"]):
                problems.append(f"{place}.command is one program; put its arguments in args")
            yield name, AgentSpec(**wanted)
        elif name in known:
            yield name, replace(known[name], **wanted)
        else:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean agents.{near[0]}?" if near else ""
            problems.append(f"{place}.command is missing; the agent is left out{hint}")


def default_agent(
    wanted: str | None, configured: Mapping[str, AgentSpec], problems: list[str]
) -> str:
    """The agent of a new session; the first one where the wanted one is not there."""
    if wanted in configured:
        return str(wanted)
    first = next(iter(configured))
    if wanted is not None:
        near = difflib.get_close_matches(wanted, configured, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f'"{first}" is used'
        problems.append(f"defaultAgent is none of agents; {hint}")
    return first


def _system_prompt(given: str | Raw) -> SystemPrompt:
    if isinstance(given, str):
        return SystemPrompt("append", given)
    return SystemPrompt(given["mode"], given["text"])


def _servers(entries: Mapping[str, Raw], place: str, problems: list[str]) -> Iterator[McpServer]:
    for name, entry in entries.items():
        if not entry.get("enabled", True):
            continue
        problem = _problem(entry)
        if problem is not None:
            problems.append(f"{place_of(place, name)} {problem}; it is left out")
            continue
        yield McpServer(
            name,
            entry.get("type", "stdio" if "command" in entry else "http"),
            command=entry.get("command", ""),
            args=tuple(entry.get("args", ())),
            env=tuple(entry.get("env", {}).items()),
            url=entry.get("url", ""),
            headers=tuple(entry.get("headers", {}).items()),
        )


def _problem(entry: Raw) -> str | None:
    has_command, has_url = "command" in entry, "url" in entry
    if has_command == has_url:
        return "must have a command or a url" + (", not both" if has_url else "")
    local = entry.get("type", "stdio" if has_command else "http") == "stdio"
    if local != has_command:
        return f"is of type {entry['type']} and must have a {'command' if local else 'url'}"
    return None


def _is_shell_line(command: str) -> bool:
    """Tell whether the spaces seem to divide arguments, not to belong to a path."""
    first, *rest = command.split()
    if not rest:
        return False
    in_a_folder = "/" in first or "\\" in first
    return not in_a_folder or any(word.startswith(("-", "/")) for word in rest)
