"""What was last told of every file, and what it held: so every change is told, and told once.

The index says of a file what was last told of it, the store has its bytes. Whatever is read,
written or noticed is compared with the index, and then the index is what was told. Plain
functions that block; for any thread, as long as one path is in one thread at a time.

Invariant: what a file held before is either known to the byte or said to be lost.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from acpls.client import git
from acpls.client.ignoring import Ignoring
from acpls.client.index import ABSENT, LINK, PIPE, Entry, Index, state_of, unpacked, unseen
from acpls.client.looking import LIMIT_BYTES, content_of, look
from acpls.client.sweeping import Caps
from acpls.client.walking import is_fresh, read_regular
from acpls.client.walks import Walked, Walks
from acpls.events import FIRST, SAME, Disk, Earlier, Form
from acpls.text.codec import decode, encode
from acpls.text.diff import diff
from acpls.text.size import reason_not_shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acpls.client.looking import Look
    from acpls.client.store import Store
    from acpls.events.world import Source

__all__ = ["Baselines", "Walked"]

_LOST: Final = Earlier("lost")
# How long a file that has just been emptied is waited for, in seconds, and how often.
_EMPTY_S: Final = 0.025
_EMPTY_TRIES: Final = 4
_LINKED: Final = "is behind a symbolic link"
_NO_FILE: Final = "is not a regular file"
# Here upper case and lower case, and two ways to write an accent, may be the same.
_MANY_SPELLINGS = sys.platform in {"darwin", "win32"}


class Baselines:
    """Knows what was told. ``caps``: how much is kept of a root. ``own``: folders of ours,
    without symbolic links, of which nothing is told. ``stop``: walks and questions to Git end
    soon when it is set.
    """

    def __init__(
        self,
        store: Store,
        caps: Caps | None = None,
        own: Iterable[str] = (),
        stop: threading.Event | None = None,
    ) -> None:
        self._store = store
        self._caps = caps or Caps()
        self._index = Index()
        self._ignoring = Ignoring(own)
        self._stop = stop or threading.Event()
        self._walks = Walks(self._index, store, self._ignoring, self._caps, self._stop)
        self._guessed: dict[str, Form] = {}

    def is_ignored(self, path: str, roots: tuple[str, ...]) -> bool:
        """Whether nobody wants to hear of a path; see ``Ignoring.is_ignored``."""
        return self._ignoring.is_ignored(path, roots)

    def folders(self, root: str, start: str | None = None) -> Iterator[str]:
        """The folders of which somebody wants to hear; see ``Ignoring.folders``."""
        return self._ignoring.folders(root, start)

    def walk(self, roots: tuple[str, ...]) -> Walked:
        """Look through all files of the roots; see ``Walks.walk``."""
        return self._walks.walk(roots)

    # --- one file -----------------------------------------------------------------------

    def look(self, path: str, roots: tuple[str, ...]) -> tuple[Disk, Earlier]:
        """Read a file, and tell what it was when it was last told of."""
        place = self._walks.take_relinked(path)
        if place is not None and os.path.realpath(path) != place:
            # What is there now is another file; of the one that was there it is told here.
            gone = Disk(path, None, f"{_LINKED} now", real=place if place != path else None)
            return gone, self._told(gone, LINK)
        place = _place(path)
        known = self._index.packed(place)
        looked = self._calmly(path, roots, place, known)
        disk, now = looked.disk, self._entry(looked)
        if not disk.inside:
            return disk, FIRST
        if now is None:
            # Whether it changed will be seen when it can be read again.
            return disk, FIRST if known is None else SAME
        earlier = self._compare(disk, now, known) if disk.place == place else None
        if earlier is None:
            # A walk took it in meanwhile, or a link was laid.
            return self.look(path, roots)
        return disk, earlier

    def _calmly(self, path: str, roots: tuple[str, ...], place: str, known: bytes | None) -> Look:
        """Look at a file; one that has just been emptied may be about to be written anew."""
        looked = look(path, roots, self._guessed.get(place))
        had_bytes = known is not None and bool(known) and unpacked(known).size_bytes > 0
        for _ in range(_EMPTY_TRIES if had_bytes else 0):
            status = looked.status
            if status is None or status.st_size:
                break
            if abs(time.time_ns() - status.st_mtime_ns) > _EMPTY_TRIES * _EMPTY_S * 1e9:
                break
            self._stop.wait(_EMPTY_S)
            looked = look(path, roots, self._guessed.get(place))
        return looked

    def form(self, path: str) -> Form | None:
        """How a text was last seen to stand in a file, where that had to be guessed."""
        return self._guessed.get(_place(path))

    def keep(self, looked: Look) -> None:
        """Keep the bytes of a file that is about to be written, however many there are."""
        self._entry(looked, always=True)

    def saw(self, looked: Look) -> Earlier:
        """Tell what a file was when it was last told of; for what was looked at elsewhere."""
        disk, now = looked.disk, self._entry(looked, always=True)
        if now is None:
            known = disk.inside and self._index.get(disk.place) is not None
            return SAME if known else FIRST
        return self._told(disk, now)

    def wrote(self, disk: Disk) -> None:
        """Take as told what a file was seen to hold after it was written, or removed, by us."""
        now = self._entry_of_text(disk)
        if now is None:
            return
        if not now.is_absent:
            with contextlib.suppress(OSError):
                read = read_regular(disk.place, LIMIT_BYTES)
                if read is not None and content_of(read[0]) == disk.content:
                    self._keep(read[0])
                    again = is_fresh(read[1], time.time_ns())
                    now = Entry(state_of(read[1]), now.digest, again=again)
        self._told(disk, now)

    # --- what is in the index -------------------------------------------------------------

    def _entry(self, looked: Look, *, always: bool = False) -> Entry | None:
        """The entry for what was seen, whose bytes are kept; ``None`` where it was not seen."""
        if looked.disk.is_missing:
            return ABSENT if looked.disk.inside else None
        if looked.is_link:
            return LINK
        if looked.status is None:
            return None
        if stat.S_ISDIR(looked.status.st_mode):
            return ABSENT
        if not stat.S_ISREG(looked.status.st_mode):
            return PIPE
        digest = b"" if looked.data is None else self._keep(looked.data, always=always)
        again = is_fresh(looked.status, time.time_ns())
        return Entry(state_of(looked.status), digest, again=again)

    def _entry_of_text(self, disk: Disk) -> Entry | None:
        if disk.is_missing:
            return ABSENT if disk.inside else None
        if disk.content is None:
            return None
        data = None if disk.text is None else encode(disk.text, disk.form, disk.text)
        if isinstance(data, bytes) and content_of(data) == disk.content:
            self._keep(data)
        return Entry(unseen(disk.form.mode), bytes.fromhex(disk.content))

    def _keep(self, data: bytes, *, always: bool = False) -> bytes:
        """Keep the bytes of a file; gives their digest."""
        if len(data) > self._caps.file_bytes and not always:
            return bytes.fromhex(content_of(data))
        return bytes.fromhex(self._store.put(data))

    def _told(self, disk: Disk, now: Entry) -> Earlier:
        """Put the entry into the index whatever is there, and tell what that means."""
        while True:
            earlier = self._compare(disk, now, self._index.packed(disk.place))
            if earlier is not None:
                return earlier

    def _compare(self, disk: Disk, now: Entry, known: bytes | None) -> Earlier | None:
        """Put the entry into the index, and tell what the one before it means; ``None`` where
        that is not the known one any more.
        """
        place = disk.place
        if not self._index.swap(*os.path.split(place), known, now):
            return None
        was = None if known is None else unpacked(known)
        if (was is None or now.is_absent) and self._walks.was_absent(place):
            if now.is_absent:
                # The walk says so for all files that are not in the index.
                self._index.forget_absent(place)
            if was is None and (now.is_absent or _is_spelled_so(place)):
                # Else it may have been there under the name by which it was walked.
                was = ABSENT
        seen = self._guessed.get(place, disk.form)
        if disk.form.guessed:
            self._guessed[place] = disk.form
        if was is None:
            return FIRST
        if was.unsure:
            # A file that came and went meanwhile is nothing to tell of.
            return _LOST if now.is_file else FIRST
        if not was.is_file:
            return _came(disk, was) if now.is_file else SAME
        if now.digest and was.digest == now.digest:
            return SAME
        is_read = now.digest and was.digest
        if now.is_file and not is_read and not was.blob and was.resembles(now):
            return SAME
        return self._earlier(disk, was, now, seen)

    def _earlier(self, disk: Disk, was: Entry, now: Entry, seen: Form) -> Earlier:
        how: Source = "store"
        data = self._store.get(was.digest.hex()) if was.digest else None
        if data is None and was.blob:
            blob = was.blob.hex()
            how, data = "git", git.read_blob(disk.place, blob, was.size_bytes, self._stop)
            if data is not None:
                # It is taken back from the store, and may be longer than what is kept else.
                self._store.put(data)
        content = None if data is None else content_of(data)
        if data is None or content is None or (was.digest and was.digest.hex() != content):
            return _LOST
        if now.digest.hex() == content:
            return SAME
        read = decode(data, seen)
        if isinstance(read, str):
            form = Form(mode=was.mode)
            before = Disk(disk.path, None, read, form=form, content=content, real=disk.real)
        else:
            form = Form(read.encoding, read.bom, read.guessed, was.mode)
            before = Disk(disk.path, read.text, form=form, content=content, real=disk.real)
        return _between(how, before, disk)


def _came(disk: Disk, was: Entry) -> Earlier:
    """What a file was before there was one."""
    if was.is_absent:
        return Earlier("store", Disk(disk.path, None, real=disk.real))
    # It is no new file: who takes it away gets no link back.
    problem = _LINKED if was == LINK else _NO_FILE
    return Earlier("lost", Disk(disk.path, None, problem, real=disk.real))


def _between(how: Source, before: Disk, disk: Disk) -> Earlier:
    if before.text is None or disk.text is None:
        return Earlier(how, before)
    if any(map(reason_not_shown, (before.text, disk.text))):
        return Earlier(how, before)
    return Earlier(how, before, diff(before.text, disk.text))


def _place(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _is_spelled_so(place: str) -> bool:
    """Whether a file that is there has this very name, where others lead to it as well."""
    if not _MANY_SPELLINGS:
        return True
    folder, name = os.path.split(place)
    try:
        return name in os.listdir(folder)  # noqa: PTH208  text in
    except OSError:
        return False
