"""Keeps what the user answered with "always" from one run of the server to the next: a file each.

Plain functions that block; run them in threads. Several servers may share the folder: a rule is
a file of its own, so none of them undoes what another one stores.

Invariant: a file that is damaged, or from a later version, costs what is in it and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acpls.permissions import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILES_LIMIT: Final = 500
"""So many rules are kept; the oldest go first."""
FILE_LIMIT_BYTES: Final = 256 * 1024
"""A larger rule is not kept."""
PATHS_LIMIT: Final = 20_000
"""So many paths are looked up at a time."""

_PART: Final = ".part-"
_DAMAGED: Final = ".damaged"
_ASIDE_LIMIT: Final = 20
# A part that is older was left by a server that died.
_PART_AGE_S: Final = 3600.0
_KEY: Final = re.compile(r"p[0-9a-f]{1,64}")
_FORMAT: Final = 1

_logger = logging.getLogger(__name__)

_Seen = tuple[int, int, int]


class Permits:
    """The rules in ``folder``, which is made when it is needed; for any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._stamp = 0
        self._known: dict[str, tuple[_Seen, Any]] = {}
        self._said: set[str] = set()

    def read(self) -> tuple[tuple[Any, ...] | None, int]:
        """All rules as JSON, ``None`` where the folder cannot be read, and the stamp."""
        with self._lock:
            self._stamp += 1
            try:
                known = dict(self._files())
            except OSError as problem:
                self._say("read", f"{self._folder} cannot be read: {_reason(problem)}")
                return None, self._stamp
            self._known = known
            return tuple(value for _, value in known.values() if value is not None), self._stamp

    def keep(self, key: str, value: Any) -> tuple[str | None, int]:
        """Keep a rule under its key, or (``None``) forget it; why not, if not, and the stamp."""
        with self._lock:
            self._stamp += 1
            try:
                return self._keep(key, value), self._stamp
            except OSError as problem:
                return f"{self._folder}: {_reason(problem)}", self._stamp

    def _keep(self, key: str, value: Any) -> str | None:
        file = self._folder / f"{key}.json"
        if value is None:
            file.unlink(missing_ok=True)
            return None
        data = json.dumps(value, separators=(",", ":")).encode()
        if len(data) > FILE_LIMIT_BYTES:
            return f"it is larger than {FILE_LIMIT_BYTES // 1024} KiB"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Nobody but the user may read or write it: that is what ``mkstemp`` makes.
        number, name = tempfile.mkstemp(dir=self._folder, prefix=_PART)
        part = Path(name)
        try:
            with os.fdopen(number, "wb") as writer:
                writer.write(data)
                writer.flush()
                os.fsync(number)
            part.replace(file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._clear()
        return None

    def _clear(self) -> None:
        """Remove the oldest rules over the limit, and what servers that died left behind."""
        kept = sorted(_dated(self._folder.glob("p*.json")), reverse=True)
        left = _dated(self._folder.glob(f"{_PART}*"))
        now = time.time()
        stale = [part for written_s, part in left if now - written_s > _PART_AGE_S]
        aside = sorted(_dated(self._folder.glob(f"*{_DAMAGED}")), reverse=True)[_ASIDE_LIMIT:]
        for file in (*stale, *(file for _, file in (*kept[FILES_LIMIT:], *aside))):
            with contextlib.suppress(OSError):
                file.unlink()

    def _files(self) -> Iterator[tuple[str, tuple[_Seen, Any]]]:
        try:
            entries = sorted(os.scandir(self._folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries[: 4 * FILES_LIMIT]:
            name = entry.name.removesuffix(".json")
            if name == entry.name or not _KEY.fullmatch(name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
                seen = (status.st_ino, status.st_size, status.st_mtime_ns)
                known = self._known.get(name)
                if known is None or known[0] != seen:
                    known = seen, self._value(Path(entry.path), name)
            except OSError:
                # Another server may have removed it since.
                continue
            yield name, known

    def _value(self, file: Path, key: str) -> Any:
        """The rule in a file; ``None``: there is none that is to be had."""
        with file.open("rb") as opened:
            data = opened.read(FILE_LIMIT_BYTES + 1)
        try:
            value = json.loads(data[:FILE_LIMIT_BYTES])
        except (ValueError, RecursionError) as problem:
            self._set_aside(file, str(problem))
            return None
        later = value.get("format") if isinstance(value, dict) else None
        if type(later) is int and later > _FORMAT:
            self._say(file.name, f"{file} is of a later version and is passed over")
            return None
        rule = load(value)
        if rule is None or rule.key != key:
            self._set_aside(file, "it is not what this version writes")
            return None
        return value

    def _set_aside(self, file: Path, reason: str) -> None:
        self._say(file.name, f"{file} is damaged and is set aside: {reason}")
        with contextlib.suppress(OSError):
            file.replace(file.with_suffix(_DAMAGED))

    def _say(self, about: str, message: str) -> None:
        if about not in self._said:
            self._said.add(about)
            _logger.warning("%s", message)


def places(paths: Iterable[str]) -> dict[str, str]:
    """Where paths are without symbolic links; ``~`` is the user's home. What cannot be found
    out is left out.
    """
    found = {}
    for path in list(paths)[:PATHS_LIMIT]:
        whole = os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111 -- a "~" that means nobody stays
        try:
            if Path(whole).is_absolute() and "\0" not in whole:
                found[path] = os.path.realpath(whole)
        except (OSError, ValueError):
            continue
    return found


def _dated(files: Iterator[Path]) -> Iterator[tuple[float, Path]]:
    for file in files:
        with contextlib.suppress(OSError):
            yield file.stat().st_mtime, file


def _reason(problem: OSError) -> str:
    return problem.strerror or str(problem)
