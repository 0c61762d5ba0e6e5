"""Texts of others break no line, hide nothing, and are cut where it does least harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.text.visible import lines, middle, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ls\nrm -r /", "ls ⏎ rm -r /"),
        ("ls\r\n\r\n  rm\u2028x\x85y", "ls ⏎ rm ⏎ x ⏎ y"),
        ("  a\t b\u00a0c  ", "a b c"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b\x1c", "a\\x00b\\x1c"),
        ("exe\u202etxt.sh", "exe\\u202etxt.sh"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half \ud800", "half \\ud800"),
        # What belongs to an emoji or a script stays; in plain words it would hide something.
        ("👩\u200d💻 na\u200dme", "👩\u200d💻 na\\u200dme"),
        ("\u200dx", "\\u200dx"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_a_line_is_a_line_and_shows_all(text: str, line: str) -> None:
    assert one_line(text) == line


def test_several_lines_stay_lines() -> None:
    assert lines("\n\na \r\n\tb\rc\x07\n\n") == ["a", " b", "c\\x07"]
    assert lines("") == [""]


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("short", 5, "short"),
        ("123456789", 5, "12…89"),
        ("123456789", 4, "12…9"),
        ("123456789", 1, "…"),
        ("123456789", 0, ""),
    ],
)
def test_what_is_too_long_loses_its_middle(text: str, limit: int, cut: str) -> None:
    assert middle(text, limit) == cut


@given(st.text(), st.integers(0, 20))
def test_any_text_can_be_shown(text: str, limit: int) -> None:
    line = one_line(text)
    joiners = str.maketrans("", "", "\u200c\u200d")
    assert line.translate(joiners).isprintable()
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
    assert len(middle(line, limit)) <= limit
    assert all(each.translate(joiners).isprintable() for each in lines(text))
