"""Bytes of files by their hash, kept on disk: what a file held can be had when it is gone.

Several servers may use one folder at the same time, and what one of them put is there for the
next run. Plain functions that block, for any thread.

Invariant: what is given back has the hash that was asked for; a damaged blob is none.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import re
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIMIT_BYTES = 512 * 1024 * 1024
# No blob that was put is longer; a damaged one must not fill the memory.
_LONGEST_BYTES = 256 * 1024 * 1024
# So much is left after a trim, so that not each walk has to trim.
_KEPT = 0.9
# How much may be put, and how much time may pass, before the folder is looked through again.
_LOOK_AGAIN = 1 / 16
_LOOK_AGAIN_S = 3600.0
# Times of use are only kept this exactly, since each costs a write.
_USED_S = 3600.0
# What small files take on most file systems.
_BLOCK_BYTES = 4096
_PART = ".part-"
_NAME = re.compile(r"[0-9a-f]{64}")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

_logger = logging.getLogger(__name__)


class Store:
    """A folder of blobs that holds about ``limit_bytes`` of them; it is made when needed.

    Where the folder cannot be written, everything is as if it had just been trimmed.
    """

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self._folder = os.fspath(folder)
        self._limit_bytes = limit_bytes
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._warned = False
        self._put_bytes = 0
        self._found_bytes = 0
        self._looked_s: float | None = None

    def put(self, data: bytes) -> str:
        """Keep some bytes; gives their SHA-256 in hex digits, whether or not they could be kept."""
        content = hashlib.sha256(data).hexdigest()
        path = self._path(content)
        try:
            if not _is_used(path):
                self._write(path, zlib.compress(data, 1))
        except OSError as problem:
            self._warn(problem)
        return content

    def get(self, content: str) -> bytes | None:
        """The bytes with this hash, ``None`` where they are not there any more."""
        if not _NAME.fullmatch(content):
            return None
        path = self._path(content)
        try:
            packed = Path(path).read_bytes()
        except OSError:
            return None
        data = _unpacked(packed)
        if data is None or hashlib.sha256(data).hexdigest() != content:
            # It would be in the way of a good one.
            with contextlib.suppress(OSError):
                Path(path).unlink()
            return None
        self.use((content,))
        return data

    def use(self, contents: Iterable[str]) -> None:
        """Take these as used now, so that others go first."""
        for content in contents:
            with contextlib.suppress(OSError):
                _is_used(self._path(content))

    def trim(self) -> None:
        """Remove what was not used for the longest time, where there is more than the limit.

        The folder is looked through now and then only, so that this may be called often.
        """
        with self._lock:
            now_s = time.time()
            if (
                self._looked_s is not None
                and 0 <= now_s - self._looked_s < _LOOK_AGAIN_S
                and self._put_bytes < self._limit_bytes * _LOOK_AGAIN
                and self._found_bytes + self._put_bytes <= self._limit_bytes
            ):
                return
            self._looked_s, self._put_bytes = now_s, 0
            blobs = sorted(_blobs(self._folder, now_s))
            self._found_bytes = sum(taken for _, taken, _ in blobs)
            if self._found_bytes <= self._limit_bytes:
                return
            for _, taken, path in blobs:
                if self._found_bytes <= self._limit_bytes * _KEPT:
                    break
                with contextlib.suppress(OSError):
                    Path(path).unlink(missing_ok=True)
                    self._found_bytes -= taken

    def _path(self, content: str) -> str:
        return f"{self._folder}{os.sep}{content[:2]}{os.sep}{content[2:]}"

    def _write(self, path: str, packed: bytes) -> None:
        folder = os.path.dirname(path)  # noqa: PTH120  ten thousands of them, each counts
        part = f"{folder}{os.sep}{_PART}{os.getpid()}-{next(self._numbers)}"
        try:
            descriptor = os.open(part, _NEW, 0o600)
        except FileNotFoundError:
            Path(self._folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(folder).mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(part, _NEW, 0o600)
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                view = memoryview(packed)
                while view:
                    view = view[file.write(view) :]
            os.replace(part, path)  # noqa: PTH105  see above
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
        with self._lock:
            self._put_bytes += _taken(len(packed))

    def _warn(self, problem: OSError) -> None:
        with self._lock:
            first, self._warned = not self._warned, True
        if first:
            cause = problem.strerror or str(problem)
            _logger.warning(
                "what files held before they are changed cannot be kept in %s: %s",
                self._folder,
                cause,
            )


def _is_used(path: str) -> bool:
    """Tell whether there is such a blob, and if so, note that it is used."""
    try:
        status = os.stat(path)  # noqa: PTH116  ten thousands of them, each counts
    except FileNotFoundError:
        return False
    if not 0 <= time.time() - status.st_mtime < _USED_S:
        os.utime(path)
    # A crash of the system may leave empty files.
    return status.st_size > 0


def _unpacked(packed: bytes) -> bytes | None:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, _LONGEST_BYTES)
    except zlib.error:
        return None
    return data if stream.eof else None


def _taken(size_bytes: int) -> int:
    return -(-size_bytes // _BLOCK_BYTES) * _BLOCK_BYTES


def _blobs(folder: str, now_s: float) -> Iterator[tuple[float, int, str]]:
    """When each blob was used last, what it takes, and its path; what crashes left is removed."""
    for below in _entries(folder):
        if not below.is_dir(follow_symlinks=False):
            continue
        for blob in _entries(below.path):
            try:
                status = blob.stat(follow_symlinks=False)
                if not blob.name.startswith(_PART):
                    yield status.st_mtime, _taken(status.st_size), blob.path
                elif now_s - status.st_mtime > _LOOK_AGAIN_S:
                    Path(blob.path).unlink()
            except OSError:
                continue


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
