"""Runs: what a command brings about in one file each, in its document and on the disk.

How that is done, step by step, is the same for all of them (``verdicts``). Here is what is to
be brought about, and what follows from it: a verdict on hunks of the ledger, unless a kind of
run says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acpls.review import placing
from acpls.review.held import of_disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acpls.events import Disk
    from acpls.hub.state import State
    from acpls.review.change import Change, Verdict
    from acpls.review.composing import ReviewHunk
    from acpls.review.held import Held
    from acpls.text.buffers import Buffer


@dataclass(slots=True)
class Batch:
    """All runs of one command, which is answered when the last of them is done.

    ``told``: the user was told already that something could not be done.
    """

    ticket: object
    runs: int = 0
    done: int = 0
    left: list[dict[str, str]] = field(default_factory=list)
    told: bool = False

    def take(self, _: State, run: Run) -> None:
        """A run is over."""
        self.done += len(run.done)
        self.left += [{"hunk": key, "reason": run.left[key]} for key in sorted(run.left)]

    def answer(self, _: State) -> Any:
        """The answer to the command."""
        return {"hunks": self.done, "left": self.left}


@dataclass(slots=True)
class Run:
    """One verdict on some hunks of one file, which is at ``path``.

    ``over``: a keep may replace what the document has there. ``whole``: it is also about the
    file's being where it is. ``dry``: it is only to be seen what it would do. ``then``: what
    comes next, when nothing was left of this one. ``edit``: the edit of the document that is
    under way; ``edited``: it was seen; ``asked``: the editor was asked to save the document
    or to take the file away, and ``asked_away``: the latter. ``disk``: the file as it was
    read, and ``is_open``, ``is_clean``, ``is_in_step``: how its document was then. ``left``:
    the hunks that cannot be done, with the reason; ``done``: those that are; ``tries``: how
    often something came between.
    """

    path: str
    keys: frozenset[str]
    verdict: Verdict
    batch: Batch
    over: bool = False
    whole: bool = False
    dry: bool = False
    then: Run | None = None
    tries: int = 0
    edit: int | None = None
    edited: bool = False
    asked: bool = False
    asked_away: bool = False
    disk: Disk | None = None
    is_open: bool = False
    is_clean: bool = False
    is_in_step: bool = False
    left: dict[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    @property
    def failed(self) -> str:
        """What could not be done, as the user is told."""
        return f"Cannot {self.verdict} a change"

    def look(self) -> None:
        """The file was read; it may be another than at the last look."""

    def changes(self, state: State) -> list[Change]:
        """The changes whose hunks it is about."""
        return state.ledger.at(self.path)

    def carried_out(
        self, state: State, change: Change, hunks: Sequence[ReviewHunk], now: Held | None
    ) -> None:
        """The verdict on these hunks was carried out; ``now``: what the file was seen to hold."""
        if self.verdict == "keep":
            state.ledger.keep(change, hunks, whole=self.whole)
        else:
            state.ledger.reject(change, hunks, None if change.proposed else now)

    def taken_away(self, state: State) -> None:
        """The editor was seen to have taken the file away; the next look settles the rest."""

    # --- what is to be --------------------------------------------------------------------

    def chosen(self, state: State) -> Iterator[tuple[Change, tuple[ReviewHunk, ...]]]:
        """The hunks that are still pending and can be done, by their changes."""
        wanted = self.keys - self.left.keys()
        for change in self.changes(state):
            hunks = change.chosen(wanted)
            if hunks:
                yield change, hunks

    def impossible(self, state: State) -> dict[str, str]:
        """The hunks that cannot be taken back, with the reason."""
        left: dict[str, str] = {}
        for change, hunks in self.chosen(state) if self.verdict == "reject" else ():
            for hunk in hunks:
                reason = placing.kept_only(change, hunk)
                if reason is not None:
                    left[hunk.key] = reason
        return left

    def is_text(self, state: State) -> bool:
        """Whether it can be carried out line by line."""
        return all(change.opaque is None for change, _ in self.chosen(state))

    def reference(self, state: State, buffer: Buffer) -> str:
        """What a document with unsaved lines goes back to."""
        return state.origins.get(buffer.uri, buffer.saved_text)

    def outcome(self, state: State, buffer: Buffer, text: str) -> tuple[str, dict[str, str]]:
        """The text with the verdict, and the hunks that cannot be placed in it."""
        left: dict[str, str] = {}
        origin = text
        if buffer.dirty and buffer.text == text:
            origin = self.reference(state, buffer)
        for change, hunks in self.chosen(state):
            before = text
            text, cannot = placing.outcome(
                change, hunks, self.verdict, text, origin, over=self.over
            )
            # What one change made of the text is no line of the user's to the next.
            origin = text if origin == before else origin
            left.update(cannot)
        return text, left

    def wanted(self, state: State, *, is_open: bool) -> Held | None:
        """What the file is to hold; ``None``: as it is."""
        assert self.disk is not None
        for change, hunks in self.chosen(state):
            if change.proposed:
                if self.verdict == "keep" and not is_open:
                    text = self.disk.text or ""
                    text, left = placing.outcome(change, hunks, "keep", text, text, over=self.over)
                    self.left.update(left)
                    missing = change.target.is_missing and len(hunks) == len(change.hunks)
                    if left:
                        continue
                    now = change.target.with_text(text, self.disk.form)
                    return change.target if missing else now
            elif self.verdict == "reject":
                wanted = change.rejected(hunks)
                unsaved = state.unsaved.get(self.path)
                if unsaved is not None and unsaved.base == wanted.text:
                    # Who rejects it all wants the file as it was, and not unsaved lines saved.
                    wanted = unsaved.disk
                held = of_disk(self.disk)
                return None if held is not None and wanted.is_like(held) else wanted
        return None

    def wants_none(self, state: State) -> bool:
        """Whether there is to be no file."""
        wanted = self.wanted(state, is_open=True)
        return wanted is not None and wanted.is_missing
