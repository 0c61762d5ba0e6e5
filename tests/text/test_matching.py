"""Common lines: right wherever the limits are, and found with little work and memory."""

from __future__ import annotations

import random
import tracemalloc
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any, SupportsIndex

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from acpls.text import matching
from acpls.text.diff import apply, diff, edits_between
from acpls.text.lines import split_lines
from acpls.text.matching import alike, alike_before, common, gaps, numbering
from acpls.text.shared import count_lines, same_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.text.matching import Block

LINES = 20_000

numbers = st.lists(st.integers(0, 4), max_size=24)
# With these nothing is short, no search is deep, and hardly anything may be compared.
LIMITS = {
    "_SMALL": st.sampled_from([0, 2, 400]),
    "_STEPS": st.sampled_from([0, 2, 150]),
    "_DEEPEST": st.sampled_from([0, 1, 12]),
    "_EDITS": st.sampled_from([0, 2, 256]),
    "_LINES_AN_EDIT": st.sampled_from([1, 2]),
}
limits = st.fixed_dictionaries(LIMITS)


def check(blocks: list[Block], old: list[int], new: list[int]) -> None:
    """The blocks are common lines, in order, and what is between them fills the rest."""
    i = j = 0
    for start, first, length in blocks:
        assert i <= start
        assert j <= first
        assert old[start : start + length] == new[first : first + length]
        i, j = start + length, first + length
    assert i <= len(old)
    assert j <= len(new)


def longest(a: list[int], b: list[int]) -> int:
    """How many lines stay when as few as possible come and go."""
    row = [0] * (len(b) + 1)
    for line in a:
        before, row = row, [0]
        for at, other in enumerate(b):
            row.append(before[at] + 1 if line == other else max(row[at], before[at + 1]))
    return row[-1]


# --- right ---------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(numbers, numbers, limits)
def test_whatever_the_limits_common_lines_are_common(
    old: list[int], new: list[int], values: dict[str, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(matching, name, value)
        blocks = common(old, new)
    check(blocks, old, new)
    # What both begin and end with is found under all limits.
    head = alike(old, 0, new, 0, min(len(old), len(new)))
    assert sum(length for i, j, length in blocks if i == j and i + length <= head) == head


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), max_size=4), limits)
def test_lines_are_found_within_gaps_only(
    parts: list[tuple[list[int], list[int]]], values: dict[str, int]
) -> None:
    old: list[int] = []
    new: list[int] = []
    within = []
    for a, b in parts:
        within.append((len(old), len(old) + len(a), len(new), len(new) + len(b)))
        old += [*a, 5]
        new += [*b, 5]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(matching, name, value)
        blocks = common(old, new, within)
        alone = [common(a, b) for a, b in parts]
    assert blocks == [
        (at + i, to + j, length)
        for (at, _, to, _), found in zip(within, alone, strict=True)
        for i, j, length in found
    ]


@settings(max_examples=200, deadline=None)
@given(numbers, numbers)
def test_as_few_lines_as_possible_come_and_go_where_nothing_is_there_once(
    old: list[int], new: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_LINES_AN_EDIT", 1)
        blocks = matching._by_edits(old, new)
    check(sorted(blocks), old, new)
    assert sum(length for _, _, length in blocks) == longest(old, new)


@settings(max_examples=200, deadline=None)
@given(numbers, numbers)
def test_in_a_short_gap_the_longest_run_comes_first(old: list[int], new: list[int]) -> None:
    matcher = SequenceMatcher(None, [8, *old, 7], [9, *new, 8], autojunk=False)
    reference = [(match.a, match.b, match.size) for match in matcher.get_matching_blocks()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_STEPS", 10**6)
        blocks = common([8, *old, 7], [9, *new, 8])
    sizes = len(old) + 2, len(new) + 2
    assert [*gaps(blocks, *sizes)] == [*gaps(reference, *sizes)]


@settings(max_examples=200, deadline=None)
@given(st.text("ab", max_size=40), st.text("ab", max_size=40), st.integers(1, 5))
def test_how_far_two_series_are_alike(one: str, other: str, longest_step: int) -> None:
    both = "ba" * 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_LONGEST_STEP", longest_step)
        for same in ("", both):
            a, b = same + one, same + other
            most = min(len(a), len(b))
            wanted = next((n for n in range(most) if a[n] != b[n]), most)
            assert alike("x" + a, 1, b, 0, most) == wanted
            assert alike_before(a[::-1] + "x", len(a), b[::-1], len(b), most) == wanted


@settings(max_examples=300, deadline=None)
@given(st.text("a\r\n", max_size=12), st.text("a\r\n", max_size=12), st.text("a\r\n", max_size=4))
def test_whole_lines_at_both_ends_are_found_in_the_text(one: str, other: str, end: str) -> None:
    old, new = one + end, other + end
    assume(old != new)
    a, b = split_lines(old), split_lines(new)
    most = min(len(a), len(b))
    head = alike(a, 0, b, 0, most)
    tail = alike_before(a, len(a), b, len(b), most - head)
    chars = same_ends(old, new)
    assert chars == (len("".join(a[:head])), len("".join(a[len(a) - tail :])))
    assert count_lines(old, 0, chars[0]) == head
    assert count_lines(old, chars[0], len(old) - chars[1]) == len(a) - tail - head
    assert count_lines(new, len(new) - chars[1], len(new)) == tail


def test_numbers_are_given_in_order() -> None:
    number: dict[str, int] = numbering()
    assert [number[key] for key in "abacb"] == [0, 1, 0, 2, 1]


# --- with little work ----------------------------------------------------------------


class Counted(list[Any]):
    """Lines that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        found = super().__getitem__(at)
        if isinstance(at, slice):
            Counted.looks += len(found)
            return Counted(found)
        Counted.looks += 1
        return found

    def __iter__(self) -> Iterator[Any]:
        for line in super().__iter__():
            Counted.looks += 1
            yield line


class CountedPairs(SequenceMatcher[Any]):
    """Counts each pair of equal lines that is looked at, too."""

    def set_seq2(self, b: Any) -> None:
        super().set_seq2(b)
        self.b2j: dict[Any, Any] = {line: Counted(at) for line, at in self.b2j.items()}


def walls(a: list[str], b: list[str], count: int) -> tuple[list[str], list[str]]:
    """Short gaps between lines that are there once."""
    old = [line for n in range(count) for line in (f"wall {n}", *a)]
    return old, [line for n in range(count) for line in (f"wall {n}", *b)]


def hard() -> dict[str, tuple[list[str], list[str]]]:
    """Pairs of long texts, each of which some way of comparing takes for ever with."""
    draw = random.Random(1)
    series = [f"line {n}" for n in range(LINES)]
    shuffled = draw.sample(series, LINES)
    two = ["a", "b"] * (LINES // 2)
    few = [[draw.choice("abc") for _ in range(LINES)] for _ in range(2)]
    many = [[draw.choice(series[:100]) for _ in range(LINES)] for _ in range(2)]
    some = [f"new {n}" if n % 200 == 9 else "x" for n in range(LINES)]
    return {
        "all lines equal": (["x"] * LINES, ["x"] * (LINES - 99)),
        "all lines equal, but the ends": (["p", *["x"] * LINES, "q"], ["r", *["x"] * 999, "s"]),
        "new lines among equal ones": (["x"] * LINES, some),
        "two lines by turns": (two, ["b", *two[:-9], "c"]),
        "two lines by turns, one of them another": (two, ["b", "c"] * (LINES // 2)),
        "reversed": (series, series[::-1]),
        "shuffled": (series, shuffled),
        "halves swapped": (series, series[LINES // 2 :] + series[: LINES // 2]),
        "nothing common": (series, [f"other {n}" for n in range(LINES)]),
        "three lines at random": (few[0], few[1]),
        "a hundred lines at random": (many[0], many[1]),
        "one line against many": (["a"], two),
        "short gaps of equal lines": walls(["p", *["x"] * 390], ["q", *["x"] * 380, "r"], 20),
        "short gaps of two lines": walls(["a", "c", "b"] * 130, ["a", "b"] * 130, 12),
        "short gaps of three lines": walls(few[0][:390], few[1][:390], 10),
        "short gaps without an order": walls(["x"] * 190 + ["y"] * 190, ["y"] * 190 + ["x"], 12),
        "as many anchors as gaps": walls(["a"], ["b"], LINES // 2),
    }


HARD = hard()


@pytest.mark.parametrize("name", HARD)
def test_no_text_takes_more_work_than_some_looks_at_each_line(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "SequenceMatcher", CountedPairs)
    monkeypatch.setattr(Counted, "looks", 0)
    number: dict[str, int] = numbering()
    old, new = ([number[line] for line in lines] for lines in HARD[name])
    blocks = common(Counted(old), Counted(new))
    check(blocks, old, new)
    assert 0 < Counted.looks < 200 * (len(old) + len(new))


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("new lines among equal ones", 100),
        ("two lines by turns", 2),
        ("all lines equal, but the ends", 2),
        ("short gaps of two lines", 12 * 130),
    ],
)
def test_lines_that_are_there_often_do_not_hide_a_change(name: str, most: int) -> None:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in HARD[name])
    assert 0 < len(diff(old, new)) <= most


class CountedText(str):
    """A text that counts its characters as they are looked at."""

    __slots__ = ()
    looks = 0

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        found = super().__getitem__(at)
        CountedText.looks += len(found)
        return found


def test_a_line_as_long_as_a_text_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "x" * 1_000_000
    old, new = CountedText(f"{line}{line}"), CountedText(f"{line}y{line}")
    monkeypatch.setattr(CountedText, "looks", 0)
    assert same_ends(old, new) == (0, 0)
    assert CountedText.looks < 10 * len(new)
    assert len(diff(old, new)) == 1
    (edit,) = edits_between(old, new)
    assert (edit.start, edit.end, edit.text) == (1_000_000, 1_000_000, "y")


@pytest.mark.parametrize("changed", [1, 20, LINES // 2])
def test_a_long_text_becomes_as_many_hunks_as_places_changed_d39(changed: int) -> None:
    base = [f"    line {n} of a long text\n" for n in range(LINES)]
    target = list(base)
    for n in range(0, LINES, LINES // changed):
        target[n] = f"    another {n}\n"
    hunks = diff("".join(base), "".join(target))
    assert len(hunks) == changed
    assert all(hunk.end - hunk.start == 1 for hunk in hunks)
    assert apply("".join(base), hunks) == "".join(target)


# --- with little memory --------------------------------------------------------------


def peak(old: str, new: str) -> int:
    """The most bytes of memory that a comparison has at a time, beyond the texts."""
    tracemalloc.start()
    try:
        diff(old, new)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_comparison_takes_a_few_times_the_memory_of_the_text() -> None:
    base = [f"    value_{n} = compute(argument_{n % 777}, 1)\n" for n in range(LINES)]
    target = [f"# {n}\n" if n % 100 == 7 else line for n, line in enumerate(base)]
    assert peak("".join(base), "".join(target)) < 8 * len("".join(base))


@pytest.mark.parametrize("name", [name for name in HARD if len(HARD[name][0]) >= LINES])
def test_memory_grows_no_faster_than_the_lines(name: str) -> None:
    old, new = ("".join(f"{line}\n" for line in lines[: LINES // 2]) for lines in HARD[name])
    assert peak(old, new) < 400 * (old + new).count("\n")


def test_gaps_are_separated() -> None:
    blocks = [(0, 0, 2), (2, 3, 1), (3, 4, 1), (6, 5, 1)]
    found = list(gaps(blocks, 8, 6))
    assert found == [(2, 2, 2, 3), (4, 6, 5, 5), (7, 8, 6, 6)]
    assert all(end < start for (_, end, _, _), (start, _, _, _) in pairwise(found))
