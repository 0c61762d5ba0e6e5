"""Looks at a file for the hub: where it truly is, what it holds, and how that stands in it.

Plain functions that block; run them in a thread. A problem is what stands after the file's
name in a sentence: ``is a folder``.

Invariant: nothing outside of the roots is read, by whatever links or spelling, nor when a
link is laid in the last moment.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acpls.client.walking import is_at
from acpls.events import Disk, Form
from acpls.text.codec import decode

if TYPE_CHECKING:
    from acpls.text.codec import Standing

LIMIT_BYTES: Final = 16 * 1024 * 1024
"""A larger file is not read and none is written (16 MiB)."""

READ_ONLY: Final = "is read-only"
"""How the problem of a file begins that nobody may write."""

# How often a file is opened that goes elsewhere meanwhile.
_TRIES = 3
_OUTSIDE = "is outside of the workspace folders"
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    # A pipe without a writer would be waited for.
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class Refused(Exception):  # noqa: N818  an answer, not an error of ours
    """The file was left alone; ``str()`` is the problem."""


@dataclass(frozen=True, slots=True)
class Look:
    """A file as it was seen, its bytes and its state read from one descriptor.

    ``real``: its path without symbolic links. ``status``: ``None`` where there is no file, or
    it could not be opened. ``data``: its bytes, also when they are no text; ``None`` where
    they were not read: nothing is there, it is outside, no regular file, too large, or may
    not be read. ``is_link``: there is a symbolic link that leads to itself, or to a file and
    was laid just now.
    """

    disk: Disk
    real: Path
    status: os.stat_result | None = None
    data: bytes | None = None
    is_link: bool = False


def read(path: str, roots: tuple[str, ...], seen: Standing | None = None) -> Disk:
    """Read a file of at most ``LIMIT_BYTES`` (16 MiB) bytes.

    A file that is not there has neither text nor problem. ``seen``: as in ``look``.
    """
    return look(path, roots, seen).disk


def look(path: str, roots: tuple[str, ...], seen: Standing | None = None) -> Look:
    """Look at a file: ``read``, with the bytes and the state that they were read in.

    ``seen`` is the form in which it stood when it was last looked at; where an encoding has
    to be guessed, that one is tried first, so that two looks do not see two texts.
    """
    for _ in range(_TRIES):
        looked = _look(path, roots, seen)
        if looked is not None:
            return looked
    return Look(Disk(path, None, "cannot be read: its folder is being moved"), Path(path))


def _look(path: str, roots: tuple[str, ...], seen: Standing | None) -> Look | None:
    """``None``: it went elsewhere while it was opened."""
    if not Path(path).is_absolute() or "\0" in path:
        return Look(Disk(path, None, "is not an absolute path", inside=False), Path(path))
    try:
        real = Path(os.path.realpath(path))
        inside = any(
            real.is_relative_to(os.path.realpath(root))
            for root in roots
            if Path(root).is_absolute()
        )
    except (OSError, ValueError):
        problem = "has a name that this system cannot have"
        return Look(Disk(path, None, problem, inside=False), Path(path))
    other = str(real) if str(real) != path else None
    if not inside:
        return Look(Disk(path, None, _OUTSIDE, inside=False, real=other), real)
    try:
        data, status = _opened(real)
    except (FileNotFoundError, NotADirectoryError):
        return Look(Disk(path, None, real=other), real)
    except OSError as error:
        disk = Disk(path, None, cause(error, "read"), real=other)
        return Look(disk, real, is_link=error.errno == errno.ELOOP)
    if data is None:
        return None
    mode = stat.S_IMODE(status.st_mode)
    if isinstance(data, str):
        return Look(Disk(path, None, data, form=Form(mode=mode), real=other), real, status)
    content = content_of(data)
    read = decode(data, seen)
    if isinstance(read, str):
        disk = Disk(path, None, read, form=Form(mode=mode), content=content, real=other)
    else:
        form = Form(read.encoding, read.bom, read.guessed, mode)
        disk = Disk(path, read.text, form=form, content=content, real=other)
    return Look(disk, real, status, data)


def content_of(data: bytes) -> str:
    """What ``Disk.content`` is for these bytes: their SHA-256 in hex digits."""
    return hashlib.sha256(data).hexdigest()


def too_large(size: int) -> str | None:
    """The problem of a file of so many bytes, if it has more than ``LIMIT_BYTES``."""
    mib = 1024 * 1024
    if size <= LIMIT_BYTES:
        return None
    return f"is too large ({size / mib:.1f} MiB, the limit is {LIMIT_BYTES // mib})"


def cause(error: OSError, done: str) -> str:
    """The problem that an error of the system is; ``done``: what could not be done to the file."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"cannot be {done}: permission denied"
    if error.errno == errno.EROFS:
        return f"{READ_ONLY} (the whole file system is)"
    return f"cannot be {done}: {(error.strerror or str(error)).lower()}"


def _opened(real: Path) -> tuple[bytes | str | None, os.stat_result]:
    """The bytes of a file, or the problem why they are not read, and its state.

    ``None`` for the bytes where it is another file by now.
    """
    descriptor = os.open(real, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not is_at(descriptor, str(real)):
            return None, status
        if stat.S_ISDIR(status.st_mode):
            return "is a folder", status
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file", status
        size = status.st_size
        pieces: list[bytes] = []
        while size <= LIMIT_BYTES and (piece := os.read(descriptor, LIMIT_BYTES + 1)):
            pieces.append(piece)
            size = max(status.st_size, sum(map(len, pieces)))
    finally:
        os.close(descriptor)
    return too_large(size) or b"".join(pieces), status
