"""Checkpoints: what each turn of an agent did to files, so that it can be taken back later.

A turn is taken back step by step, the newest first, in the file as it is by then: what others
made of it since stays. Where its lines are not there any more, or are somebody else's as well,
nothing is done, and there is a reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from acpls.review import placing
from acpls.review.held import UNKNOWN
from acpls.text.diff import apply_edits, diff, edits_placed, invert, rebase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from acpls.review.held import Held

MOST: Final = 100
"""Checkpoints that are kept; the oldest go."""

GONE: Final = "its text is not stored any more"
_ADDED: Final = "it was added, and has changed since"
_DELETED: Final = "it was deleted, and is there again with another text"
_NOT_THERE: Final = "it is not there any more"
_CHANGED: Final = "it has changed since, and cannot be compared line by line"


@dataclass(frozen=True, slots=True)
class Step:
    """What an agent made of a file in one go; ``before`` is ``None`` where nobody knows it."""

    before: Held | None
    after: Held


@dataclass(slots=True)
class Checkpoint:
    """What one turn did: the steps of each file, oldest first, with what others did between.

    ``title`` is the first line of its prompt. ``at_s``: when it ended, in seconds since 1970;
    ``None`` where its end was not seen.
    """

    key: str
    session: str
    title: str
    steps: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    at_s: float | None = None

    def operation(self, path: str) -> Literal["add", "delete", "modify"]:
        """What the turn made of a file as a whole."""
        before, after = self.steps[path][0].before, self.steps[path][-1].after
        if after.is_missing:
            return "delete"
        return "add" if before is not None and before.is_missing else "modify"


@dataclass(slots=True)
class Checkpoints:
    """All checkpoints, oldest first; ``open`` are those of turns that are under way.

    Of those that are not, only the hashes of what files held are kept, and texts where there
    are no hashes.
    """

    all: list[Checkpoint] = field(default_factory=list)
    open: dict[str, Checkpoint] = field(default_factory=dict)
    _count: int = 0

    def note(self, session: str, path: str, before: Held | None, after: Held) -> None:
        """A session changed a file. What is no session's own is in no checkpoint."""
        if not session:
            return
        if session not in self.open:
            self.begin(session, "")
        steps = self.open[session].steps
        done = steps.pop(path, ())
        if done and before is not None and done[-1].after.is_like(before):
            before, done = done[-1].before, done[:-1]
        if before is None or not before.is_like(after):
            done = (*done, Step(before, after))
        if done:
            steps[path] = done

    def seen(self, path: str, now: Held) -> None:
        """A file was read again: where that is what a turn made of it, its bytes are known."""
        for checkpoint in self.open.values():
            *done, last = checkpoint.steps.get(path, (None,))
            if last is not None and last.after.content is None and last.after.is_like(now):
                checkpoint.steps[path] = (*filter(None, done), replace(last, after=now))

    def begin(self, session: str, title: str) -> None:
        """A turn starts; ``title`` is the first line of its prompt."""
        self.close(session, None)
        self.open[session] = Checkpoint(self._key(), session, title)

    def close(self, session: str, at_s: float | None) -> None:
        """A turn is over, and all that it did was seen."""
        checkpoint = self.open.pop(session, None)
        if checkpoint is not None and checkpoint.steps:
            checkpoint.at_s = at_s
            checkpoint.steps = {path: _bare(steps) for path, steps in checkpoint.steps.items()}
            self.all.append(checkpoint)
            del self.all[:-MOST]

    def loaded(self, earlier: Iterable[Checkpoint]) -> None:
        """These are of an earlier run, and get keys of this one."""
        renamed = [replace(checkpoint, key=self._key()) for checkpoint in earlier]
        self.all[:0] = renamed
        del self.all[:-MOST]

    def adopt(self, session: str, by: str) -> None:
        """A session has another key now."""
        for checkpoint in self.all:
            if checkpoint.session == session:
                checkpoint.session = by

    def find(self, key: str) -> Checkpoint | None:
        """The checkpoint with this key."""
        return next((checkpoint for checkpoint in self.all if checkpoint.key == key), None)

    def newest(self, session: str | None = None) -> list[Checkpoint]:
        """The checkpoints of one session or of all, newest first."""
        found = [c for c in self.all if session in {None, c.session}]
        found.reverse()
        return found

    def since(self, first: Checkpoint) -> dict[str, tuple[Step, ...]]:
        """What its session did from this turn on, by file and newest first."""
        found: dict[str, tuple[Step, ...]] = {}
        for checkpoint in self._from(first):
            for path, steps in checkpoint.steps.items():
                found[path] = (*reversed(steps), *found.get(path, ()))
        return found

    def taken_back(self, first: Checkpoint, path: str) -> None:
        """All that its session did to a file from this turn on is undone, and forgotten."""
        for checkpoint in self._from(first):
            checkpoint.steps.pop(path, None)
        self.all = [checkpoint for checkpoint in self.all if checkpoint.steps]

    def _from(self, first: Checkpoint) -> list[Checkpoint]:
        """The checkpoints of a session from this one on."""
        own = [c for c in (*self.all, *self.open.values()) if c.session == first.session]
        at = next((i for i, checkpoint in enumerate(own) if checkpoint is first), len(own))
        return own[at:]

    def _key(self) -> str:
        self._count += 1
        return f"k{self._count}"


def bare_texts(steps: Iterable[Step]) -> list[Held]:
    """What files held in these steps whose text is not at hand."""
    return [held for step in steps for held in _sides(step) if held.is_bare]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a file is to hold without some steps, and why it cannot lose all that they did."""

    held: Held
    left: tuple[str, ...] = ()


def without(
    steps: Sequence[Step], now: Held, texts: Mapping[str, str], *, over: bool = False
) -> Outcome:
    """What a file that holds ``now`` is to hold without these steps, which come newest first.

    ``texts`` has what is bare in them, by its hash. ``over``: whatever was done to the file
    since, it is to be as it was before the oldest step.
    """
    if over:
        first = _filled(steps[-1].before, texts)
        reason = _lost(first)
        return Outcome(now, (reason,)) if reason else Outcome(first)
    held = now
    left: dict[str, None] = {}
    for step in steps:
        before, after = _filled(step.before, texts), _filled(step.after, texts)
        if after.is_like(held):
            reason = _lost(before)
            held = before
        elif before.is_like(held):
            # It was taken back already.
            continue
        else:
            reason = _apart(before, after, held)
            if reason is None:
                held, reasons = _placed(before, after, held)
                left.update(dict.fromkeys(reasons))
        if reason is not None:
            return Outcome(now, (reason,))
    return Outcome(held, tuple(left))


def _lost(before: Held) -> str | None:
    """Why a file cannot be made to hold this again, if it cannot."""
    return before.opaque if before.content is None or before.opaque == GONE else None


def _apart(before: Held, after: Held, now: Held) -> str | None:
    """Why a step cannot be taken back line by line in a file that has changed since."""
    lost = _lost(before) or _lost(after)
    if lost is not None:
        return lost
    if before.is_missing:
        return _NOT_THERE if now.is_missing else _ADDED
    if after.is_missing:
        return _DELETED
    if now.is_missing:
        return _NOT_THERE
    return _CHANGED if before.opaque or after.opaque or now.opaque else None


def _placed(before: Held, after: Held, now: Held) -> tuple[Held, list[str]]:
    """The text without a step, and why some of its hunks cannot be found in it."""
    old, new, text = before.text or "", after.text or "", now.text or ""
    hunks = diff(old, new)
    back, forth = rebase(invert(hunks), new, text), rebase(hunks, old, text)
    placed, left = [], []
    for there, again in zip(back, forth, strict=True):
        if there.state == "conflict":
            left.append(there.reason)
        elif there.state == again.state == "clean":
            # The lines can be taken for either side of it.
            left.append(placing.UNKNOWN_PLACE)
        else:
            placed.append(there)
    made = apply_edits(text, edits_placed(text, placed))
    return (now if made == text else now.with_text(made, now.form)), left


def _bare(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(
        Step(None if step.before is None else step.before.bare(), step.after.bare())
        for step in steps
    )


def _sides(step: Step) -> tuple[Held, ...]:
    return (step.after,) if step.before is None else (step.before, step.after)


def _filled(held: Held | None, texts: Mapping[str, str]) -> Held:
    """The same with its text, where that is known."""
    if held is None:
        return UNKNOWN
    if not held.is_bare:
        return held
    text = texts.get(held.content or "")
    return replace(held, opaque=GONE) if text is None else replace(held, text=text)
