"""Differences between texts, line by line, and where they stand in a third text.

Lines carry their endings, so a hunk says byte for byte what it takes away and puts in.

Invariant: edits of a hunk touch nothing outside its lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.text.lines import body, ending, ending_of, split_lines
from acpls.text.matching import Block, common, gaps

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``start`` to ``end`` of a base (zero-based, half-open) and what replaces them."""

    start: int
    end: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of a range of code points (zero-based, half-open) of a text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a hunk of the base stands in another text, ``ours``: its lines start to end.

    ``clean``: these are the hunk's old lines, and ``new`` is what to put there: the hunk's
    new lines, ended as ours are. Where ours lacks the last line ending and lines follow it
    now, ``new`` begins with that ending. ``there``: these are the hunk's new lines already.
    ``conflict``: these lines are neither; ``reason`` tells the user why. Lines count as
    the same whatever their endings are. ``new`` is empty unless clean.
    """

    hunk: Hunk
    state: Literal["clean", "there", "conflict"]
    start: int
    end: int
    new: tuple[str, ...]
    reason: str = ""


def diff(base: str, target: str) -> tuple[Hunk, ...]:
    """The hunks that make ``target`` of ``base``: in order, with common lines between them."""
    if base == target:
        return ()
    old, new = split_lines(base), split_lines(target)
    return tuple(
        Hunk(start, end, tuple(old[start:end]), tuple(new[first:last]))
        for start, end, first, last in gaps(common(old, new), len(old), len(new))
    )


def apply(base: str, hunks: Iterable[Hunk]) -> str:
    """The base with these hunks, any of those that belong to it, in any order.

    Raises ``ValueError`` when the base does not have a hunk's old lines.
    """
    lines = split_lines(base)
    for hunk in sorted(hunks, key=attrgetter("start"), reverse=True):
        if tuple(lines[hunk.start : hunk.end]) != hunk.old:
            raise ValueError(f"the text has other lines at line {hunk.start + 1} than the hunk")
        lines[hunk.start : hunk.end] = hunk.new
    return "".join(lines)


def invert(hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """The hunks that lead back, one for one, for the text that has all of them."""
    inverse: list[Hunk] = []
    grown = 0
    for hunk in hunks:
        start = hunk.start + grown
        inverse.append(Hunk(start, start + len(hunk.new), hunk.new, hunk.old))
        grown += len(hunk.new) - len(hunk.old)
    return tuple(inverse)


def edits_for(base: str, hunks: Iterable[Hunk]) -> tuple[Edit, ...]:
    """The hunks as edits of whole lines of their base."""
    starts = _starts(split_lines(base))
    return tuple(Edit(starts[h.start], starts[h.end], "".join(h.new)) for h in hunks)


def edits_between(old_text: str, new_text: str) -> tuple[Edit, ...]:
    """The edits that make the new text of the old one, none longer than its lines need."""
    edits = edits_for(old_text, diff(old_text, new_text))
    return tuple(_trimmed(edit, old_text) for edit in edits)


def edits_placed(ours: str, placed: Iterable[Placed]) -> tuple[Edit, ...]:
    """The edits of ``ours`` by which the clean ones among the placed hunks come into it."""
    starts = _starts(split_lines(ours))
    return tuple(
        Edit(starts[clean.start], starts[clean.end], "".join(clean.new))
        for clean in sorted(placed, key=lambda at: (at.start, at.end, at.hunk.start))
        if clean.state == "clean"
    )


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits; insertions at one place stay in the order given.

    Raises ``ValueError`` when edits overlap or lie outside the text.
    """
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=attrgetter("start", "end")):
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError("the edits overlap or lie outside the text")
        pieces += (text[done : edit.start], edit.text)
        done = edit.end
    return "".join([*pieces, text[done:]])


def rebase(hunks: Iterable[Hunk], base: str, ours: str) -> tuple[Placed, ...]:
    """Where each of the hunks of ``base`` stands in ``ours``, in their order."""
    places = _Places(split_lines(base), split_lines(ours), ending_of(ours))
    return tuple(places.place(hunk) for hunk in hunks)


class _Places:
    """Finds the lines of a base in ours."""

    def __init__(self, base: list[str], ours: list[str], style: str) -> None:
        self._base, self._ours, self._style = base, ours, style
        self._base_bodies, self._our_bodies = _bodies(base), _bodies(ours)
        shared = self._shared()
        # Where ours has each line of the base, or -1; the end counts as a line, too.
        self._at = [-1] * len(base) + [len(ours)]
        for i, j, length in shared:
            self._at[i : i + length] = range(j, j + length)
        # For each line of the base: the end of the last shared line before it, and the
        # first shared line from it on.
        self._low, self._high = [0], [len(base)]
        for line in range(len(base)):
            self._low.append(self._low[-1] if self._at[line] < 0 else line + 1)
        for line in reversed(range(len(base))):
            self._high.append(self._high[-1] if self._at[line] < 0 else line)
        self._high.reverse()
        # What changed in ours, and by how many lines it stands further down there.
        self._changes = {
            _slid(self._base_bodies, start, end, self._our_bodies[first:last]): first - start
            for start, end, first, last in gaps(shared, len(base), len(ours))
        }

    def place(self, hunk: Hunk) -> Placed:
        low, high = self._low[hunk.start], self._high[hunk.end]
        start, end = self._at[low - 1] + 1 if low else 0, self._at[high]
        there = self._there(hunk, start, end)
        if there is not None:
            return Placed(hunk, "there", there, there + len(hunk.new), ())
        if not hunk.old:
            return self._insertion(hunk, start, end, high - low)
        at = self._at[hunk.start]
        stop = at + len(hunk.old)
        if at < 0 or self._at[hunk.start : hunk.end] != list(range(at, stop)):
            return Placed(hunk, "conflict", start, end, (), "these lines have changed since")
        beside = (at == start and low == hunk.start) or (stop == end and high == hunk.end)
        if not beside and not self._only(_bodies(hunk.old)):
            reason = "there are more lines like these, and those around have changed since"
            return Placed(hunk, "conflict", at, stop, (), reason)
        return self._clean(hunk, at)

    def _there(self, hunk: Hunk, start: int, end: int) -> int | None:
        """Where ours has the hunk's new lines already, if between the shared lines around."""
        if self._ours[start:end] == list(hunk.new):
            return start
        new = _bodies(hunk.new)
        if new == _bodies(hunk.old):
            # It changes nothing but endings, and so the endings count.
            return None
        if self._our_bodies[start:end] == new:
            return start
        moved = self._changes.get(_slid(self._base_bodies, hunk.start, hunk.end, new))
        if moved is not None:
            return hunk.start + moved
        # The user may have added lines of their own beside the change.
        region, old = self._our_bodies[start:end], _bodies(hunk.old)
        if not new or _times(new, region) != 1 or (old and _times(old, region)):
            return None
        return next(at for at in range(start, end) if self._our_bodies[at : at + len(new)] == new)

    def _insertion(self, hunk: Hunk, start: int, end: int, gap: int) -> Placed:
        """Place a hunk without old lines where ``gap`` lines of the base became start to end."""
        before, after = self._low[hunk.start] == hunk.start, self._high[hunk.end] == hunk.end
        if not before and not after:
            reason = "the lines around this place have changed since"
            return Placed(hunk, "conflict", start, end, (), reason)
        if end - start > gap:
            reason = "other lines were added at this place"
            return Placed(hunk, "conflict", start, end, (), reason)
        return self._clean(hunk, start if before else end)

    def _only(self, lines: list[str]) -> bool:
        return all(_times(lines, text) == 1 for text in (self._base_bodies, self._our_bodies))

    def _as_was(self, hunk: Hunk, at: int) -> bool:
        """Whether the endings here are the base's, and so the hunk's as they should be."""
        lines = range(hunk.start, hunk.end)
        if not any(map(ending, hunk.old)):
            lines = range(max(0, hunk.start - 1), min(hunk.end + 1, len(self._base)))
        pairs = [(line, at + line - hunk.start) for line in lines]
        return all(self._base[i] == self._ours[j] for i, j in pairs if 0 <= j == self._at[i])

    def _clean(self, hunk: Hunk, start: int) -> Placed:
        end = start + len(hunk.old)
        replaced = self._ours[start:end]
        style = ending_of("".join(replaced)) if any(map(ending, replaced)) else self._style
        new = list(hunk.new)
        if not self._as_was(hunk, start):
            new = [body(line) + style if ending(line) else line for line in new]
        if new:
            before = self._ours[start - 1] if start else ""
            if before and not ending(before):
                before = style
                new.insert(0, style)
            if end < len(self._ours):
                new[-1] += "" if ending(new[-1]) else style
                if new[-1].endswith("\r") and self._ours[end] == "\n":
                    new[-1] += "\n"
            elif replaced and bool(ending(hunk.old[-1])) == bool(ending(new[-1])):
                # The hunk leaves the text's last ending alone, so it is as ours has it.
                new[-1] = body(new[-1]) + (ending(new[-1]) or style) * bool(ending(replaced[-1]))
            if before.endswith("\r") and new[0] == "\n":
                new[0] = "\r\n"
        if new == replaced:
            return Placed(hunk, "there", start, end, ())
        return Placed(hunk, "clean", start, end, tuple(filter(None, new)))

    def _shared(self) -> list[Block]:
        """The lines that both have: first the same bytes, in between the same but for endings."""
        exact = common(self._base, self._ours)
        loose = [
            (start + i, first + j, length)
            for start, end, first, last in gaps(exact, len(self._base), len(self._ours))
            for i, j, length in common(self._base_bodies[start:end], self._our_bodies[first:last])
        ]
        return sorted(exact + loose)


_Change: TypeAlias = tuple[int, int, tuple[str, ...]]


def _bodies(lines: Iterable[str]) -> list[str]:
    return list(map(body, lines))


def _starts(lines: Iterable[str]) -> list[int]:
    return list(accumulate(map(len, lines), initial=0))


def _times(part: list[str], lines: list[str]) -> int:
    """How often some lines follow each other in others."""
    return sum(
        line == part[0] and lines[at : at + len(part)] == part for at, line in enumerate(lines)
    )


def _slid(lines: list[str], start: int, end: int, new: list[str]) -> _Change:
    """The same change as far down as it can be told: equals for equal results."""
    by = 0
    if start == end:
        while new and start + by < len(lines) and lines[start + by] == new[by % len(new)]:
            by += 1
    elif not new:
        while end + by < len(lines) and lines[start + by] == lines[end + by]:
            by += 1
    turn = by % len(new) if new else 0
    return start + by, end + by, (*new[turn:], *new[:turn])


def _trimmed(edit: Edit, old_text: str) -> Edit:
    """An edit without the characters that it would put back, at either end of it."""
    old, new = old_text[edit.start : edit.end], edit.text
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    while _inside(old, head) or _inside(new, head):
        head -= 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while _inside(old, len(old) - tail) or _inside(new, len(new) - tail):
        tail -= 1
    return Edit(edit.start + head, edit.end - tail, new[head : len(new) - tail])


def _inside(text: str, at: int) -> bool:
    r"""Whether this is inside ``\r\n``, or between two halves of a character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return (before == "\r" and after == "\n") or (
        "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"
    )


# --- common lines --------------------------------------------------------------------
