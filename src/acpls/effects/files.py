"""What is wanted of the files and of what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from acpls.events import Form


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Read a file; ``FileRead`` with the same token follows."""

    token: object
    path: str
    roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Make a file hold ``text`` with exactly these line endings, or remove it (``None``).

    ``stored`` wins over ``text``: the bytes of the content store with this hash.
    ``expected``: the hash of what the file must still hold (``Disk.content``), ``None`` for no
    such file; otherwise it is left alone and ``FileWritten`` has a problem. ``keep_endings``:
    where ``text`` has plain LF and the file has another style, the file's style is written.
    ``form`` is how the text is to stand in the file; without it, as what is there does, and
    UTF-8 in a new file. Paths outside ``roots`` are refused.
    """

    token: object
    path: str
    text: str | None
    roots: tuple[str, ...]
    expected: str | None | Literal["anything"] = "anything"
    keep_endings: bool = False
    form: Form | None = None
    stored: str | None = None


@dataclass(frozen=True, slots=True)
class SyncFiles:
    """Look at all files under the roots. ``FileNoticed`` follows for each that changed since
    it was last told of, then ``FilesSynced`` with the token. Prompts wait for it to be over.
    """

    token: object
    roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WatchFiles:
    """From now on tell of changes under these roots, and of no others, as they happen."""

    roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompareWithHead:
    """Compare files with the last commit; ``HeadCompared`` with the same token follows."""

    token: object
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadStored:
    """Give back texts of the content store, by the hash of their bytes, each with the form in
    which it stood in its file; ``StoredRead`` with the same token follows.
    """

    token: object
    wanted: tuple[tuple[str, Form], ...]


@dataclass(frozen=True, slots=True)
class StoreReview:
    """Keep a JSON value for the next run of the server, for workspaces with these roots."""

    roots: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class LoadReview:
    """Give back what was stored for these roots; ``ReviewLoaded`` follows."""

    token: object
    roots: tuple[str, ...]
