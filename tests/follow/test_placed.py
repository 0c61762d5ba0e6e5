"""The one point where an agent's line becomes a row (F13)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.follow import Hint, Place, placed
from acpls.session.content import Fragment
from acpls.text.lines import split_lines
from acpls.text.patch import FilePatch, PatchHunk

TEXT = "one\ntwo\nthree\nfour\n"


@pytest.mark.parametrize(
    ("line", "row"), [(1, 0), (2, 1), (4, 3), (5, 3), (10**12, 3), (0, 0), (-3, 0)]
)
def test_lines_of_agents_count_from_one_and_are_clipped_f13(line: int, row: int) -> None:
    assert placed(Hint("/w/a", line), TEXT) == (row, row)


@pytest.mark.parametrize(("line", "row"), [(1, 0), (0, 0), (-3, 0), (999, 998)])
def test_without_the_text_nothing_is_cut_off_at_its_end_f13(line: int, row: int) -> None:
    assert placed(Hint("/w/a", line), None) == (row, row)


def test_an_empty_file_has_one_row() -> None:
    assert placed(Hint("/w/a", 3), "") == (0, 0)


def test_only_the_file_may_be_known() -> None:
    assert placed(Hint("/w/a"), TEXT) is None
    assert placed(Hint("/w/a", change=Fragment("/w/a", "x", "y")), TEXT) is None
    assert placed(Hint("/w/a", change=Fragment("/w/a", "one", "1")), None) is None
    assert placed(Hint("/w/a", change=FilePatch("/w/a", "/w/a", ())), TEXT) is None


@pytest.mark.parametrize(
    ("line", "count", "rows"), [(2, 2, (1, 2)), (3, 99, (2, 3)), (0, 2, (0, 0)), (2, -1, (1, 1))]
)
def test_a_place_may_have_several_lines(line: int, count: int, rows: tuple[int, int]) -> None:
    assert placed(Hint("/w/a", line, count), TEXT) == rows


def test_what_may_be_no_line_is_none_past_the_end_f13() -> None:
    assert placed(Hint("/w/a", 4, 2, sure=False), TEXT) == (3, 3)
    assert placed(Hint("/w/a", 40960, 2, sure=False), TEXT) is None
    assert placed(Hint("/w/a", 40960, 2, sure=False), None) == (40959, 40960)


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        # Before it is made, and afterwards.
        ("two\n", "2\n2b\n", (1, 1)),
        ("2\n", "two\nthree\n", (1, 2)),
        # Whole files, and pieces with lines around what changes.
        (TEXT, TEXT.replace("three", "3"), (2, 3)),
        (TEXT.replace("three", "3"), TEXT, (2, 3)),
        (None, TEXT, (0, 3)),
        ("", TEXT, (0, 3)),
        # Something is taken away, or put in.
        ("two\n", "", (1, 1)),
        ("one\n", "one\ntwo\n", (1, 1)),
        ("one\ntwo\n", "one\n", (1, 1)),
        ("wo\nth", "2\n3", (1, 2)),
        ("gone", "", None),
    ],
)
def test_a_fragment_is_where_its_text_is_f08(
    old: str | None, new: str, rows: tuple[int, int] | None
) -> None:
    assert placed(Hint("/w/a", change=Fragment("/w/a", old, new)), TEXT) == rows


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ((" a", " b", "-c", "+d", "+e"), (3, 3)),
        ((" a", "-c", " d"), (2, 2)),
        (("+d", "+e", " f"), (1, 2)),
        ((" a", " b", " c", " d", "+x"), (3, 3)),
        ((" a", " b"), (3, 3)),
    ],
)
def test_a_patch_is_where_its_first_hunk_is_f08(
    lines: tuple[str, ...], rows: tuple[int, int]
) -> None:
    hunk = PatchHunk(1, tuple((line[0], line[1:]) for line in lines))
    assert placed(Hint("/w/a", change=FilePatch("/w/a", "/w/a", (hunk,))), TEXT) == rows


def test_what_the_review_knows_counts_more_than_a_claim() -> None:
    hint = Hint("/w/a", change=Fragment("/w/a", "one", "1"))
    assert placed(hint, TEXT, (2, 3)) == (2, 3)
    assert placed(hint, TEXT, (2, 99)) == (2, 3)
    assert placed(Hint("/w/a", 1), TEXT, (2, 3)) == (0, 0)
    assert placed(hint, None, (7, 9)) == (7, 9)


@given(st.text("ab\r\n", max_size=30), st.text("ab\r\n", max_size=30), st.integers(-3, 40))
def test_rows_are_always_in_the_text_f13(old: str, new: str, line: int) -> None:
    last = max(len(split_lines(new)), 1) - 1
    for hint in (Hint("/w/a", line, 3), Hint("/w/a", change=Fragment("/w/a", old, new))):
        rows = placed(hint, new)
        if rows is None:
            assert not new
            assert hint.line is None
        else:
            assert 0 <= rows[0] <= rows[1] <= last


def test_a_spot_is_what_is_on_the_screen() -> None:
    assert Place("/w/a", 3, "read", "c1").spot == Place("/w/a", 3, "edit", "c2", 5).spot
