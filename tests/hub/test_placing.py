"""Verdicts in texts in which the user writes, too: nothing of theirs is lost or doubled."""

from __future__ import annotations

from itertools import product

import pytest

from acpls.hub import placing
from acpls.review.ledger import Author, Ledger, ReviewedFile, Verdict
from acpls.text.lines import split_lines

PATH = "/ws/a.txt"


def reviewed(base: str, target: str, *, written: bool = True) -> ReviewedFile:
    ledger = Ledger()
    if written:
        ledger.written(PATH, base, target, Author("s1"))
    else:
        ledger.proposed(PATH, base, target, Author("s1"))
    return ledger.files[PATH]


def verdict(
    file: ReviewedFile, how: Verdict, text: str, reference: str | None = None
) -> tuple[str, int]:
    """The text after a verdict on all hunks, and how many were left."""
    after, left = placing.outcome(file, file.hunks, how, text, reference)
    return after, len(left)


BASE, TARGET = "a\nb\nc\n", "a\nB\nc\n"


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
        ("keep", "a\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
    ],
)
def test_a_hunk_is_in_the_reference_or_not(
    how: Verdict, text: str, reference: str, after: str
) -> None:
    assert verdict(reviewed(BASE, TARGET), how, text, reference) == (after, 0)


@pytest.mark.parametrize(("how", "reference"), [("keep", BASE), ("reject", TARGET)])
def test_a_hunk_into_which_the_user_wrote_is_left(how: Verdict, reference: str) -> None:
    text = "a\nmine\nc\n"
    assert verdict(reviewed(BASE, TARGET), how, text, reference) == (text, 1)


def test_without_a_reference_it_is_what_the_file_is_known_to_hold() -> None:
    assert verdict(reviewed(BASE, TARGET), "reject", f"x\n{TARGET}") == (f"x\n{BASE}", 0)
    proposal = reviewed(BASE, TARGET, written=False)
    assert verdict(proposal, "keep", f"x\n{BASE}") == (f"x\n{TARGET}", 0)
    assert verdict(proposal, "reject", f"x\n{BASE}") == (f"x\n{BASE}", 0)


@pytest.mark.parametrize(
    ("how", "reference", "after"),
    [
        # One of two hunks is in the reference: it was saved, or kept, before the other came.
        ("keep", "A\nx\nb\n", "A\nx\nB\n"),
        ("keep", "a\nx\nB\n", "A\nx\nB\n"),
        ("reject", "A\nx\nb\n", "a\nx\nb\n"),
        ("reject", "a\nx\nB\n", "a\nx\nb\n"),
    ],
)
def test_a_reference_may_have_some_of_the_hunks(how: Verdict, reference: str, after: str) -> None:
    file = reviewed("a\nx\nb\n", "A\nx\nB\n")
    assert verdict(file, how, reference, reference) == (after, 0)


@pytest.mark.parametrize("how", ["keep", "reject"])
def test_a_reference_that_has_neither_side_leaves_the_hunk(how: Verdict) -> None:
    text = "a\nother\nc\n"
    assert verdict(reviewed(BASE, TARGET), how, text, text) == (text, 1)


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
        file = reviewed(base, target)
        reference = target if follows else base
        wanted = target if how == "keep" else base
        for text in with_a_line(reference):
            after, left = placing.outcome(file, file.hunks, how, text, reference)
            assert after.count("U\n") == 1, (base, target, text)
            if wanted == reference:
                assert (after, left) == (text, {}), (base, target, text)
            elif not left:
                assert after.replace("U\n", "") == wanted, (base, target, text)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        # The agent's line and the user's old one are both there: which is whose is not known.
        ("reject", "a\nb\nB\nc\n"),
        ("reject", "a\nB\nb\nc\n"),
    ],
)
def test_a_text_that_has_some_of_both_sides_is_left(how: Verdict, text: str) -> None:
    assert verdict(reviewed(BASE, TARGET), how, text) == (text, 1)


@pytest.mark.parametrize("how", ["keep", "reject"])
def test_a_document_that_had_only_a_part_of_a_change_is_left(how: Verdict) -> None:
    """It was saved between two edits that came to be one hunk."""
    base, target = "a\nb\nc\nd\n", "a\nX\nd\n"
    text = "mine\na\nX\nc\nd\n"
    had = "a\nX\nc\nd\n"
    assert verdict(reviewed(base, target), how, text, had) == (text, 1)
