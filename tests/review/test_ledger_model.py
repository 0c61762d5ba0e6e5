"""The review ledger against a model, with all that happens in any order (D17, D18, D19)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acpls.review.composing import Author, made
from acpls.review.held import Held, of_text
from acpls.review.ledger import Ledger
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from acpls.review.change import Change
    from acpls.review.composing import ReviewHunk

PATH, OTHER_PATH = "/w/a.py", "/w/b.py"


def words(held: Held) -> list[str]:
    return (held.text or "").split()


class Review(RuleBasedStateMachine):
    """Two sessions and the user write in one file, and verdicts are given at any time.

    Lines are words that occur once: ``o`` was there, ``u`` is the user's, ``1`` and ``2`` are
    those of the sessions. Agents leave the user's words alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.count = 0
        self.now: list[str] = []
        self.users: list[str] = []

    def word(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    @property
    def change(self) -> Change | None:
        return self.ledger.files.get(PATH)

    @initialize(length=st.integers(2, 8))
    def begin(self, length: int) -> None:
        self.now = [self.word("o") for _ in range(length)]

    @rule(
        session=st.sampled_from(["1", "2"]),
        at=st.integers(0, 20),
        gone=st.integers(0, 2),
        come=st.integers(0, 2),
    )
    def agent_writes(self, session: str, at: int, gone: int, come: int) -> None:
        at = min(at, len(self.now))
        stay = [word for word in self.now[at : at + gone] if word.startswith("u")]
        new = [self.word(session) for _ in range(come)]
        self.goes_on([*self.now[:at], *new, *stay, *self.now[at + gone :]], f"s{session}")

    @rule(at=st.integers(0, 20), gone=st.integers(0, 1))
    def user_writes(self, at: int, gone: int) -> None:
        at = min(at, len(self.now))
        self.goes_on([*self.now[:at], self.word("u"), *self.now[at + gone :]], None)
        self.users = [word for word in self.now if word.startswith("u")]

    def goes_on(self, now: list[str], session: str | None) -> None:
        before, after = (of_text("".join(f"{w}\n" for w in text)) for text in (self.now, now))
        self.now = now
        if session is None:
            self.ledger.others_wrote(PATH, after)
        else:
            self.ledger.agent_wrote(PATH, before, after, Author(session), "store")

    @precondition(lambda self: self.change is not None)
    @rule(data=st.data(), verdict=st.sampled_from(["keep", "reject"]))
    def verdict_on_some(self, data: st.DataObject, verdict: Any) -> None:
        assert self.change is not None
        some = st.sets(st.sampled_from(range(len(self.change.hunks))), min_size=1)
        numbers = data.draw(some)
        self.decide([self.change.hunks[n] for n in sorted(numbers)], verdict)

    @precondition(lambda self: self.change is not None)
    @rule(session=st.sampled_from(["s1", "s2", None]), verdict=st.sampled_from(["keep", "reject"]))
    def verdict_on_a_session(self, session: str | None, verdict: Any) -> None:
        assert self.change is not None
        own = [hunk for _, hunk in self.ledger.hunks(session)]
        # D17: there is nothing of another session in it.
        for hunk in own if session is not None else ():
            there = {word[0] for line in hunk.hunk.new for word in line.split()}
            assert not there & ({"1", "2"} - {session[1:]} if session else set())
        self.decide(own, verdict)

    def decide(self, hunks: list[ReviewHunk], verdict: Literal["keep", "reject"]) -> None:
        change = self.change
        assert change is not None
        # What the user has a hand in is never taken back (``placing.kept_only``).
        chosen = [hunk for hunk in hunks if verdict == "keep" or not hunk.shared]
        old = [word for hunk in chosen for line in hunk.hunk.old for word in line.split()]
        new = [word for hunk in chosen for line in hunk.hunk.new for word in line.split()]
        base, target, rest = words(change.base), words(change.target), change.hunks
        if verdict == "keep":
            self.ledger.keep(change, chosen)
            # D18: it is in the base now, and in no hunk.
            assert sorted(words(change.base)) == sorted([*set(base) - set(old), *new])
            assert words(change.target) == target
        else:
            self.ledger.reject(change, chosen)
            assert sorted(words(change.target)) == sorted([*set(target) - set(new), *old])
            assert words(change.base) == base
            self.now = words(change.target)
        # D19: the others are what they were.
        assert [(h.key, h.hunk.old, h.hunk.new) for h in change.hunks] == [
            (h.key, h.hunk.old, h.hunk.new) for h in rest if h not in chosen
        ]

    @invariant()
    def base_and_hunks_are_the_file(self) -> None:
        change = self.change
        if change is None:
            return
        assert words(change.target) == self.now
        assert change.hunks
        lines = made(split_lines(change.base.text or ""), [p.hunk for p in change.hunks])
        assert "".join(lines) == change.target.text

    @invariant()
    def the_users_words_are_all_there(self) -> None:
        assert [word for word in self.now if word.startswith("u")] == self.users

    @invariant()
    def rejecting_all_leaves_what_is_shared(self) -> None:
        change = self.change
        if change is None:
            return
        chosen = [hunk for hunk in change.hunks if not hunk.shared]
        left = {
            word for h in change.hunks if h.shared for line in h.hunk.new for word in line.split()
        }
        there = words(change.rejected(chosen))
        assert {word for word in there if word[0] in "12"} <= left | {*words(change.base)}
        if len(chosen) == len(change.hunks):
            assert there == words(change.base)


Review.TestCase.settings = settings(max_examples=50, stateful_step_count=15, deadline=None)
TestReview = Review.TestCase
