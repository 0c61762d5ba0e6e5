"""Lines, endings and positions (D47, and the clamping half of F13)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.text.lines import Encoding, LineIndex, body, ending, ending_of, split_lines

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")

texts = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "\n",
            "\r\n",
            "\r",
            "\f",
            "\v",
            "\x1c",
            "\x85",
            "\u2028",
            "é",
            "漢",
            "🙂",
            "\ud83d",
        ]
    ),
    max_size=24,
).map("".join)
encodings = st.sampled_from(ENCODINGS)


def plain_lines(text: str) -> list[str]:
    """The rule once more, by other means."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def plain_starts(text: str) -> list[int]:
    return [0, *(end.end() for end in re.finditer(r"\r\n|\r|\n", text))]


def units(text: str, encoding: Encoding) -> int:
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    name = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    return len(text.encode(name, "surrogatepass")) // size


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("\n\n", ["\n", "\n"]),
        ("a\r\nb\rc\n\rd", ["a\r\n", "b\r", "c\n", "\r", "d"]),
        ("a\fb\u2028c\x85d\ve\x1cf\n", ["a\fb\u2028c\x85d\ve\x1cf\n"]),
    ],
)
def test_only_the_three_endings_of_lsp_end_a_line(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@settings(deadline=None)
@given(texts)
def test_lines_join_to_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert lines == plain_lines(text)
    assert [body(line) + ending(line) for line in lines] == lines
    assert all(ending(line) in ("\n", "\r\n", "\r") for line in lines[:-1])


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("", ("", "")),
        ("a", ("a", "")),
        ("a\n", ("a", "\n")),
        ("a\r\n", ("a", "\r\n")),
        ("a\r", ("a", "\r")),
        ("a\u2028", ("a\u2028", "")),
    ],
)
def test_body_and_ending(line: str, parts: tuple[str, str]) -> None:
    assert (body(line), ending(line)) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "\n"),
        ("a\u2028b", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\rb\rc\n", "\r"),
        ("a\nb\r\n", "\n"),
        ("a\r\nb\n", "\r\n"),
        ("a\rb\r\nc\nd\ne\r\n", "\r\n"),
    ],
)
def test_the_dominant_ending_and_of_equals_the_first_seen(text: str, expected: str) -> None:
    assert ending_of(text) == expected


def test_an_emoji_takes_as_many_characters_as_the_encoding_says_d47() -> None:
    index = LineIndex("x\n🙂é=1\n")
    assert index.position(4, "utf-32") == (1, 2)
    assert index.position(4, "utf-16") == (1, 3)
    assert index.position(4, "utf-8") == (1, 6)
    for encoding in ENCODINGS:
        assert index.offset(index.position(4, encoding), encoding) == 4


def test_a_position_inside_a_character_rounds_down_d47() -> None:
    index = LineIndex("a🙂漢b")
    assert [index.offset((0, n), "utf-16") for n in range(6)] == [0, 1, 1, 2, 3, 4]
    assert [index.offset((0, n), "utf-8") for n in range(10)] == [0, 1, 1, 1, 1, 2, 2, 2, 3, 4]


def test_positions_outside_are_clamped_f13() -> None:
    index = LineIndex("ab\r\ncd")
    assert index.offset((-1, 5), "utf-16") == 0
    assert index.offset((0, -3), "utf-16") == 0
    assert index.offset((0, 99), "utf-16") == 2
    assert index.offset((1, 99), "utf-16") == 6
    assert index.offset((2, 0), "utf-16") == 6
    assert index.offset((99, 3), "utf-16") == 6
    assert index.position(-4, "utf-16") == (0, 0)
    assert index.position(99, "utf-16") == (1, 2)
    assert index.position(3, "utf-16") == (0, 2)
    assert [index.line_start(line) for line in (-1, 0, 1, 2, 9)] == [0, 0, 4, 6, 6]


@pytest.mark.parametrize(
    ("text", "count"), [("", 1), ("a", 1), ("a\n", 2), ("\r\n\r", 3), ("\u2028", 1)]
)
def test_line_count(text: str, count: int) -> None:
    assert LineIndex(text).line_count == count


@settings(max_examples=200, deadline=None)
@given(texts, encodings)
def test_offsets_and_positions_are_inverse(text: str, encoding: Encoding) -> None:
    index = LineIndex(text)
    starts = plain_starts(text)
    for offset in range(len(text) + 1):
        line, character = index.position(offset, encoding)
        assert starts[line] <= offset
        inside = text[max(0, offset - 1) : offset + 1] == "\r\n"
        expected = offset - 1 if inside else offset
        assert character == units(text[starts[line] : expected], encoding)
        assert index.offset((line, character), encoding) == expected


@settings(max_examples=200, deadline=None)
@given(
    texts,
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 4), texts), max_size=5),
)
def test_an_edited_index_equals_a_new_one(text: str, edits: list[tuple[int, int, str]]) -> None:
    index = LineIndex(text)
    for at, length, new in edits:
        start = min(at, len(index.text))
        end = min(start + length, len(index.text))
        expected = index.text[:start] + new + index.text[end:]
        index.replace(start, end, new)
        fresh = LineIndex(expected)
        assert index.text == expected
        assert index.line_count == fresh.line_count == len(plain_starts(expected))
        lines = range(fresh.line_count + 1)
        assert [index.line_start(n) for n in lines] == [fresh.line_start(n) for n in lines]
        offsets = range(len(expected) + 1)
        assert [index.position(n, "utf-16") for n in offsets] == [
            fresh.position(n, "utf-16") for n in offsets
        ]
