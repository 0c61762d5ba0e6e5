"""The book of what the user answered with "always": what is stored, and what only this run knows.

Several servers may write into the store at once, so it is read again for each judgement.

Invariant: what was read before something was stored never undoes that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from acpls.permissions.remembered import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acpls.permissions.remembered import Remembered

SESSION_LIMIT: Final = 500
"""So many rules for single sessions are kept; the oldest go first."""


@dataclass(slots=True)
class Book:
    """``stored``: the rules in the store, as they were read last, by key. ``own``: those for
    single sessions. ``changed``: what is to be stored, or (``None``) taken away, and is not
    known to be yet. ``awaited``: how often each question waits to be judged.
    ``remembering``: how many answers are being made into rules.
    """

    stored: dict[str, Remembered] = field(default_factory=dict)
    own: dict[str, Remembered] = field(default_factory=dict)
    changed: dict[str, Remembered | None] = field(default_factory=dict)
    awaited: dict[str, int] = field(default_factory=dict)
    remembering: int = 0
    _stamp: int = 0

    def read(self, values: Sequence[Any] | None, stamp: int) -> None:
        """This was in the store at a time; ``None``: it could not be read."""
        if values is None or stamp < self._stamp:
            return
        self._stamp = stamp
        rules = (rule for value in values if (rule := load(value)) is not None)
        self.stored = {rule.key: rule for rule in rules if rule.scope != "session"}

    def add(self, rule: Remembered) -> None:
        """Take a rule in; one that is not for a session is to be stored, too."""
        if rule.scope != "session":
            self.changed[rule.key] = rule
            return
        self.own[rule.key] = rule
        for key in list(self.own)[:-SESSION_LIMIT]:
            del self.own[key]

    def drop(self, rule: Remembered) -> None:
        """Forget a rule; one that is not for a session is to be taken from the store, too."""
        if rule.scope == "session":
            self.own.pop(rule.key, None)
        else:
            self.changed[rule.key] = None

    def is_stored(self, key: str, stamp: int) -> None:
        """What was to be done with a rule was done in the store."""
        self._stamp = max(self._stamp, stamp)
        if key not in self.changed:
            # It was changed once more, and that is stored by now.
            return
        rule = self.changed.pop(key)
        if rule is None:
            self.stored.pop(key, None)
        else:
            self.stored[key] = rule

    def rules(self, sessions: Iterable[str], roots: tuple[str, ...]) -> Iterator[Remembered]:
        """The rules that hold in one of these sessions, for the workspace with these roots."""
        sessions = set(sessions)
        whole = {**self.own, **self.stored, **self.changed}
        here = tuple(sorted(set(roots)))
        for rule in whole.values():
            if rule is not None and _holds(rule, sessions, here):
                yield rule

    # --- who waits -----------------------------------------------------------------------

    def awaits(self, questions: Iterable[str]) -> None:
        """These are to be judged."""
        for question in questions:
            self.awaited[question] = self.awaited.get(question, 0) + 1

    def is_awaited(self, question: str) -> bool:
        """Whether a question is still to be judged, perhaps by a rule that is being made."""
        return self.remembering > 0 or self.awaited.get(question, 0) > 0

    def judged(self, questions: Iterable[str]) -> None:
        """These were judged, once."""
        for question in questions:
            left = self.awaited.pop(question, 1) - 1
            if left > 0:
                self.awaited[question] = left


def _holds(rule: Remembered, sessions: set[str], roots: tuple[str, ...]) -> bool:
    if rule.scope == "session":
        return rule.session in sessions
    return rule.scope == "user" or (bool(roots) and rule.roots == roots)
