"""Differences, edits, and hunks placed in a text that the user changed (D19, D25, D26, D34)."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text.diff import (
    Edit,
    Hunk,
    Placed,
    apply,
    apply_edits,
    diff,
    edits_between,
    edits_for,
    edits_placed,
    invert,
    rebase,
)
from acpls.text.lines import body, split_lines
from acpls.text.shared import Spots

texts = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "a\n",
            "b\n",
            "c\n",
            "\n",
            "a\r\n",
            "\r\n",
            "b\r",
            "\r",
            "\f",
            "\u2028",
            "\x85",
            "🙂\n",
        ]
    ),
    max_size=12,
).map("".join)
# Texts that differ as texts in an editor do: in a few places.
pairs = st.tuples(texts, texts, texts, texts).map(
    lambda t: (t[0] + t[1] + t[2], t[0] + t[3] + t[2])
)
both = pairs | st.tuples(texts, texts)


def bodies(lines: tuple[str, ...] | list[str]) -> list[str]:
    return [body(line) for line in lines]


def numbered(*numbers: int | str) -> str:
    return "".join(f"line {number}\n" for number in numbers)


# --- differences ---------------------------------------------------------------------


def test_a_hunk_says_lines_and_bytes() -> None:
    base = numbered(1, 2, 3, 4)
    assert diff(base, numbered(1, "x", "y", 3, 4, 5)) == (
        Hunk(1, 2, ("line 2\n",), ("line x\n", "line y\n")),
        Hunk(4, 4, (), ("line 5\n",)),
    )
    assert diff(base, base) == ()
    assert diff("", "a") == (Hunk(0, 0, (), ("a",)),)
    assert diff("a\n", "") == (Hunk(0, 1, ("a\n",), ()),)


def test_a_missing_last_ending_is_a_difference() -> None:
    assert diff("a\nb", "a\nb\n") == (Hunk(1, 2, ("b",), ("b\n",)),)
    assert diff("a\r\n", "a\n") == (Hunk(0, 1, ("a\r\n",), ("a\n",)),)


@settings(max_examples=200, deadline=None)
@given(both)
def test_a_diff_leads_there_and_back(pair: tuple[str, str]) -> None:
    base, target = pair
    hunks = diff(base, target)
    assert apply(base, hunks) == target
    assert apply(target, invert(hunks)) == base
    assert invert(invert(hunks)) == hunks
    assert all(hunk.old != hunk.new for hunk in hunks)
    places = [(hunk.start, hunk.end) for hunk in hunks]
    # A line that both have is between any two of them, in either text.
    assert all(end < start for (_, end), (start, _) in pairwise(places))
    places = [(hunk.start, hunk.end) for hunk in invert(hunks)]
    assert all(end < start for (_, end), (start, _) in pairwise(places))
    lines = split_lines(base)
    assert all(tuple(lines[hunk.start : hunk.end]) == hunk.old for hunk in hunks)


@settings(max_examples=200, deadline=None)
@given(both, st.data())
def test_any_hunks_in_any_order_give_the_same_text_d19(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    base, target = pair
    hunks = diff(base, target)
    chosen = [hunk for hunk in hunks if data.draw(st.booleans())]
    expected = apply(base, chosen)
    shuffled = data.draw(st.permutations(chosen))
    assert apply(base, shuffled) == expected
    assert apply_edits(base, edits_for(base, shuffled)) == expected
    # Rejecting the others leads to the same.
    others = [back for hunk, back in zip(hunks, invert(hunks), strict=True) if hunk not in chosen]
    assert apply(target, data.draw(st.permutations(others))) == expected


def test_undoing_the_first_hunk_does_not_shift_the_second_d19() -> None:
    base = numbered(*range(1, 9))
    target = numbered("new", 1, 2, 3, "4!", 5, 6, "more", "and more", 7, 8)
    first, second, third = invert(diff(base, target))
    assert apply(target, [first]) == numbered(1, 2, 3, "4!", 5, 6, "more", "and more", 7, 8)
    assert apply(target, [third, first]) == numbered(1, 2, 3, "4!", 5, 6, 7, 8)
    assert apply(target, [second, third, first]) == base


def test_hunks_of_another_text_are_refused() -> None:
    hunks = diff(numbered(1, 2), numbered(1, "x"))
    with pytest.raises(ValueError, match="line 2"):
        apply(numbered(1, 3), hunks)


@pytest.mark.parametrize(
    ("hunks", "expected"),
    [
        ([Hunk(1, 1, (), ("x\n",)), Hunk(1, 1, (), ("y\n",))], "a\ny\nx\nb\nc\n"),
        ([Hunk(1, 2, ("b\n",), ("B\n",)), Hunk(1, 1, (), ("x\n",))], "a\nx\nB\nc\n"),
        ([Hunk(1, 2, ("b\n",), ()), Hunk(2, 3, ("c\n",), ())], "a\n"),
        ([Hunk(0, 2, ("a\n", "b\n"), ()), Hunk(1, 2, ("b\n",), ("B\n",))], None),
        ([Hunk(1, 1, (), ("x\n",)), Hunk(1, 2, ("b\n",), ("B\n",))], None),
    ],
)
def test_hunks_that_meet_or_overlap(hunks: list[Hunk], expected: str | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="the text has other lines at line"):
            apply("a\nb\nc\n", hunks)
    else:
        assert apply("a\nb\nc\n", hunks) == expected


def test_lines_that_are_there_once_hold_long_texts_together() -> None:
    base = [f"{n % 7}\n" for n in range(1500)]
    for n in range(0, 1500, 50):
        base[n] = f"only {n}\n"
    target = list(base)
    target[700:702] = ["other\n"]
    target[20] = target[1489] = "changed\n"
    hunks = diff("".join(base), "".join(target))
    assert apply("".join(base), hunks) == "".join(target)
    assert [(hunk.start, hunk.end) for hunk in hunks] == [(20, 21), (700, 702), (1490, 1491)]


def test_lines_in_a_row_can_be_there_once_where_no_line_is() -> None:
    digits = [f"{n // 100}\n{n // 10 % 10}\n{n % 10}\n" for n in range(100, 600)]
    base = split_lines("".join(digits))
    target = ["first\n", *base[1:700], *base[701:-1], "last\n"]
    hunks = diff("".join(base), "".join(target))
    assert apply("".join(base), hunks) == "".join(target)
    assert sum(len(hunk.old) for hunk in hunks) < 10


def test_long_texts_of_equal_lines_become_one_hunk() -> None:
    base, target = "a\nb\n" * 300, "b\nc\n" * 300
    (hunk,) = diff(base, target)
    assert apply(base, (hunk,)) == target


def test_lines_that_are_there_often_count_as_well() -> None:
    hunks = diff("p\n" + "x\n" * 250 + "q\n", "r\n" + "x\n" * 250 + "s\n")
    assert [(hunk.start, hunk.end) for hunk in hunks] == [(0, 1), (251, 252)]


def test_anchors_that_show_one_by_one_are_not_followed_for_ever() -> None:
    # Each line that is there once has, above it, the next one that is there once.
    base, target = ["61\n", *["core\n"] * 500], ["other\n"] * 500
    for n in range(60, 0, -1):
        base += [f"{n}\n", f"{n + 1}\n"]
        target += [f"p{n}\n", f"{n}\n", f"q{n}\n", f"{n + 1}\n"]
    hunks = diff("".join(base), "".join(target))
    assert apply("".join(base), hunks) == "".join(target)
    assert 10 < len(hunks) < 60
    assert len(hunks[0].old) > 500


# --- edits ---------------------------------------------------------------------------


def test_edits_are_whole_lines_in_code_points() -> None:
    base = "🙂\r\nb\nc"
    hunks = diff(base, "🙂\r\nB\nc\nd")
    assert edits_for(base, hunks) == (Edit(3, 6, "B\nc\nd"),)


def test_edits_between_are_as_short_as_they_can_be() -> None:
    assert edits_between("a = 1\nb = 2\nc\n", "a = 1\nb = 23\nc\n") == (Edit(11, 11, "3"),)
    assert edits_between("x🙂y\n", "x🎉y\n") == (Edit(1, 2, "🎉"),)
    assert edits_between("aa\n", "aaa\n") == (Edit(2, 2, "a"),)
    assert edits_between("same", "same") == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\r\nb", "a\nb", Edit(1, 3, "\n")),
        ("a\nb", "a\r\nb", Edit(1, 2, "\r\n")),
        ("a\r\n", "a\r", Edit(1, 3, "\r")),
        ("a\r", "a\r\n", Edit(1, 2, "\r\n")),
        pytest.param("\ud83d\ude00b", "\ud83d\ude01b", Edit(0, 2, "\ud83d\ude01"), id="low half"),
        pytest.param("\ud83d\ude00b", "\ud83e\ude00b", Edit(0, 2, "\ud83e\ude00"), id="high half"),
    ],
)
def test_no_edit_cuts_an_ending_or_a_character_in_two(old: str, new: str, expected: Edit) -> None:
    assert edits_between(old, new) == (expected,)


@settings(max_examples=200, deadline=None)
@given(both)
def test_edits_between_lead_to_the_new_text(pair: tuple[str, str]) -> None:
    old, new = pair
    edits = edits_between(old, new)
    assert apply_edits(old, edits) == new
    cuts = [at for edit in edits for at in (edit.start, edit.end)]
    assert all(old[max(0, at - 1) : at + 1] != "\r\n" for at in cuts)


def test_insertions_at_one_place_keep_their_order() -> None:
    edits = [Edit(1, 1, "x"), Edit(1, 2, "B"), Edit(1, 1, "y")]
    assert apply_edits("abc", edits) == "axyBc"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 2, ""), Edit(1, 3, "")],
        [Edit(2, 4, "")],
        [Edit(2, 1, "")],
        [Edit(-1, 0, "")],
    ],
)
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlap or lie outside"):
        apply_edits("abc", edits)


# --- hunks in a text that the user changed -------------------------------------------


@settings(max_examples=200, deadline=None)
@given(both)
def test_in_their_own_base_all_hunks_are_clean(pair: tuple[str, str]) -> None:
    base, target = pair
    hunks = diff(base, target)
    placed = rebase(hunks, base, base)
    assert [p.hunk for p in placed] == list(hunks)
    assert all(p.state == "clean" and p.new == p.hunk.new for p in placed)
    assert apply_edits(base, edits_placed(base, placed)) == target


@settings(max_examples=200, deadline=None)
@given(both)
def test_in_their_own_target_all_hunks_are_there(pair: tuple[str, str]) -> None:
    base, target = pair
    placed = rebase(diff(base, target), base, target)
    assert [p.state for p in placed] == ["there"] * len(placed)
    assert edits_placed(target, placed) == ()


@settings(max_examples=200, deadline=None)
@given(both, texts | st.none(), st.data())
def test_nothing_is_lost_outside_clean_hunks_d25(
    pair: tuple[str, str], other: str | None, data: st.DataObject
) -> None:
    base, target = pair
    mine = other
    if mine is None:
        mine = apply(base, [h for h in diff(base, target) if data.draw(st.booleans())])
    ours = split_lines(mine)
    placed = rebase(diff(base, target), base, mine)
    for p in placed:
        assert 0 <= p.start <= p.end <= len(ours)
        assert bool(p.reason) == (p.state == "conflict")
        if p.state == "clean":
            assert bodies(ours[p.start : p.end]) == bodies(p.hunk.old)
            before, after = "".join(ours[: p.start]), "".join(ours[p.end :])
            assert apply_edits(mine, edits_placed(mine, [p])) == before + "".join(p.new) + after
        if p.state == "there":
            assert bodies(ours[p.start : p.end]) == bodies(p.hunk.new)
    clean = [p for p in placed if p.state == "clean"]
    ranges = [(p.start, p.end) for p in clean]
    assert all(end <= start for (_, end), (start, _) in pairwise(ranges))
    shuffled = data.draw(st.permutations(clean))
    assert edits_placed(mine, shuffled) == edits_placed(mine, placed)


@settings(max_examples=100, deadline=None)
@given(pairs)
def test_another_style_of_endings_is_kept_d26(pair: tuple[str, str]) -> None:
    base, target = (text.replace("\r\n", "\n").replace("\r", "\n") + "z\n" for text in pair)
    ours = base.replace("\n", "\r\n")
    placed = rebase(diff(base, target), base, ours)
    assert all(p.state == "clean" for p in placed)
    assert apply_edits(ours, edits_placed(ours, placed)) == target.replace("\n", "\r\n")
    there = rebase(diff(base, target), base, target.replace("\n", "\r\n"))
    assert all(p.state == "there" for p in there)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 29)), st.sets(st.integers(0, 29)), st.data())
def test_changes_of_different_lines_go_together(
    theirs: set[int], mine: set[int], data: st.DataObject
) -> None:
    kinds: dict[int, str] = {
        n: data.draw(st.sampled_from(["change", "delete", "double"])) for n in theirs | mine
    }

    def text(changed: set[int]) -> str:
        pieces = []
        for n in range(30):
            kind = kinds[n] if n in changed else ""
            if kind != "delete":
                pieces.append(f"{kind or 'line'} {n}\n")
            if kind == "double":
                pieces.append(f"twice {n}\n")
        return "".join(pieces)

    base = text(set())
    hunks = diff(base, text(theirs))
    placed = rebase(hunks, base, text(mine))
    if all(abs(n - m) > 1 for n in theirs for m in mine):
        ours = text(mine)
        assert all(p.state == "clean" for p in placed)
        assert apply_edits(ours, edits_placed(ours, placed)) == text(theirs | mine)
    if all(n in mine and not {n - 1, n + 1} & (mine - theirs) for n in theirs):
        assert all(p.state == "there" for p in placed)


State = Literal["clean", "there", "conflict"]


def only(base: str, target: str, ours: str) -> tuple[State, int, int, str]:
    """State and place of the only hunk, and our text when it is put in."""
    (placed,) = rebase(diff(base, target), base, ours)
    edits = edits_placed(ours, [placed])
    return placed.state, placed.start, placed.end, apply_edits(ours, edits)


@pytest.mark.parametrize(
    ("base", "target", "ours", "state", "start", "end", "result"),
    [
        pytest.param("abc", "aBc", "xabc", "clean", 2, 3, "xaBc", id="below a new line"),
        pytest.param("abc", "aBc", "abxc", "clean", 1, 2, "aBxc", id="line added after"),
        pytest.param("abc", "aBc", "axbc", "clean", 2, 3, "axBc", id="line added before"),
        pytest.param("abc", "aBc", "abC", "clean", 1, 2, "aBC", id="next line changed"),
        pytest.param("abc", "aBc", "AbC", "clean", 1, 2, "ABC", id="both neighbours changed"),
        pytest.param("abc", "ac", "abC", "clean", 1, 2, "aC", id="deletion beside a change"),
        pytest.param("abc", "aBc", "aXc", "conflict", 1, 2, "aXc", id="same line changed"),
        pytest.param("abc", "aBc", "ac", "conflict", 1, 1, "ac", id="line is gone"),
        pytest.param("abc", "ac", "aXc", "conflict", 1, 2, "aXc", id="deleted line changed"),
        pytest.param("abcd", "aXd", "acd", "conflict", 1, 2, "acd", id="half of it is gone"),
        pytest.param("abcd", "aXd", "abxcd", "conflict", 1, 4, "abxcd", id="split by a new line"),
        pytest.param("abc", "aBc", "xaBc", "there", 2, 3, "xaBc", id="same change"),
        pytest.param("abc", "ac", "ac", "there", 1, 1, "ac", id="same deletion"),
        pytest.param("abbc", "abc", "xabc", "there", 3, 3, "xabc", id="same deletion of equals"),
        pytest.param("abc", "abxc", "aBc", "clean", 2, 2, "aBxc", id="insert below a change"),
        pytest.param("abc", "abxc", "abC", "clean", 2, 2, "abxC", id="insert above a change"),
        pytest.param("abc", "abxc", "ac", "clean", 1, 1, "axc", id="insert below a deletion"),
        pytest.param("abc", "abxc", "aBC", "conflict", 1, 3, "aBC", id="insert where all changed"),
        pytest.param("abc", "abxc", "abyc", "conflict", 2, 3, "abyc", id="both inserted"),
        pytest.param("abc", "abxc", "abyC", "conflict", 2, 4, "abyC", id="both inserted, beside"),
        pytest.param("abc", "abxc", "abxc", "there", 2, 3, "abxc", id="both inserted the same"),
        pytest.param("abc", "abcx", "Abc", "clean", 3, 3, "Abcx", id="insert at the end"),
        pytest.param("abc", "abcx", "abC", "clean", 3, 3, "abCx", id="append to a changed end"),
        pytest.param("abc", "xabc", "Abc", "clean", 0, 0, "xAbc", id="insert above all"),
        pytest.param("", "x", "y", "conflict", 0, 1, "y", id="both filled an empty text"),
        pytest.param("", "x", "", "clean", 0, 0, "x", id="fill an empty text"),
        pytest.param("abc", "", "abc", "clean", 0, 3, "", id="empty it"),
        pytest.param("pqbrsbt", "pqBrsbt", "QbRsbt", "conflict", 1, 2, "QbRsbt", id="two like it"),
    ],
)
def test_where_a_hunk_stands(
    base: str, target: str, ours: str, state: State, start: int, end: int, result: str
) -> None:
    texts_of_lines = ["".join(f"{c}\n" for c in text) for text in (base, target, ours, result)]
    assert only(*texts_of_lines[:3]) == (state, start, end, texts_of_lines[3])


@pytest.mark.parametrize(
    ("hunk", "base", "ours", "start", "end"),
    [
        pytest.param(Hunk(1, 2, ("b\n",), ()), "abbc", "xabc", 2, 2, id="the first of equals"),
        pytest.param(Hunk(1, 1, (), ("x\n", "y\n")), "axyb", "axyxyb", 1, 3, id="above equals"),
        pytest.param(Hunk(2, 2, (), ("y\n", "x\n")), "axyb", "axyxyb", 2, 4, id="among equals"),
        pytest.param(Hunk(0, 0, (), ("a\n",)), "aa", "aaa", 0, 1, id="above all"),
        pytest.param(Hunk(0, 1, ("a\n",), ()), "aa", "a", 0, 0, id="the first of all"),
    ],
)
def test_the_same_change_told_otherwise_is_there(
    hunk: Hunk, base: str, ours: str, start: int, end: int
) -> None:
    base, ours = ("".join(f"{c}\n" for c in text) for text in (base, ours))
    assert rebase([hunk], base, ours) == (Placed(hunk, "there", start, end, ()),)


@pytest.mark.parametrize("ours", ["x\ny\r\n", "x\rz\r", "x\r\nz\n"])
def test_changed_endings_do_not_hide_what_is_there_d26(ours: str) -> None:
    target = ours if "y" in ours else "x\nz\n"
    (placed,) = rebase(diff("x\r\ny\n", target), "x\r\ny\n", ours)
    assert placed.state == "there"


def test_insertions_that_meet_at_one_place_keep_their_order_d19() -> None:
    base, ours = numbered(1, 2, 3), numbered(1, 3)
    placed = rebase(diff(base, numbered(1, "x", 2, "y", 3)), base, ours)
    assert [(p.state, p.start) for p in placed] == [("clean", 1), ("clean", 1)]
    expected = numbered(1, "x", "y", 3)
    assert apply_edits(ours, edits_placed(ours, placed)) == expected
    assert apply_edits(ours, edits_placed(ours, placed[::-1])) == expected


@pytest.mark.parametrize(
    ("base", "target", "ours", "reason"),
    [
        ("abc", "aBc", "axc", "these lines have changed since"),
        ("abc", "abxc", "abyc", "other lines were added at this place"),
        ("abc", "abxc", "aBC", "the lines around this place have changed since"),
        ("pqbrsbt", "pqBrsbt", "QbRsbt", "there are more lines like these, and those around"),
    ],
)
def test_conflicts_tell_the_user_why(base: str, target: str, ours: str, reason: str) -> None:
    base, target, ours = ("".join(f"{c}\n" for c in text) for text in (base, target, ours))
    (placed,) = rebase(diff(base, target), base, ours)
    assert placed.state == "conflict"
    assert placed.new == ()
    assert placed.reason.startswith(reason)


@pytest.mark.parametrize(
    ("base", "target", "ours", "result"),
    [
        pytest.param("a\nb\n", "a\nB\n", "a\r\nb\r\n", "a\r\nB\r\n", id="lf hunk, crlf text"),
        pytest.param("a\r\nb\r\n", "a\r\nB\r\n", "a\nb\n", "a\nB\n", id="crlf hunk, lf text"),
        pytest.param("a\nb\n", "a\nx\nb\n", "a\rb\r", "a\rx\rb\r", id="insertion, bare cr"),
        pytest.param("a\nb\nc\n", "a\nB\nc\n", "a\nb\r\nc\n", "a\nB\r\nc\n", id="mixed endings"),
        pytest.param("a\r\nb\n", "a\nb\n", "a\rb\n", "a\rb\n", id="only the ending, another"),
        pytest.param(
            "a\nb\r\n", "a\nB\r\nc\n", "a\nb\r\n", "a\nB\r\nc\n", id="same bytes, as said"
        ),
        pytest.param("a\nb\n", "A\nB\n", "a\r\nb\n", "A\r\nB\r\n", id="as often, first seen"),
    ],
)
def test_endings_are_those_of_our_text_d26(base: str, target: str, ours: str, result: str) -> None:
    assert only(base, target, ours)[3] == result


@pytest.mark.parametrize(
    ("base", "target", "ours", "result"),
    [
        pytest.param("a\nb", "a\nb\nc", "a\nb\n", "a\nb\nc\n", id="ours ends its last line"),
        pytest.param("a\nb\n", "a\nB\n", "a\nb", "a\nB", id="ours does not"),
        pytest.param("a\nb\n", "a\nb\nc\n", "a\nb", "a\nb\nc\n", id="append to an open line"),
        pytest.param("a\nb\n", "a\nb\n\n", "a\rb", "a\rb\r\r", id="append a blank to an open line"),
        pytest.param("a\nb", "a\nb\n", "a\nb\n", "a\nb\n", id="the ending is there"),
        pytest.param("a\nb", "a\nb\n", "a\r\nb", "a\r\nb\r\n", id="add the ending"),
        pytest.param("a\nb\n", "a\nb", "a\r\nb\r\n", "a\r\nb", id="take the ending away"),
        pytest.param("a\nb\n", "a\nb", "a\nb\nc\n", "a\nb\nc\n", id="not above other lines"),
        pytest.param("a\nb\n", "a\nB", "a\nb\nc\n", "a\nB\nc\n", id="nor glue lines together"),
        pytest.param("a\nb", "a", "a\nb\n", "a\n", id="delete the last line"),
        pytest.param("a\nb\n", "a\nB\n\n", "a\nb", "a\nB\n", id="a blank last line"),
        pytest.param("a\n", "a\nx\n", "", "x\n", id="nothing left to look at"),
    ],
)
def test_the_last_line_s_ending_is_merged_too_d34(
    base: str, target: str, ours: str, result: str
) -> None:
    assert only(base, target, ours)[3] == result


@pytest.mark.parametrize(
    ("base", "target", "ours", "result"),
    [
        pytest.param(
            "a\r\nb\r\nc\r\n", "a\r\n\r\nb\r\nc\r\n", "a\rb\nc\n", "a\r\r\nb\nc\n", id="before"
        ),
        pytest.param(
            "a\nb\nq\r\n\n", "a\nb\nq\r\nx\n\n", "a\rb\rq\n\n", "a\rb\rq\nx\r\n\n", id="after"
        ),
        pytest.param("a\nb\n", "a\nb\n\n", "a\rb", "a\rb\r\r", id="below an open line"),
    ],
)
def test_lines_do_not_melt_at_the_seams(base: str, target: str, ours: str, result: str) -> None:
    assert only(base, target, ours)[3] == result
    assert bodies(split_lines(result)) == bodies(split_lines(target))


def test_d07_a_hunk_is_found_beside_lines_that_the_user_added() -> None:
    hunks = diff("a\nb\nc\n", "a\nB\nc\n")
    (placed,) = rebase(hunks, "a\nb\nc\n", "a\nmine\nB\nc\n")
    assert (placed.state, placed.start, placed.end) == ("there", 2, 3)


@pytest.mark.parametrize("ours", ["a\nB\nmine\nB\nc\n", "a\nmine\nmine too\nc\n"])
def test_a_hunk_that_is_there_twice_or_not_at_all_is_a_conflict(ours: str) -> None:
    hunks = diff("a\nb\nc\n", "a\nB\nc\n")
    (placed,) = rebase(hunks, "a\nb\nc\n", ours)
    assert placed.state == "conflict"


# --- many hunks in long texts --------------------------------------------------------


def long_text(*others: tuple[int, str], count: int = 300) -> str:
    lines = [f"line {n}" for n in range(count)]
    for n, line in others:
        lines[n] = line
    return "".join(f"{line}\n" for line in lines if line)


def test_a_hunk_is_found_among_many_lines_of_the_user_d07() -> None:
    base, target = long_text(), long_text((100, "new"), (200, "one"), (201, "two"))
    mine = "".join(f"mine {n % 50}\n" for n in range(299))
    once = long_text((0, "first"), (299, "last"))
    for ours, states in (
        # It is there; it is there twice; only a part of it is there.
        (f"{mine}new\n{mine}one\ntwo\nend\n", ["there", "there"]),
        (f"{mine}new\n{mine}new\none\nx\ntwo\n", ["conflict", "conflict"]),
        # The old lines are there as well, so nothing was done.
        (f"{mine}new\n{mine}line 100\nline 100\n{mine}", ["conflict", "conflict"]),
        (once, ["clean", "clean"]),
    ):
        placed = rebase(diff(base, target), base, ours)
        assert [at.state for at in placed] == states
        lines = split_lines(ours)
        for at in placed:
            wanted = at.hunk.new if at.state == "there" else at.hunk.old
            assert at.state == "conflict" or tuple(lines[at.start : at.end]) == wanted


def test_lines_that_stand_alone_are_found_by_those_of_them_that_are_rare() -> None:
    around = [(n, "}") for n in range(300) if n % 3]
    base = long_text(*around, (150, "old"))
    target = long_text(*around, (149, "new"), (150, "new"), (151, "new"))
    (hunk,) = diff(base, target)
    assert hunk.old == ("}\n", "old\n", "}\n")
    beside = [(147, "mine"), (148, "mine"), (152, "mine"), (153, "mine")]
    assert rebase([hunk], base, long_text(*around, (150, "old"), *beside))[0].state == "clean"
    twice = long_text(*around, (150, "old"), *beside, (240, "old"))
    (placed,) = rebase([hunk], base, twice)
    assert placed.state == "conflict"
    assert placed.reason.startswith("there are more lines like these")


@pytest.mark.parametrize("ours", ["neighbours", "all", "all but the hunks"])
def test_a_thousand_hunks_take_little_more_work_than_one(
    ours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = [f"line {n}\n" if n % 4 else "}\n" for n in range(20_000)]
    target = [f"new {n}\n" if n % 20 == 7 else line for n, line in enumerate(base)]
    changed = {
        "neighbours": [f"mine {n}\n" if n % 20 in {6, 8} else x for n, x in enumerate(base)],
        "all": [f"mine {n}\n" for n in range(20_000)],
        "all but the hunks": [x if n % 20 == 7 else "mine\n" for n, x in enumerate(target)],
    }[ours]
    compared = 0
    has = Spots._has

    def counted(self: Spots, part: list[str], at: int) -> bool:
        nonlocal compared
        compared += 1
        return has(self, part, at)

    monkeypatch.setattr(Spots, "_has", counted)
    hunks = diff("".join(base), "".join(target))
    placed = rebase(hunks, "".join(base), "".join(changed))
    assert len(placed) == 1000
    wanted = {"neighbours": "clean", "all": "conflict", "all but the hunks": "there"}[ours]
    assert {at.state for at in placed} == {wanted}
    assert compared <= 10 * len(hunks)


def test_the_same_change_far_down_among_equal_lines_is_there() -> None:
    base = "a\nb\n" * 5000
    hunk = Hunk(2, 4, ("a\n", "b\n"), ())
    (placed,) = rebase([hunk], base, "a\nb\n" * 4999)
    assert (placed.state, placed.start, placed.end) == ("there", 2, 2)
    more = Hunk(4, 4, (), ("a\n", "b\n"))
    (placed,) = rebase([more], base, "a\nb\n" * 5001)
    assert placed.state == "there"
