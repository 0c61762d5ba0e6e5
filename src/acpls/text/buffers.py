"""The editor's open documents: their text as it is on screen, version by version.

Editors exist that send the changes of a document out of version order (Helix 25.01), and
others whose versions have gaps (Neovim). Both must leave the same text here as there.

Invariant: changes are applied in rising order of versions, each at most once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.text.lines import Encoding, LineIndex, Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class ContentChange:
    """One replacement in a document: of the range, or of everything without ``start``.

    Positions count in the encoding that was agreed on with the editor.
    """

    text: str
    start: Position | None = None
    end: Position | None = None


Change: TypeAlias = Literal["applied", "held", "stale", "unknown"]
"""What came of a change.

``applied``: and what was held for it, too. ``held``: a version before it is missing; it
waits for that, or for ``Buffers.release``. ``stale``: ignored, this version or a newer one
was there already. ``unknown``: ignored, the document is not open.
"""


@dataclass(slots=True)
class Buffer:
    """An open document. ``saved_text`` is what its file holds as far as we know."""

    uri: str
    version: int
    text: str
    saved_text: str
    language: str = ""

    @property
    def dirty(self) -> bool:
        """Whether the document has changes that its file has not."""
        return self.text != self.saved_text


class Buffers:
    """All open documents of the editor, by URI, as the editor spells it.

    ``encoding`` is what positions of changes count in. ``gaps``: the editor is taken to
    leave out versions, so that a gap is no reason to wait; it is learnt otherwise from
    what the editor does.
    """

    __slots__ = ("_open", "encoding", "gaps")

    def __init__(self, encoding: Encoding = "utf-16", *, gaps: bool = True) -> None:
        self.encoding: Encoding = encoding
        self.gaps = gaps
        self._open: dict[str, _Open] = {}

    def __iter__(self) -> Iterator[Buffer]:
        """The open documents, in the order in which they were opened."""
        return (document.buffer for document in self._open.values())

    def get(self, uri: str) -> Buffer | None:
        """The open document with this URI."""
        document = self._open.get(uri)
        return document.buffer if document else None

    def open(self, uri: str, version: int, text: str, language: str = "") -> None:
        """Take over a document; its text is taken for the file's until told otherwise."""
        self._open.pop(uri, None)
        self._open[uri] = _Open(Buffer(uri, version, text, text, language))

    def close(self, uri: str) -> None:
        """Forget a document and the changes that are held for it."""
        self._open.pop(uri, None)

    def change(self, uri: str, version: int, changes: Sequence[ContentChange]) -> Change:
        """Apply changes, each to the result of the one before; together they are ``version``.

        A version more than one ahead is held, since the missing one may be late: call
        ``release`` about 50 ms later. It is not held when the editor has been seen to
        leave out versions, until one of its changes comes late after all.
        """
        document = self._open.get(uri)
        if document is None:
            return "unknown"
        if version <= document.buffer.version:
            self.gaps = False
            return "stale"
        document.held.setdefault(version, tuple(changes))
        if version > document.buffer.version + 1 and not self.gaps:
            return "held"
        document.catch_up(self.encoding, over_gaps=self.gaps)
        return "applied"

    def release(self, uri: str) -> bool:
        """Apply what is held for a document, in order of versions; whether there was any."""
        document = self._open.get(uri)
        if document is None or not document.held:
            return False
        self.gaps = True
        document.catch_up(self.encoding, over_gaps=True)
        return True

    def save(self, uri: str) -> None:
        """Note that the editor wrote a document to its file."""
        document = self._open.get(uri)
        if document is not None:
            document.save()

    def in_step(self, uri: str, disk_text: str) -> None:
        """Note what the file holds: where it is the document's text, the document is saved."""
        document = self._open.get(uri)
        if document is not None and document.buffer.text == disk_text:
            document.buffer.saved_text = disk_text


class _Open:
    """An open document with the lines of its text and the changes that came too early."""

    __slots__ = ("_index", "_saved_at", "buffer", "held")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.held: dict[int, tuple[ContentChange, ...]] = {}
        self._index = LineIndex(buffer.text)
        self._saved_at: int | None = None

    def save(self) -> None:
        # What is held was on screen before the editor saved, and so it is in the file.
        if self.held:
            self._saved_at = max(self.held)
        else:
            self.buffer.saved_text = self.buffer.text

    def catch_up(self, encoding: Encoding, *, over_gaps: bool) -> None:
        buffer = self.buffer
        for version in sorted(self.held):
            if version > buffer.version + 1 and not over_gaps:
                return
            for change in self.held.pop(version):
                self._apply(change, encoding)
            buffer.version = version
            buffer.text = self._index.text
            if version == self._saved_at:
                buffer.saved_text = buffer.text
                self._saved_at = None

    def _apply(self, change: ContentChange, encoding: Encoding) -> None:
        if change.start is None:
            self._index = LineIndex(change.text)
            return
        start = self._index.offset(change.start, encoding)
        end = self._index.offset(change.end or change.start, encoding)
        self._index.replace(start, max(start, end), change.text)
