"""The file's own line endings under a text that came with plain line feeds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.client.endings import with_endings_of


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\r\nb\r\n", "x\na\nb", "x\r\na\r\nb"),
        ("a\rb\r", "a\nc\n", "a\rc\r"),
        ("a", "b\nc\n", "b\nc\n"),
        ("", "b\n", "b\n"),
        ("a\r\nb\r\n", "a\r\nb\n", "a\r\nb\n"),  # it has a style of its own
        ("a\rb\nc\n", "a\nb\nx\nc\n", "a\rb\nx\nc\n"),  # a bare CR that the agent lost
        ("a\rb\r\nc\r\n", "a\rb\nx\n", "a\rb\r\nx\r\n"),  # a bare CR that is data
        ("a\rb", "a\rc\n", "a\rc\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\nd\n", "a\r\nb\nc\r\nd\r\n"),
        ("a\nb\r", "b\n\n", "b\r\r\n"),  # not one CRLF
        ("q\n\na\ra\ra\r", "z\n\na\na\na\n", "z\r\n\na\ra\ra\r"),
        ("a\nb\rc\n\n", "a\nb\n\n\n", "a\nb\r\r\n\n"),
        ("\n" * 5 + "b\r\r\rx\n", "b\n\nx\n", "b\r\rx\n"),
        ("b\r\r\r\rc\nx\n\n", "c\nx\nnew\n\n", "c\nx\nnew\r\n\n"),
        ("x\r\ny\nz", "x\ny\nz\n", "x\r\ny\nz\r\n"),
    ],
)
def test_d25_d26_the_files_own_endings_are_written(old: str, new: str, kept: str) -> None:
    assert with_endings_of(old, new) == kept


LINES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "", "ä"]), st.sampled_from(["\n", "\r\n", "\r"])),
    max_size=8,
).map(lambda pairs: "".join(body + ending for body, ending in pairs))


@given(old=LINES)
def test_d25_a_text_that_only_lost_its_endings_gets_all_of_them_back(old: str) -> None:
    assert with_endings_of(old, re.sub("\r\n|\r", "\n", old)) == old


@given(old=LINES, new=LINES)
def test_only_endings_change(old: str, new: str) -> None:
    def plain(text: str) -> str:
        return re.sub("\r\n|\r", "\n", text)

    assert plain(with_endings_of(old, plain(new))) == plain(new)


@given(old=LINES, line=st.sampled_from(["x", "yy"]), at=st.integers(0, 8))
def test_d25_one_more_line_leaves_all_others_alone(old: str, line: str, at: int) -> None:
    lines = re.findall("[^\r\n]*(?:\r\n|\r|\n)", old)
    at = min(at, len(lines))
    new = [re.sub("\r\n|\r", "\n", text) for text in lines]
    kept = with_endings_of(old, "".join([*new[:at], line + "\n", *new[at:]]))
    assert kept.startswith("".join(lines[:at]) + line)
    assert kept.endswith("".join(lines[at:]))


def test_very_long_texts_take_no_minutes() -> None:
    old = "".join(f"{n}\r\n" for n in range(20_000))
    new = "first\n" + old.replace("\r\n", "\n") + "last\n"
    assert with_endings_of(old, new) == new.replace("\n", "\r\n")
