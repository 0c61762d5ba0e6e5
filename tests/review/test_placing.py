"""Verdicts in texts in which the user writes, too: nothing of theirs is lost or doubled."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from acpls.review import placing
from acpls.review.change import Change
from acpls.review.composing import Author
from acpls.review.held import UNKNOWN, Held, of_text
from acpls.review.placing import MIXED, SHARED, UNKNOWN_PLACE, Standing
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from acpls.review.change import Verdict

PATH = "/ws/a.txt"
CHANGED = "these lines have changed since"
BINARY = Held(content="b1", opaque="the file is binary")


class Keys:
    number = 0

    def __call__(self) -> str:
        self.number += 1
        return f"h{self.number}"


KEYS = Keys()


def reviewed(*texts: str, proposed: bool = False) -> Change:
    """An agent made each of these texts of the one before it."""
    base, target, *rest = (of_text(text) for text in texts)
    change = Change("c1", PATH, Author("s1"), base, target, "store", proposed=proposed)
    change.begin(change.author, KEYS)
    for now in rest:
        change.agent_wrote(now, change.author, KEYS)
    return change


def verdict(
    change: Change, how: Verdict, text: str, reference: str, *, over: bool = False
) -> tuple[str, list[str]]:
    """The text after a verdict on all hunks, and why some were left."""
    after, left = placing.outcome(change, change.hunks, how, text, reference, over=over)
    return after, list(left.values())


BASE, TARGET = "a\nb\nc\n", "a\nB\nc\n"
TWO_BASE, TWO_TARGET = "a\nx\nb\n", "A\nx\nB\n"


# --- verdicts -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "text", "reference", "after"),
    [
        ("keep", "mine\na\nb\nc\n", BASE, "mine\na\nB\nc\n"),
        ("keep", "mine\na\nB\nc\n", TARGET, "mine\na\nB\nc\n"),
        ("reject", "mine\na\nb\nc\n", BASE, "mine\na\nb\nc\n"),
        ("reject", "mine\na\nB\nc\n", TARGET, "mine\na\nb\nc\n"),
        # What was rejected is gone, whatever the user wrote instead of it.
        ("reject", "a\nmine\nc\n", BASE, "a\nmine\nc\n"),
        # The endings of the text are its own.
        ("keep", "a\r\nb\r\nc\r\n", BASE, "a\r\nB\r\nc\r\n"),
    ],
)
def test_a_hunk_is_in_the_reference_or_not(
    how: Verdict, text: str, reference: str, after: str
) -> None:
    assert verdict(reviewed(BASE, TARGET), how, text, reference) == (after, [])


@pytest.mark.parametrize(("how", "reference"), [("keep", BASE), ("reject", TARGET)])
def test_a_hunk_into_which_the_user_wrote_is_left_unless_it_goes_over(
    how: Verdict, reference: str
) -> None:
    text, change = "a\nmine\nc\n", reviewed(BASE, TARGET)
    assert verdict(change, how, text, reference) == (text, [CHANGED])
    after = TARGET if how == "keep" else BASE
    assert verdict(change, how, text, reference, over=True) == (after, [])


@pytest.mark.parametrize(
    ("how", "reference", "after"),
    [
        # One of two hunks is in the reference: it was reloaded before the other came.
        ("keep", "A\nx\nb\n", TWO_TARGET),
        ("reject", "A\nx\nb\n", TWO_BASE),
        ("keep", TWO_BASE, TWO_TARGET),
        ("reject", TWO_TARGET, TWO_BASE),
    ],
)
def test_a_document_may_have_what_the_file_held_earlier(
    how: Verdict, reference: str, after: str
) -> None:
    change = reviewed(TWO_BASE, "A\nx\nb\n", TWO_TARGET)
    text = f"mine\n{reference}"
    assert verdict(change, how, text, reference) == (f"mine\n{after}", [])


@pytest.mark.parametrize(("how", "after"), [("keep", "a\nB2\nc\n"), ("reject", BASE)])
def test_an_earlier_version_of_the_same_lines_goes_either_way(how: Verdict, after: str) -> None:
    change = reviewed(BASE, TARGET, "a\nB2\nc\n")
    assert verdict(change, how, f"mine\n{TARGET}", TARGET) == (f"mine\n{after}", [])
    standing = placing.standing(change, TARGET, TARGET)
    assert standing == (Standing(applied=True, start=1, end=2),)


def test_an_earlier_version_that_is_one_of_several_hunks_now_goes_neither_way() -> None:
    """It would take the other hunk along, about which nothing was said."""
    change = reviewed("a\nb\nc\nd\n", "x\ny\nz\nd\n", "x\nb\nz\nd\n")
    assert len(change.hunks) == 2
    text = "x\ny\nz\nd\n"
    for how in ("keep", "reject"):
        assert verdict(change, how, text, text) == (text, [MIXED, MIXED])


@pytest.mark.parametrize("how", ["keep", "reject"])
def test_a_reference_that_the_file_never_held_leaves_the_hunk(how: Verdict) -> None:
    text = "a\nother\nc\n"
    change = reviewed(BASE, TARGET)
    assert verdict(change, how, text, text) == (text, [UNKNOWN_PLACE])
    (standing,) = placing.standing(change, text, text)
    assert standing == Standing(False, 0, 0, UNKNOWN_PLACE, placed=False)


@pytest.mark.parametrize(("text", "after"), [("mine\na\nb\nc\n", "mine\na\nB\nc\n")])
def test_what_is_only_proposed_is_placed_in_any_text(text: str, after: str) -> None:
    """The file has another text than it had when it was proposed."""
    change = reviewed(BASE, TARGET, proposed=True)
    assert verdict(change, "keep", text, text) == (after, [])
    assert placing.standing(change, text, text) == (Standing(False, 2, 3),)
    assert verdict(change, "keep", "a\nmine\nc\n", "a\nmine\nc\n")[1] == [CHANGED]


def test_only_some_of_the_hunks_are_decided_on() -> None:
    change = reviewed(TWO_BASE, TWO_TARGET)
    first, second = change.hunks
    assert placing.outcome(change, [second], "reject", TWO_TARGET, TWO_TARGET) == ("A\nx\nb\n", {})
    assert placing.outcome(change, [first], "keep", TWO_BASE, TWO_BASE) == ("A\nx\nb\n", {})


@pytest.mark.parametrize("how", ["keep", "reject"])
def test_what_no_line_shows_is_in_no_text(how: Verdict) -> None:
    change = reviewed(BASE, TARGET)
    change.agent_wrote(BINARY, change.author, KEYS)
    assert verdict(change, how, TARGET, TARGET) == (TARGET, [])
    assert placing.standing(change, TARGET, TARGET) == (Standing(applied=True, start=0, end=0),)
    change.hunks = ()
    assert placing.standing(change, TARGET, TARGET) == ()


# --- what is shown --------------------------------------------------------------------------------


def test_hunks_stand_in_the_text_as_it_is() -> None:
    change = reviewed("a\nb\nc\nd\n", "a\nB\nmore\nc\nD\n")
    on_disk = change.target.text or ""
    shown = placing.standing(change, f"mine\n{on_disk}", on_disk)
    assert shown == (Standing(True, 2, 4), Standing(True, 5, 6))
    shown = placing.standing(change, "a\nb\nmine\nc\nd\n", "a\nb\nc\nd\n")
    assert shown == (Standing(False, 1, 2), Standing(False, 4, 5))
    (first, second) = placing.standing(change, "a\nmine\nc\nD\n", on_disk)
    assert (first.conflict, second.conflict) == (CHANGED, None)


def test_what_was_brought_about_by_hand_is_seen() -> None:
    change = reviewed(BASE, TARGET)
    assert placing.standing(change, BASE, TARGET) == (Standing(False, 1, 2),)
    assert placing.standing(change, TARGET, BASE) == (Standing(True, 1, 2),)


def test_what_is_proposed_is_not_there() -> None:
    change = reviewed(BASE, TARGET, proposed=True)
    assert placing.standing(change, BASE, BASE) == (Standing(False, 1, 2),)
    whole = Change("c1", PATH, Author("s1"), of_text(None), of_text(""), "store", proposed=True)
    whole.begin(whole.author, KEYS)
    assert placing.standing(whole, "", "") == (Standing(False, 0, 0),)


def test_what_was_found_last_is_not_looked_for_again_while_nothing_changes() -> None:
    change = reviewed(TWO_BASE, TWO_TARGET)
    shown = placing.standing(change, TWO_TARGET, TWO_TARGET)
    assert placing.standing(change, TWO_TARGET, TWO_TARGET) is shown
    assert placing.standing(change, f"mine\n{TWO_TARGET}", TWO_TARGET)[0].start == 1
    change.keep(change.hunks[:1])
    assert placing.standing(change, TWO_TARGET, TWO_TARGET) == (Standing(True, 2, 3),)


def test_why_a_hunk_can_only_be_kept() -> None:
    change = reviewed(BASE, TARGET)
    assert placing.kept_only(change, change.hunks[0]) is None
    change.others_wrote(of_text("a\nB, mine\nc\n"), KEYS)
    assert placing.kept_only(change, change.hunks[0]) == SHARED
    change.proposed = True
    assert placing.kept_only(change, change.hunks[0]) is None
    unknown = Change("c2", PATH, Author("s1"), UNKNOWN, of_text(BASE), "unknown")
    unknown.begin(unknown.author, KEYS)
    assert placing.kept_only(unknown, unknown.hunks[0]) == "the text before it is not known"
    unknown.stale = "the file is another one now"
    assert placing.kept_only(unknown, unknown.hunks[0]) == "the file is another one now"


# --- among equal lines ------------------------------------------------------------------------


def every_text(longest: int) -> list[str]:
    letters = "ab"
    return [
        "".join(f"{letter}\n" for letter in word)
        for length in range(longest + 1)
        for word in product(letters, repeat=length)
    ]


def with_a_line(text: str) -> list[str]:
    """The text with a line of the user's at each place."""
    lines = split_lines(text)
    return ["".join([*lines[:at], "U\n", *lines[at:]]) for at in range(len(lines) + 1)]


@pytest.mark.parametrize("how", ["keep", "reject"])
@pytest.mark.parametrize("follows", [False, True], ids=["had the old text", "had the new text"])
def test_d11_among_equal_lines_nothing_of_the_users_is_lost_or_doubled(
    how: Verdict, *, follows: bool
) -> None:
    """Each pair of short texts of two kinds of lines, and a line typed at each place."""
    texts = every_text(3)
    for base, target in product(texts, texts):
        if base == target:
            continue
        change = reviewed(base, target)
        reference = target if follows else base
        wanted = target if how == "keep" else base
        for text in with_a_line(reference):
            after, left = placing.outcome(change, change.hunks, how, text, reference)
            assert after.count("U\n") == 1, (base, target, text)
            if wanted == reference:
                assert (after, left) == (text, {}), (base, target, text)
            elif not left:
                assert after.replace("U\n", "") == wanted, (base, target, text)
            # What is shown is what a verdict would find.
            shown = placing.standing(change, text, reference)
            assert [at.conflict for at in shown if at.conflict] == list(left.values()) or (
                wanted == reference
            ), (base, target, text)
