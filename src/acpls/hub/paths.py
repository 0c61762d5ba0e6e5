"""How files are called: one file may have several paths, by way of symbolic links.

The *place* of a file is its path without symbolic links, and tells it from all others. What
goes to the editor is spelled as the editor spells it.

Invariant: links are never resolved here; whoever reads a file tells its place.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.events import Disk


@dataclass(slots=True)
class Paths:
    """``real``: the place of a path, where it is another path. ``spelled``: what the editor
    calls the file at a place. ``roots``: folders of the workspace, with their places.
    """

    real: dict[str, str] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)

    def learn(self, disk: Disk) -> None:
        """A file was read: its place is known now."""
        if disk.place != disk.path:
            self.real[disk.path] = disk.place
        else:
            # What was a link may be a file now.
            self.real.pop(disk.path, None)

    def opened(self, path: str, disk: Disk) -> None:
        """The editor has the file open under this path."""
        self.learn(disk)
        if disk.place != path:
            self.spelled[disk.place] = path

    def learn_roots(self, roots: Iterable[str], real: Iterable[str]) -> None:
        """Where the folders of a workspace are in truth."""
        ended = ((root.rstrip("/\\"), place) for root, place in zip(roots, real, strict=False))
        self.roots.update({root: place for root, place in ended if root != place})

    def place(self, path: str) -> str:
        """The place of a path, as far as it is known."""
        return self.real.get(path) or _moved(path, self.roots.items())

    def theirs(self, place: str) -> str:
        """The path by which the editor calls the file at a place."""
        back = ((real, root) for root, real in self.roots.items())
        return self.spelled.get(place) or _moved(place, back)


def is_in(place: str, folders: Iterable[str]) -> bool:
    """Whether a file lies in one of these folders, part by part."""
    path = place.replace("\\", "/")
    roots = (folder.replace("\\", "/").rstrip("/") for folder in folders)
    return any(path.startswith(f"{root}/") for root in roots)


def folder_of(path: str) -> str:
    """The folder in which a file lies."""
    return posixpath.dirname(path.replace("\\", "/")) or path


def _moved(path: str, folders: Iterable[tuple[str, str]]) -> str:
    inside = [
        (there, here)
        for there, here in folders
        if path == there or path.startswith((f"{there}/", f"{there}\\"))
    ]
    there, here = max(inside, key=lambda pair: len(pair[0]), default=("", ""))
    return here + path[len(there) :]
