"""Which files nobody wants to hear of: those that version control is told to ignore.

Rules come from ``.gitignore`` files in all folders from the top of a repository down, and from
its ``info/exclude``; a few names are ignored everywhere, and so are folders of the system that
hold no files, and our own. Plain functions that block, for any thread.

Invariant: folders are asked from the top down. A rule speaks of the very file or folder, and
whatever is in an ignored folder is ignored.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from acpls.client import git
from acpls.client.rules import Rule, rules

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

ALWAYS: Final = frozenset({".git", ".hg", ".svn", ".jj", ".acp", "node_modules", "__pycache__"})
"""Names of files and folders that are ignored wherever they are."""

# How the parts are called of which a write of ours makes a file.
_OWN_PART = ".acpls-"
# What is there are no files, and reading some of it waits for ever or changes something.
_NO_FILES = ("/dev", "/proc", "/sys")
_RULES = ".gitignore"
_LIMIT_BYTES = 1024 * 1024

_Rules: TypeAlias = tuple[Rule, ...]
_Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The rules for what is in a folder; where they say nothing, those of ``above`` count.

    ``start``: where in a path that begins which the rules are about. ``rules``: the last one
    first. As long as nothing changes it is the same object.
    """

    start: int
    rules: _Rules = ()
    above: Level | None = None

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether this very path is ignored; its folders are taken for not ignored."""
        name_at = path.rfind(os.sep) + 1
        if _is_always(path[name_at:]):
            return True
        spelled = path if os.sep == "/" else path.replace(os.sep, "/")
        level: Level | None = self
        while level is not None:
            for rule in level.rules:
                if rule.fits(spelled, level.start, name_at, is_folder=is_folder):
                    return rule.ignored
            level = level.above
        return False


class Ignoring:
    """Reads the rules, and again when their files have changed.

    ``own``: folders, without symbolic links, that nobody wants to hear of either.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._own = tuple(own)
        self._never: dict[str, _Rules] = {}
        for folder in (*_NO_FILES, *self._own):
            above, name = os.path.split(folder)
            never = Rule(ignored=True, folders=True, by_name=False, plain=name)
            self._never[above] = (*self._never.get(above, ()), never)
        self._lock = threading.Lock()
        self._rules: dict[str, tuple[_Stamp, _Rules]] = {}
        self._levels: dict[str, tuple[Level, ...]] = {}

    def is_ignored(self, path: str, roots: tuple[str, ...]) -> bool:
        """Whether a path in one of the roots is ignored by the rules as they are now.

        The path begins with the root as it is given or as it is without symbolic links. What
        is in none of the roots is ignored, and so is what has a name that is not UTF-8.
        """
        if not is_utf_8(path):
            return True
        for root in filter(os.path.isabs, roots):
            real = os.path.realpath(root)
            if self.is_own(real):
                continue
            for spelled in {root, real}:
                parts = _parts_below(path, spelled)
                if parts is not None and not self._is_ignored_in(real, parts):
                    return False
        return True

    def is_own(self, place: str) -> bool:
        """Whether a path without symbolic links leads into one of our own folders."""
        return any(_parts_below(place, folder) is not None for folder in self._own)

    def folders(self, root: str, start: str | None = None) -> Iterator[str]:
        """The folders in a root that are not ignored, and the root, the nearest first; what is
        in one is looked up after it was given.

        None has symbolic links. ``start``: only this folder of the root, and those in it.
        """
        start = root if start is None else start
        parts = _parts_below(start, root)
        if parts is None or self.is_own(root) or self._is_ignored_in(root, parts):
            return
        level, folder = self.above(root), root
        for part in parts:
            level = self.within(folder, level)
            folder = f"{folder.rstrip(os.sep)}{os.sep}{part}"
        waiting = deque([(folder, level)])
        while waiting:
            folder, level = waiting.popleft()
            yield folder
            try:
                with os.scandir(folder) as listed:
                    entries = list(listed)
            except OSError:
                continue
            inner = self.within(folder, level, {entry.name for entry in entries})
            for entry in entries:
                path = f"{folder.rstrip(os.sep)}{os.sep}{entry.name}"
                is_folder = entry.is_dir(follow_symlinks=False) and is_utf_8(entry.name)
                if is_folder and not inner.ignores(path, is_folder=True):
                    waiting.append((path, inner))

    def above(self, root: str) -> Level | None:
        """What counts in a root, which has no symbolic links, by the rules above it."""
        folders = [root]
        while not git.is_top(folders[-1]):
            parent = os.path.dirname(folders[-1])  # noqa: PTH120  text in, text out
            if parent == folders[-1]:
                # It is in no repository.
                return None
            folders.append(parent)
        level = None
        for folder in reversed(folders[1:]):
            level = self.within(folder, level)
        return level

    def within(
        self, folder: str, above: Level | None, names: Container[str] | None = None
    ) -> Level:
        """What counts in a folder by its own rules, too. ``names``: what is in it, if known."""
        is_top = git.is_top(folder) if names is None else ".git" in names
        found = self._never.get(folder, ())
        if names is None or _RULES in names:
            found += self._read(f"{folder.rstrip(os.sep)}{os.sep}{_RULES}")
        if is_top:
            # Rules do not reach from one repository into another.
            above = None
            found += self._read(os.path.join(git.folders(folder)[1], "info", "exclude"))  # noqa: PTH118  text in, text out
        if above is not None and not found:
            return above
        with self._lock:
            known = self._levels.get(folder, ())
            for level in known:
                if level.above is above and level.rules == found:
                    return level
            level = Level(len(folder.rstrip(os.sep)) + 1, found, above)
            # Of one root and of another around it, others may be above.
            self._levels[folder] = (level, *known[:1])
            return level

    def _is_ignored_in(self, root: str, parts: list[str]) -> bool:
        if any(map(_is_always, parts)):
            return True
        level, folder = self.above(root), root
        for left, part in zip(reversed(range(len(parts))), parts, strict=True):
            level = self.within(folder, level)
            folder = f"{folder.rstrip(os.sep)}{os.sep}{part}"
            if level.ignores(folder, is_folder=left > 0 or _is_folder(folder)):
                return True
        return False

    def _read(self, file: str) -> _Rules:
        try:
            # Git does not follow links here either.
            status = os.lstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LIMIT_BYTES:
                return ()
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            with self._lock:
                known = self._rules.get(file)
            if known is not None and known[0] == stamp:
                return known[1]
            with open(file, "rb", opener=git.at_once) as read:
                data = read.read(_LIMIT_BYTES)
        except (OSError, ValueError):
            return ()
        found = tuple(rules(data.decode("utf-8-sig", "replace")))[::-1]
        with self._lock:
            self._rules[file] = stamp, found
        return found


def is_utf_8(name: str) -> bool:
    """Whether a name of the system is text; Python spells others with halves of surrogates."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_always(name: str) -> bool:
    return name in ALWAYS or name.startswith(_OWN_PART)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114  text in


def _parts_below(path: str, root: str) -> list[str] | None:
    root = root.rstrip(os.sep)
    if path in (root, root + os.sep):
        return []
    if not path.startswith(root + os.sep):
        return None
    return list(Path(path[len(root) + 1 :]).parts)
