"""The rules for permissions that stand in the settings: entries checked one by one.

Invariant: a rule with anything wrong in it is left out as a whole, since what is left of it
would be about more than the user meant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from acpls.text import globs

Decision: TypeAlias = Literal["allow", "ask", "deny"]

KINDS: Final = (
    *("read", "edit", "delete", "move", "search", "execute", "think", "fetch"),
    *("switch_mode", "other"),
)
"""The kinds of tools in ACP; agents may have others, whose names begin with ``_``."""

_DECISIONS: Final = ("allow", "ask", "deny")
_FIELDS: Final = ("decision", "agent", "kind", "tool", "path", "command", "mode")
_RULES_LIMIT: Final = 1000
_LENGTH_LIMIT: Final = 2000

NOT_STOPPED: Final = "NOT stopped"
"""How a problem says that something the user wanted stopped is not."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is to become of a permission that an agent asks for; ``None``: whatever it is.

    ``agent`` is a name of the settings, ``kind`` and ``mode`` are words of ACP and of the
    agent; ``tool`` and ``command`` are globs of any text, ``path`` is one of paths.
    """

    decision: Decision
    agent: str | None = None
    kind: str | None = None
    tool: str | None = None
    path: str | None = None
    command: str | None = None
    mode: str | None = None

    @property
    def text(self) -> str:
        """The rule in words, one line."""
        about = {
            "of": self.agent,
            "kind": self.kind,
            "tool": self.tool,
            "path": self.path,
            "command": self.command,
            "in mode": self.mode,
        }
        said = " ".join(f"{word} {value}" for word, value in about.items() if value is not None)
        return " ".join(f"{self.decision} {said or 'everything'}".split())


def usable(raw: object, place: str, problems: list[str]) -> tuple[Rule, ...]:
    """The rules of one layer, in their order; what is wrong with the others goes to
    ``problems``, a line for each.
    """
    if not isinstance(raw, list):
        problems.append(f"{place} must be a list of rules; none of it applies")
        return ()
    if len(raw) > _RULES_LIMIT:
        problems.append(f"{place} has more than {_RULES_LIMIT} rules; those after are left out")
    rules: list[Rule] = []
    for at, entry in enumerate(raw[:_RULES_LIMIT]):
        where = f"{place}[{at}]"
        problem = _problem(entry, where)
        if problem is None:
            rules.append(Rule(**{key: x for key, x in entry.items() if x is not None}))
        else:
            problems.append(f"{problem}; {_outcome(entry)}")
    return tuple(rules)


def is_absolute(glob: str) -> bool:
    """Whether a glob of paths names them from the root, or from the user's home, on."""
    return re.match(r"/|~(?:[/\\]|$)|[A-Za-z]:[\\/]|\\\\", glob) is not None


def slashed(path: str) -> str:
    r"""A path, or a glob of paths, with slashes; on POSIX ``\`` belongs to a name."""
    on_windows = re.match(r"[A-Za-z]:[\\/]|\\\\|~\\", path)
    return path.replace("\\", "/") if on_windows else path


def _outcome(entry: object) -> str:
    decision = entry.get("decision") if isinstance(entry, Mapping) else None
    if decision == "allow":
        return "the rule is left out"
    # Nobody may think that it still protects him.
    return f"the rule is left out, and what it was to stop is {NOT_STOPPED} by it"


def _problem(entry: object, where: str) -> str | None:
    """What is wrong with an entry first of all, with the name of the field."""
    if not isinstance(entry, Mapping):
        return f"{where} must be an object"
    for key in entry:
        if key not in _FIELDS:
            name = "".join(x if x.isprintable() else "?" for x in str(key))[:40]
            near = difflib.get_close_matches(str(key).lower(), _FIELDS, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            return f"{where}.{name} is no field of a rule{hint}"
    if entry.get("decision") not in _DECISIONS:
        return f'{where}.decision must be "allow", "ask" or "deny"'
    for key in _FIELDS:
        value = entry.get(key)
        wanted = None if value is None else _wanted(key, value)
        if wanted is not None:
            return f"{where}.{key} must be {wanted}"
    return None


def _wanted(key: str, value: Any) -> str | None:
    """What a field must be, if it is not."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return "a string that is not empty"
    if len(value) > _LENGTH_LIMIT:
        return f"at most {_LENGTH_LIMIT} characters long"
    if key == "kind" and value not in KINDS and not value.startswith("_"):
        near = difflib.get_close_matches(value.lower(), KINDS, n=1)
        return f"one of {', '.join(KINDS)}" if not near else f'a kind such as "{near[0]}"'
    if key == "path":
        parts = slashed(value).removeprefix("~").lstrip("/").split("/")
        if not {"..", ".", ""}.isdisjoint(parts) and parts != [""]:
            return 'a glob without parts such as "..", "." or none'
        try:
            globs.of_path("/".join(parts))
        except ValueError:
            return "a glob with all its brackets closed"
    return None
