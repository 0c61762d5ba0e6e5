"""What was last told of each file, small enough for tens of thousands of files.

Files are known by their paths without symbolic links. An entry is kept as a few bytes, which
the walks compare without unpacking them.
"""

from __future__ import annotations

import os
import stat
import struct
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_POSIX = os.name == "posix"
_STATE = struct.Struct("<QQQQI")
_64_BITS = (1 << 64) - 1
_STATE_LENGTH = _STATE.size
_AGAIN, _UNSURE, _WALKED, _ASKED, _READ = 1, 2, 4, 8, 16
_DIGEST_LENGTH = 32
_OTHERS = {stat.S_IFLNK, stat.S_IFIFO}


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. ``state``: its size, times, inode and mode; empty: there is no such file, and
    of a kind that is no file (a link, a pipe) it says so and nothing else.

    ``digest``: the SHA-256 of its bytes, empty where they were not read. ``again``: it may
    have changed since without another state, because it was young when it was read.
    ``unsure``: it may have changed before it was read. ``walked``: by the rules of the last
    walk it is not ignored. ``asked``: Git was asked for what is committed of it, and ``blob``
    is the blob's name, empty where that is not what the file holds.
    """

    state: bytes
    digest: bytes = b""
    again: bool = False
    unsure: bool = False
    walked: bool = False
    asked: bool = False
    blob: bytes = b""

    @property
    def is_absent(self) -> bool:
        """Whether there was no such file."""
        return not self.state

    @property
    def is_file(self) -> bool:
        """Whether there was a regular file."""
        return bool(self.state) and not is_other(self.state)

    @property
    def size_bytes(self) -> int:
        """How long the file was."""
        return int(_STATE.unpack(self.state)[0])

    @property
    def mode(self) -> int:
        """The permission bits that the file had."""
        return stat.S_IMODE(_STATE.unpack(self.state)[4])

    def resembles(self, other: Entry) -> bool:
        """Whether size, time and inode are the same, so that it hardly was written."""
        size, mtime, _, inode, _ = _STATE.unpack(self.state)
        other_size, other_mtime, _, other_inode, _ = _STATE.unpack(other.state)
        return (size, mtime, inode) == (other_size, other_mtime, other_inode)

    def packed(self) -> bytes:
        """The entry as the index keeps it."""
        if self.is_absent:
            return b""
        flags = _AGAIN * self.again | _UNSURE * self.unsure | _WALKED * self.walked
        flags |= _ASKED * self.asked | _READ * bool(self.digest)
        return b"%b%c%b%b" % (self.state, flags, self.digest, self.blob)


ABSENT: Final = Entry(b"")
"""There is no such file."""

LINK: Final = Entry(_STATE.pack(0, 0, 0, 0, stat.S_IFLNK))
"""There is a symbolic link, or one leads to where it would be."""

PIPE: Final = Entry(_STATE.pack(0, 0, 0, 0, stat.S_IFIFO))
"""There is something else that is neither a file nor a folder."""


def unseen(mode: int | None) -> bytes:
    """A state that no file has, of a file with these permission bits."""
    return _STATE.pack(0, 0, 0, 0, mode or 0)


def state_of(status: os.stat_result) -> bytes:
    """What is another after a file was changed, for all that can be told from outside."""
    if _POSIX:
        return _STATE.pack(
            status.st_size & _64_BITS,
            status.st_mtime_ns & _64_BITS,
            status.st_ctime_ns & _64_BITS,
            status.st_ino & _64_BITS,
            status.st_mode,
        )
    # Windows does not tell the rest when it lists a folder.
    return _STATE.pack(status.st_size & _64_BITS, status.st_mtime_ns & _64_BITS, 0, 0, 0o100644)


def unpacked(packed: bytes) -> Entry:
    """The entry that was packed."""
    if not packed:
        return ABSENT
    flags, rest = packed[_STATE_LENGTH], packed[_STATE_LENGTH + 1 :]
    digest_length = _DIGEST_LENGTH if flags & _READ else 0
    return Entry(
        packed[:_STATE_LENGTH],
        rest[:digest_length],
        again=bool(flags & _AGAIN),
        unsure=bool(flags & _UNSURE),
        walked=bool(flags & _WALKED),
        asked=bool(flags & _ASKED),
        blob=rest[digest_length:],
    )


def is_other(packed: bytes | None) -> bool:
    """Whether a packed entry, if there is one, is ``LINK`` or ``PIPE``."""
    return bool(packed and stat.S_IFMT(_STATE.unpack_from(packed)[4]) in _OTHERS)


def is_walked(packed: bytes | None) -> bool:
    """Whether a packed entry, if there is one, is ``walked``."""
    return bool(packed and packed[_STATE_LENGTH] & _WALKED)


def is_asked(packed: bytes | None) -> bool:
    """Whether a packed entry, if there is one, is ``asked``."""
    return bool(packed and packed[_STATE_LENGTH] & _ASKED)


def has_digest(packed: bytes | None) -> bool:
    """Whether a packed entry, if there is one, has a digest."""
    return bool(packed and packed[_STATE_LENGTH] & _READ)


def is_settled(packed: bytes | None, state: bytes) -> bool:
    """Whether a packed entry, if there is one, has this state and leaves nothing to find out."""
    if not packed or packed[_STATE_LENGTH] & (_AGAIN | _UNSURE | _WALKED) != _WALKED:
        return False
    return packed.startswith(state)


class Index:
    """All entries, by folder and name. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folders: dict[str, dict[str, bytes]] = {}

    def get(self, place: str) -> Entry | None:
        """The entry of a file, ``None`` where nothing was ever told of it."""
        packed = self.packed(place)
        return None if packed is None else unpacked(packed)

    def packed(self, place: str) -> bytes | None:
        """The same, packed."""
        folder, name = os.path.split(place)
        return self._folders.get(folder, {}).get(name)

    def forget_absent(self, place: str) -> None:
        """Take an entry out that says that there is no such file."""
        folder, name = os.path.split(place)
        with self._lock:
            entries = self._folders.get(folder, {})
            if entries.get(name) == ABSENT.packed():
                del entries[name]
                if not entries:
                    del self._folders[folder]

    def swap(self, folder: str, name: str, was: bytes | None, entry: Entry) -> bool:
        """Put an entry if the one there is still this one (``None``: none)."""
        with self._lock:
            if self._folders.get(folder, {}).get(name) != was:
                return False
            self._folders.setdefault(folder, {})[name] = entry.packed()
        return True

    def folder(self, folder: str) -> dict[str, bytes]:
        """The packed entries of a folder by their names: a copy."""
        with self._lock:
            return dict(self._folders.get(folder, ()))

    def folders(self, root: str) -> Iterator[str]:
        """The folders in a root, and the root itself, that have entries."""
        with self._lock:
            folders = list(self._folders)
        below = root.rstrip(os.sep) + os.sep
        return (folder for folder in folders if folder == root or folder.startswith(below))

    def contents(self) -> Iterator[str]:
        """The SHA-256 in hex digits of all files whose bytes were read."""
        with self._lock:
            entries = [packed for folder in self._folders.values() for packed in folder.values()]
        return (unpacked(packed).digest.hex() for packed in entries if has_digest(packed))
