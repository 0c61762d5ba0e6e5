"""Reads and writes files for the hub: confined to roots, exact to the byte.

Plain functions that block; run them in a thread, one at a time for each path. A problem is
what stands after the file's name in a sentence: ``is read-only``.

Invariant: bytes that are not UTF-8 text are never rewritten; nothing outside is touched.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acpls.client.endings import with_endings_of
from acpls.events import Disk, FileWritten

if TYPE_CHECKING:
    from acpls.effects import WriteFile

LIMIT_BYTES = 16 * 1024 * 1024
_BOM = "\ufeff"
_OUTSIDE = "is outside of the workspace folders"
_CHANGED = "has changed on disk"
_READ_ONLY = "is read-only"
_NOT_TEXT = "is not UTF-8 text"
# Every file has this one on systems that use it, and new files get it by themselves.
_HARMLESS_ATTRIBUTES = {"security.selinux"}
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READING = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITING = os.O_WRONLY | _NO_FOLLOW | getattr(os, "O_BINARY", 0)


def read(path: str, roots: tuple[str, ...]) -> Disk:
    """Read a file. A file that is not there has neither text nor problem."""
    return _look(path, roots).disk


def write(effect: WriteFile) -> FileWritten:
    """Make a file hold the text, or remove it; what it held before is in the result."""
    before = _look(effect.path, effect.roots)
    try:
        problem = _refusal(effect, before) or _carry_out(effect, before)
    except _Refused as refused:
        problem = str(refused)
    except OSError as error:
        problem = _cause(error, "written")
    return FileWritten(effect.token, effect.path, before.disk, problem)


class _Refused(Exception):  # noqa: N818  an answer, not an error of ours
    """The file was left alone; ``str()`` is the problem."""


@dataclass(frozen=True, slots=True)
class _Look:
    """A file as it was seen. ``real``: its path without symbolic links."""

    disk: Disk
    real: Path
    status: os.stat_result | None = None


# --- reading -------------------------------------------------------------------------


def _look(path: str, roots: tuple[str, ...]) -> _Look:
    if not Path(path).is_absolute() or "\0" in path:
        return _Look(Disk(path, None, "is not an absolute path", inside=False), Path(path))
    try:
        real = Path(os.path.realpath(path))
        inside = any(real.is_relative_to(os.path.realpath(root)) for root in roots if root)
    except (OSError, ValueError):
        problem = "has a name that this system cannot have"
        return _Look(Disk(path, None, problem, inside=False), Path(path))
    if not inside:
        return _Look(Disk(path, None, _OUTSIDE, inside=False), real)
    try:
        data, status = _read_regular(real)
    except (FileNotFoundError, NotADirectoryError):
        return _Look(Disk(path, None), real)
    except _Refused as refused:
        return _Look(Disk(path, None, str(refused)), real)
    except OSError as error:
        return _Look(Disk(path, None, _cause(error, "read")), real)
    return _Look(_decode(path, data), real, status)


def _read_regular(real: Path) -> tuple[bytes, os.stat_result]:
    descriptor = os.open(real, _READING)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise _Refused("is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise _Refused("is not a regular file")
        size = status.st_size
        pieces: list[bytes] = []
        while size <= LIMIT_BYTES and (piece := os.read(descriptor, LIMIT_BYTES + 1)):
            pieces.append(piece)
            size = max(status.st_size, sum(map(len, pieces)))
    finally:
        os.close(descriptor)
    if size > LIMIT_BYTES:
        mib = 1024 * 1024
        raise _Refused(f"is too large ({size / mib:.1f} MiB, the limit is {LIMIT_BYTES // mib})")
    return b"".join(pieces), status


def _decode(path: str, data: bytes) -> Disk:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Disk(path, None, _NOT_TEXT)
    if "\0" in text:
        return Disk(path, None, _NOT_TEXT)
    bom = text.startswith(_BOM)
    return Disk(path, text.removeprefix(_BOM), bom=bom)


# --- writing -------------------------------------------------------------------------


def _refusal(effect: WriteFile, before: _Look) -> str | None:
    disk = before.disk
    if not disk.inside or disk.problem is not None:
        return disk.problem
    if effect.expected not in ("anything", disk.text):
        if disk.text is None:
            return "is not there any more"
        return "exists already" if effect.expected is None else _CHANGED
    if before.status is not None:
        mode = stat.S_IMODE(before.status.st_mode)
        if mode & 0o222 == 0:
            return f"{_READ_ONLY} (mode {mode:04o})"
        if effect.text is not None and not os.access(before.real, os.W_OK):
            return "cannot be written: permission denied"
    return None


def _carry_out(effect: WriteFile, before: _Look) -> str | None:
    if effect.text is None:
        if before.status is not None:
            _still_as_seen(before)
            Path(effect.path).unlink()
        return None
    try:
        data = _encode(effect.text, before.disk, keep_endings=effect.keep_endings)
    except UnicodeEncodeError:
        return "was not written: the text has half of a surrogate pair, which UTF-8 cannot hold"
    if before.status is None:
        _create(before.real, data)
    elif _may_replace(effect.path, before):
        _replace(before, data)
    else:
        _overwrite(before, data)
    return None


def _encode(text: str, before: Disk, *, keep_endings: bool) -> bytes:
    old = before.text or ""
    # Exactly one mark, whether the text brings it or the file has it; a file that truly
    # begins with two keeps both.
    bom = before.bom or text.startswith(_BOM)
    if not old.startswith(_BOM):
        text = text.removeprefix(_BOM)
    if keep_endings:
        text = with_endings_of(old, text)
    return ((_BOM if bom else "") + text).encode("utf-8")


def _create(real: Path, data: bytes) -> None:
    real.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(real, _WRITING | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise _Refused("exists already") from None
    try:
        _write_all(descriptor, data)
    except OSError:
        real.unlink(missing_ok=True)
        raise


def _may_replace(path: str, before: _Look) -> bool:
    """Whether a new file under the old name is as good as the old file."""
    status = before.status
    assert status is not None
    if Path(path).is_symlink() or status.st_nlink > 1:
        return False
    if not os.access(before.real.parent, os.W_OK):
        return False
    if hasattr(os, "geteuid") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        return False
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            return set(os.listxattr(before.real)) <= _HARMLESS_ATTRIBUTES
    return True


def _replace(before: _Look, data: bytes) -> None:
    assert before.status is not None
    descriptor, name = tempfile.mkstemp(prefix=".acpls-", dir=before.real.parent)
    temporary = Path(name)
    try:
        _write_all(descriptor, data)
        temporary.chmod(stat.S_IMODE(before.status.st_mode))
        _still_as_seen(before)
        temporary.replace(before.real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _overwrite(before: _Look, data: bytes) -> None:
    _still_as_seen(before)
    _write_all(os.open(before.real, _WRITING), data)


def _still_as_seen(before: _Look) -> None:
    assert before.status is not None
    now, then = before.real.lstat(), before.status
    if (now.st_ino, now.st_mtime_ns, now.st_size) != (then.st_ino, then.st_mtime_ns, then.st_size):
        raise _Refused(_CHANGED)


def _write_all(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(descriptor)


def _cause(error: OSError, done: str) -> str:
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"cannot be {done}: permission denied"
    if error.errno == errno.EROFS:
        return f"{_READ_ONLY} (the whole file system is)"
    return f"cannot be {done}: {(error.strerror or str(error)).lower()}"
