"""Hunks as the user meets them in a document: where they stand, and what can be done.

Code actions, lenses, diagnostics and hovers all go by this, so that they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from acpls.hub import review_shapes, shapes
from acpls.text import uris
from acpls.text.lines import LineIndex, split_lines
from acpls.text.shared import count_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.hub.state import State
    from acpls.review.change import Change

KEEP: Final = "acpls.review.keep"
REJECT: Final = "acpls.review.reject"
VERDICTS: Final = (("Keep", KEEP), ("Reject", REJECT))

_WHOLE_FILES: Final = {"add", "copy", "delete"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A command that is offered: in a few words, where it is clear what it is about, and in
    full.
    """

    short: str
    title: str
    command: str
    argument: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A pending hunk. ``shape`` is as editors are told of it (docs/protocol.md); ``first`` and
    ``last`` are zero-based lines that the document has; ``span`` is an LSP range of it.
    """

    change: Change
    shape: dict[str, Any]
    first: int
    last: int
    span: dict[str, Any]

    @property
    def waits(self) -> bool:
        """Whether an agent waits for the verdict: nothing is in its way but that."""
        return "waits" in self.shape

    @property
    def clashes(self) -> bool:
        """Whether the user's lines stand where the agent's are to come."""
        conflict = self.shape["state"] == "conflict" and not self.waits
        return conflict and not self.shape["applied"] and "keepOnly" not in self.shape

    @property
    def is_lost(self) -> bool:
        """Whether nothing can be decided while the document is as it is."""
        return "placed" in self.shape and not self.waits and "keepOnly" not in self.shape

    @property
    def can_be_kept(self) -> bool:
        """Whether a keep does something, without taking lines of the user's away."""
        return not self.clashes and not self.is_lost

    @property
    def can_be_rejected(self) -> bool:
        """Whether a reject does something."""
        return not self.is_lost and "keepOnly" not in self.shape

    @property
    def size(self) -> str:
        """How many lines it takes out and puts in."""
        old, new = (len(split_lines(self.shape[text])) for text in ("baseText", "newText"))
        return f"-{old} +{new}"

    def touches(self, first: int, last: int) -> bool:
        """Whether it stands in any of these lines."""
        return self.first <= last and first <= self.last

    def offers(self, *, alone: bool = True) -> tuple[Offer, ...]:
        """What the user can decide on it. ``alone``: no other hunk is in question."""
        key = {"hunk": self.shape["hunk"]}
        what = self.what(alone=alone)
        if self.is_lost:
            return ()
        if self.clashes:
            where = "" if alone else f" in line {self.first + 1}"
            take = f"Keep {what}" if self.is_whole else "Take the agent's lines"
            over = f"{take} over mine{'' if self.is_whole else where}"
            return (
                Offer(take, over, KEEP, {**key, "over": True}),
                Offer("Keep mine", f"Keep mine{where}", REJECT, key),
            )
        if not self.can_be_rejected:
            why = self.shape["reason"]
            return (Offer(f"Keep ({why})", f"Keep {what} ({why})", KEEP, key),)
        return Offer("Keep", f"Keep {what}", KEEP, key), Offer(
            "Reject", f"Reject {what}", REJECT, key
        )

    def what(self, *, alone: bool = True) -> str:
        """What is decided on, as the object of a sentence."""
        if not self.is_whole:
            return "this change" if alone else f"the change in line {self.first + 1}"
        if self.change.stale:
            return "the earlier change"
        match self.change.operation:
            case "add":
                return "the new file"
            case "delete":
                return "the deletion of this file"
            case "move":
                return self.move
            case "copy":
                return f"the copy of {_name(self.change.copied_from, self.change.path)}"
            case _:
                changed = "this whole file" if self.change.opaque else "how this file is encoded"
                return f"the change of {changed}"

    @property
    def move(self) -> str:
        """That its file was moved, as the object of a sentence."""
        return f"the move from {_name(self.change.moved_from, self.change.path)}"

    @property
    def is_whole(self) -> bool:
        """Whether it is all that happens to its file, and that is more than some lines."""
        return _is_whole(self.change, self.shape)


def shown(state: State, uri: str) -> list[Shown]:
    """The pending hunks of a document, in the order of its changes."""
    path = uris.to_path(uri)
    if path is None:
        return []
    place = state.paths.place(path)
    changes = [c for c in state.ledger.at(place) if c.hunks and not c.is_hidden]
    if not changes:
        return []
    buffer = state.buffer_at(place)
    page = None if buffer is None else _Page(buffer.text, state)
    return [
        _shown(change, shape, page)
        for change in changes
        for shape in review_shapes.hunks(state, change)
    ]


def departed(state: State, uri: str) -> tuple[str, Change] | None:
    """What happened to a file that an agent moved away from here, as the object of a
    sentence, and the change at the place where it is now.
    """
    path = uris.to_path(uri)
    gone = None if path is None else state.ledger.files.get(state.paths.place(path))
    there = None if gone is None else state.ledger.files.get(gone.moved_to or "")
    if gone is None or there is None:
        return None
    return f"the move to {_name(there.path, gone.path)}", there


def of_file(state: State, here: list[Shown], uri: str) -> Iterator[Offer]:
    """What can be decided on all of what happened to a file at once."""
    away = departed(state, uri)
    if away is not None:
        there = {"uri": review_shapes.uri(state, away[1].path)}
        titles = [(f"{verb} {away[0]}", command) for verb, command in VERDICTS]
        yield from (Offer(title, title, command, there) for title, command in titles)
    # Hunks by themselves do not bring a file back to where it was.
    moved = next((h.move for h in here if h.change.moved_from and not h.is_whole), None)
    counts = (sum(h.can_be_kept for h in here), sum(h.can_be_rejected for h in here))
    for (verb, command), count in zip(VERDICTS, counts, strict=True):
        if count and moved:
            title = f"{verb} {moved} with its changes"
            yield Offer(title, title, command, {"uri": uri})
        elif count and len(here) > 1:
            short = f"{verb} {some(count, len(here))}"
            yield Offer(short, f"{short} changes in this file", command, {"uri": uri})


def some(count: int, total: int) -> str:
    """How many of several hunks are meant."""
    return f"all {total}" if count == total else f"{count} of {total}"


def _is_whole(change: Change, shape: dict[str, Any]) -> bool:
    return "whole" in shape or (len(change.hunks) == 1 and change.operation in _WHOLE_FILES)


def _name(other: str | None, path: str) -> str:
    """How another file is called beside this one: by the way there, which is shorter than its
    path and has its name in any title.
    """
    old, new = ((at or "").replace("\\", "/").split("/") for at in (other, path))
    folder, both = new[:-1], zip(old[:-1], new[:-1], strict=False)
    shared = len([*takewhile(lambda parts: parts[0] == parts[1], both)])
    if not any(folder[:shared]):
        return "/".join(old)
    return "/".join([".."] * (len(folder) - shared) + old[shared:])


# --- lines that are there --------------------------------------------------------------


class _Page:
    """The lines of an open document, of which editors refuse what lies beyond them."""

    def __init__(self, text: str, state: State) -> None:
        self._text = text
        self._encoding = state.buffers.encoding
        self._lines = count_lines(text, 0, len(text))
        self._is_ended = text.endswith(("\n", "\r"))

    @property
    def end(self) -> int:
        """The last line with something in it, or which editors show all the same."""
        return max(self._lines - 1, 0)

    def row(self, line: int) -> int:
        """The nearest such line."""
        return min(line, self.end)

    def span(self, start: int, end: int) -> dict[str, Any]:
        """The range of whole lines; what is behind the last one is at its end."""
        if end < self._lines or (self._is_ended and start < self._lines):
            return shapes.lines(start, end)
        line, character = LineIndex(self._text).position(self._last_end(), self._encoding)
        last = {"line": line, "character": character}
        first = {"line": start, "character": 0} if start < self._lines else last
        return {"start": first, "end": last}

    def _last_end(self) -> int:
        end = len(self._text) - self._is_ended
        return end - self._text.endswith("\r\n")


def _shown(change: Change, shape: dict[str, Any], page: _Page | None) -> Shown:
    start, end = (shape["range"][at]["line"] for at in ("start", "end"))
    last = max(end - 1, start)
    if page is None:
        return Shown(change, shape, start, last, shape["range"])
    if _is_whole(change, shape):
        # It is met all over the document, and marked in one line.
        return Shown(change, shape, page.row(start), page.end, page.span(start, start + 1))
    return Shown(change, shape, page.row(start), page.row(last), page.span(start, end))
