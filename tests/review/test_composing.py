"""Hunks under the edits of agents and of the user: nothing is mixed up (D17, D39)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from acpls.review.composing import (
    NOBODY,
    Author,
    ReviewHunk,
    by_agent,
    by_user,
    ended,
    joined,
    made,
    reread,
    without,
)
from acpls.text.diff import Hunk, diff
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE, TWO = Author("s1", "c1"), Author("s2", "c2")
FIVE = ("a", "b", "c", "d", "e")


def spelled(words: Sequence[str]) -> str:
    return "".join(f"{word}\n" for word in words)


@dataclass
class Story:
    """What became of a file of which each line is a word: the base, its hunks, and the text."""

    base: list[str]
    text: list[str]
    hunks: tuple[ReviewHunk, ...] = ()
    numbers: count[int] = field(default_factory=lambda: count(1))

    @classmethod
    def of(cls, *words: str) -> Story:
        return cls(split_lines(spelled(words)), split_lines(spelled(words)))

    def key(self) -> str:
        return f"h{next(self.numbers)}"

    def agent(self, *words: str, author: Author = ONE) -> None:
        """An agent makes this of the text."""
        edits = diff("".join(self.text), spelled(words))
        self.hunks = by_agent(self.hunks, edits, self.text, author, self.key)
        self.text = split_lines(spelled(words))

    def user(self, *words: str, shares: bool = True) -> None:
        """The user makes this of the text."""
        edits = diff("".join(self.text), spelled(words))
        self.hunks, moved = by_user(self.hunks, edits, self.text, self.key, shares=shares)
        self.base, self.text = made(self.base, moved), split_lines(spelled(words))

    def shown(self) -> list[tuple[str, str]]:
        """The hunks: the words that they take out, and those that they put in."""
        return [(told(p.hunk.old), told(p.hunk.new)) for p in self.hunks]

    def holds(self) -> None:
        """The invariant."""
        assert made(self.base, [pending.hunk for pending in self.hunks]) == self.text
        keys = [pending.key for pending in self.hunks]
        assert len(keys) == len({*keys})


def told(lines: Sequence[str]) -> str:
    return " ".join(line.strip() for line in lines)


# --- what agents do ----------------------------------------------------------------------


def test_d39_an_edit_beside_no_hunk_is_a_hunk_of_its_own_and_no_larger_than_it() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "d", "e")
    (first,) = story.hunks
    story.agent("a", "B", "c", "d", "E", "f", author=TWO)
    assert story.hunks == (
        first,
        ReviewHunk("h2", Hunk(4, 5, ("e\n",), ("E\n", "f\n")), TWO),
    )


def test_an_edit_of_a_hunk_is_compared_with_the_base_anew() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "x", "y", "z", "e")
    assert story.shown() == [("b c d", "x y z")]
    story.agent("a", "x", "c", "z", "e")
    assert story.shown() == [("b", "x"), ("d", "z")]
    story.holds()


def test_what_an_agent_takes_back_itself_is_no_change() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "D", "e")
    kept = story.hunks[1]
    story.agent("a", "b", "c", "D", "e")
    assert story.hunks == (kept,)
    story.agent(*FIVE, author=TWO)
    assert story.shown() == []


def test_a_hunk_beside_one_that_is_taken_back_stays_as_it_is() -> None:
    """The line between them is gone, so that they touch."""
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "D", "e")
    story.user("a", "B", "D", "e")
    rest = story.hunks[1]
    story.agent("a", "b", "D", "e")
    assert story.hunks == (rest,)
    story.holds()


def test_an_edit_just_beside_a_hunk_joins_it() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "d", "e")
    story.agent("a", "B", "C", "d", "e")
    assert story.shown() == [("b c", "B C")]


def test_an_edit_may_join_several_hunks() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "D", "e")
    story.agent("a", "x", "e")
    assert story.shown() == [("b c d", "x")]
    story.holds()


def test_d17_what_several_sessions_did_to_the_same_lines_is_nobodys_own() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "d", "e")
    story.agent("a", "B2", "c", "d", "E", author=TWO)
    assert [pending.author for pending in story.hunks] == [NOBODY, TWO]
    # And it stays so, whoever goes on.
    story.agent("a", "B3", "c", "d", "E2", author=Author("s2", "c3"))
    assert [pending.author for pending in story.hunks] == [NOBODY, Author("s2", "c3")]


def test_d17_what_is_beside_a_joined_hunk_keeps_its_author() -> None:
    """Two hunks that touch one edit are compared with the base together, and yet not mixed."""
    story = Story.of(*FIVE)
    story.agent("A", "b", "c", "d", "e")
    story.agent("A", "b", "c", "D", "e", author=TWO)
    # The edit goes from one hunk to the other; what it does not change stays as it is.
    story.agent("A", "c", "D", "e", author=TWO)
    assert [(told(p.hunk.old), p.author) for p in story.hunks] == [("a b", NOBODY), ("d", TWO)]
    story.holds()


# --- what the user does -------------------------------------------------------------------


def test_what_the_user_does_outside_goes_into_the_base() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "b", "C", "d", "e")
    (before,) = story.hunks
    story.user("mine", "a", "b", "C", "e", "mine, too")
    (after,) = story.hunks
    assert "".join(story.base) == spelled(["mine", "a", "b", "c", "e", "mine, too"])
    assert after == ReviewHunk(before.key, Hunk(3, 4, ("c\n",), ("C\n",)), ONE)


@pytest.mark.parametrize("words", [("a", "b", "mine", "C", "d", "e"), ("a", "b", "C", "mine", "d")])
def test_lines_just_beside_a_hunk_are_outside_of_it(words: tuple[str, ...]) -> None:
    story = Story.of(*FIVE)
    story.agent("a", "b", "C", "d", "e")
    story.user(*words)
    assert story.shown() == [("c", "C")]
    assert not story.hunks[0].shared
    assert "mine\n" in story.base
    story.holds()


def test_lines_beside_a_deletion_are_outside_of_it() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "b", "d", "e")
    story.user("a", "b", "mine", "d", "e")
    assert story.shown() == [("c", "")]
    assert not story.hunks[0].shared
    story.holds()


def test_what_the_user_writes_inside_a_hunk_makes_it_shared() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "x", "y", "z", "e")
    (before,) = story.hunks
    story.user("a", "x", "mine", "y", "z", "e")
    (after,) = story.hunks
    assert story.shown() == [("b c d", "x mine y z")]
    assert (after.shared, after.author, after.key != before.key) == (True, ONE, True)
    # It stays so when the agent goes on.
    story.agent("a", "x", "mine", "y", "w", "e")
    assert story.shown() == [("b c d", "x mine y w")]
    assert story.hunks[0].shared
    story.agent(*FIVE)
    assert story.hunks == ()


def test_what_the_editor_does_in_saving_shares_nothing() -> None:
    """D48: a formatter is not the user."""
    story = Story.of(*FIVE)
    story.agent("a", "x", "y", "d", "e")
    story.user("a", "x(formatted)", "y", "d", "e", shares=False)
    assert story.shown() == [("b c", "x(formatted) y")]
    assert not story.hunks[0].shared
    story.user("a", "mine", "y", "d", "e")
    story.user("a", "mine(formatted)", "y", "d", "e", shares=False)
    assert story.hunks[0].shared, "the user's hand in it is not forgotten"


def test_a_hunk_that_the_user_takes_back_is_gone() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "D", "e")
    rest = story.hunks[1]
    story.user("a", "b", "c", "D", "e")
    assert story.hunks == (rest,)
    story.holds()


def test_what_the_user_writes_over_several_hunks_is_one_shared_hunk() -> None:
    story = Story.of(*FIVE)
    story.agent("A", "b", "c", "d", "e")
    story.agent("A", "b", "C", "d", "e", author=TWO)
    story.user("mine", "d", "e")
    (hunk,) = story.hunks
    assert (hunk.shared, hunk.author) == (True, NOBODY)
    assert story.shown() == [("a b c", "mine")]


def test_a_shared_hunk_has_no_lines_that_are_as_they_were() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "x", "y", "z", "e")
    story.user("a", "b", "mine", "d", "e")
    assert story.shown() == [("c", "mine")]
    story.holds()


# --- hunks that are reviewed ---------------------------------------------------------------


def test_the_rest_counts_in_the_base_that_has_what_was_kept() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "1", "2", "c", "D", "e", "f")
    first, second, third = story.hunks
    rest = without(story.hunks, [first])
    assert [pending.key for pending in rest] == [second.key, third.key]
    assert made(made(story.base, [first.hunk]), [p.hunk for p in rest]) == story.text
    assert without(story.hunks, [first, third]) == (rest[0],)
    assert without(story.hunks, []) == story.hunks


def test_hunks_of_another_text_are_refused() -> None:
    lines = split_lines(spelled(FIVE))
    with pytest.raises(ValueError, match="there are other lines at line 2"):
        made(lines, [Hunk(1, 2, ("x\n",), ())])
    with pytest.raises(ValueError, match="there are other lines at line 1"):
        made(lines, [Hunk(0, 2, ("a\n", "b\n"), ()), Hunk(0, 1, ("a\n",), ())])


def test_only_the_last_line_of_a_text_may_lack_its_ending() -> None:
    assert ended(["a\r\n", "b", "c\r\n", "d"]) == ["a\r\n", "b\r\n", "c\r\n", "d"]
    assert ended(["a\n", "b"]) == ["a\n", "b"]
    assert ended([]) == []


def test_hunks_are_read_again_where_they_stand() -> None:
    story = Story.of("a", "b")
    story.agent("a", "B", "c")
    hunks = reread(story.hunks, ["a\n", "b\r\n"], ["a\n", "B\n", "c"])
    assert [(p.key, p.hunk.old, p.hunk.new) for p in hunks] == [("h1", ("b\r\n",), ("B\n", "c"))]


def test_hunks_that_cannot_be_told_apart_are_one() -> None:
    story = Story.of(*FIVE)
    story.agent("a", "B", "c", "D", "e")
    (one,) = joined(story.hunks, story.base, story.text)
    assert (one.key, one.author) == ("h1", ONE)
    assert (told(one.hunk.old), told(one.hunk.new)) == ("b c d", "B c D")


# --- whatever is done ------------------------------------------------------------------------

Kind: TypeAlias = Literal["agent", "other agent", "user", "editor"]
KINDS: list[Kind] = ["agent", "other agent", "user", "editor"]
# Where, how many lines go, and how many come.
edits = st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 2))
steps = st.lists(
    st.tuples(st.sampled_from(KINDS), st.lists(edits, min_size=1, max_size=2)),
    min_size=1,
    max_size=6,
)


def edited(words: list[str], how: tuple[int, int, int], new: Sequence[str]) -> list[str]:
    at, gone, come = how
    at = min(at, len(words))
    return [*words[:at], *new[:come], *words[at + gone :]]


def goes_on(story: Story, kind: Kind, words: Sequence[str]) -> None:
    match kind:
        case "agent":
            story.agent(*words)
        case "other agent":
            story.agent(*words, author=TWO)
        case _:
            story.user(*words, shares=kind == "user")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=8), steps, st.data())
def test_the_base_with_the_hunks_is_the_text(
    words: list[str], steps: list[tuple[Kind, list[tuple[int, int, int]]]], data: st.DataObject
) -> None:
    """Among lines that are the same as others, too."""
    story = Story.of(*words)
    for kind, hows in steps:
        for how in hows:
            new = data.draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=2))
            words = edited(words, how, new)
        goes_on(story, kind, words)
        story.holds()
        assert story.text == split_lines(spelled(words))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 8), steps)
def test_nothing_of_the_users_is_in_a_hunk_that_is_not_shared(
    length: int, steps: list[tuple[Kind, list[tuple[int, int, int]]]]
) -> None:
    """Lines are words that occur once: ``o`` was there, ``u`` is the user's, ``1`` and ``2``
    are those of two sessions.
    """
    words = [f"o{number}" for number in range(length)]
    story = Story.of(*words)
    letters = {"agent": "1", "other agent": "2", "user": "u", "editor": "e"}
    for number, (kind, hows) in enumerate(steps):
        before = story.hunks
        for turn, how in enumerate(hows):
            new = [f"{letters[kind]}{number}.{turn}.{line}" for line in range(2)]
            words = edited(words, how, new)
        goes_on(story, kind, words)
        story.holds()
        if kind in {"user", "editor"}:
            old = {pending.key for pending in before}
            news = [pending for pending in story.hunks if pending.key not in old]
            assert all(pending.shared for pending in news) or kind == "editor"
        for pending in story.hunks:
            letters_in = {line[0] for line in pending.hunk.new}
            assert "u" not in letters_in or pending.shared
            sessions = letters_in & {"1", "2"}
            if pending.author == ONE:
                assert "2" not in sessions
            elif pending.author == TWO:
                assert "1" not in sessions


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 8), st.lists(edits, min_size=1, max_size=3), edits)
def test_the_users_edits_outside_leave_the_hunks_as_they_are(
    length: int, hows: list[tuple[int, int, int]], mine: tuple[int, int, int]
) -> None:
    words = [f"o{number}" for number in range(length)]
    story = Story.of(*words)
    for turn, how in enumerate(hows):
        words = edited(words, how, [f"a{turn}.{line}" for line in range(2)])
    story.agent(*words)
    at, gone, _ = mine
    stand, grown = [], 0
    for pending in story.hunks:
        start = pending.hunk.start + grown
        stand.append((start, start + len(pending.hunk.new)))
        grown += len(pending.hunk.new) - len(pending.hunk.old)
    at = min(at, len(words))
    end = min(at + gone, len(words))
    assume(all(end <= start or last <= at for start, last in stand))
    before = [(p.key, p.hunk.old, p.hunk.new, p.author, p.shared) for p in story.hunks]
    story.user(*edited(words, mine, ["u1", "u2"]))
    story.holds()
    assert [(p.key, p.hunk.old, p.hunk.new, p.author, p.shared) for p in story.hunks] == before
