"""Watches folders by the inotify of Linux, and only those of which somebody wants to hear.

It watches each folder by itself, so that what version control ignores (installed packages,
results of builds) costs nothing, and lets all other threads go on while it begins.

Invariant: a folder is watched before it is listed, so that whatever comes into it is either
told of or found by whoever looks through the folder once he has heard of it.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import selectors
import struct
import threading
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from acpls.client.hints import ADDED, DELETED, MODIFIED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_FOLDERS: Final = 20_000
"""How many folders of one root are watched, at first the nearest."""

_MODIFY: Final = 0x2
_ATTRIB: Final = 0x4
_CLOSE_WRITE: Final = 0x8
_MOVED_FROM: Final = 0x40
_MOVED_TO: Final = 0x80
_CREATE: Final = 0x100
_DELETE: Final = 0x200
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_UNMOUNT: Final = 0x2000
_OVERFLOW: Final = 0x4000
_IGNORED: Final = 0x8000
_ONLY_FOLDERS: Final = 0x1000000
_NO_LINKS: Final = 0x2000000
_FOLDER: Final = 0x40000000
_COMES: Final = _CREATE | _MOVED_TO
_GOES: Final = _DELETE | _MOVED_FROM
_ENDS: Final = _DELETE_SELF | _MOVE_SELF | _UNMOUNT
_TOLD: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _COMES | _GOES | _DELETE_SELF | _MOVE_SELF
_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 256 * 1024
# More can come while it is read, and somebody waits for what is known by then.
_MOST_READS: Final = 16
_RULES: Final = ".gitignore"
_GIT: Final = ".git"
# The parts of a repository that a commit or a checkout changes, and whether all that is in
# them is such a part.
_HEADS: Final = (
    ("", False),
    ("logs", False),
    ("refs", False),
    ("refs/heads", True),
    ("reftable", True),
)

_logger = logging.getLogger(__name__)


class Inotify:
    """Watches ``roots`` and ``whole``, which have no symbolic links, until it is closed.

    Of a root those folders are watched that ``folders`` gives for it; its second argument may
    be a folder in the root, and then only this one and those in it are meant. Of ``whole``
    all folders are watched. Raises ``OSError`` where the system does not allow it or a root
    went, and ``AttributeError`` where it has no such thing.
    """

    def __init__(
        self,
        roots: tuple[str, ...],
        whole: tuple[str, ...],
        folders: Callable[[str, str | None], Iterable[str]],
    ) -> None:
        self._roots = roots
        self._whole = whole
        self._folders = folders
        self._lock = threading.Lock()
        self._is_waiting = False
        self._is_closed = False
        self._is_limited = False
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._system = ctypes.CDLL(None, use_errno=True)
        self._told = self._system.inotify_init1(_FLAGS)
        if self._told < 0:
            raise _error("inotify")
        self._woken, self._wake = os.pipe()
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._told, self._woken):
            self._selector.register(descriptor, selectors.EVENT_READ)
        try:
            self._look_through()
            for root in roots:
                # One that went, as is said here, is waited for by whoever asked.
                os.stat(root)  # noqa: PTH116  text in
        except BaseException:
            self.close()
            raise

    def watch(
        self, debounce_ms: int, _step_ms: int, timeout_ms: int, stop_event: threading.Event, /
    ) -> set[tuple[int, str]] | Literal["stop", "timeout", "overflow"]:
        """Block until something changed, and tell all that did until ``debounce_ms`` later.

        Pairs of a kind of change and a path without symbolic links. ``overflow``: more
        changed than the system can tell of.
        """
        with self._lock:
            if self._is_closed:
                return "stop"
            self._is_waiting = True
        try:
            if not self._selector.select(timeout_ms / 1000):
                return "timeout"
            if stop_event.wait(debounce_ms / 1000) or self._is_closed:
                return "stop"
            found = set(self._read())
            return "overflow" if (_OVERFLOW, "") in found else found
        finally:
            with self._lock:
                self._is_waiting = False
                if self._is_closed:
                    self._shut()

    def close(self) -> None:
        """End the watching, at once and for good; whoever waits in ``watch`` comes back."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            if self._is_waiting:
                os.write(self._wake, b"x")
            else:
                self._shut()

    def _shut(self) -> None:
        self._selector.close()
        for descriptor in (self._told, self._woken, self._wake):
            os.close(descriptor)

    # --- what is watched ----------------------------------------------------------------

    def _look_through(self) -> None:
        """Watch what is to be watched now, and nothing else."""
        wanted: set[str] = set()
        for folder in self._wanted():
            wanted.add(folder)
            self._add(folder)
        for folder in self._numbers.keys() - wanted:
            self._drop(folder)

    def _wanted(self) -> Iterator[str]:
        for root in self._roots:
            yield from self._wanted_in(root, None, MAX_FOLDERS)
        for folder in self._whole:
            yield from _all_folders(folder)

    def _wanted_in(self, root: str, start: str | None, most: int) -> Iterator[str]:
        folders = iter(self._folders(root, start))
        for folder in islice(folders, most):
            yield folder
            yield from _heads(f"{folder.rstrip(os.sep)}{os.sep}{_GIT}")
        if next(folders, None) is not None:
            self._limit(f"only {MAX_FOLDERS} folders of {root} are watched")

    def _add(self, folder: str) -> None:
        """Watch a folder; one that is watched already has the number that it had."""
        mask = _TOLD | _ONLY_FOLDERS | _NO_LINKS
        number = self._system.inotify_add_watch(self._told, os.fsencode(folder), mask)
        if number >= 0:
            if self._numbers.get(folder, number) != number:
                # That was another one of the same name, and may live on by another.
                self._drop(folder)
            self._paths[number] = folder
            self._numbers[folder] = number
        elif ctypes.get_errno() == errno.ENOSPC:
            self._limit(f"the system lets {len(self._numbers)} folders be watched and no more")

    def _drop(self, folder: str) -> None:
        number = self._numbers.pop(folder)
        if self._paths.get(number) == folder:
            del self._paths[number]
            self._system.inotify_rm_watch(self._told, number)

    def _limit(self, why: str) -> None:
        if not self._is_limited:
            self._is_limited = True
            _logger.warning("%s, so that other changes are seen later, when a turn ends", why)

    # --- what is told -------------------------------------------------------------------

    def _read(self) -> Iterator[tuple[int, str]]:
        again = False
        for number, mask, name in self._events():
            folder = self._paths.get(number)
            if mask & _OVERFLOW:
                again = True
                yield _OVERFLOW, ""
            elif folder is None:
                continue
            elif mask & _IGNORED:
                del self._paths[number]
                if self._numbers.get(folder) == number:
                    del self._numbers[folder]
            elif mask & _ENDS:
                if folder in self._roots:
                    yield DELETED, folder
            elif name:
                path = f"{folder.rstrip(os.sep)}{os.sep}{name}"
                if mask & _FOLDER:
                    self._follow(path, mask)
                again = again or name == _RULES
                yield ADDED if mask & _COMES else DELETED if mask & _GOES else MODIFIED, path
        if again:
            self._look_through()

    def _events(self) -> Iterator[tuple[int, int, str]]:
        for _ in range(_MOST_READS):
            try:
                data = os.read(self._told, _READ_BYTES)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                yield number, mask, os.fsdecode(data[at - length : at].rstrip(b"\0"))

    def _follow(self, path: str, mask: int) -> None:
        """A folder came or went."""
        if mask & _MOVED_FROM:
            # Those in it are watched on, and would be told by the names that they had.
            for folder in [known for known in self._numbers if _is_in(known, path)]:
                self._drop(folder)
        if not mask & _COMES:
            return
        left = max(0, MAX_FOLDERS * len(self._roots) - len(self._numbers))
        before, git, _ = f"{path}{os.sep}".partition(f"{os.sep}{_GIT}{os.sep}")
        wanted: list[Iterable[str]] = [_heads(before + git.rstrip(os.sep))] if git else []
        wanted += [_all_folders(path) for whole in self._whole if _is_in(path, whole)]
        wanted += [self._wanted_in(root, path, left) for root in self._roots if _is_in(path, root)]
        for folders in wanted:
            for folder in folders:
                self._add(folder)


def _heads(git: str) -> Iterator[str]:
    """The folders of a repository in which something changes when its head moves."""
    if os.path.isdir(git) and not os.path.islink(git):  # noqa: PTH112, PTH114  text in
        for part, is_whole in _HEADS:
            folder = f"{git}{os.sep}{part}".rstrip(os.sep)
            yield from _all_folders(folder) if is_whole else (folder,)


def _all_folders(start: str) -> Iterator[str]:
    yield start
    for folder, inner, _ in os.walk(start):
        yield from (os.path.join(folder, name) for name in inner)  # noqa: PTH118  text in


def _is_in(path: str, folder: str) -> bool:
    folder = folder.rstrip(os.sep)
    return path == folder or path.startswith(folder + os.sep)


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
