"""Turns that are listed and taken back: what the agent did goes, what came since stays.

A restore is a run of its own in each file (``runs``), which is planned anew each time that the
file is read. A dry run goes as far as that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from acpls.effects import ReadStored
from acpls.hub import review_shapes, verdicts
from acpls.hub.runs import Batch, Run
from acpls.hub.shapes import lean
from acpls.hub.state import CannotDo
from acpls.hub.tokens import ForRestore
from acpls.review.change import Change
from acpls.review.checkpoints import bare_texts, without
from acpls.review.composing import Author
from acpls.review.held import NO_FILE, of_disk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acpls.events import StoredRead
    from acpls.hub.state import Effects, State
    from acpls.review.checkpoints import Checkpoint, Step
    from acpls.review.composing import ReviewHunk
    from acpls.review.held import Held
    from acpls.text.buffers import Buffer


def shape(state: State, of: Checkpoint) -> dict[str, Any]:
    """A checkpoint, as it is listed."""
    at = None if of.at_s is None else datetime.fromtimestamp(of.at_s, UTC)
    return lean(
        checkpoint=of.key,
        session=of.session,
        title=of.title,
        at=None if at is None else at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        files=[
            {"uri": review_shapes.uri(state, path), "operation": of.operation(path)}
            for path in sorted(of.steps)
        ],
    )


def restore(
    state: State, of: Checkpoint, ticket: object, *, dry: bool = False, over: bool = False
) -> Effects:
    """Take back what a session did from this turn on; ``dry``: only tell what that would do.

    Raises ``CannotDo`` while the session's agent is at work, since that changes files.
    """
    session = state.sessions.get(of.session)
    if of.session in state.at_work or (session is not None and session.busy):
        message = "The agent of this turn is at work; stop it first (acpls.session.cancel)"
        raise CannotDo(message, field="checkpoint")
    number = state.number("restore")
    restoring = Restore(ticket, checkpoint=of, steps=state.checkpoints.since(of))
    restoring.dry, restoring.over = dry, over
    state.restores[number] = restoring
    steps = [step for all_steps in restoring.steps.values() for step in all_steps]
    wanted = dict.fromkeys((held.content or "", held.form) for held in bare_texts(steps))
    yield ReadStored(ForRestore(number), tuple(wanted))


def texts_read(state: State, token: ForRestore, event: StoredRead) -> Effects:
    """What the files held is known: go to work on each."""
    restoring = state.restores.pop(token.number)
    restoring.texts = event.texts
    runs = [
        Restoring(path, frozenset(), "reject", restoring, over=restoring.over, dry=restoring.dry)
        for path in restoring.steps
    ]
    restoring.runs = len(runs)
    for run in runs:
        yield from verdicts.start(state, run)


@dataclass(slots=True)
class Restore(Batch):
    """One restore: ``steps`` are what is taken back of each file, newest first, and ``texts``
    what is bare in them, by its hash. ``files``: what was done.
    """

    checkpoint: Checkpoint = field(kw_only=True)
    steps: Mapping[str, tuple[Step, ...]] = field(kw_only=True)
    dry: bool = False
    over: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)

    def take(self, state: State, run: Run) -> None:
        """A file is as it is to be, or as near to it as can be."""
        assert isinstance(run, Restoring)
        uri = review_shapes.uri(state, run.path)
        reasons = dict.fromkeys((*run.reasons, *run.left.values()))
        self.left += [{"uri": uri, "reason": reason} for reason in reasons]
        done = run.outcome_shown()
        if done is not None:
            operation, patch = done
            self.files.append({"uri": uri, "operation": operation, "patch": patch})
        if not self.dry and not reasons:
            state.checkpoints.taken_back(self.checkpoint, run.path)

    def answer(self, _: State) -> Any:
        """The answer to the command."""
        return {
            "files": sorted(self.files, key=lambda file: file["uri"]),
            "left": sorted(self.left, key=lambda file: file["uri"]),
        }


@dataclass(slots=True)
class Restoring(Run):
    """A restore of one file: the rejection of a ``change`` of its own, that leads from what
    the file is to hold to what it holds. ``reasons``: why not all can be taken back; ``was``,
    ``became``: what the file held, and what it does by now.
    """

    change: Change | None = None
    reasons: tuple[str, ...] = ()
    was: Held | None = None
    became: Held | None = None

    @property
    def failed(self) -> str:
        """What could not be done, as the user is told."""
        return "Cannot restore a file"

    def look(self) -> None:
        """The file was read: plan what it is to hold."""
        assert self.disk is not None
        assert isinstance(self.batch, Restore)
        now = of_disk(self.disk)
        self.left.clear()
        self.done.clear()
        self.change, self.keys = None, frozenset({"file"})
        if now is None:
            return
        if not self.asked:
            self.was = now
        self.became = now
        to_be = without(self.batch.steps[self.path], now, self.batch.texts, over=self.batch.over)
        self.reasons = to_be.left
        self.change = _between(self.path, to_be.held, now)
        self.keys = frozenset(pending.key for pending in self.change.hunks)

    def reference(self, state: State, buffer: Buffer) -> str:
        """What a document with unsaved lines goes back to; else its file is as good."""
        # A bare ``super()`` fails in a dataclass with slots.
        own = Run.reference(self, state, buffer)
        known = self.change is None or self.change.hunks_in(own) is not None
        return own if known or self.disk is None else self.disk.text or ""

    def changes(self, _: State) -> list[Change]:
        """The changes whose hunks it is about."""
        return [] if self.change is None else [self.change]

    def carried_out(
        self, state: State, change: Change, hunks: Sequence[ReviewHunk], now: Held | None
    ) -> None:
        """The file holds what it is to hold; ``now``: what it was seen to hold."""
        self.became = change.rejected(hunks) if now is None else now
        change.reject(hunks, self.became)
        if not self.dry:
            state.ledger.set_back(self.path, self.became)

    def taken_away(self, state: State) -> None:
        """The editor was seen to have taken the file away."""
        state.ledger.set_back(self.path, NO_FILE)

    def outcome_shown(self) -> tuple[str, str] | None:
        """What was done to the file as a whole, and its lines as a unified diff."""
        if self.was is None or self.became is None or self.was.is_like(self.became):
            return None
        shown = _between(self.path, self.was, self.became)
        return shown.operation, review_shapes.unified(shown)


def _between(path: str, base: Held, target: Held) -> Change:
    """The change that leads from one to the other."""
    numbers = count()
    change = Change("", path, Author(""), base, target, "ledger")
    change.begin(change.author, lambda: str(next(numbers)))
    return change
