"""What was read and written, and which time has passed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Disk:
    """What a file holds on disk.

    ``text`` is decoded UTF-8 with every line ending as it is and without a byte order
    mark; ``None`` when there is no file, or, with ``problem``, when it cannot be read as
    text. ``inside``: with its symbolic links resolved it lies in one of the roots that
    the effect named; a file outside is not read.
    """

    path: str
    text: str | None
    problem: str | None = None
    bom: bool = False
    inside: bool = True


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file was read for the purpose ``token``."""

    token: object
    disk: Disk


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file was written, or removed, for the purpose ``token``; ``problem``: it was not.

    ``before`` is what the file held just before.
    """

    token: object
    path: str
    before: Disk
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class TimePassed:
    """A time limit asked for by ``After`` has passed."""

    token: object
