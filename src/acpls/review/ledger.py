"""The review ledger: all changes of agents that wait for a verdict.

Invariant: pure. What a buffer or the disk holds is given to it; what should be done to them
comes back as values. What a file held before is never taken from an agent's word when
somebody saw it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acpls.review import moves
from acpls.review.change import Change
from acpls.review.held import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acpls.review.change import Source
    from acpls.review.composing import Author, ReviewHunk
    from acpls.review.held import Held
    from acpls.text.diff import Hunk


@dataclass(slots=True)
class Ledger:
    """``files``: what was written, by path. ``proposals``: what is still to be written, or was
    said to be and is not there, by the author and the path. ``stale``: what an earlier run of
    the server knew of files that have changed since, by path. ``halves``: what may turn out
    to be of moves.
    """

    files: dict[str, Change] = field(default_factory=dict)
    proposals: dict[tuple[Author, str], Change] = field(default_factory=dict)
    stale: dict[str, Change] = field(default_factory=dict)
    halves: moves.Halves = field(default_factory=moves.Halves, compare=False)
    _keys: int = 0

    def changes(self, session: str | None = None) -> list[Change]:
        """The changes with something to decide or to tell, of one session or of all."""
        return [
            change
            for change in self._all()
            if (change.of(session) and not change.is_hidden)
            or (change.reasons and session in {None, change.author.session})
        ]

    def hunks(self, session: str | None = None) -> list[tuple[Change, ReviewHunk]]:
        """The pending hunks with their changes, of one session or of all."""
        shown = (change for change in self._all() if not change.is_hidden)
        return [(change, hunk) for change in shown for hunk in change.of(session)]

    def at(self, path: str) -> list[Change]:
        """The changes of one file, hidden ones too."""
        return [change for change in self._all() if change.path == path]

    def find(self, hunk: str) -> tuple[Change, ReviewHunk] | None:
        """The pending hunk with this key."""
        return next((found for found in self.hunks() if found[1].key == hunk), None)

    def content(self, path: str) -> tuple[str, str | None]:
        """A file under review with the hash of what it is known to hold."""
        return path, self.files[path].target.content

    # --- what happens to files --------------------------------------------------------

    def agent_wrote(
        self,
        path: str,
        before: Held | None,
        now: Held,
        author: Author,
        source: Source,
        edits: Sequence[Hunk] | None = None,
    ) -> Change | None:
        """An agent made ``now`` of a file; the change that comes of it.

        ``before`` is what the file held, ``None`` where nobody knows; a file that is under
        review is known best here. ``edits`` is the difference of the two, where it is known.
        """
        change = self.files.get(path)
        if change is None:
            change = Change(
                self.key("c"),
                path,
                author,
                UNKNOWN if before is None else before,
                now,
                "unknown" if before is None else source,
            )
            change.begin(author, self._hunk_key)
            self.files[path] = change
        else:
            same = before is not None and before.is_like(change.target)
            change.agent_wrote(now, author, self._hunk_key, edits if same else None)
        return self._settled(change)

    def others_wrote(
        self,
        path: str,
        now: Held,
        edits: Sequence[Hunk] | None = None,
        *,
        shares: bool = True,
    ) -> None:
        """The user, or the editor in saving, made ``now`` of a file."""
        change = self.files.get(path)
        if change is not None and not change.target.is_like(now):
            change.others_wrote(now, self._hunk_key, edits, shares=shares)
            self._settled(change)

    def saved(self, path: str, text: str, origin: str, *, shares: bool) -> None:
        """The editor saved a document with this text; not ``shares``: of its own accord.

        ``origin`` is what the document goes back to: what has been written since was never
        in it, and is overwritten.
        """
        change = self.files.get(path)
        if change is not None:
            change.go_back(origin)
            now = change.target.with_text(text, change.target.form)
            self.others_wrote(path, now, shares=shares)

    def learn_base(self, path: str, base: Held, source: Source) -> None:
        """What a file held before its change becomes known after all."""
        change = self.files.get(path)
        if change is not None and change.base is UNKNOWN:
            change.learn_base(base, source, self._hunk_key)
            self._settled(change)

    def seen(self, path: str, now: Held) -> list[str]:
        """A file holds this: so much for what an earlier run knew of it, if anything.

        The path comes back where that is told otherwise now.
        """
        old = self.stale.get(path)
        if old is None or old.target.is_like(now):
            return []
        old.target = now
        if old.base.is_like(now):
            self.drop(old)
        return [path]

    def set_back(self, path: str, now: Held) -> None:
        """The user had a file set back to this, as it was before some of what agents did."""
        change = self.files.get(path)
        if change is not None and not change.target.is_like(now):
            change.set_back(now, self._hunk_key)
            self._settled(change)

    def pair(self, path: str) -> list[str]:
        """See whether what happened to a file was one half of a move; ``moves.pair``."""
        return moves.pair(self.files, path, self.halves, self._hunk_key)

    def pair_as_said(self, old: str, new: str, *, copied: bool = False) -> list[str]:
        """The agent says that it moved or copied a file; the paths that are told otherwise."""
        if copied:
            return moves.copied_as_said(self.files, old, new)
        return moves.pair_as_said(self.files, old, new, self._hunk_key)

    def adopt(self, session: str, by: str) -> list[str]:
        """A session has another key now; the paths of its changes."""
        return [change.path for change in self._all() if change.adopt(session, by)]

    def propose(
        self,
        path: str,
        base: Held,
        target: Held,
        author: Author,
        *,
        held: object = None,
    ) -> Change | None:
        """An agent wants a file, which now holds ``base``, to hold ``target``.

        It takes the place of what the same tool call proposed before.
        """
        old = self.proposals.pop((author, path), None)
        if base.is_like(target):
            return None
        if old is not None and old.base.is_like(base) and old.target.is_like(target):
            change = old
        else:
            key = self.key("c") if old is None else old.key
            change = Change(key, path, author, base, target, "ledger", proposed=True, held=held)
            change.begin(author, self._hunk_key)
        self.proposals[author, path] = change
        return change

    def unplaced(self, path: str, reason: str, author: Author) -> None:
        """A finished claim could not be placed in the file."""
        change = self.files.get(path)
        if change is None:
            change = self.proposals.get((author, path))
        if change is None:
            change = Change(self.key("c"), path, author, UNKNOWN, UNKNOWN, "unknown", proposed=True)
            self.proposals[author, path] = change
        change.reasons[author.tool_call or ""] = reason

    def drop_proposals(self, author: Author, path: str | None = None) -> list[str]:
        """A tool call will not write any more, or not this path; the paths it had proposals
        for come back.
        """
        gone = [key for key in self.proposals if key[0] == author and path in {None, key[1]}]
        for key in gone:
            del self.proposals[key]
        return [path for _, path in gone]

    # --- verdicts ---------------------------------------------------------------------

    def keep(self, change: Change, hunks: Sequence[ReviewHunk], *, whole: bool = False) -> None:
        """A verdict was carried out: these hunks are reviewed, and (``whole``) with them, where
        they are all, that the file was moved.
        """
        if whole and change.moved_from is not None and len(hunks) == len(change.hunks):
            self.files.pop(change.moved_from, None)
            change.moved_from = None
        change.keep(hunks)
        self._settled(change)

    def reject(self, change: Change, hunks: Sequence[ReviewHunk], now: Held | None = None) -> None:
        """A verdict was carried out: these hunks are taken back; ``now`` is what is there."""
        change.reject(hunks, now)
        self._settled(change)

    def send_back(self, change: Change) -> Change | None:
        """A moved file is to be taken back as a whole: what is to be taken back before it, at
        its old place; ``None`` where that cannot be done.
        """
        return moves.send_back(self.files, change, self._hunk_key)

    def dismiss(self, change: Change) -> None:
        """The user has seen why claims could not be placed."""
        change.reasons.clear()
        self._settled(change)

    def drop(self, change: Change) -> None:
        """Nothing of a change is to be told any more."""
        self.files = {at: known for at, known in self.files.items() if known is not change}
        self.proposals = {at: p for at, p in self.proposals.items() if p is not change}
        self.stale = {at: old for at, old in self.stale.items() if old is not change}

    # --- inside -----------------------------------------------------------------------

    def _settled(self, change: Change) -> Change | None:
        """A change is over when there is nothing left of it."""
        moves.tidy(self.files, change, self._hunk_key)
        change.stays_moved(self._hunk_key)
        if change.hunks or change.reasons:
            return change
        self.drop(change)
        return None

    def _all(self) -> Iterator[Change]:
        yield from self.files.values()
        yield from self.proposals.values()
        yield from self.stale.values()

    def key(self, letter: str) -> str:
        """The next key of a change (``c``) or a hunk (``h``)."""
        self._keys += 1
        return f"{letter}{self._keys}"

    def _hunk_key(self) -> str:
        return self.key("h")
