"""Changes as they are kept from one run of the server to the next.

A change that was kept is what it was only while its file has the bytes that it had (D20);
else it can be looked at, and not be taken back.

Invariant: pure; what a file held before is never made up.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from acpls.review.change import WHOLE, Change
from acpls.review.checkpoints import GONE
from acpls.review.composing import Author, ReviewHunk, made
from acpls.review.held import UNKNOWN, Held
from acpls.text.codec import encode
from acpls.text.diff import Hunk
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acpls.review.change import Source
    from acpls.review.ledger import Ledger

STALE: Final = "the file has changed since; compare, but it cannot be taken back"


@dataclass(frozen=True, slots=True)
class StoredHunk:
    """The lines of a hunk in the base and in the target, zero-based and half-open."""

    start: int
    end: int
    first: int
    last: int
    author: Author
    shared: bool


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A change as it was: ``target`` is bare, and ``base`` may be."""

    path: str
    author: Author
    base: Held
    target: Held
    source: Source
    hunks: tuple[StoredHunk, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    moved_from: str | None = None
    moved_to: str | None = None
    copied_from: str | None = None

    def adopted(self, session: str, by: str) -> StoredChange:
        """The same, where a session has another key."""

        def now(author: Author) -> Author:
            return replace(author, session=by) if author.session == session else author

        hunks = tuple(replace(hunk, author=now(hunk.author)) for hunk in self.hunks)
        return replace(self, author=now(self.author), hunks=hunks)


def recorded(change: Change) -> StoredChange:
    """A change as it is stored."""
    pending = [p.hunk for p in change.hunks]
    grown = accumulate((len(hunk.new) - len(hunk.old) for hunk in pending), initial=0)
    hunks = tuple(
        StoredHunk(
            hunk.start,
            hunk.end,
            hunk.start + shift,
            hunk.start + shift + len(hunk.new),
            p.author,
            p.shared,
        )
        for hunk, shift, p in zip(pending, grown, change.hunks, strict=False)
    )
    return StoredChange(
        change.path,
        change.author,
        change.base,
        _hashed(change.target),
        change.source,
        hunks,
        change.reasons,
        change.moved_from,
        change.moved_to,
        change.copied_from,
    )


def _hashed(held: Held) -> Held:
    """What a file holds, by the hash of its bytes."""
    if held.text is None or held.content is not None:
        return held.bare()
    data = encode(held.text, held.form, held.text)
    content = "" if isinstance(data, str) else hashlib.sha256(data).hexdigest()
    return Held(form=held.form, content=content)


def put_back(
    ledger: Ledger, stored: StoredChange, now: Held, texts: Mapping[str, str]
) -> Change | None:
    """What becomes of a change whose file holds ``now``; ``None`` where there is none left.

    ``texts`` has the text of a bare base, by its hash. What waits for a verdict again does so
    only where the file is as it was.
    """
    base, reasons, source = stored.base, dict(stored.reasons), stored.source
    if base.is_bare:
        text = texts.get(base.content or "")
        base = UNKNOWN if text is None else replace(base, text=text)
        if text is None:
            reasons[""], source = GONE, "unknown"
    change = Change(ledger.key("c"), stored.path, stored.author, base, now, source, reasons=reasons)
    is_same = stored.target.is_like(now) and stored.path not in ledger.files
    if base.is_like(now) and not (is_same and (stored.moved_from or reasons)):
        return None
    if not is_same:
        change.stale = STALE
        change.hunks = (ReviewHunk(ledger.key("h"), WHOLE, stored.author),)
        ledger.stale[stored.path] = change
        return change
    change.moved_from, change.moved_to = stored.moved_from, stored.moved_to
    change.copied_from = stored.copied_from
    change.went = (base, ()) if now.is_missing else None
    change.hunks = () if change.opaque else _hunks(ledger, stored.hunks, base, now)
    if not change.hunks:
        change.begin(stored.author, lambda: ledger.key("h"))
    ledger.files[stored.path] = change
    return change


def _hunks(
    ledger: Ledger, stored: Sequence[StoredHunk], base: Held, now: Held
) -> tuple[ReviewHunk, ...]:
    """The hunks as they were, if they are those of these texts."""
    old, new = split_lines(base.text or ""), split_lines(now.text or "")
    if any(at.end > len(old) or at.last > len(new) for at in stored):
        return ()
    hunks = [
        Hunk(at.start, at.end, tuple(old[at.start : at.end]), tuple(new[at.first : at.last]))
        for at in stored
    ]
    is_whole = hunks == [WHOLE]
    try:
        fits = made(old, hunks) == new and (is_whole or all(h.old or h.new for h in hunks))
    except ValueError:
        fits = False
    return tuple(
        ReviewHunk(ledger.key("h"), hunk, at.author, at.shared)
        for hunk, at in zip(hunks if fits else (), stored, strict=False)
    )
