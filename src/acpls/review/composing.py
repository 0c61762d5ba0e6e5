"""Hunks under edits: what becomes of a file's hunks when its text changes once more.

All is counted in lines and nothing is searched for: the hunks lead from a *base* to a
*text*, the edits from that text to the next one, and so together from the base to the next
one. What an edit does not touch stays the same hunk.

Invariant: the base with the resulting hunks is the next text, line by line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from acpls.text.diff import Hunk, diff
from acpls.text.lines import ending, ending_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Author:
    """Whose change it is: our session key and the agent's tool-call id, when there is one.

    An empty session is none: of a hunk that joins what several did to the same lines, which
    no session may take back as its own.
    """

    session: str
    tool_call: str | None = None


NOBODY = Author("")


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """A hunk that waits for a verdict. ``key`` stays while the hunk does.

    ``shared``: the user wrote into its lines, so that it is not only the agent's any more.
    """

    key: str
    hunk: Hunk
    author: Author
    shared: bool = False


Keys: TypeAlias = "Callable[[], str]"


def by_agent(
    hunks: Sequence[ReviewHunk],
    edits: Sequence[Hunk],
    lines: Sequence[str],
    author: Author,
    keys: Keys,
) -> tuple[ReviewHunk, ...]:
    """The hunks after an agent's edits of the text that has these ``lines``.

    Edits beside a hunk join it. What they make of a hunk is compared with the base anew, so
    that what an agent takes back itself is no change; where several sessions had a part in
    it, it is nobody's own.
    """
    result: list[ReviewHunk] = []
    for group in _groups(hunks, edits, _touch):
        result += _by_agent(group, lines, author, keys) if group.edits else group.hunks
    return tuple(result)


def by_user(
    hunks: Sequence[ReviewHunk],
    edits: Sequence[Hunk],
    lines: Sequence[str],
    keys: Keys,
    *,
    shares: bool = True,
) -> tuple[tuple[ReviewHunk, ...], tuple[Hunk, ...]]:
    """The hunks after edits that are no agent's, and the edits of the base among these.

    What is outside of all hunks goes into the base, so that it is never taken for an agent's;
    the hunks that come back count in the lines of the base that has it. ``shares``: a hunk
    that is written into is the user's as well, and with other lines another hunk.
    """
    result: list[ReviewHunk] = []
    moved: list[Hunk] = []
    shift = 0
    undone, consumed = _undone(hunks, edits, lines)
    edits = [edit for edit in edits if edit not in consumed]
    for group in _groups(hunks, edits, _overlap):
        if not group.hunks:
            for edit in group.edits:
                start, end = edit.start - group.grown, edit.end - group.grown
                moved.append(replace(edit, start=start, end=end))
                shift += _growth(edit)
            continue
        there: Iterable[ReviewHunk] = [p for p in group.hunks if p not in undone]
        if group.edits:
            there = _as_one(group, *group.segments(lines), keys, shares=shares)
        result += (_shifted(pending, shift) for pending in there)
    return tuple(result), tuple(moved)


def set_back(
    hunks: Sequence[ReviewHunk], edits: Sequence[Hunk], lines: Sequence[str], keys: Keys
) -> tuple[tuple[ReviewHunk, ...], tuple[Hunk, ...]]:
    """The hunks after edits that take back some of what agents did, and the edits of the base
    among these.

    Hunks that are edited are compared with the base anew. What has to do with no hunk goes
    into the base, as it does in ``by_user``.
    """
    result: list[ReviewHunk] = []
    moved: list[Hunk] = []
    shift = 0
    for group in _groups(hunks, edits, _meet):
        if not group.edits:
            result += (_shifted(pending, shift) for pending in group.hunks)
            continue
        start, base, now = group.segments(lines)
        for hunk in _compared(start, base, now):
            near = [p for p in group.hunks if _near(p.hunk, hunk)]
            if not near:
                moved.append(hunk)
                shift += _growth(hunk)
                continue
            same = next((p for p in near if p.hunk == hunk), None)
            alone = len({p.author.session for p in near}) == 1
            author = near[-1].author if alone else NOBODY
            shared = any(p.shared for p in near)
            result.append(_shifted(same or ReviewHunk(keys(), hunk, author, shared), shift))
    return tuple(result), tuple(moved)


def without(hunks: Sequence[ReviewHunk], kept: Sequence[ReviewHunk]) -> tuple[ReviewHunk, ...]:
    """The other hunks, counted in the lines of the base that has the kept ones."""
    rest: list[ReviewHunk] = []
    shift = 0
    for pending in hunks:
        if pending in kept:
            shift += _growth(pending.hunk)
        else:
            rest.append(_shifted(pending, shift))
    return tuple(rest)


def behind(
    hunks: Sequence[ReviewHunk], back: Sequence[Hunk], lines: Sequence[str]
) -> tuple[ReviewHunk, ...]:
    """The hunks to an earlier text when the base moves on; ``back`` leads from the new base to
    the old one, which has these ``lines``.

    A hunk without a key is no agent's: it only says that the text is behind the base.
    """
    own = {pending.hunk: pending for pending in hunks}
    steps = [ReviewHunk("", hunk, NOBODY) for hunk in back]
    result: list[ReviewHunk] = []
    for group in _groups(steps, [pending.hunk for pending in hunks], _touch):
        if not group.hunks:
            result += (_shifted(own[edit], -group.grown) for edit in group.edits)
        elif not group.edits:
            result += group.hunks
        else:
            result += _by_agent(group, lines, NOBODY, str)
    return tuple(result)


def made(lines: Sequence[str], hunks: Iterable[Hunk]) -> list[str]:
    """The lines with these hunks, which are given in their order.

    Raises ``ValueError`` when the lines are others than those that a hunk takes out.
    """
    result: list[str] = []
    at = 0
    for hunk in hunks:
        if tuple(lines[hunk.start : hunk.end]) != hunk.old or hunk.start < at:
            raise ValueError(f"there are other lines at line {hunk.start + 1}")
        result += (*lines[at : hunk.start], *hunk.new)
        at = hunk.end
    return [*result, *lines[at:]]


def ended(lines: list[str]) -> list[str]:
    """The lines as a text can have them: only the last one may lack its ending."""
    if all(map(ending, lines[:-1])):
        return lines
    style = ending_of("".join(lines))
    return [*(line if ending(line) else line + style for line in lines[:-1]), lines[-1]]


def reread(hunks: Sequence[ReviewHunk], base: list[str], text: list[str]) -> tuple[ReviewHunk, ...]:
    """The same places with the lines that are there: these may have other endings."""
    places = zip(_places(hunks, 0), (pending.hunk for pending in hunks), strict=True)
    now = (
        replace(hunk, old=tuple(base[hunk.start : hunk.end]), new=tuple(text[first:last]))
        for (first, last), hunk in places
    )
    return tuple(replace(p, hunk=hunk) for p, hunk in zip(hunks, now, strict=True))


def joined(
    hunks: Sequence[ReviewHunk], base: Sequence[str], now: Sequence[str]
) -> tuple[ReviewHunk, ...]:
    """One hunk of all, that makes ``now`` of the base; none where both are the same."""
    key = hunks[0].key
    group = _Group(0, 0, 0, [*hunks], [])
    return tuple(_as_one(group, 0, [*base], [*now], lambda: key, shares=False))


# --- what belongs together ---------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """Hunks and edits that touch each other; ``start`` and ``end`` are lines of the text,
    ``grown`` is by how many lines the text is longer than the base before it.
    """

    start: int
    end: int
    grown: int
    hunks: list[ReviewHunk]
    edits: list[Hunk]

    def segments(self, lines: Sequence[str]) -> tuple[int, list[str], list[str]]:
        """Where it begins in the base, what the base has here, and what the next text has."""
        here = lines[self.start : self.end]
        places = zip(_places(self.hunks, self.grown), self.hunks, strict=True)
        back = (
            Hunk(first - self.start, last - self.start, pending.hunk.new, pending.hunk.old)
            for (first, last), pending in places
        )
        forth = (
            replace(edit, start=edit.start - self.start, end=edit.end - self.start)
            for edit in self.edits
        )
        return self.start - self.grown, made(here, back), made(here, forth)


_Span: TypeAlias = tuple[int, int]


def _touch(one: _Span, other: _Span) -> bool:
    return other[0] <= one[1]


def _overlap(one: _Span, other: _Span) -> bool:
    return other[0] < one[1] and one[0] < other[1]


def _meet(one: _Span, other: _Span) -> bool:
    """Whether they overlap, or one is a place without lines at an end of the other."""
    is_empty = one[0] == one[1] or other[0] == other[1]
    return _overlap(one, other) or (is_empty and _touch(one, other))


def _groups(
    hunks: Sequence[ReviewHunk], edits: Sequence[Hunk], joins: Callable[[_Span, _Span], bool]
) -> Iterator[_Group]:
    """What belongs together, in the order of the text; two hunks alone never do."""
    places = zip(_places(hunks, 0), hunks, strict=True)
    items: list[tuple[_Span, ReviewHunk | Hunk]] = [*places]
    items += [((edit.start, edit.end), edit) for edit in edits]
    items.sort(key=lambda item: (item[0], isinstance(item[1], ReviewHunk)))
    group = _Group(0, -1, 0, [], [])
    for span, item in items:
        together = joins((group.start, group.end), span)
        if not together or (isinstance(item, ReviewHunk) and not group.edits):
            if group.hunks or group.edits:
                yield group
            grown = group.grown + sum(_growth(pending.hunk) for pending in group.hunks)
            group = _Group(*span, grown, [], [])
        group.end = max(group.end, span[1])
        if isinstance(item, ReviewHunk):
            group.hunks.append(item)
        else:
            group.edits.append(item)
    if group.hunks or group.edits:
        yield group


def _places(hunks: Iterable[ReviewHunk], grown: int) -> Iterator[_Span]:
    """Where the hunks stand in the text, which has grown by so much before them."""
    for pending in hunks:
        start = pending.hunk.start + grown
        yield start, start + len(pending.hunk.new)
        grown += _growth(pending.hunk)


def _growth(hunk: Hunk) -> int:
    return len(hunk.new) - len(hunk.old)


def _shifted(pending: ReviewHunk, by: int) -> ReviewHunk:
    hunk = pending.hunk
    return replace(pending, hunk=replace(hunk, start=hunk.start + by, end=hunk.end + by))


# --- what becomes of them ----------------------------------------------------------------


def _by_agent(
    group: _Group, lines: Sequence[str], author: Author, keys: Keys
) -> Iterator[ReviewHunk]:
    start, base, now = group.segments(lines)
    if any(pending.shared for pending in group.hunks):
        yield from _as_one(group, start, base, now, keys, (author,), shares=True)
        return
    known = {pending.hunk: pending for pending in group.hunks}
    for hunk in _compared(start, base, now):
        if hunk in known:
            yield known[hunk]
            continue
        touched = {p.author.session for p in group.hunks if _near(p.hunk, hunk)}
        yield ReviewHunk(keys(), hunk, author if touched <= {author.session} else NOBODY)


def _undone(
    hunks: Sequence[ReviewHunk], edits: Sequence[Hunk], lines: Sequence[str]
) -> tuple[set[ReviewHunk], set[Hunk]]:
    """The hunks that edits take back as a whole, and these edits."""
    undone: set[ReviewHunk] = set()
    consumed: set[Hunk] = set()
    for group in _groups(hunks, edits, _touch):
        if group.hunks and group.edits:
            _, base, now = group.segments(lines)
            if base == now:
                undone.update(group.hunks)
                consumed.update(group.edits)
    return undone, consumed


def _compared(start: int, base: list[str], now: list[str]) -> Iterator[Hunk]:
    """The difference of two segments, of which the first begins there in the base."""
    for found in diff("".join(base), "".join(now)):
        yield replace(found, start=start + found.start, end=start + found.end)


def _near(one: Hunk, other: Hunk) -> bool:
    return one.start <= other.end and other.start <= one.end


def _as_one(
    group: _Group,
    start: int,
    base: list[str],
    now: list[str],
    keys: Keys,
    others: tuple[Author, ...] = (),
    *,
    shares: bool,
) -> Iterator[ReviewHunk]:
    """One hunk of all, without the lines at its ends that are the same."""
    head = tail = 0
    shorter = min(len(base), len(now))
    while head < shorter and base[head] == now[head]:
        head += 1
    while tail < shorter - head and base[-1 - tail] == now[-1 - tail]:
        tail += 1
    old, new = base[head : len(base) - tail], now[head : len(now) - tail]
    if not old and not new:
        return
    authors = [*(pending.author for pending in group.hunks), *others]
    whose = authors[-1] if len({author.session for author in authors}) == 1 else NOBODY
    hunk = Hunk(start + head, start + head + len(old), tuple(old), tuple(new))
    shared = shares or any(pending.shared for pending in group.hunks)
    yield ReviewHunk(keys(), hunk, whose, shared)
