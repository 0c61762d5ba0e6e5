"""``acpls agents list`` and ``show``: what is configured, what is known, and what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acpls.catalog import dated, known_entries, shell_line, toml_table, toml_value
from acpls.console.config import read_config
from acpls.console.hiding import HIDDEN, Hiding
from acpls.console.program import found, would_download
from acpls.console.words import note, say, say_block, say_json, table
from acpls.settings.model import DEFAULT_MAX_LINE_BYTES

if TYPE_CHECKING:
    from acpls.catalog import Entry
    from acpls.console.config import Config
    from acpls.session.asks import McpServer
    from acpls.settings import AgentSpec

NOT_FOUND = "not found"


def show_all(*, as_json: bool) -> int:
    """List the agents of the settings, then the known ones that are not among them."""
    config = read_config()
    rest = {n: e for n, e in known_entries().items() if n not in config.settings.agents}
    if as_json:
        say_json(
            {
                "config": str(config.path),
                "configured": [_configured(config, name) for name in config.settings.agents],
                "known": [_known(entry) for entry in rest.values()],
                "knownAsOf": dated(),
            }
        )
        return 0
    tell_problems(config)
    hiding = Hiding()
    say(f"Configured in {hiding.path(str(config.path))}:")
    rows = [("  NAME", "TITLE", "PROGRAM", "STARTED AS")]
    for name in config.settings.agents:
        it = _configured(config, name)
        mark = "* " if it["default"] else "  "
        program = hiding.path(it["program"] or NOT_FOUND)
        rows.append((mark + name, it["title"], program, it["line"]))
    for line in table(rows):
        say(line)
    say("  * takes new sessions")
    say()
    say(f"Known, as of {dated()}; `acpls agents add NAME` adds one:")
    rows = [("  NAME", "TITLE", "HERE", "STARTED AS")]
    for name, entry in rest.items():
        here, spec = _available(entry)
        rows.append((f"  {name}", entry.title, here, shell_line([spec.command, *spec.args])))
    for line in table(rows):
        say(line)
    return 0


def show(name: str, *, as_json: bool) -> int:
    """Show one agent as it is in effect, or as it is known. Raises ``Misuse``."""
    config = read_config()
    known = next((e for e in known_entries().values() if name in {e.id, e.registry}), None)
    if name not in config.settings.agents and known is not None:
        return _show_known(known, as_json=as_json)
    spec = config.spec(name)
    if as_json:
        say_json(_configured(config, name) | {"settings": entry_of(spec, Hiding(spec))})
        return 0
    tell_problems(config)
    hiding = Hiding(spec)
    it = _configured(config, name)
    say(f"{name}: {it['title']}" + (" (takes new sessions)" if it["default"] else ""))
    entry = entry_of(spec, hiding)
    rows = [("  program", hiding.path(it["program"] or NOT_FOUND), "")]
    for key, value in entry.items():
        source = config.source(name, key)
        for at, (label, line) in enumerate(_lines_of(key, value)):
            rows.append((f"  {label}", line, "" if at else f"({source})"))
    for line in table(rows):
        say(line)
    if would_download(spec):
        say("  Its first start may download it.")
    if known is not None:
        say(f"  As of {dated()}: {known.remark}.")
    say()
    say_block(toml_table(name, entry))
    return 0


def tell_problems(config: Config) -> None:
    """Say what is wrong with the settings."""
    for problem in config.problems():
        note(problem)


def entry_of(spec: AgentSpec, hiding: Hiding | None = None) -> dict[str, Any]:
    """An agent's settings as they stand in a file; with ``hiding`` without its secrets."""
    hide = hiding is not None
    prompt = spec.system_prompt
    entry: dict[str, Any] = {
        "command": spec.command,
        "args": hiding.args(spec.args) if hiding is not None else list(spec.args),
        "env": dict.fromkeys(spec.env, HIDDEN) if hide else dict(spec.env),
        "cwd": spec.cwd,
        "protocol": None if spec.protocol == "auto" else spec.protocol,
        "maxLineBytes": spec.max_line_bytes,
        "authMethod": spec.auth_method,
        "options": dict(spec.options),
        "pathMap": dict(spec.path_map),
        "mcpServers": {server.name: _server(server, hiding) for server in spec.mcp_servers},
        "systemPrompt": None if prompt is None else {"mode": prompt.mode, "text": prompt.text},
    }
    if spec.max_line_bytes == DEFAULT_MAX_LINE_BYTES:
        del entry["maxLineBytes"]
    return {key: value for key, value in entry.items() if value not in (None, [], {})}


def _server(server: McpServer, hiding: Hiding | None) -> dict[str, Any]:
    env, headers = dict(server.env), dict(server.headers)
    entry: dict[str, Any] = {"type": server.kind}
    entry["command"] = server.command
    entry["args"] = list(server.args) if hiding is None else hiding.args(server.args)
    entry["env"] = env if hiding is None else dict.fromkeys(env, HIDDEN)
    entry["url"] = server.url if hiding is None else hiding.text(server.url)
    entry["headers"] = headers if hiding is None else dict.fromkeys(headers, HIDDEN)
    return {key: value for key, value in entry.items() if value not in ("", [], {})}


def title_of(name: str, spec: AgentSpec) -> str:
    """What people call an agent, as far as that is known before it was started."""
    known = known_entries().get(name)
    if known is not None:
        return known.title
    return "the demo agent" if spec.args[-1:] == ("demo-agent",) else ""


def _configured(config: Config, name: str) -> dict[str, Any]:
    spec = config.settings.agents[name]
    line = shell_line([spec.command, *Hiding(spec).args(spec.args)])
    return {
        "name": name,
        "title": title_of(name, spec),
        "default": name == config.settings.default_agent,
        "program": found(spec),
        "line": line,
        "source": config.source(name),
        "mayDownload": would_download(spec),
    }


def _known(entry: Entry) -> dict[str, Any]:
    ways = [
        {
            "kind": way.kind,
            "program": found(way.spec),
            "line": shell_line([way.spec.command, *way.spec.args]),
        }
        for way in entry.ways
    ]
    return {
        "name": entry.id,
        "title": entry.title,
        "version": entry.version,
        "protocols": list(entry.protocols),
        "remark": entry.remark,
        "ways": ways,
    }


def _available(entry: Entry) -> tuple[str, AgentSpec]:
    """How an entry could be started here, and by what."""
    for way in entry.ways:
        if found(way.spec) is not None:
            return ("on PATH" if way.kind == "program" else f"by {way.kind}"), way.spec
    return NOT_FOUND, entry.ways[0].spec


def _show_known(entry: Entry, *, as_json: bool) -> int:
    if as_json:
        say_json(_known(entry))
        return 0
    say(f"{entry.id}: {entry.title}; known as of {dated()}, not in your settings")
    rows = [("  measured", f"version {entry.version}, ACP {_and(entry.protocols)}")]
    rows.append(("  remark", entry.remark))
    for way in entry.ways:
        program = Hiding().path(found(way.spec) or NOT_FOUND)
        line = shell_line([way.spec.command, *way.spec.args])
        rows.append((f"  {way.kind}", f"{line} ({way.spec.command}: {program})"))
    for line in table(rows):
        say(line)
    say()
    say_block(toml_table(entry.id, entry_of(entry.ways[0].spec)))
    return 0


def _lines_of(key: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [
            (f"{key}.{name}", part if isinstance(part, str) else toml_value(part))
            for name, part in value.items()
        ]
    return [(key, shell_line(value) if isinstance(value, list) else str(value))]


def _and(numbers: tuple[int, ...]) -> str:
    return " and ".join(map(str, numbers))
