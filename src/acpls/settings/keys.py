"""What there is to set: every key, and what its value must be.

Invariant: docs/protocol.md lists the same keys, which a test compares.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from acpls.settings import rules


@dataclass(frozen=True, slots=True)
class Value:
    """A setting with a value of its own; ``wanted`` completes "must be ..."."""

    wanted: str
    fits: Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class Each:
    """An object whose keys are names that the user chooses."""

    of: Node
    wanted: str
    fits: Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class Joined:
    """A list that is looked through item by item, and of which each layer has a part.

    ``usable`` gives what can be used of one layer's value, which stands at the given place,
    and puts what is wrong with the rest into the list of problems.
    """

    usable: Callable[[object, str, list[str]], tuple[object, ...]]


# ``None`` stands for a key that is documented and has no effect yet.
Node: TypeAlias = "Value | Each | Joined | Mapping[str, Node] | None"


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


def _is_auto_or_switch(value: object) -> bool:
    return value == "auto" or _is_switch(value)


def _is_option(value: object) -> bool:
    return _is_text(value) or _is_switch(value)


def _is_absolute(value: object) -> bool:
    return _is_word(value) and re.match(r"/|[A-Za-z]:[\\/]|\\\\", str(value)) is not None


def _is_system_prompt(value: object) -> bool:
    if isinstance(value, Mapping):
        known = set(value) == {"mode", "text"} and value["mode"] in ("append", "override")
        return known and _is_word(value["text"])
    return _is_word(value)


_WORD = Value("a string that is not empty", _is_word)
_SWITCH = Value("true or false", _is_switch)
_SECONDS = Value("a number of seconds, 0 or more", _is_seconds)
_TEXT = Value("a string", _is_text)
_TEXTS = Value("a list of strings", _is_texts)
_AUTO = Value('"auto", true or false', _is_auto_or_switch)
_NAMED = "named by a string that is not empty"
_ENV = Each(_TEXT, "named like an environment variable", _is_variable)

_MCP_SERVERS: Final = Each(
    {
        "command": _WORD,
        "args": _TEXTS,
        "env": _ENV,
        "url": _WORD,
        "type": Value('"stdio", "http" or "sse"', lambda v: v in ("stdio", "http", "sse")),
        "headers": Each(_TEXT, _NAMED, _is_word),
        "enabled": _SWITCH,
    },
    _NAMED,
    _is_word,
)

_AGENT: Final[Mapping[str, Node]] = {
    "command": _WORD,
    "args": _TEXTS,
    "env": _ENV,
    "cwd": _WORD,
    "protocol": Value('"auto", 1 or 2', _is_protocol),
    "maxLineBytes": Value("a whole number of bytes, 1 or more", _is_limit),
    "authMethod": _WORD,
    "mcpServers": _MCP_SERVERS,
    "options": Each(Value("a string, true or false", _is_option), _NAMED, _is_word),
    "pathMap": Each(
        Value("an absolute path of the agent's machine", _is_absolute),
        "an absolute path of the editor's machine",
        _is_absolute,
    ),
    "systemPrompt": Value(
        "a string, or an object with mode (append or override) and text", _is_system_prompt
    ),
}

KEYS: Final[Mapping[str, Node]] = {
    "agents": Each(_AGENT, _NAMED, _is_word),
    "defaultAgent": _WORD,
    "questions": {"dialogs": _AUTO},
    "follow": {"on": _SWITCH, "idleSeconds": _SECONDS},
    "session": {"cancelSeconds": _SECONDS},
    "client": Each(_SWITCH, _NAMED, _is_word),
    "environment": {"loginShell": _AUTO},
    "mcpServers": _MCP_SERVERS,
    "permissions": {"rules": Joined(rules.usable)},
    "prompt": {"unsaved": None},
    "records": {"on": None},
    "review": {
        "mode": Value('"after", "before" or "off"', lambda v: v in ("after", "before", "off")),
        "holdSeconds": _SECONDS,
    },
}
