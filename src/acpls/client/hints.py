"""What a watcher tells, sifted: which files to look at, and whether there is more to be seen.

Plain functions that look at names and links, and so may block; no file of the user's is opened.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acpls.client import git

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

MAX_PATHS: Final = 500
"""Files of one burst that are looked at one by one; for more it is cheaper to look at all."""

# The kinds of changes, in the numbers of watchfiles.
ADDED: Final = 1
MODIFIED: Final = 2
DELETED: Final = 3


@dataclass(frozen=True, slots=True)
class Hints:
    """What came of one burst; ``paths`` and roots are spelled as the roots were given.

    ``paths``: files to be looked at; ``gone``: those of them that are not there and may have
    been folders. ``heads``: roots with a repository whose head has moved. ``is_unsure``: more
    may have changed. ``roots_moved``: a root came or went.
    """

    paths: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    is_unsure: bool = False
    roots_moved: bool = False

    def under(self, roots: tuple[str, ...]) -> Hints:
        """Leave out what is not under these."""

        def keep(paths: frozenset[str]) -> frozenset[str]:
            return frozenset(path for path in paths if any(_is_in(path, root) for root in roots))

        return replace(self, paths=keep(self.paths), gone=keep(self.gone), heads=keep(self.heads))


@dataclass(frozen=True, slots=True)
class Ground:
    """What is watched.

    ``roots``: pairs of a root as it was given and without symbolic links, the deepest first.
    ``outer``: for roots whose repository is not in them, pairs of the root and a folder that
    is part of the repository's head. ``missing``: the roots that are not there.
    """

    roots: tuple[tuple[str, str], ...]
    outer: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()

    @staticmethod
    def of(roots: tuple[str, ...]) -> Ground:
        """Look at the roots."""
        roots = tuple(filter(os.path.isabs, roots))
        there = [root for root in roots if _is_folder(root)]
        pairs = sorted(((root, os.path.realpath(root)) for root in there), key=_depth)
        outer = [(root, folder) for root in there for folder in _outer_heads(root)]
        missing = [root for root in roots if root not in there]
        return Ground(tuple(pairs), tuple(outer), tuple(missing))

    @property
    def watched(self) -> tuple[str, ...]:
        """The folders to watch, with all that is below each."""
        folders = [root for root, _ in self.roots] + [folder for _, folder in self.outer]
        return tuple(dict.fromkeys(folders))

    def place(self, told: str) -> tuple[str, str] | None:
        """The root, as it was given, and the way from there; some systems tell real paths."""
        for root, real in self.roots:
            for folder in (root, real):
                if _is_in(told, folder):
                    return root, told[len(folder) :].strip(os.sep)
        return None

    def outer_heads(self, told: str) -> Iterator[str]:
        """The roots whose repository is elsewhere and has this as a part of its head."""
        for root, folder in self.outer:
            if _is_in(told, folder) and _is_part(told[len(folder) :]):
                yield root


def sift(
    raw: Collection[tuple[int, str]], ground: Ground, is_ignored: Callable[[str], bool]
) -> Hints:
    """Sift what a watcher told: pairs of the kind of change and the path."""
    paths: set[str] = set()
    went: set[str] = set()
    came: set[str] = set()
    heads: set[str] = set()
    straight = _Straight(ground)
    unsure = False
    moved = any(map(_is_folder, ground.missing))
    for kind, told in raw:
        heads.update(ground.outer_heads(told))
        place = ground.place(told)
        if place is None:
            continue
        root, way = place
        if not way:
            # What is there now, if anything, is not what is watched.
            moved = moved or kind == DELETED
            continue
        parts = Path(way).parts
        if ".git" in parts:
            if _is_head(parts[parts.index(".git") + 1 :]):
                heads.add(root)
            continue
        if len(paths) > MAX_PATHS:
            continue
        path = straight.path(root, way)
        if path is None or is_ignored(path):
            continue
        if _is_folder(path) and not os.path.islink(path):  # noqa: PTH114  it never raises
            unsure = unsure or kind == ADDED
            continue
        paths.add(path)
        if kind != MODIFIED:
            (went if kind == DELETED else came).add(path)
    if len(paths) > MAX_PATHS:
        unsure = True
        paths.clear()
    # A file that came and went within a burst is of those that are only there to be renamed.
    gone = frozenset(path for path in went & paths - came if not os.path.lexists(path))
    return Hints(frozenset(paths), gone, frozenset(heads), unsure, moved)


class _Straight:
    """Paths that do not go through a link to a folder.

    A folder that can be reached in two ways is told of by one of them, whichever it be.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._folders: dict[str, str | None] = {}

    def path(self, root: str, way: str) -> str | None:
        """The path as it is spelled under a root; ``None`` when it leads out of all of them."""
        file = Path(root, way)
        folder = str(file.parent)
        if folder not in self._folders:
            place = self._ground.place(os.path.realpath(folder))
            self._folders[folder] = None if place is None else str(Path(*place))
        found = self._folders[folder]
        return None if found is None else str(Path(found, file.name))


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  unlike a Path's it never raises


def _is_in(path: str, folder: str) -> bool:
    folder = folder.rstrip(os.sep)
    return path.startswith(folder) and path[len(folder) : len(folder) + 1] in ("", os.sep)


def _depth(pair: tuple[str, str]) -> int:
    return -len(pair[1])


def _is_head(way: tuple[str, ...]) -> bool:
    """Whether what lies there, in the folder of a repository, changes with its head."""
    if way[:2] == ("refs", "heads") or way[:1] == ("reftable",):
        return _is_part(way[-1])
    return way in {("HEAD",), ("logs", "HEAD"), ("packed-refs",)}


def _is_part(path: str) -> bool:
    """Whether a file in such a folder is not one that only keeps others from writing."""
    return not path.endswith(".lock")


def _outer_heads(root: str) -> Iterator[str]:
    """Folders that a commit changes, where the repository is not in the root itself."""
    real = os.path.realpath(root)
    try:
        top = git.repository_of(real)
        if top is None:
            return
        own, common = git.folders(top)
        parts = ((own, "logs"), (common, "refs", "heads"), (common, "reftable"))
        for part in parts:
            found = os.path.realpath(Path(*part))
            if _is_folder(found) and not _is_in(found, real):
                yield found
    except ValueError:
        # Some file in place of the repository names what no system can have.
        return
