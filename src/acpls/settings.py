"""The user's settings: raw layers in, one frozen model and its warnings out.

Keys are camelCase outside and snake_case inside; docs/protocol.md has the table. What is
wrong in a layer is left out of it, so that the layer below, or the default, shows through.

Invariant: pure, and quick to import, since every start of the server waits for it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_MAX_LINE_BYTES = 32 * 1024 * 1024
DEMO_AGENT: Final = "demo"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """How an agent is started: a program and its arguments, never a shell line."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    protocol: Literal["auto", 1, 2] = "auto"
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user wants, checked.

    ``agents`` has at least one entry and ``default_agent`` is one of its keys.
    ``dialogs``: may questions be put in dialogs (``"auto"``: where the editor
    is known to take them well). ``idle_seconds``: how long the user must rest
    before the editor is moved. ``cancel_seconds``: after this an unconfirmed
    cancel is shown. ``client``: capabilities and quirks forced on or off, by name.
    """

    agents: Mapping[str, AgentSpec]
    default_agent: str
    dialogs: Literal["auto"] | bool = "auto"
    follow_on: bool = False
    idle_seconds: float = 2.0
    cancel_seconds: float = 10.0
    client: Mapping[str, bool] = field(default_factory=dict)


def parse(layers: Sequence[object], default_agent: AgentSpec) -> tuple[Settings, tuple[str, ...]]:
    """Check and join raw settings, lowest precedence first.

    A layer is decoded JSON or TOML: an object, or ``None`` where there is none; ``null``
    in it means "not set". Objects are joined key by key, everything else is replaced
    whole. A top-level key may be dotted (``"follow.on"``). ``default_agent`` serves under
    the name ``demo`` when no usable agent is configured, and lends an agent of that name
    what its entry leaves out. Nothing is expanded: ``$NAME`` stays as written.

    Also gives the warnings, one line each, each one once.
    """
    problems: list[str] = []
    joined: dict[str, Any] = {}
    for layer in layers:
        nested = _nested(layer) if isinstance(layer, Mapping) else layer
        joined = _joined(joined, _usable(nested, _KEYS, "", problems) or {})
    agents = dict(_agents(joined.get("agents", {}), default_agent, problems))
    if not agents:
        agents = {DEMO_AGENT: default_agent}
    chosen = _default_agent(joined.get("defaultAgent"), agents, problems)
    given = {
        name: joined[section][key]
        for name, (section, key) in _FIELDS.items()
        if key in joined.get(section, {})
    }
    settings = Settings(agents, chosen, client=joined.get("client", {}), **given)
    return settings, tuple(dict.fromkeys(problems))


# --- what there is to set ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Value:
    """A setting with a value of its own; ``wanted`` completes "must be ..."."""

    wanted: str
    fits: Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class _Each:
    """An object whose keys are names that the user chooses."""

    of: _Node
    wanted: str
    fits: Callable[[object], bool]


# ``None`` stands for a key that is documented and has no effect yet.
_Node: TypeAlias = "_Value | _Each | Mapping[str, _Node] | None"


def _is_text(value: object) -> bool:
    # No program can be given a NUL in its arguments or environment.
    return isinstance(value, str) and "\0" not in value


def _is_word(value: object) -> bool:
    return _is_text(value) and bool(str(value).strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in value)


def _is_variable(value: object) -> bool:
    return _is_word(value) and "=" not in str(value)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_protocol(value: object) -> bool:
    # ``True == 1`` in Python, and ``1.0 == 1``; neither names a protocol version.
    return value == "auto" or (type(value) is int and value in {1, 2})


def _is_limit(value: object) -> bool:
    return type(value) is int and value > 0


def _is_seconds(value: object) -> bool:
    # TOML knows ``inf`` and ``nan``.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0


_WORD = _Value("a string that is not empty", _is_word)
_SWITCH = _Value("true or false", _is_switch)
_SECONDS = _Value("a number of seconds, 0 or more", _is_seconds)
_TEXT = _Value("a string", _is_text)

_AGENT: Final[Mapping[str, _Node]] = {
    "command": _WORD,
    "args": _Value("a list of strings", _is_texts),
    "env": _Each(_TEXT, "named like an environment variable", _is_variable),
    "cwd": _WORD,
    "protocol": _Value('"auto", 1 or 2', _is_protocol),
    "maxLineBytes": _Value("a whole number of bytes, 1 or more", _is_limit),
    "authMethod": None,
    "mcpServers": None,
    "options": None,
    "pathMap": None,
    "systemPrompt": None,
}

_KEYS: Final[Mapping[str, _Node]] = {
    "agents": _Each(_AGENT, "named by a string that is not empty", _is_word),
    "defaultAgent": _WORD,
    "questions": {
        "dialogs": _Value('"auto", true or false', lambda v: v == "auto" or _is_switch(v)),
    },
    "follow": {"on": _SWITCH, "idleSeconds": _SECONDS},
    "session": {"cancelSeconds": _SECONDS},
    "client": _Each(_SWITCH, "named by a string that is not empty", _is_word),
    "environment": {"loginShell": None},
    "mcpServers": None,
    "permissions": {"rules": None},
    "prompt": {"unsaved": None},
    "records": {"on": None},
    "review": {"mode": None},
}

# Where the simple fields of ``Settings`` stand.
_FIELDS: Final = {
    "dialogs": ("questions", "dialogs"),
    "follow_on": ("follow", "on"),
    "idle_seconds": ("follow", "idleSeconds"),
    "cancel_seconds": ("session", "cancelSeconds"),
}


# --- one layer -----------------------------------------------------------------------


def _usable(raw: object, node: _Node, path: str, problems: list[str]) -> Any:
    """Give the part of a raw value that can be used; ``None``: nothing of it."""
    if raw is None:
        return None
    if node is None:
        problems.append(f"{path} has no effect in this version")
        return None
    if isinstance(node, _Value):
        if node.fits(raw):
            return raw
        problems.append(f"{path} must be {node.wanted}; it is ignored")
        return None
    if not isinstance(raw, Mapping):
        problems.append(f"{path or 'the settings'} must be an object; ignored")
        return None
    taken = {}
    for key, value in raw.items():
        place = _place(path, key)
        if isinstance(node, _Each):
            if not node.fits(key):
                problems.append(f"{place} must be {node.wanted}; it is ignored")
                continue
            below = node.of
        elif key in node:
            below = node[key]
        else:
            problems.append(_unknown(key, node, path))
            continue
        part = _usable(value, below, place, problems)
        if part is not None:
            taken[key] = part
    return taken


def _nested(layer: Mapping[str, object]) -> dict[str, Any]:
    """Unfold dotted keys, as editors with flat settings write them."""
    nested: dict[str, Any] = {}
    for key, value in layer.items():
        # No setting lies deeper than ``agents.NAME.env.NAME``.
        head, *rest = str(key).split(".", 3)
        part: object = value
        for name in reversed(rest):
            part = {name: part}
        nested = _joined(nested, {head: part})
    return nested


def _joined(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one object over another, key by key."""
    joined = dict(low)
    for key, value in high.items():
        below = joined.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            joined[key] = _joined(below, value)
        else:
            joined[key] = value
    return joined


# --- the words of warnings -----------------------------------------------------------


def _place(path: str, key: object) -> str:
    # A key is the user's text: it may be long, and a warning is one short line.
    name = "".join(letter if letter.isprintable() else "?" for letter in str(key))[:40] or '""'
    return f"{path}.{name}" if path else name


def _unknown(key: object, node: Mapping[str, _Node], path: str) -> str:
    place = _place(path, key)
    # Beside it first; then anywhere, for a key that was put at the wrong level.
    beside = {_plain(name): _place(path, name) for name in node}
    anywhere = {_plain(name.rpartition(".")[2]): name for name in _dotted(_KEYS)}
    for names in (beside, anywhere):
        near = difflib.get_close_matches(_plain(str(key)), names, n=1)
        if near:
            return f'unknown setting "{place}"; did you mean "{names[near[0]]}"?'
    return f'unknown setting "{place}"; it is ignored'


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _dotted(node: Mapping[str, _Node], path: str = "") -> Iterator[str]:
    for name, below in node.items():
        place = _place(path, name)
        yield place
        if isinstance(below, Mapping):
            yield from _dotted(below, place)


# --- the joined layers ---------------------------------------------------------------


def _agents(
    entries: Mapping[str, Mapping[str, Any]], default_agent: AgentSpec, problems: list[str]
) -> Iterator[tuple[str, AgentSpec]]:
    for name, entry in entries.items():
        place = _place("agents", name)
        wanted = _fields(entry)
        if "args" in wanted:
            wanted["args"] = tuple(wanted["args"])
        if "command" not in wanted:
            if name == DEMO_AGENT:
                yield name, replace(default_agent, **wanted)
            else:
                problems.append(f"{place}.command is missing; the agent is left out")
            continue
        if _is_shell_line(wanted["command"]):
            problems.append(f"{place}.command is one program; put its arguments in args")
        yield name, AgentSpec(**wanted)


def _is_shell_line(command: str) -> bool:
    """Tell whether the spaces seem to divide arguments, not to belong to a path."""
    first, *rest = command.split()
    if not rest:
        return False
    in_a_folder = "/" in first or "\\" in first
    return not in_a_folder or any(word.startswith(("-", "/")) for word in rest)


def _default_agent(wanted: str | None, agents: Mapping[str, AgentSpec], problems: list[str]) -> str:
    if wanted in agents:
        return str(wanted)
    first = next(iter(agents))
    if wanted is not None:
        near = difflib.get_close_matches(wanted, agents, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f'"{first}" is used'
        problems.append(f"defaultAgent is none of agents; {hint}")
    return first


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give an agent's values under the names of ``AgentSpec``."""
    return {_snake(key): value for key, value in entry.items()}


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
