"""A change of one file: what it was as last reviewed, what it is, and the hunks between.

The *base* is the file as last reviewed, the *target* what agents made of it. Keeping a hunk
copies it into the base, rejecting it copies the base back into the target; what the user does
to the file outside of the hunks goes into both.

Invariant: the base with all hunks is the target, byte for byte.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acpls.review import composing
from acpls.review.held import UNKNOWN, of_text
from acpls.text.diff import Hunk, diff, invert
from acpls.text.lines import ending, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.review.composing import Author, Keys, ReviewHunk
    from acpls.review.held import Held

Verdict: TypeAlias = Literal["keep", "reject"]
Source: TypeAlias = Literal["ledger", "buffer", "store", "claim", "git", "unknown"]

# How many earlier texts of the file an open document may still go back to.
_VERSIONS: Final = 8

WHOLE: Final = Hunk(0, 0, (), ())
"""The hunk of a change that is not shown line by line."""


@dataclass(slots=True)
class Change:
    """What agents did to one file, or (``proposed``) want to do.

    ``source`` is where the base came from first. ``author`` is who changed the file last;
    each hunk has its own. ``reasons``: claims that could not be placed, by tool call, each a
    sentence for the user. ``moved_from``: the file was at this path before; ``moved_to``: it
    is at that one now, and is shown there; ``copied_from``: what it is a copy of. ``went``:
    what a file that is gone held at last, and the hunks that it had then.
    ``held``: the request of an agent that waits for the verdict. ``stale``: why nothing of it
    can be taken back any more. ``preview``: it only shows what a question is about.
    """

    key: str
    path: str
    author: Author
    base: Held
    target: Held
    source: Source
    proposed: bool = False
    hunks: tuple[ReviewHunk, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    moved_from: str | None = None
    moved_to: str | None = None
    copied_from: str | None = None
    went: tuple[Held, tuple[ReviewHunk, ...]] | None = None
    held: object = None
    stale: str | None = None
    preview: bool = False
    # What the file held earlier, with the hunks that lead there from the base, newest last.
    _earlier: list[tuple[str, tuple[ReviewHunk, ...]]] = field(default_factory=list)
    found: object = field(default=None, repr=False, compare=False)

    @property
    def operation(self) -> Literal["add", "delete", "modify", "move", "copy"]:
        """What happens to the file as a whole."""
        if self.moved_from is not None:
            return "move"
        if self.copied_from is not None:
            return "copy"
        if self.base.is_missing and not self.target.is_missing:
            return "add"
        return "delete" if self.target.is_missing and not self.base.is_missing else "modify"

    @property
    def opaque(self) -> str | None:
        """Why the change is one whole, if it is."""
        return self.stale or self.base.opaque or self.target.opaque

    @property
    def is_whole(self) -> bool:
        """Whether none of its hunks has lines."""
        return self.opaque is not None or all(p.hunk == WHOLE for p in self.hunks)

    @property
    def is_hidden(self) -> bool:
        """Whether it is told of elsewhere only: by a question, or where a file was moved to."""
        return self.preview or self.moved_to is not None

    @property
    def unknown(self) -> str | None:
        """Why it cannot be taken back, where nobody knows what the file held before."""
        return self.base.opaque if self.base is UNKNOWN else None

    def find(self, key: str) -> ReviewHunk | None:
        """The pending hunk with this key."""
        return next((pending for pending in self.hunks if pending.key == key), None)

    def of(self, session: str | None) -> tuple[ReviewHunk, ...]:
        """The pending hunks of a session, which are its own, or (``None``) all."""
        return tuple(p for p in self.hunks if session in {None, p.author.session})

    # --- what is done to the file -----------------------------------------------------

    def begin(self, author: Author, keys: Keys) -> None:
        """All of the difference is this author's."""
        self.hunks = ()
        self._earlier.clear()
        if self.opaque is None:
            edits = diff(self.base.text or "", self.target.text or "")
            self.hunks = tuple(composing.ReviewHunk(keys(), edit, author) for edit in edits)
        if self.target.is_missing and self.went is None:
            self.went = self.base, ()
        self._whole(author, keys)

    def agent_wrote(
        self, now: Held, author: Author, keys: Keys, edits: Sequence[Hunk] | None = None
    ) -> None:
        """An agent made this of the target; ``edits``: the difference, where it is known."""
        self.went = (self.target, self.hunks) if now.is_missing else None
        lines = self._lines_if_shown(now)
        if lines is None:
            own = {pending.author for pending in self.hunks} | {author}
            whose = author if len({a.session for a in own}) == 1 else composing.NOBODY
            self.target, self.author = now, author
            self.begin(whose, keys)
            return
        if edits is None:
            edits = diff(self.target.text or "", now.text or "")
        shown = self._remember()
        self.hunks = composing.by_agent(shown, edits, lines, author, keys)
        self.target, self.author = now, author
        self._whole(author, keys)

    def others_wrote(
        self,
        now: Held,
        keys: Keys,
        edits: Sequence[Hunk] | None = None,
        *,
        shares: bool = True,
    ) -> None:
        """The user made this of the target, or (not ``shares``) the editor did in saving it.

        What has come or gone by their hand, or is no text any more, is settled by that.
        """
        if self.base is UNKNOWN and not now.is_missing:
            self.target = now
            return
        lines = self._lines_if_shown(now)
        if lines is None or self.target.is_missing or now.is_missing:
            self.base, self.target, self.hunks = now, now, ()
            return
        if edits is None:
            edits = diff(self.target.text or "", now.text or "")
        shown = self._remember()
        self.hunks, moved = composing.by_user(shown, edits, lines, keys, shares=shares)
        self.target = now
        if not self.hunks:
            self.base = now
        elif moved:
            self._move_base(moved)
            self._recount()

    def set_back(self, now: Held, keys: Keys) -> None:
        """The user had the file set back to this: where it is like the base it is reviewed.

        Where no agent's change was pending, what was set back is as the user wants it.
        """
        lines = self._lines_if_shown(now)
        if lines is None or self.target.is_missing or now.is_missing:
            self.target = now
            self.begin(self.author, keys)
            return
        edits = diff(self.target.text or "", now.text or "")
        self.hunks, moved = composing.set_back(self._remember(), edits, lines, keys)
        self.target = now
        if moved:
            self._move_base(moved)
        self._recount()
        self._whole(self.author, keys)

    def learn_base(self, base: Held, source: Source, keys: Keys) -> None:
        """What the file held before becomes known after all."""
        self.base, self.source = base, source
        self.begin(self.hunks[0].author, keys)

    # --- verdicts ---------------------------------------------------------------------

    def chosen(self, keys: Sequence[str] | frozenset[str]) -> tuple[ReviewHunk, ...]:
        """The pending hunks with these keys."""
        return tuple(pending for pending in self.hunks if pending.key in keys)

    def keep(self, hunks: Sequence[ReviewHunk]) -> None:
        """These hunks are reviewed: they go into the base."""
        if len(hunks) == len(self.hunks):
            self.base = self.target
        elif hunks:
            self._move_base([pending.hunk for pending in hunks])
        self.hunks = composing.without(self.hunks, hunks)
        self._recount()

    def rejected(self, hunks: Sequence[ReviewHunk]) -> Held:
        """What the file is to hold without these hunks."""
        if len(hunks) == len(self.hunks):
            return self.base
        inverse = invert(pending.hunk for pending in self.hunks)
        back = [i for i, pending in zip(inverse, self.hunks, strict=True) if pending in hunks]
        result = self._with(self.target, back)
        if (self.target.text or "").isascii() and not self.base.is_missing:
            # Without a letter that tells, the file may not read as what it was any more.
            result = replace(result, form=self.base.form)
        return result

    def reject(self, hunks: Sequence[ReviewHunk], now: Held | None = None) -> None:
        """These hunks are taken back, and the file is seen to hold what that comes to."""
        self._remember()
        self.target = self.rejected(hunks) if now is None else now
        self.hunks = tuple(pending for pending in self.hunks if pending not in hunks)
        self._recount()

    def hunks_in(self, reference: str) -> tuple[Hunk, ...] | None:
        """The hunks that lead from the base to what the file held once, or holds; ``None``
        where it never held that.
        """
        there = self._version(reference)
        return None if there is None else tuple(pending.hunk for pending in there)

    def go_back(self, reference: str) -> None:
        """The user saved what goes back to this: what was written since is overwritten, and
        what was reviewed since is so by his own hand.
        """
        there = self._version(reference)
        if self.opaque is None and there is not None:
            self.hunks = there
            self.target = self.target.with_text(reference, self.target.form)
            self.keep([pending for pending in there if not pending.key])

    def stays_moved(self, keys: Keys) -> None:
        """A move waits for a verdict, even where nothing else of the change does."""
        if self.moved_from is not None:
            self._whole(self.author, keys)

    def attribute(self, author: Author) -> None:
        """A tool call is found to have made what its session did here."""
        nameless = replace(author, tool_call=None)
        if self.author == nameless:
            self.author = author
        self.hunks = tuple(
            replace(p, author=author) if p.author == nameless else p for p in self.hunks
        )

    def adopt(self, session: str, by: str) -> bool:
        """A session has another key now; whether it has to do with this change."""
        whose = self.author.session == session
        if whose:
            self.author = replace(self.author, session=by)
        hunks = tuple(
            replace(p, author=replace(p.author, session=by)) if p.author.session == session else p
            for p in self.hunks
        )
        whose, self.hunks = whose or hunks != self.hunks, hunks
        return whose

    # --- inside -----------------------------------------------------------------------

    def _lines_if_shown(self, now: Held) -> list[str] | None:
        """The lines of the target, where both it and what comes are shown line by line."""
        if self.opaque is not None or now.opaque is not None:
            return None
        return split_lines(self.target.text or "")

    def _whole(self, author: Author, keys: Keys) -> None:
        """A difference that no line shows is a hunk as well."""
        differs = self.moved_from is not None or not self.base.is_like(self.target)
        if not self.hunks and differs:
            self.hunks = (composing.ReviewHunk(keys(), WHOLE, author),)

    def _version(self, reference: str) -> tuple[ReviewHunk, ...] | None:
        if reference == (self.target.text or ""):
            return tuple(pending for pending in self.hunks if pending.hunk != WHOLE)
        if reference == (self.base.text or ""):
            return ()
        return next((hunks for text, hunks in reversed(self._earlier) if text == reference), None)

    def _remember(self) -> tuple[ReviewHunk, ...]:
        """The hunks that show lines; a document may go back to what they come to."""
        shown = tuple(pending for pending in self.hunks if pending.hunk != WHOLE)
        if self.target.text is not None:
            self._earlier.append((self.target.text, shown))
            del self._earlier[:-_VERSIONS]
        return shown

    def _move_base(self, edits: Sequence[Hunk]) -> None:
        lines = split_lines(self.base.text or "")
        back = invert(edits)
        known = [*self._earlier, (self.base.text or "", ())]
        self._earlier = [(text, composing.behind(hunks, back, lines)) for text, hunks in known]
        self.base = self._with(self.base, edits)

    def _recount(self) -> None:
        r"""Where a last line is not the last one any more, or a ``\r`` and a ``\n`` have met, the
        hunks have other lines.
        """
        base, target = self.base.text or "", self.target.text or ""
        last = [line for p in self.hunks for line in (*p.hunk.old[-1:], *p.hunk.new[-1:])]
        ended = all(map(ending, filter(None, (base, target, *last))))
        if not self.hunks or (ended and "\r" not in base and "\r" not in target):
            return
        old, new = split_lines(base), split_lines(target)
        for hunks in (self.hunks, composing.reread(self.hunks, old, new)):
            with contextlib.suppress(ValueError):
                if composing.made(old, [pending.hunk for pending in hunks]) == new:
                    self.hunks = hunks
                    return
            self._earlier.clear()
        self.hunks = composing.joined(self.hunks, old, new)

    @staticmethod
    def _with(held: Held, hunks: Sequence[Hunk]) -> Held:
        lines = composing.made(split_lines(held.text or ""), hunks)
        return replace(of_text("".join(composing.ended(lines))), form=held.form)
