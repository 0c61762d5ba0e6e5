"""What a file holds, as far as the review is concerned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from acpls.events import UTF_8
from acpls.text.size import reason_not_shown

if TYPE_CHECKING:
    from acpls.events import Disk, Form


@dataclass(frozen=True, slots=True)
class Held:
    """A file as it is, or was: its text, or what stands for it.

    ``text`` is ``None`` for no file and for one that is not shown line by line; ``opaque`` is
    why it is not. ``form`` is how the text stands in the file, and ``content`` the hash of
    its bytes, ``None`` where nobody has seen such bytes. With a hash and nothing else it is
    *bare*: its text is not at hand.
    """

    text: str | None = None
    form: Form = UTF_8
    content: str | None = None
    opaque: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether there is no file."""
        return self.text is None and self.opaque is None and self.content is None

    @property
    def is_bare(self) -> bool:
        """Whether only the hash of its bytes is at hand."""
        return self.text is None and self.opaque is None and self.content is not None

    def bare(self) -> Held:
        """The same without its text, where the hash of the bytes stands for it."""
        return self if self.content is None else replace(self, text=None)

    def is_like(self, other: Held) -> bool:
        """Whether both are the same bytes, as far as can be told."""
        if self.content is not None and other.content is not None:
            return self.content == other.content
        if self.text is None or other.text is None:
            return self.is_missing and other.is_missing
        return self.text == other.text and self._spelling == other._spelling

    def with_text(self, text: str, form: Form) -> Held:
        """The same file with another text, as nobody has seen it yet."""
        return Held(text, form)

    @property
    def _spelling(self) -> tuple[str, bool]:
        return self.form.encoding, self.form.bom


NO_FILE: Final = Held()
UNKNOWN: Final = Held(opaque="the text before it is not known")
"""What a file held before a change that was noticed too late."""


def of_text(text: str | None) -> Held:
    """A text that no file was seen to hold; ``None``: no file."""
    return NO_FILE if text is None else Held(text)


def of_disk(disk: Disk) -> Held | None:
    """What a file holds; ``None`` where it could not be seen."""
    if disk.is_missing:
        return NO_FILE
    if disk.text is None:
        if disk.content is None:
            return None
        return Held(form=disk.form, content=disk.content, opaque=f"the file {disk.problem}")
    reason = reason_not_shown(disk.text)
    if reason is not None:
        return Held(form=disk.form, content=disk.content, opaque=reason)
    return Held(disk.text, disk.form, disk.content)
