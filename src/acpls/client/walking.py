"""Looks through the files of a root by their names and states, without opening any.

Invariant: what is ignored is not looked at, no symbolic link to a folder is followed, and
names that are not UTF-8 are passed over.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from acpls.client.ignoring import is_utf_8
from acpls.client.index import is_walked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acpls.client.ignoring import Ignoring, Level

MAX_SEEN: Final = 200_000
"""How many files of one root are looked at; folders that are further away than those are not."""

_POSIX = os.name == "posix"
_SHOWS_PATHS = sys.platform == "linux"
# How Linux shows that there is another file, or none, where an open one was.
_REPLACED: Final = " (deleted)"
_COARSE_NS: Final = 2_000_000_000
_TICK_S: Final = 0.02
_TICKS: Final = 40
# Linux dates files by a clock that ticks some hundred times a second; Python has no name for it.
_TICKING_CLOCK = 5 if sys.platform == "linux" else None
_READING = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


@dataclass(slots=True)
class Folder:
    """What is in a folder, by name. ``known``: the packed entries that it had in the index.

    ``links``: symbolic links, wherever they lead. ``others``: pipes, sockets and devices.
    ``ignored``: what is there and is ignored.
    """

    path: str
    level: Level
    known: dict[str, bytes]
    files: list[tuple[str, os.stat_result]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)


class Walk:
    """One walk through a root, which has no symbolic links, nearest folders first.

    ``known`` gives the packed entries of a folder. ``before`` is the walk before this one,
    if it came to its end: where the rules are the same as then, they are not asked again.
    """

    def __init__(
        self,
        root: str,
        ignoring: Ignoring,
        known: Callable[[str], dict[str, bytes]],
        before: Walk | None = None,
        most: int = MAX_SEEN,
    ) -> None:
        self.root = root
        self.levels: dict[str, Level] = {}
        """The folders that were looked at, each with the rules for what is in it."""
        self.left_out: dict[str, str] = {}
        """The folders that were not, though they are not ignored, and why."""
        self.kept: dict[str, Level] = {}
        """Those of them, and in them, that an earlier walk has looked at."""
        self._unseen: set[str] = set()
        self._ignoring = ignoring
        self._known = known
        self._before = before
        self._same = {} if before is None else before.levels
        self._most = most

    def folders(self) -> Iterator[Folder]:
        """Look at one folder after the other."""
        seen = 0
        if self._ignoring.is_own(self.root):
            self.left_out[self.root] = "is where acpls keeps what files held"
            return
        waiting = deque([(self.root, self._ignoring.above(self.root))])
        while waiting:
            path, above = waiting.popleft()
            if seen >= self._most:
                self.left_out[path] = "is not looked at, because there are so many files"
                continue
            try:
                with os.scandir(path) as listed:
                    entries = list(listed)
            except (FileNotFoundError, NotADirectoryError) as problem:
                if path == self.root:
                    self.left_out[path] = _reason(problem)
                continue
            except OSError as problem:
                self.left_out[path] = _reason(problem)
                continue
            folder, below = self._sorted(path, above, entries)
            seen += len(entries)
            waiting += ((inner, folder.level) for inner in below)
            yield folder
        self._keep()

    def passes_over(self, place: str) -> bool:
        """Whether a file in this root would not have been seen if it had been there."""
        if place in self._unseen or not is_utf_8(place):
            return True
        folder = os.path.dirname(place)  # noqa: PTH120  text in, text out
        is_folder = False
        while folder not in self.levels:
            if folder in self.left_out or len(folder) <= len(self.root):
                return True
            place, is_folder = folder, True
            folder = os.path.dirname(place)  # noqa: PTH120  text in, text out
        return self.levels[folder].ignores(place, is_folder=is_folder)

    def has_seen(self, place: str) -> bool:
        """Whether this walk, or one before it, would have seen a file if it had been there."""
        if not self.passes_over(place):
            return True
        folder, is_folder = os.path.dirname(place), False  # noqa: PTH120  text in, text out
        while folder not in self.kept:
            if folder in self.levels or len(folder) <= len(self.root):
                return False
            place, is_folder = folder, True
            folder = os.path.dirname(place)  # noqa: PTH120  text in, text out
        return not self.kept[folder].ignores(place, is_folder=is_folder) and is_utf_8(place)

    def _keep(self) -> None:
        """Remember what was seen in folders that could not be looked at this time."""
        before, self._before = self._before, None
        if before is None or not self.left_out:
            return
        seen = {**before.kept, **before.levels}
        for path in seen.keys() - self.levels.keys():
            folder = path
            while len(folder) > len(self.root) and folder not in self.levels:
                if folder in self.left_out:
                    self.kept[path] = seen[path]
                    break
                folder = os.path.dirname(folder)  # noqa: PTH120  text in, text out
        for folder in self.left_out.keys() - seen.keys():
            above = self.levels.get(os.path.dirname(folder))  # noqa: PTH120  text in, text out
            if above is not None and before.has_seen(folder + os.sep):
                # There was no such folder.
                self.kept[folder] = above

    def _sorted(
        self, path: str, above: Level | None, entries: list[os.DirEntry[str]]
    ) -> tuple[Folder, list[str]]:
        level = self._ignoring.within(path, above, {entry.name for entry in entries})
        self.levels[path] = level
        same = self._same.get(path) is level
        folder = Folder(path, level, self._known(path))
        below: list[str] = []
        prefix = path.rstrip(os.sep) + os.sep
        for entry in entries:
            name = entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not (same and is_walked(folder.known.get(name))):
                if not is_utf_8(name):
                    continue
                if level.ignores(prefix + name, is_folder=is_folder):
                    folder.ignored.add(name)
                    continue
            if is_folder:
                below.append(prefix + name)
            elif entry.is_symlink():
                folder.links.append(name)
            else:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                except OSError:
                    self._unseen.add(prefix + name)
                    continue
                if stat.S_ISREG(status.st_mode):
                    folder.files.append((name, status))
                elif not stat.S_ISDIR(status.st_mode):
                    folder.others.append(name)
        return folder, below


def read_regular(place: str, limit_bytes: int) -> tuple[bytes, os.stat_result] | None:
    """The bytes of a regular file of at most so many, and its state before they were read.

    ``None`` where it is another kind of file or longer. Raises ``OSError`` when it cannot be
    read, ``FileNotFoundError`` when it is not there.
    """
    descriptor = os.open(place, _READING)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit_bytes:
            return None
        if not is_at(descriptor, place):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place)
        # Mostly one read gives all, and one more tells that it was all.
        pieces = [os.read(descriptor, status.st_size + 1)]
        left = limit_bytes - len(pieces[0])
        while pieces[-1] and left >= 0:
            pieces.append(os.read(descriptor, left + 1))
            left -= len(pieces[-1])
    finally:
        os.close(descriptor)
    return (b"".join(pieces), status) if left >= 0 else None


def is_at(descriptor: int, place: str) -> bool:
    """Whether an open file is the one at a path without symbolic links, or just was.

    A folder on the way there may have become a link while it was opened.
    """
    if _SHOWS_PATHS:
        with contextlib.suppress(OSError):
            told = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  text in
            if told.removesuffix(_REPLACED) == place:
                return True
    try:
        same = os.path.samestat(os.fstat(descriptor), os.lstat(place))
    except OSError:
        return False
    return same and os.path.realpath(place) == place


def is_young(status: os.stat_result, since_ns: int) -> bool:
    """Whether a file may have been changed since a moment, in nanoseconds since 1970."""
    changed_ns = status.st_ctime_ns if _POSIX else status.st_mtime_ns
    # Some file systems keep whole seconds, or two of them.
    exact = changed_ns % 1_000_000_000
    return changed_ns + (0 if exact else _COARSE_NS) >= since_ns


def is_fresh(status: os.stat_result, now_ns: int) -> bool:
    """Whether a file may be changed after ``now_ns`` and look as it does."""
    if _POSIX and status.st_ctime_ns >= now_ns - _COARSE_NS:
        return True
    return abs(status.st_mtime_ns - now_ns) <= _COARSE_NS


def next_moment() -> int:
    """Wait until whatever was changed before now is dated before the moment that is given.

    It is in nanoseconds since 1970, by the clock by which the system dates files; the wait
    takes some milliseconds.
    """
    # Files are dated by this clock or by one that lags behind it by less than a tick.
    before_ns = time.time_ns()
    if _TICKING_CLOCK is None:
        time.sleep(_TICK_S)
        return before_ns + 1
    for _ in range(_TICKS):
        if time.clock_gettime_ns(_TICKING_CLOCK) > before_ns:
            break
        time.sleep(_TICK_S / _TICKS)
    return before_ns + 1


def _reason(problem: OSError) -> str:
    return f"cannot be read: {(problem.strerror or str(problem)).lower()}"
