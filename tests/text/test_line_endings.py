"""Texts compared whatever their line endings (D25, D26, D34)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text.endings import LINE_BREAK, Evened, apart, cut, line_break, most_common, plain


def test_git_ends_lines_at_newlines_only() -> None:
    assert cut("a\r\nb\rc\n\x0c\u2028", LINE_BREAK) == (
        ["a", "b\rc", "\x0c\u2028"],
        ["\r\n", "\n"],
    )
    assert cut("", LINE_BREAK) == ([""], [])
    assert plain("a\r\nb\r\r\nc\rd\n") == "a\nb\r\nc\rd\n"


def test_carriage_returns_end_lines_where_nothing_else_does() -> None:
    assert cut("a\rb", line_break("a\rb", ["a\nb"])) == (["a", "b"], ["\r"])
    assert line_break("a\rb\n", ["a"]) is LINE_BREAK
    assert line_break("ab", ["a"]) is LINE_BREAK
    assert line_break("a\rb", ["x", "a\rb"]) is LINE_BREAK


def test_the_most_common_ending() -> None:
    assert most_common(["\r\n", "\n", "\n"], "x") == "\n"
    assert most_common(["\r\n", "\n"], "x") == "\r\n"
    assert most_common([], "x") == "x"


def test_a_part_of_the_other_does_not_count() -> None:
    assert apart("import os\nimport sys\n", "import os\n", "import os\nimport sys\n") == ([], [0])
    assert apart("foo bar", "foo bar", "foo") == ([0], [])
    assert apart("abc", "ab", "bc") == ([0], [1])
    assert apart("x x y x", "x", "x y") == ([0, 6], [2])
    assert apart("aaa", "aa", "") == ([0, 1], [])


def test_many_overlapping_occurrences_take_no_time() -> None:
    text = "a" * 400_000
    olds, news = apart(text, "a" * 200_000, "b")
    assert len(olds) > 2
    assert news == []


@pytest.mark.parametrize(
    ("places", "line", "found"),
    [
        ([4], None, 4),
        ([0, 4], None, None),
        ([0, 4], 1, 0),
        ([0, 4], 3, 4),
        ([0, 4], 2, None),
        ([0, 1], 1, None),
        ([0, 4], 90, None),
    ],
)
def test_a_line_decides_between_places(
    places: list[int], line: int | None, found: int | None
) -> None:
    assert Evened.of("x\n\nx\n", "x").one_of([at and at - 1 for at in places], line) == (
        found and found - 1
    )


def test_new_lines_end_like_the_text_d26() -> None:
    text = Evened.of("a\r\nb\r\nc", "b\nc", "x\ny\nz")
    assert text.plain == "a\nb\nc"
    assert text.swapped(2, "b\nc", "x\ny\nz") == "a\r\nx\r\ny\r\nz"
    assert Evened.of("a", "a").swapped(0, "a", "x\r\ny") == "x\r\ny"


def test_mixed_endings_stay_where_lines_stay_d25() -> None:
    raw = "a\nb\r\nc\r\nd\ne\n"
    text = Evened.of(raw)
    assert text.swapped(0, text.plain, "a\nb\nC\nd\ne\n") == "a\nb\r\nC\r\nd\ne\n"
    assert text.swapped(0, text.plain, "b\nc\nd\nnew\ne\n") == "b\r\nc\r\nd\nnew\ne\n"
    assert text.swapped(2, "b\nc", "b\nx\nc") == "a\nb\r\nx\nc\r\nd\ne\n"
    assert text.swapped(2, "b\nc", "x\ny\nz") == "a\nx\r\ny\nz\r\nd\ne\n"
    assert text.swapped(0, "a\nb", "x") == "x\r\nc\r\nd\ne\n"
    # A bare carriage return is data, and no line of its own.
    data = Evened.of("a\rb\nc\r\nd\n")
    assert data.swapped(0, data.plain, "a\rb\nc\nD\n") == "a\rb\nc\r\nD\n"


fragments = st.lists(st.sampled_from(["a", "b", "\n", "é", "\x0c"]), max_size=14).map("".join)


@settings(max_examples=100, deadline=None)
@given(fragments, fragments, fragments, fragments, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_swap_is_a_plain_replacement_d34(
    head: str, gone: str, tail: str, new: str, ending: str
) -> None:
    raw = (head + gone + tail).replace("\n", ending)
    text = Evened.of(raw, gone, new)
    wanted = (head + new + tail).replace("\n", ending if "\n" in head + gone + tail else "\n")
    assert text.plain == head + gone + tail
    assert text.swapped(len(head), gone, new) == wanted
