"""``acpls agents add``: one more table at the end of the user's ``config.toml``.

Invariant: every byte that stood in the file stands there afterwards, and the file is either
as it was or complete.
"""

from __future__ import annotations

import difflib
import json
import os
import platform
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.catalog import dated, known_entries, read_registry, shell_line, toml_table
from acpls.console.config import config_path
from acpls.console.hiding import Hiding
from acpls.console.listing import entry_of
from acpls.console.program import found
from acpls.console.words import Misuse, note, plain, say, say_block, table
from acpls.settings.layers import nested

if TYPE_CHECKING:
    from acpls.catalog import Entry, Way

_MAX_FILE_BYTES = 8 * 1024 * 1024
_OS = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}
_MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}


def add(what: str, name: str | None, wanted: str | None, *, yes: bool) -> int:
    """Add the agent ``what``: a known one, or one of a registry file. Raises ``Misuse``."""
    entry = _known(what)
    if entry is None:
        entries = _of_file(what)
        chosen = _chosen(entries, wanted)
        if chosen is None:
            _list(entries)
            return 2
        entry = chosen
    elif wanted is not None:
        raise Misuse("--id chooses from a file, and this is none")
    way = _way(entry)
    return 1 if way is None else _append(entry.id if name is None else name, way, yes=yes)


def platform_name() -> str:
    """Our platform, as registries write it."""
    machine = platform.machine().lower()
    return f"{_OS.get(platform.system(), 'other')}-{_MACHINE.get(machine, machine)}"


# --- which one -------------------------------------------------------------------------


def _known(what: str) -> Entry | None:
    return next((e for e in known_entries().values() if what in {e.id, e.registry}), None)


def _of_file(what: str) -> tuple[Entry, ...]:
    path = Path(what).expanduser()
    try:
        with path.open("rb") as file:
            raw = json.loads(_short(file.read(_MAX_FILE_BYTES + 1)))
    except FileNotFoundError:
        near = difflib.get_close_matches(what, known_entries(), n=1)
        hint = f'did you mean "{near[0]}"?' if near else "`acpls agents list` has those known"
        raise Misuse(f'"{what}" is neither a known agent nor a file; {hint}') from None
    except (OSError, ValueError, RecursionError) as wrong:
        raise Misuse(f"{path} cannot be read as JSON: {str(wrong)[:200]}") from None
    entries, problems = read_registry(raw, platform_name())
    for problem in problems:
        note(f"{path}: {problem}")
    if not entries:
        raise Misuse(f"{path} holds no agent that can be used")
    return entries


def _short(content: bytes) -> bytes:
    if len(content) > _MAX_FILE_BYTES:
        raise ValueError(f"it is larger than {_MAX_FILE_BYTES} bytes")
    return content


def _chosen(entries: tuple[Entry, ...], wanted: str | None) -> Entry | None:
    if wanted is None:
        return entries[0] if len(entries) == 1 else None
    for entry in entries:
        if entry.id == wanted:
            return entry
    raise Misuse(f'the file has no agent "{wanted}"')


def _list(entries: tuple[Entry, ...]) -> None:
    rows = [("ID", "TITLE", "VERSION", "STARTED AS")]
    for entry in entries:
        line = "; ".join(entry.problems)
        if entry.ways:
            spec = entry.ways[0].spec
            line = shell_line([spec.command, *Hiding(spec).args(spec.args)])
        rows.append((entry.id, entry.title, entry.version, line))
    for line in table(rows):
        say(line)
    note("The file has several agents: choose one with --id ID.")


def _way(entry: Entry) -> Way | None:
    """The first way whose program is here; says what is missing when there is none."""
    for way in entry.ways:
        if found(way.spec) is not None:
            return way
    note(f"{entry.title} cannot be started here:")
    for way in entry.ways:
        note(f"  {way.spec.command} is not on PATH ({shell_line(_argv(way))})")
    for problem in entry.problems:
        note(f"  {problem}")
    note("Archives are not downloaded. Install one of these programs, then add it again.")
    return None


def _argv(way: Way) -> list[str]:
    return [way.spec.command, *way.spec.args]


# --- the file --------------------------------------------------------------------------


def _append(name: str, way: Way, *, yes: bool) -> int:
    path = config_path()
    entry = entry_of(way.spec)
    snippet = toml_table(name, entry)
    try:
        before = path.read_bytes() if path.exists() else b""
        after = _appended(before, name, snippet, entry)
    except (OSError, ValueError) as wrong:
        note(f"{path} is left as it is: {wrong}")
        note("This is what was to be added:")
        say_block(snippet)
        return 1
    say_block(snippet)
    if way.kind != "program":
        note(f"{way.spec.command} downloads this package when the agent is first started.")
    if not yes and not _agreed(path):
        return 2
    try:
        _replace(path, after)
    except OSError as wrong:
        note(f"{path} is left as it is: {wrong}")
        return 1
    note(f"Added to {path}. `acpls doctor {shell_line([name])}` tries it.")
    if _known(name) is not None:
        note(f"What is known of it is as of {dated()}.")
    return 0


def _appended(before: bytes, name: str, snippet: str, entry: dict[str, Any]) -> bytes:
    """The new bytes of the file. Raises ``ValueError`` when they would mean something else."""
    if not name or plain(name) != name:
        raise ValueError("an agent needs a name that can be printed")
    text = before.decode()
    old = tomllib.loads(text)
    agents = nested(old).get("agents", {})
    if not isinstance(agents, dict):
        raise ValueError("agents is no table there")  # noqa: TRY004  the file's value is wrong
    if name in agents:
        raise ValueError(f'it has an agent "{name}" already; --as gives this one another name')
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else 2 * newline
    after = text + gap + snippet.replace("\n", newline)
    try:
        new = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        new = {}
    if new != {**old, "agents": {**old.get("agents", {}), name: entry}}:
        raise ValueError("its agents are written so that no table can be added at its end")
    return after.encode()


def _agreed(path: Path) -> bool:
    if not sys.stdin.isatty():
        note(f"Nothing was added to {path}: --yes adds it without asking.")
        return False
    note(f"Add this to {path}? [y/N] ", stays=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _replace(path: Path, content: bytes) -> None:
    # A file that is kept elsewhere and linked to stays so.
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            new.chmod(target.stat().st_mode & 0o7777)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
