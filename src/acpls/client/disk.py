"""Reads and writes files for the hub: confined to roots, exact to the byte.

Plain functions that block; run them in a thread, one at a time for each path. A problem is
what stands after the file's name in a sentence: ``is read-only``.

Invariant: a file that is not known to be as expected is left alone, none keeps half of a
text, and nothing outside is touched.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from acpls.client.endings import with_endings_of
from acpls.client.looking import (
    LIMIT_BYTES,
    READ_ONLY,
    Look,
    Refused,
    cause,
    content_of,
    look,
    read,
    too_large,
)
from acpls.client.walking import is_at
from acpls.events import UTF_8, FileWritten
from acpls.text.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acpls.effects import WriteFile
    from acpls.events import Form
    from acpls.text.codec import Standing

__all__ = ["LIMIT_BYTES", "Look", "content_of", "look", "read", "write"]

_CHANGED = "has changed on disk"
_GONE = "is not there any more"
_THERE = "exists already"
# Files of this name are never told of.
_PART = ".acpls-"
# Every file has this one on systems that use it, and new files get it by themselves.
_HARMLESS_ATTRIBUTES = {"security.selinux"}
_WRITING = (
    os.O_WRONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    # A pipe that nobody reads would be waited for.
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


def write(
    effect: WriteFile,
    stored: bytes | None = None,
    seen: Standing | None = None,
    keep: Callable[[Look], None] = lambda _: None,
) -> FileWritten:
    """Make a file hold a text, or stored bytes, or remove it.

    ``stored`` are the bytes for ``effect.stored``; they are written as they are, over a file
    that is no text, too. A text stands as ``effect.form`` says, else as what is there does,
    else as UTF-8. The mode of ``effect.form`` is given to a file that did not exist; one that
    did keeps its own, and its owner, links and attributes. Of a symbolic link the target is
    written, but the link itself is removed. A file that holds the bytes already is not
    touched. At most ``LIMIT_BYTES`` (16 MiB) are written. ``seen``: as in ``look``, for what
    is there; without it, what ``effect.form`` says is tried first.

    In the result ``before`` is what the file held, and ``after`` what it was seen to hold
    when it was read again, ``None`` where it was left alone; there is a problem as well when
    that is not what was written.
    """
    before = look(effect.path, effect.roots, seen or effect.form)
    keep(before)
    form = effect.form or (UTF_8 if before.disk.text is None else before.disk.form)
    try:
        _refuse(effect, before)
        data = _bytes_for(effect, stored, before, form)
    except Refused as refused:
        return FileWritten(effect.token, effect.path, before.disk, str(refused))
    problem = None
    try:
        _carry_out(effect, before, data)
    except Refused as refused:
        problem = str(refused)
    except OSError as error:
        problem = cause(error, "removed" if data is None else "written")
    after = look(effect.path, effect.roots, form).disk
    if problem is None and after.content != (None if data is None else content_of(data)):
        problem = "is there again" if data is None else "does not hold what was written"
    return FileWritten(effect.token, effect.path, before.disk, problem, after)


# --- what is refused -----------------------------------------------------------------


def _refuse(effect: WriteFile, before: Look) -> None:
    disk = before.disk
    removed = effect.text is None and effect.stored is None
    if disk.problem is not None and before.data is None:
        raise Refused(disk.problem)
    if effect.expected not in ("anything", disk.content):
        if disk.content is None:
            raise Refused(_GONE)
        raise Refused(_THERE if effect.expected is None else _CHANGED)
    known = effect.stored is not None or (removed and effect.expected == disk.content)
    if disk.problem is not None and not known:
        raise Refused(disk.problem)
    if before.status is not None:
        mode = stat.S_IMODE(before.status.st_mode)
        if mode & 0o222 == 0:
            raise Refused(f"{READ_ONLY} (mode {mode:04o})")
        if not os.access(before.real, os.W_OK):
            raise Refused(f"cannot be {'removed' if removed else 'written'}: permission denied")


def _bytes_for(effect: WriteFile, stored: bytes | None, before: Look, form: Form) -> bytes | None:
    """What the file is to hold, ``None`` where it is to go."""
    if effect.stored is not None:
        if stored is None or content_of(stored) != effect.stored:
            raise Refused("cannot be restored: its text is not stored any more")
        data = stored
    elif effect.text is None:
        return None
    else:
        old, text = before.disk.text or "", effect.text
        if effect.keep_endings:
            text = with_endings_of(old, text)
        # What is known to stand in one encoding says nothing about another.
        encoded = encode(text, form, old if before.disk.form.encoding == form.encoding else "")
        if isinstance(encoded, str):
            raise Refused(encoded)
        data = encoded
    problem = too_large(len(data))
    if problem is not None:
        raise Refused(f"was not written: it {problem}")
    return data


# --- what is done --------------------------------------------------------------------


def _carry_out(effect: WriteFile, before: Look, data: bytes | None) -> None:
    if data is None:
        if before.status is not None:
            _still_as_seen(before)
            Path(effect.path).unlink()
    elif before.status is None:
        _create(before.real, data, effect.form.mode if effect.form else None)
    elif data == before.data:
        _still_as_seen(before)
    elif not (_may_replace(effect.path, before) and _replace(before, data)):
        _overwrite(before, data)


def _create(real: Path, data: bytes, mode: int | None) -> None:
    real.parent.mkdir(parents=True, exist_ok=True)
    try:
        # One that is to be less open than others are is so from the beginning.
        at_first = 0o666 if mode is None else 0o600
        descriptor = os.open(real, _WRITING | os.O_CREAT | os.O_EXCL, at_first)
    except FileExistsError:
        raise Refused(_THERE) from None
    if not is_at(descriptor, str(real)):
        os.close(descriptor)
        real.unlink(missing_ok=True)
        raise Refused(_CHANGED)
    try:
        _write_all(descriptor, data)
        if mode is not None:
            # Nothing that was deleted gets the rights of its owner or group back.
            real.chmod(mode & 0o777)
    except OSError:
        real.unlink(missing_ok=True)
        raise


def _may_replace(path: str, before: Look) -> bool:
    """Whether a new file under the old name is as good as the old file."""
    status = before.status
    assert status is not None
    if Path(path).is_symlink() or status.st_nlink > 1:
        return False
    if not os.access(before.real.parent, os.W_OK):
        return False
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            return set(os.listxattr(before.real)) <= _HARMLESS_ATTRIBUTES
    return True


def _replace(before: Look, data: bytes) -> bool:
    """Put a new file in the place of the old one, unless it would be somebody else's."""
    assert before.status is not None
    with _folder(before.real.parent) as folder:
        descriptor, temporary = _part(before.real.parent, folder)
        try:
            same_owner = _owner(os.fstat(descriptor)) == _owner(before.status)
            _write_all(descriptor, data if same_owner else b"")
            if same_owner:
                temporary.chmod(stat.S_IMODE(before.status.st_mode))
                _still_as_seen(before)
                temporary.replace(before.real)
        finally:
            # The folder may have another name by now.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary if folder is None else temporary.name, dir_fd=folder)
    return same_owner


def _part(parent: Path, folder: int | None) -> tuple[int, Path]:
    """A new file that is to take the place of another one in the same folder."""
    if folder is None:
        descriptor, name = tempfile.mkstemp(prefix=_PART, dir=parent)
        return descriptor, Path(name)
    part = parent / f"{_PART}{secrets.token_hex(4)}"
    return os.open(part.name, _WRITING | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder), part


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[int | None]:
    """A folder by whatever name, where the system has such a thing and lets us."""
    if os.unlink not in os.supports_dir_fd or not os.access(path, os.R_OK):
        yield None
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _overwrite(before: Look, data: bytes) -> None:
    _still_as_seen(before)
    try:
        _write_all(os.open(before.real, _WRITING), data)
    except OSError:
        assert before.data is not None
        # The old bytes have their place on a full disk, too.
        with contextlib.suppress(OSError):
            _write_all(os.open(before.real, _WRITING), before.data)
        raise


def _still_as_seen(before: Look) -> None:
    assert before.status is not None
    try:
        now = before.real.lstat()
    except FileNotFoundError:
        raise Refused(_GONE) from None
    if _identity(now) != _identity(before.status):
        raise Refused(_CHANGED)


def _owner(status: os.stat_result) -> tuple[int, int]:
    return status.st_uid, status.st_gid


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _write_all(descriptor: int, data: bytes) -> None:
    # Without a buffer, of which a failed write would leave a rest for the file's end.
    with open(descriptor, "wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        file.truncate()
        os.fsync(descriptor)
