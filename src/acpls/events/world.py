"""What was read, written and noticed on disk, and which time has passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.text.diff import Hunk


@dataclass(frozen=True, slots=True)
class Form:
    """How a text stands in its file: all that makes the same bytes of it again.

    ``encoding`` is a name of Python's codecs without a mark of its own (``utf-16-le``), and
    ``bom`` says whether the byte order mark stands before it. ``guessed``: nothing declares
    the encoding, it merely fits. ``mode``: the permission bits, ``None`` where unknown.
    """

    encoding: str = "utf-8"
    bom: bool = False
    guessed: bool = False
    mode: int | None = None


UTF_8: Final = Form()


@dataclass(frozen=True, slots=True)
class Disk:
    """What a file holds on disk.

    ``text`` has every line ending as it is and no byte order mark; ``None`` when there is no
    file, or, with ``problem``, when it cannot be read as text. ``inside``: with its symbolic
    links resolved it lies in one of the roots that the effect named; a file outside is not
    read. ``content`` is the SHA-256 of its bytes in hex digits, ``None`` where they were not
    read or there are none. ``real``: the path without symbolic links, where that is another.
    """

    path: str
    text: str | None
    problem: str | None = None
    inside: bool = True
    form: Form = UTF_8
    content: str | None = None
    real: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether there is no file at all."""
        return self.text is None and self.problem is None

    @property
    def place(self) -> str:
        """The path that tells this file from others, however it is spelled."""
        return self.real or self.path


Source: TypeAlias = Literal["same", "store", "git", "lost", "first"]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of a file before it became what it is now.

    ``same``: it is as it was when last told of. ``store``, ``git``: it changed since, and
    ``disk`` is what it was, from the content store or from a blob of Git; ``hunks`` is the
    difference, where both are text of a size that can be compared. ``lost``: it changed, and
    what it held is not known any more. ``first``: nobody has looked at it before.
    """

    how: Source
    disk: Disk | None = None
    hunks: tuple[Hunk, ...] | None = None

    @property
    def changed(self) -> bool:
        """Whether the file is known to have changed since it was last told of."""
        return self.how in {"store", "git", "lost"}


SAME: Final = Earlier("same")
FIRST: Final = Earlier("first")


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file was read for the purpose ``token``."""

    token: object
    disk: Disk
    earlier: Earlier = FIRST


@dataclass(frozen=True, slots=True)
class Seen:
    """What is at a path. ``inside``: of the roots, with its symbolic links resolved.

    ``text``: what the file holds, where that was wanted and it is text of a size to be shown.
    """

    path: str
    kind: Literal["file", "folder", "other", "missing"]
    inside: bool = True
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What is at the paths of a ``LookAt``, in their order."""

    token: object
    seen: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class ChoicesLoaded:
    """What the user chose in earlier runs of the server, by name: JSON values."""

    choices: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file was written, or removed, for the purpose ``token``; ``problem``: it was not.

    ``before`` is what the file held just before, and ``earlier`` what it had been when last
    told of; ``after`` is what it was seen to hold when it was read again.
    """

    token: object
    path: str
    before: Disk
    problem: str | None = None
    after: Disk | None = None
    earlier: Earlier = SAME


@dataclass(frozen=True, slots=True)
class FileNoticed:
    """A file was seen to have changed that nobody asked for.

    ``token``: that of the ``SyncFiles`` on whose way it was seen, ``None`` when it was seen
    because the system told of it.
    """

    disk: Disk
    earlier: Earlier
    token: object = None


@dataclass(frozen=True, slots=True)
class FilesSynced:
    """All files under the roots of a ``SyncFiles`` were looked at; what had changed was told.

    ``at_s``: the time, in seconds since 1970. ``real_roots``: the roots without symbolic
    links, in their order. ``problem``: why some files were not looked at.
    """

    token: object
    at_s: float = 0.0
    real_roots: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class HeadMoved:
    """Something was committed or checked out in a Git repository under one of the roots."""

    root: str


@dataclass(frozen=True, slots=True)
class HeadCompared:
    """Which of the files hold just what the last commit has for them."""

    token: object
    same: frozenset[str]


@dataclass(frozen=True, slots=True)
class StoredRead:
    """Texts of the content store, by the hash of their bytes; what is gone is left out."""

    token: object
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReviewLoaded:
    """What an earlier run of the server stored; ``None`` where there is nothing to be read."""

    token: object
    value: Any


@dataclass(frozen=True, slots=True)
class PermissionsRead:
    """What is remembered of permissions, in no order, and where paths really are.

    ``places``: the paths asked for without symbolic links; what cannot be found out is left
    out. ``stored``: ``None`` where it could not be read. ``stamp`` rises with the time at
    which it was read, or changed, in this run.
    """

    token: object
    places: Mapping[str, str]
    stored: tuple[Any, ...] | None
    stamp: int


@dataclass(frozen=True, slots=True)
class PermissionKept:
    """What was to be remembered, or forgotten, under a key is; ``problem``: it is not."""

    token: object
    key: str
    stamp: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A time limit asked for by ``After`` has passed."""

    token: object
