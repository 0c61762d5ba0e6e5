"""Edits of open documents that the editor was asked for: one at a time in each.

What an editor says of an edit is its word; the document decides. An edit is over when the
document holds what it leads to, when the editor refused it, when the document was closed,
or when it was not seen in time after the editor had said that it was made.

Invariant: while an edit is under way nothing else is planned for its document, since what
is planned for a text that changes meanwhile lands in the wrong place, or twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.effects import After, EditBuffer
from acpls.hub.tokens import EditDue
from acpls.text.diff import apply_edits

if TYPE_CHECKING:
    from acpls.hub.state import Effects, State
    from acpls.text.buffers import Buffer
    from acpls.text.diff import Edit

SEEN_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class OwnEdit:
    """An edit that is under way: for whom, and the text that it leads to.

    ``version`` is that of the document which it was planned for.
    """

    token: object
    uri: str
    version: int
    expected: str


def ask(
    state: State,
    token: object,
    buffer: Buffer,
    edits: tuple[Edit, ...],
    *,
    versioned: bool = True,
) -> EditBuffer:
    """Ask the editor for an edit; what comes of it finds its way back to ``token``."""
    number = state.number("edit")
    expected = apply_edits(buffer.text, edits)
    state.edits[number] = OwnEdit(token, buffer.uri, buffer.version, expected)
    return EditBuffer(number, buffer.uri, buffer.version, buffer.text, edits, versioned)


def under_way(state: State, uri: str) -> bool:
    """Whether an edit of ours of this document is not over yet."""
    return any(own.uri == uri for own in state.edits.values())


def seen(state: State, buffer: Buffer) -> OwnEdit | None:
    """The edit of ours that led to what a document now holds; it is over then."""
    for number, own in state.edits.items():
        if own.uri == buffer.uri and own.expected == buffer.text:
            return state.edits.pop(number)
    return None


def over(state: State, edit: int) -> None:
    """Who asked for an edit has seen that it was made."""
    state.edits.pop(edit, None)


def closed(state: State, uri: str) -> None:
    """The document is closed: its edits are over."""
    for number in [n for n, own in state.edits.items() if own.uri == uri]:
        del state.edits[number]


def applied(state: State, edit: int) -> Effects:
    """The editor says that it made an edit; the document has a moment to prove it."""
    if edit in state.edits:
        yield After(SEEN_WITHIN_S, EditDue(edit))


def is_doubtful(state: State, edit: int) -> bool:
    """Whether the document has changed since, but not into what the edit leads to."""
    own = state.edits.get(edit)
    buffer = None if own is None else state.buffers.get(own.uri)
    return own is not None and buffer is not None and buffer.version != own.version
