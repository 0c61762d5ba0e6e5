"""The review ledger: for each file a base, a target, and the hunks between them.

The *base* is the text as last reviewed, the *target* what agents made of it. The hunks
that wait for a verdict are the difference of the two. Keeping a hunk copies it into the
base, rejecting it copies the base back into the target; nothing else changes either.

Invariant: pure. What a buffer or the disk holds is given to it as text; what should be
done to them comes back as values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.text.diff import (
    Hunk,
    Placed,
    apply,
    apply_edits,
    diff,
    edits_placed,
    invert,
    rebase,
)
from acpls.text.lines import body

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict: TypeAlias = Literal["keep", "reject"]


@dataclass(frozen=True, slots=True)
class Author:
    """Whose change it is: our session key and the agent's tool-call id, when there is one.

    An empty session is none: of a hunk that joins what several did to the same lines, which
    no session may take back as its own.
    """

    session: str
    tool_call: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """A hunk that waits for a verdict. ``key`` stays while the hunk does."""

    key: str
    hunk: Hunk
    author: Author


@dataclass(slots=True)
class ReviewedFile:
    """What agents did, or want to do, to one file.

    ``base``, ``target``: whole texts, ``None`` where there is no file. ``written``: the
    disk held the target when we last looked. ``reasons``: claims that could not be
    placed, by tool call, each a sentence for the user. ``past``: changes that had their
    verdict or were told of as written; agents tell of a change again and again. ``counted``:
    the base in whose lines the hunks count.
    """

    key: str
    path: str
    author: Author
    base: str | None = None
    target: str | None = None
    written: bool = False
    hunks: tuple[ReviewHunk, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    past: list[tuple[Author, Hunk]] = field(default_factory=list)
    counted: str = ""

    @property
    def operation(self) -> Literal["add", "delete", "modify"]:
        """What happens to the file as a whole."""
        if self.base is None:
            return "add"
        return "delete" if self.target is None else "modify"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a hunk stands in a text: the open buffer, or the disk.

    ``applied``: the text already has the hunk; ``conflict``: why it can neither be found
    nor placed. ``start`` and ``end`` are zero-based lines of that text.
    """

    applied: bool
    start: int
    end: int
    conflict: str | None = None


@dataclass(slots=True)
class Ledger:
    """All files under review."""

    files: dict[str, ReviewedFile] = field(default_factory=dict)
    _keys: int = 0
    # The last outcome of placing a file's hunks: they are asked for one by one.
    _placed: dict[tuple[str, Verdict], tuple[tuple[ReviewHunk, ...], str, tuple[Placed, ...]]] = (
        field(default_factory=dict)
    )

    def pending(self, session: str | None = None) -> list[ReviewedFile]:
        """The files with something to decide or to tell, of one session or of all."""
        return [
            file
            for file in self.files.values()
            if any(session in {None, hunk.author.session} for hunk in file.hunks)
            or (file.reasons and session in {None, file.author.session})
        ]

    def hunks(self, session: str | None = None) -> list[tuple[ReviewedFile, ReviewHunk]]:
        """The pending hunks with their files, of one session, which are its own, or of all."""
        return [
            (file, hunk)
            for file in self.files.values()
            for hunk in file.hunks
            if session in {None, hunk.author.session}
        ]

    def find(self, hunk: str) -> tuple[ReviewedFile, ReviewHunk] | None:
        """The pending hunk with this key."""
        return next((found for found in self.hunks() if found[1].key == hunk), None)

    # --- what agents do ---------------------------------------------------------------

    def written(self, path: str, before: str | None, after: str | None, author: Author) -> None:
        """An agent brought the file on disk from ``before`` to ``after``.

        An author without a tool call wrote through us, and ``before`` is what the disk held.
        Else it is what a claim makes of ``after``; ``None`` may mean that nothing shows it.
        """
        file = self._file(path, author)
        claimed = author.tool_call is not None
        base = before
        if file.hunks or file.past:
            base = _carried(file, before, after, claimed=claimed)
        if claimed and before is not None and after is not None:
            told = [(author, hunk) for hunk in diff(before, after)]
            file.past += [one for one in told if one not in file.past]
        file.written = True
        if (base, after) == (file.base, file.target):
            return
        if not claimed:
            file.reasons.clear()
        file.reasons.pop(author.tool_call or "", None)
        self._revise(file, base, after, author)

    def proposed(self, path: str, base: str | None, target: str | None, author: Author) -> None:
        """An agent wants the file, which now holds ``base``, to hold ``target``.

        It takes the place of what the same tool call proposed before, and joins what
        others did, where that does not touch it.
        """
        file = self._file(path, author)
        if file.hunks and file.written:
            # What is on disk is under review already; the proposal joins it as its next step
            # when it is written, so that a verdict never mixes the two.
            return
        hunks = _hunks(base, target)
        past = [hunk for of, hunk in file.past if of == author]
        news = [h for h in hunks if not _is_among(past, h.old, h.new, exactly=True)]
        if hunks and not news:
            return
        if len(news) < len(hunks):
            target = apply(base or "", news)
        others = [pending.hunk for pending in file.hunks if pending.author != author]
        if others and target is not None:
            placed = rebase(others, file.base or "", target)
            target = apply_edits(target, edits_placed(target, placed))
        file.written = False
        self._revise(file, base, target, author)

    def unplaced(self, path: str, reason: str, author: Author) -> None:
        """A finished claim could not be placed in the file."""
        self._file(path, author).reasons[author.tool_call or ""] = reason

    def drop_proposal(self, tool_call: str, session: str | None = None) -> list[str]:
        """The tool call (of this session, as agents may use one id each) will not write any
        more; the paths it had proposals for come back.
        """
        dropped: list[str] = []
        for file in list(self.files.values()):
            rest = tuple(
                hunk
                for hunk in file.hunks
                if hunk.author.tool_call != tool_call or session not in {None, hunk.author.session}
            )
            if file.written or len(rest) == len(file.hunks):
                continue
            dropped.append(file.path)
            file.target = apply(file.base or "", (h.hunk for h in rest)) if rest else file.base
            file.hunks = rest
            if not (rest or file.reasons or file.past):
                del self.files[file.path]
        return dropped

    # --- where hunks stand ------------------------------------------------------------

    def standing(self, file: ReviewedFile, hunk: ReviewHunk, text: str) -> Standing:
        """Where a hunk stands in ``text``."""
        placed = self.placed(file, hunk, "keep", text)
        reason = placed.reason if placed.state == "conflict" else None
        return Standing(placed.state == "there", placed.start, placed.end, reason)

    def placed(self, file: ReviewedFile, hunk: ReviewHunk, verdict: Verdict, text: str) -> Placed:
        """What a verdict on a pending hunk means for ``text``: ``clean`` edits it, ``there``
        has nothing to do, ``conflict`` cannot be done.
        """
        hunks, known, placed = self._placed.get((file.path, verdict), ((), "", ()))
        if hunks is not file.hunks or known != text:
            wanted = tuple(h.hunk for h in file.hunks)
            if verdict == "keep":
                placed = rebase(wanted, file.base or "", text)
            else:
                placed = rebase(invert(wanted), file.target or "", text)
            self._placed[file.path, verdict] = (file.hunks, text, placed)
        return placed[file.hunks.index(hunk)]

    # --- verdicts ---------------------------------------------------------------------

    def settle(self, file: ReviewedFile, hunks: tuple[ReviewHunk, ...], verdict: Verdict) -> None:
        """The verdict on these hunks has been carried out: move the base or the target.

        The others stay what they are, so that no order of verdicts changes the outcome.
        """
        keys = {hunk.key for hunk in hunks}
        chosen = [hunk for hunk in file.hunks if hunk.key in keys]
        rest = [hunk for hunk in file.hunks if hunk.key not in keys]
        file.past += [(hunk.author, hunk.hunk) for hunk in chosen]
        if verdict == "reject":
            inverse = zip(file.hunks, invert(h.hunk for h in file.hunks), strict=True)
            back = [hunk for pending, hunk in inverse if pending.key in keys]
            file.target = apply(file.target or "", back) if rest else file.base
            file.hunks = tuple(rest)
            return
        file.base = apply(file.base or "", (h.hunk for h in chosen)) if rest else file.target
        file.hunks = tuple(_shifted(hunk, chosen) for hunk in rest)
        file.counted = file.base or ""

    def _file(self, path: str, author: Author) -> ReviewedFile:
        file = self.files.get(path)
        if file is None:
            self._keys += 1
            file = self.files[path] = ReviewedFile(f"c{self._keys}", path, author)
        return file

    def _revise(
        self, file: ReviewedFile, base: str | None, target: str | None, author: Author
    ) -> None:
        """Take the difference anew; hunks that stay the same keep their keys and authors."""
        known = file.hunks
        moved = rebase((h.hunk for h in known), file.counted, base or "")
        same = {
            (at.start, at.hunk.old, at.hunk.new): pending
            for pending, at in zip(known, moved, strict=True)
            if at.state == "clean"
        }
        hunks: list[ReviewHunk] = []
        for hunk in _hunks(base, target):
            pending = same.get((hunk.start, hunk.old, hunk.new))
            if pending is not None:
                hunks.append(ReviewHunk(pending.key, hunk, pending.author))
                continue
            touched = (
                pending.author.session
                for pending, at in zip(known, moved, strict=True)
                if at.start <= hunk.end and hunk.start <= at.end
            )
            whose = author if {*touched} <= {author.session} else Author("")
            self._keys += 1
            hunks.append(ReviewHunk(f"h{self._keys}", hunk, whose))
        file.base, file.target, file.hunks, file.author = base, target, tuple(hunks), author
        file.counted = base or ""


def _hunks(base: str | None, target: str | None) -> tuple[Hunk, ...]:
    """The hunks between two texts; an empty one where an empty file comes or goes."""
    hunks = diff(base or "", target or "")
    return hunks or ((Hunk(0, 0, (), ()),) if (base is None) != (target is None) else ())


def _shifted(pending: ReviewHunk, kept: Iterable[ReviewHunk]) -> ReviewHunk:
    """A hunk for the base that has the kept ones."""
    hunk = pending.hunk
    by = sum(len(k.hunk.new) - len(k.hunk.old) for k in kept if k.hunk.start < hunk.start)
    moved = Hunk(hunk.start + by, hunk.end + by, hunk.old, hunk.new)
    return ReviewHunk(pending.key, moved, pending.author)


def _carried(
    file: ReviewedFile, before: str | None, after: str | None, *, claimed: bool
) -> str | None:
    """The base for a write, with all in it that is between what was known of the disk and
    ``before``: others did that, so it is not to be taken for the agent's.

    Of a claim it may also be the agent's own, told of in another claim. One that is still
    to come takes it out of the base again; one that came before has it among the pending
    hunks, or in the past, where it stays.
    """
    known = file.target if file.written or (claimed and file.target == after) else file.base
    if known == before or (claimed and (before is None or after is None)):
        return file.base
    if known is None or before is None or file.base is None:
        return before if file.base is not None or known is None else None
    past = [hunk for _, hunk in file.past]
    others = diff(known, before)
    carried = [
        hunk
        for hunk, at in zip(others, rebase(others, known, after or ""), strict=True)
        if not (claimed and _bodies(hunk.old) == _bodies(hunk.new))
        # What the agent did not leave like this was undone by somebody else.
        if at.state == "there" or not _is_among(past, hunk.new, hunk.old, exactly=not claimed)
    ]
    return apply_edits(file.base, edits_placed(file.base, rebase(carried, known, file.base)))


def _is_among(
    past: Iterable[Hunk], old: tuple[str, ...], new: tuple[str, ...], *, exactly: bool
) -> bool:
    """Whether a change is one of these or, less exactly, a part of one."""
    old, new = _bodies(old), _bodies(new)
    if exactly:
        return any((_bodies(hunk.old), _bodies(hunk.new)) == (old, new) for hunk in past)
    return any(_within(old, _bodies(hunk.old)) and _within(new, _bodies(hunk.new)) for hunk in past)


def _within(part: tuple[str, ...], lines: tuple[str, ...]) -> bool:
    if not part:
        return not lines
    return any(lines[at : at + len(part)] == part for at in range(len(lines) - len(part) + 1))


def _bodies(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(body, lines))
