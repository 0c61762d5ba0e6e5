"""The screen of the tests' own terminal shows what a terminal would."""

from __future__ import annotations

import pytest
from screen import Screen


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("ab\r\ncd", ["ab", "cd", "", ""]),
        ("\x1b[2;3Hx\x1b[Ay\x1b[2Dz", ["  zy", "  x", "", ""]),
        ("abcdefghij", ["abcdefgh", "ij", "", ""]),
        ("abcdefgh\rx", ["xbcdefgh", "", "", ""]),
        ("1\n\r2\n\r3\n\r4\n\r5", ["2", "3", "4", "5"]),
        ("abcd\x1b[2D\x1b[K", ["ab", "", "", ""]),
        ("abcd\x1b[1;3H\x1b[1K", ["   d", "", "", ""]),
        ("abcd\x1b[1;2H\x1b[P\x1b[2@", ["a  cd", "", "", ""]),
        ("abcd\x1b[1;2H\x1b[2X", ["a  d", "", "", ""]),
        ("1\r\n2\r\n3\x1b[1;1H\x1b[L", ["", "1", "2", "3"]),
        ("1\r\n2\r\n3\x1b[1;1H\x1b[M", ["2", "3", "", ""]),
        ("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[S", ["1", "3", "", "4"]),
        ("1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[T", ["1", "", "2", "4"]),
        ("1\r\n2\x1b[1;1H\x1bM", ["", "1", "2", ""]),
        ("ab\r\ncd\x1b[1;2H\x1b[J", ["a", "", "", ""]),
        ("ab\r\ncd\x1b[2J", ["", "", "", ""]),
        ("a\x1b[3bb", ["aaaab", "", "", ""]),
        ("a\x1b7\x1b[3;1Hb\x1b8c", ["ac", "", "b", ""]),
        ("日本x\x1b[1;5Hy", ["日本y", "", "", ""]),
        ("e\u0301x", ["e\u0301x", "", "", ""]),
        ("\x1b]0;title\x07a\x1bP1$r\x1b\\b\x1b(Bc", ["abc", "", "", ""]),
        ("\x1b[31;4:3ma\x1b[m\x1b[>4;2mb\x1b[?25lc\x1b[2 qd", ["abcd", "", "", ""]),
        ("ab\x1b[?1049hc", ["c", "", "", ""]),
        ("a\tb", ["a      b", "", "", ""]),
    ],
)
def test_what_is_shown(written: str, shown: list[str]) -> None:
    whole, piecemeal = Screen(4, 8), Screen(4, 8)
    whole.feed(written.encode())
    for byte in written.encode():
        piecemeal.feed(bytes([byte]))
    assert whole.lines() == piecemeal.lines() == shown


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("\x1b[c", b"\x1b[?62;22c"),
        ("ab\x1b[6n", b"\x1b[1;3R"),
        ("\x1b[5n", b"\x1b[0n"),
        ("\x1b[?2026$p", b"\x1b[?2026;0$y"),
        ("\x1b[?u", b""),
    ],
)
def test_what_a_terminal_answers(asked: str, answer: bytes) -> None:
    assert Screen(4, 8).feed(asked.encode()) == answer
