"""Differences between texts, line by line, and where they stand in a third text.

Lines carry their endings, so a hunk says byte for byte what it takes away and puts in.

Invariant: edits of a hunk touch nothing outside its lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.text.lines import body, ending, ending_of, split_lines
from acpls.text.matching import alike, alike_before, common, gaps, numbering
from acpls.text.shared import Shared, Spots, count_lines, numbers, same_ends

if TYPE_CHECKING:
    from collections import defaultdict
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
    head, tail = same_ends(base, target)
    number: defaultdict[str, int] = numbering()
    old = numbers(base, head, len(base) - tail, number)
    new = numbers(target, head, len(target) - tail, number)
    above, lines = count_lines(base, 0, head), list(number)
    # It is larger than the text, and the search needs room of its own.
    del number
    return tuple(
        Hunk(
            above + start,
            above + end,
            tuple(map(lines.__getitem__, old[start:end])),
            tuple(map(lines.__getitem__, new[first:last])),
        )
        for start, end, first, last in gaps(common(old, new), len(old), len(new))
    )


def apply(base: str, hunks: Iterable[Hunk]) -> str:
    """The base with these hunks, any of those that belong to it, in any order.

    Raises ``ValueError`` when the base does not have a hunk's old lines.
    """
    lines = split_lines(base)
    pieces: list[str] = []
    done = 0
    # Of insertions at one place the last one given comes first.
    backwards = list(hunks)
    backwards.reverse()
    for hunk in sorted(backwards, key=attrgetter("start")):
        if hunk.start < done or tuple(lines[hunk.start : hunk.end]) != hunk.old:
            raise ValueError(f"the text has other lines at line {hunk.start + 1} than the hunk")
        pieces += lines[done : hunk.start]
        pieces += hunk.new
        done = hunk.end
    return "".join([*pieces, *lines[done:]])


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
    places = _Places(base, ours)
    return tuple(map(places.place, hunks))


class _Places:
    """Finds the lines of a base in ours."""

    def __init__(self, base: str, ours: str) -> None:
        self._shared, self._text = Shared(base, ours), ours
        self._base, self._ours = self._shared.base, self._shared.ours
        self._base_bodies, self._our_bodies = self._shared.base_bodies, self._shared.our_bodies
        self._base_spots, self._our_spots = Spots(self._base_bodies), Spots(self._our_bodies)
        # What changed in ours, and by how many lines it stands further down there.
        self._changes = {
            _slid(self._base_bodies, start, end, self._our_bodies[first:last]): first - start
            for start, end, first, last in self._shared.gaps
        }

    @cached_property
    def _style(self) -> str:
        return ending_of(self._text)

    def place(self, hunk: Hunk) -> Placed:
        shared = self._shared
        low, high = shared.last_end(hunk.start), shared.next_start(hunk.end)
        start, end = shared.at(low - 1) + 1, shared.at(high)
        there = self._there(hunk, start, end)
        if there is not None:
            return Placed(hunk, "there", there, there + len(hunk.new), ())
        if not hunk.old:
            return self._insertion(hunk, start, end, high - low)
        at = shared.at(hunk.start)
        stop = at + len(hunk.old)
        if at < 0 or not shared.in_one(hunk.start, hunk.end):
            return Placed(hunk, "conflict", start, end, (), "these lines have changed since")
        beside = (at == start and low == hunk.start) or (stop == end and high == hunk.end)
        if not beside and not self._only(_bodies(hunk.old)):
            reason = "there are more lines like these, and those around have changed since"
            return Placed(hunk, "conflict", at, stop, (), reason)
        return self._clean(hunk, at)

    def _there(self, hunk: Hunk, start: int, end: int) -> int | None:
        """Where ours has the hunk's new lines already, if between the shared lines around."""
        as_long = end - start == len(hunk.new)
        if as_long and tuple(self._ours[start:end]) == hunk.new:
            return start
        old, new = _bodies(hunk.old), _bodies(hunk.new)
        if new == old:
            # It changes nothing but endings, and so the endings count.
            return None
        if as_long and self._our_bodies[start:end] == new:
            return start
        moved = self._changes.get(_slid(self._base_bodies, hunk.start, hunk.end, new))
        if moved is not None:
            return hunk.start + moved
        # The user may have added lines of their own beside the change.
        places = self._our_spots.first_two(new, start, end) if new else []
        if len(places) != 1 or (old and self._our_spots.first_two(old, start, end)):
            return None
        return places[0]

    def _insertion(self, hunk: Hunk, start: int, end: int, gap: int) -> Placed:
        """Place a hunk without old lines where ``gap`` lines of the base became start to end."""
        before = self._shared.last_end(hunk.start) == hunk.start
        after = self._shared.next_start(hunk.end) == hunk.end
        if not before and not after:
            reason = "the lines around this place have changed since"
            return Placed(hunk, "conflict", start, end, (), reason)
        if end - start > gap:
            reason = "other lines were added at this place"
            return Placed(hunk, "conflict", start, end, (), reason)
        return self._clean(hunk, start if before else end)

    def _only(self, lines: list[str]) -> bool:
        return (
            len(self._base_spots.first_two(lines, 0, len(self._base))) == 1
            and len(self._our_spots.first_two(lines, 0, len(self._ours))) == 1
        )

    def _as_was(self, hunk: Hunk, at: int) -> bool:
        """Whether the endings here are the base's, and so the hunk's as they should be."""
        lines = range(hunk.start, hunk.end)
        if not any(map(ending, hunk.old)):
            lines = range(max(0, hunk.start - 1), min(hunk.end + 1, len(self._base)))
        pairs = [(line, at + line - hunk.start) for line in lines]
        return all(self._base[i] == self._ours[j] for i, j in pairs if 0 <= j == self._shared.at(i))

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


_Change: TypeAlias = tuple[int, int, tuple[str, ...]]


def _bodies(lines: Iterable[str]) -> list[str]:
    return list(map(body, lines))


def _starts(lines: Iterable[str]) -> list[int]:
    return list(accumulate(map(len, lines), initial=0))


def _slid(lines: list[str], start: int, end: int, new: list[str]) -> _Change:
    """The same change as far down as it can be told: equals for equal results."""
    by, rest = 0, len(lines) - end
    if start == end:
        by = alike(lines, start, new, 0, min(len(new), rest))
        if new and by == len(new):
            by += alike(lines, start, lines, start + by, rest - by)
    elif not new:
        by = alike(lines, start, lines, end, rest)
    turn = by % len(new) if new else 0
    return start + by, end + by, (*new[turn:], *new[:turn])


def _trimmed(edit: Edit, old_text: str) -> Edit:
    """An edit without the characters that it would put back, at either end of it."""
    old, new = old_text[edit.start : edit.end], edit.text
    shorter = min(len(old), len(new))
    head = alike(old, 0, new, 0, shorter)
    while _inside(old, head) or _inside(new, head):
        head -= 1
    tail = alike_before(old, len(old), new, len(new), shorter - head)
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
