"""Compares the files of a root with what was last told of them, and names those that differ.

What was never seen before is taken into the index with its bytes, as it is. All else that
differs is left for whoever tells of it, so that nothing is told twice or never.

Invariant: an entry is only put in the place of one of the same content, or of none.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from acpls.client.index import (
    LINK,
    PIPE,
    Entry,
    has_digest,
    is_asked,
    is_other,
    is_settled,
    is_walked,
    state_of,
    unpacked,
)
from acpls.client.walking import is_fresh, is_young, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.client.index import Index
    from acpls.client.store import Store
    from acpls.client.walking import Folder, Walk


@dataclass(frozen=True, slots=True)
class Caps:
    """How much is kept: bytes of one file, and files and bytes of one root."""

    file_bytes: int = 2 * 1024 * 1024
    files: int = 50_000
    total_bytes: int = 256 * 1024 * 1024


class Stopped(Exception):  # noqa: N818  a wish, not an error
    """Nobody wants to know any more."""


@dataclass(slots=True)
class Sweep:
    """One walk and what it finds.

    ``was_absent``: whether a file that is not in the index was not there at an earlier walk.
    ``began_ns``: what changed since then may have been changed by those who are watched.
    ``differing``: files that differ, by their paths without symbolic links; the value is a
    path in the root that leads there. ``relinked``: those among them that are now behind a
    symbolic link. ``bare``: files of which no content is kept, and Git was not asked for it.
    ``is_full``: whether files were left without content because there are so many.
    ``kept_files``, ``kept_bytes``: of how many the content is kept; ``kept``: those of the walk
    before this one.
    """

    walk: Walk
    was_absent: Callable[[str], bool]
    index: Index
    store: Store
    caps: Caps
    began_ns: int
    is_stopped: Callable[[], bool]
    kept: tuple[int, int] = (0, 0)
    differing: dict[str, str] = field(default_factory=dict)
    relinked: set[str] = field(default_factory=set)
    bare: list[str] = field(default_factory=list)
    is_full: bool = False
    kept_files: int = 0
    kept_bytes: int = 0
    _links: list[str] = field(default_factory=list)

    def run(self, real_roots: tuple[str, ...]) -> None:
        """Do it. Links are followed to files in ``real_roots``. May raise ``Stopped``."""
        for folder in self.walk.folders():
            self._go_on()
            self._compare_folder(folder)
        for path in self.index.folders(self.walk.root):
            if path not in self.walk.levels and not self.walk.passes_over(path + os.sep):
                relinked = os.path.realpath(path) != path
                for name, packed in self.index.folder(path).items():
                    if packed and not (relinked and is_other(packed)):
                        self._gone(f"{path}{os.sep}{name}", relinked=relinked)
        for link in self._links:
            self._compare_link(link, real_roots)

    def _go_on(self) -> None:
        if self.is_stopped():
            raise Stopped

    def _compare_folder(self, folder: Folder) -> None:
        prefix = folder.path.rstrip(os.sep) + os.sep
        left, links = folder.known, set(folder.links)
        for name, status in folder.files:
            packed = left.pop(name, None)
            state = state_of(status)
            if not is_settled(packed, state):
                self._compare(folder.path, name, packed, status)
            elif has_digest(packed) and status.st_size <= self.caps.file_bytes:
                self.kept_files += 1
                self.kept_bytes += status.st_size
            elif not is_asked(packed):
                self.bare.append(prefix + name)
        for name in (*folder.links, *folder.others):
            packed = left.get(name)
            if not packed:
                # Nobody is told of those; but a file in their place is no new one.
                self.index.swap(folder.path, name, packed, LINK if name in links else PIPE)
            if not packed or is_other(packed):
                left.pop(name, None)
        for name, packed in left.items():
            place = prefix + name
            if name in folder.ignored:
                if is_walked(packed):
                    entry = replace(unpacked(packed), walked=False)
                    self.index.swap(folder.path, name, packed, entry)
            elif packed and not folder.level.ignores(place, is_folder=False):
                self._gone(place, relinked=name in links)
        self._links += (prefix + name for name in folder.links)

    def _compare_link(self, link: str, real_roots: tuple[str, ...]) -> None:
        place = os.path.realpath(link)
        inside = any(Path(place).is_relative_to(root) for root in real_roots)
        if not inside or not self.walk.passes_over(place):
            return
        folder, name = os.path.split(place)
        packed = self.index.folder(folder).get(name)
        try:
            status = os.stat(place)  # noqa: PTH116  text in
        except OSError:
            if packed:
                self.differing.setdefault(place, link)
            return
        if stat.S_ISREG(status.st_mode):
            self._compare(folder, name, packed, status, link)

    def _gone(self, place: str, *, relinked: bool) -> None:
        self.differing.setdefault(place, place)
        if relinked:
            self.relinked.add(place)

    # --- one file -----------------------------------------------------------------------

    def _compare(
        self,
        folder: str,
        name: str,
        packed: bytes | None,
        status: os.stat_result,
        link: str | None = None,
    ) -> None:
        """Compare a file that is not settled; ``link`` leads to one that is not walked itself."""
        place = f"{folder.rstrip(os.sep)}{os.sep}{name}"
        walked = link is None
        was = None if packed is None else unpacked(packed)
        if was is None and not self.was_absent(place):
            entry = self._first(place, status, walked=walked)
            differs = entry is not None and entry.unsure
        elif was is None or not was.is_file or was.unsure:
            entry, differs = None, True
        elif was.state == state_of(status) and not was.again:
            entry, differs = replace(was, walked=walked), False
        else:
            entry = self._unchanged(place, was, walked=walked)
            differs = entry is None
        if differs:
            self.differing.setdefault(place, link or place)
        if entry is not None and self.index.swap(folder, name, packed, entry):
            self._count(place, status.st_size, entry)

    def _first(self, place: str, status: os.stat_result, *, walked: bool) -> Entry | None:
        """The entry of a file that was never seen; none if it went meanwhile."""
        self._go_on()
        read = None
        if status.st_size <= self.caps.file_bytes:
            # What comes early in this walk must not take the room of what was there before.
            files, size_bytes = map(max, self.kept, (self.kept_files, self.kept_bytes))
            is_full = files >= self.caps.files or size_bytes >= self.caps.total_bytes
            self.is_full |= is_full
            try:
                read = None if is_full else read_regular(place, self.caps.file_bytes)
            except FileNotFoundError:
                return None
            except OSError:
                # All that can be known is that it is there.
                read = None
        if read is None:
            young = is_young(status, self.began_ns)
            return Entry(state_of(status), unsure=young, walked=walked)
        data, status = read
        return Entry(
            state_of(status),
            bytes.fromhex(self.store.put(data)),
            again=is_fresh(status, time.time_ns()),
            unsure=is_young(status, self.began_ns),
            walked=walked,
        )

    def _unchanged(self, place: str, was: Entry, *, walked: bool) -> Entry | None:
        """The entry of a file that looks otherwise and holds what it held; none if it does not."""
        self._go_on()
        if not was.digest:
            return None
        try:
            read = read_regular(place, self.caps.file_bytes)
        except OSError:
            return None
        if read is None or hashlib.sha256(read[0]).digest() != was.digest:
            return None
        again = is_fresh(read[1], time.time_ns())
        return Entry(state_of(read[1]), was.digest, again=again, walked=walked)

    def _count(self, place: str, size_bytes: int, entry: Entry) -> None:
        if entry.digest and size_bytes <= self.caps.file_bytes:
            self.kept_files += 1
            self.kept_bytes += size_bytes
        elif not entry.asked:
            self.bare.append(place)
