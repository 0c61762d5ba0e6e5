"""Keeps what the review knows from one run of the server to the next: a file per workspace.

Plain functions that block; run them in a thread, one at a time for the same roots. Several
servers may share the folder.

Invariant: a file that is missing, damaged or cannot be written costs what is in it and
nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_LIMIT_BYTES: Final = 32 * 1024 * 1024
"""What is larger is not kept."""

MAX_FILES: Final = 200
"""Workspaces that are kept; those that were not used for longest go first."""

_PART: Final = ".part-"
# A part that is older was left by a server that died.
_PART_AGE_S: Final = 3600.0
_FORMAT: Final = 1

_logger = logging.getLogger(__name__)


class Shelf:
    """A JSON value for each set of roots, in ``folder``, which is made when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._said: set[str] = set()

    def put(self, roots: tuple[str, ...], value: Any) -> None:
        """Keep a JSON value instead of the one before; ``None``: keep none.

        What cannot be kept is logged, once for each reason.
        """
        file = self._file(roots)
        row = {"format": _FORMAT, "roots": sorted(set(roots)), "value": value}
        try:
            if value is None:
                file.unlink(missing_ok=True)
                return
            data = json.dumps(row, separators=(",", ":")).encode()
            if len(data) > FILE_LIMIT_BYTES:
                size = f"{len(data) / 2**20:.1f} MiB, the limit is {FILE_LIMIT_BYTES // 2**20}"
                self._say("large", f"the review is too large to be kept ({size})")
                file.unlink(missing_ok=True)
                return
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(file, data)
            self._clear()
        except OSError as problem:
            reason = problem.strerror or str(problem)
            self._say(reason, f"the review cannot be kept in {self._folder}: {reason}")

    def get(self, roots: tuple[str, ...]) -> Any:
        """Give what was kept for these roots, in any order; ``None`` when there is nothing
        that can be read.
        """
        file = self._file(roots)
        try:
            value = _value(_read(file), sorted(set(roots)))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, RecursionError) as problem:
            self._say(file.name, f"{file} cannot be read and is passed over: {problem}")
            return None
        with contextlib.suppress(OSError):
            os.utime(file)
        return value

    def _file(self, roots: tuple[str, ...]) -> Path:
        name = hashlib.sha256(json.dumps(sorted(set(roots))).encode()).hexdigest()
        return self._folder / f"{name[:32]}.json"

    def _write(self, file: Path, data: bytes) -> None:
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

    def _clear(self) -> None:
        """Remove the oldest files over the limit, and what servers that died left behind."""
        kept = sorted(_dated(self._folder.glob("*.json")), reverse=True)
        left = _dated(self._folder.glob(f"{_PART}*"))
        now = time.time()
        stale = [part for written_s, part in left if now - written_s > _PART_AGE_S]
        for file in (*stale, *(file for _, file in kept[MAX_FILES:])):
            with contextlib.suppress(OSError):
                file.unlink()

    def _say(self, about: str, message: str) -> None:
        if about not in self._said:
            self._said.add(about)
            _logger.warning("%s", message)


def _dated(files: Iterator[Path]) -> Iterator[tuple[float, Path]]:
    """The files with the time, in seconds, at which each was last used."""
    for file in files:
        # Another server may have removed it since.
        with contextlib.suppress(OSError):
            yield file.stat().st_mtime, file


def _read(file: Path) -> Any:
    with file.open("rb") as opened:
        data = opened.read(FILE_LIMIT_BYTES + 1)
    if len(data) > FILE_LIMIT_BYTES:
        raise ValueError("it is too large")
    return json.loads(data)


def _value(row: Any, roots: list[str]) -> Any:
    match row:
        case {"format": 1, "roots": found, "value": value} if found == roots:
            return value
        case _:
            raise ValueError("it is not what this version writes")
