"""Reading a registry file that the user has: the whole list, or the ``agent.json`` of one.

Archives that an entry names are never fetched: of those, only a program that is on PATH
already is of use.

Invariant: pure, and whatever the file holds is an entry or a problem of one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from acpls.catalog.entries import Entry, Way, npx, uvx
from acpls.settings import AgentSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ID: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_NPM: Final = re.compile(
    r"(@[a-z0-9_~][a-z0-9._~-]*/)?[a-z0-9_~][a-z0-9._~-]*(@[A-Za-z0-9.^~+_-]+)?"
)
_PYTHON: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?((@|===?|~=|!=|[<>]=?)[A-Za-z0-9.*+!_-]+)?"
)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_AGENTS: Final = 1000
_MAX_WORDS: Final = 100
_MAX_CHARACTERS: Final = 1000


class _Wrong(Exception):  # noqa: N818  what is wrong is the file's
    """A part cannot be used; ``str()`` completes "the entry ..."."""


def read_registry(raw: object, platform: str) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Read decoded JSON: a registry (``version`` and ``agents``) or one agent's entry.

    ``platform`` is ours as registries write it: ``linux-x86_64``, ``darwin-aarch64``. Also
    gives the problems of what is no entry at all; those of an entry are its own.
    """
    if not isinstance(raw, Mapping):
        return (), ("the file holds no object",)
    if "agents" not in raw:
        return _entries([raw], platform)
    agents = raw["agents"]
    if not isinstance(agents, list):
        return (), ("agents must be a list",)
    if len(agents) > _MAX_AGENTS:
        return (), (f"agents has more than {_MAX_AGENTS} entries",)
    return _entries(agents, platform)


def _entries(rows: list[Any], platform: str) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    found: dict[str, Entry] = {}
    problems = []
    for at, row in enumerate(rows):
        try:
            entry = _entry(row, platform)
        except _Wrong as wrong:
            problems.append(f"entry {at + 1} {wrong}; it is left out")
            continue
        if entry.id in found:
            problems.append(f"entry {at + 1} has the id {entry.id} again; it is left out")
        else:
            found[entry.id] = entry
    return tuple(found.values()), tuple(problems)


def _entry(row: object, platform: str) -> Entry:
    if not isinstance(row, Mapping):
        raise _Wrong("is no object")
    name = row.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise _Wrong("has no id of small letters, digits and hyphens")
    ways, problems = _ways(row.get("distribution"), platform)
    return Entry(
        name,
        _shown(row.get("name")) or name,
        _shown(row.get("version")),
        ways,
        problems,
        remark=_shown(row.get("description")),
    )


def _ways(given: object, platform: str) -> tuple[tuple[Way, ...], tuple[str, ...]]:
    if not isinstance(given, Mapping) or not given:
        return (), ("it has no distribution",)
    readers: Mapping[str, Callable[[Mapping[str, Any]], Way]] = {
        "binary": lambda part: _binary(part, platform),
        "npx": lambda part: npx(*_package(part, _NPM)),
        "uvx": lambda part: uvx(*_package(part, _PYTHON)),
    }
    ways, problems = [], []
    for kind, read in readers.items():
        if kind not in given:
            continue
        try:
            ways.append(read(_object(given[kind], "is no object")))
        except _Wrong as wrong:
            problems.append(f"{kind} {wrong}")
    problems += [
        f"{_shown(kind) or 'a distribution without a name'} is not known here"
        for kind in list(given)[:_MAX_WORDS]
        if kind not in readers
    ]
    return tuple(ways), tuple(problems)


def _binary(given: Mapping[str, Any], platform: str) -> Way:
    if platform not in given:
        raise _Wrong(f"has nothing for {platform}")
    part = _object(given[platform], f"has no object for {platform}")
    command = part.get("cmd")
    # The archive is not fetched, so its folders mean nothing; the program's name does.
    program = re.sub(r"^\.[/\\]|\.exe$", "", command) if isinstance(command, str) else ""
    if not _PROGRAM.fullmatch(program):
        raise _Wrong("has a cmd that is not the name of a program in the archive's own folder")
    return Way("program", AgentSpec(program, _args(part), _env(part)))


def _package(
    part: Mapping[str, Any], shape: re.Pattern[str]
) -> tuple[str, str | None, tuple[str, ...], dict[str, str]]:
    package = part.get("package")
    if not isinstance(package, str) or len(package) > _MAX_CHARACTERS:
        raise _Wrong("has no package")
    if not shape.fullmatch(package):
        raise _Wrong("has a package that is not a name with a version")
    run = part.get("cmd")
    if run is not None and not (isinstance(run, str) and _PROGRAM.fullmatch(run)):
        raise _Wrong("has a cmd that is not the name of a program")
    return package, run, _args(part), _env(part)


def _args(part: Mapping[str, Any]) -> tuple[str, ...]:
    given = part.get("args", [])
    if not isinstance(given, list) or len(given) > _MAX_WORDS or not all(map(_is_text, given)):
        raise _Wrong("has args that are not a short list of strings")
    return tuple(given)


def _env(part: Mapping[str, Any]) -> dict[str, str]:
    given = part.get("env", {})
    if not isinstance(given, Mapping) or len(given) > _MAX_WORDS:
        raise _Wrong("has an env that is not a small object")
    for name, value in given.items():
        if not (isinstance(name, str) and _VARIABLE.fullmatch(name) and _is_text(value)):
            raise _Wrong("has an env that is not names with strings")
    return dict(given)


def _object(given: object, otherwise: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise _Wrong(otherwise)
    return given


def _is_text(value: object) -> bool:
    """Tell whether this can be an argument of a program, and be written into a file."""
    if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
        return False
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value)


def _shown(value: object) -> str:
    """A text of the file as a short line; nothing where it is none."""
    if not isinstance(value, str):
        return ""
    return "".join(_printable(value[:_MAX_CHARACTERS])).strip()[:120]


def _printable(text: str) -> Iterator[str]:
    for letter in text:
        yield letter if letter.isprintable() else " "
