"""Patterns of ECMA-262 mean here what they mean in JavaScript, or are not enforced."""

from __future__ import annotations

import json
import subprocess
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.forms import patterns
from acpls.forms.patterns import TIMEOUT_S, fits, is_enforced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG_S = 40 * TIMEOUT_S


@pytest.mark.parametrize(
    ("pattern", "found", "not_found"),
    [
        ("^[a-z]+$", ["abc"], ["", "abC", "abc\n", "\nabc"]),
        ("b", ["abc"], ["ac"]),
        (r"^\d{3}-\d{4}$", ["123-4567"], ["123-456", "١٢٣-4567"]),
        (r"^\w+$", ["a_1"], ["ä", "a b"]),
        (r"^\W$", ["ä", "-"], ["a"]),
        (r"^\s\S$", [" a", "\ufeffa", "\u2003a"], ["aa", "\x1fa", "\x85a"]),
        (r"^.$", ["a", "\U0001f600", "\x85", "\x0b"], ["\n", "\r", "\u2028", "ab"]),
        (r"^(?<year>\d{4})-(?<month>\d\d)$", ["2026-05"], ["2026"]),
        (r"^(?:a|bc)*?$", ["", "abca"], ["b"]),
        (r"^(?=.*\d)(?!.*\s).{3,}$", ["ab1"], ["abc", "a 1"]),
        (r"(?<=a)b(?<!c)", ["ab"], ["cb"]),
        (r"\bcat\b", ["a cat!", "cat", "äcat"], ["cats", "1cat"]),
        (r"a\Bb", ["ab"], ["a b"]),
        (r"^\u0041\x42\u{43}\cJ\t\0$", ["ABC\n\t\0"], ["ABC"]),
        (r"^\ud83d\ude00$", ["\U0001f600"], ["\ud83d"]),
        (r"^\u{1F600}[\u{1F600}-\u{1F64F}]$", ["\U0001f600\U0001f601"], [""]),
        (r"^[^]$", ["\n", "a"], [""]),
        ("[]", [], ["", "a"]),
        (r"^[\d\-.]+$", ["1-2."], ["a"]),
        (r"^[a-]$", ["a", "-"], ["b"]),
        (r"^[^\w\s]$", ["-"], ["a", " "]),
        (r"^[\b]$", ["\b"], ["b"]),
        (r"^[&&[~~]$", ["&", "[", "~"], ["a"]),
        (r"^\p{Lu}\p{L}*$", ["Ärger"], ["ärger", "A1"]),
        (r"^[\p{L}\P{L}]$", ["a", "1"], [""]),
        (r"^\^\$\/\.$", ["^$/."], ["a"]),
        ("^(|a)$", ["", "a"], ["b"]),
        ("^a{2}b{1,}c{0,2}$", ["aab", "aabbcc"], ["ab", "aabccc"]),
        ("", ["", "a"], []),
    ],
)
def test_what_is_read_alike(pattern: str, found: list[str], not_found: list[str]) -> None:
    assert [fits(pattern, text) for text in found] == [True] * len(found)
    assert [fits(pattern, text) for text in not_found] == [False] * len(not_found)


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"(a)\1", r"(?<a>x)\k<a>", "(?i:a)", r"\p{Script=Greek}", r"\p{Xx}", r"\a", r"\8"),
        *(
            "a{,3}",
            "{",
            "}",
            "]",
            "a**",
            "a++",
            "*a",
            "^*",
            "(?=a)*",
            r"\b+",
            "a{3,2}",
            "a{2001}",
            "(?:a{50}){50}",
        ),
        *("(", ")", "(a", "a)", "[a", "[", "[b-a]", r"[a-\d]", r"[\d-a]", r"[\p{L}-a]", "[a-"),
        *("(?<a>x)(?<a>y)", "(?<1>x)", "(?>a)", "(?P<a>x)", "(?#a)", "\\", r"\u12", r"\u{110000}"),
        *(r"\ud800", r"[\ud800-\udfff]", r"\x1", r"\c1", r"\01", r"[\-", "a" * 1001, "(" * 30),
        *("(?:" * 30 + ")" * 30, "a{2}{3}", r"\-", r"[\a]"),
    ],
)
def test_what_cannot_be_read_alike_is_not_enforced(pattern: str) -> None:
    assert fits(pattern, "a") is None
    assert not is_enforced(pattern)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(?:a{0,50}){0,50}$", "(.*)*=(.*)*=x"])
def test_no_pattern_takes_long(pattern: str) -> None:
    text = "a" * 5000 + "!"
    began_s = time.monotonic()
    assert fits(pattern, text) is not True
    # It was compiled as well, and the machine may be busy.
    assert time.monotonic() - began_s < LONG_S


@pytest.mark.parametrize("many", ["(?:a{40}){40}", "[a-z]{1000}", "(?:(?:a?){40}){40}", "a|" * 500])
def test_no_pattern_takes_long_to_be_read(many: str) -> None:
    began_s = time.monotonic()
    fits(many, "a")
    assert time.monotonic() - began_s < LONG_S


@given(st.text())
def test_no_pattern_is_an_exception(pattern: str) -> None:
    assert fits(pattern, "a") in {True, False, None}


# --- beside a real engine ------------------------------------------------------------------

_JUDGE = r"""
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [pattern, texts] = JSON.parse(line);
  let answer = null;
  try {
    const read = new RegExp(pattern, "u");
    answer = texts.map((text) => read.test(text));
  } catch {}
  console.log(JSON.stringify(answer));
});
"""

_ATOMS = st.sampled_from(
    [
        *(
            "a",
            "b",
            "-",
            "_",
            "1",
            "é",
            "\U0001f600",
            ".",
            r"\d",
            r"\D",
            r"\w",
            r"\W",
            r"\s",
            r"\S",
        ),
        *("^", "$", r"\b", r"\B", r"\n", r"\u0061", r"\x62", r"\u{1F600}", r"\.", r"\/", r"\0"),
        *("[ab]", "[^a]", r"[\w-]", r"[^\s\d]", "[a-c1]", "[]", "[^]", r"[\b\-]", r"\p{L}", "[-a]"),
        *(
            r"\P{Lu}",
            r"[^\p{N}b]",
            r"\ud83d\ude00",
            "[\U0001f600-\U0001f602]",
            " ",
            "}",
            r"\-",
            "/",
        ),
    ]
)
_REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "{,2}", "+?"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = st.sampled_from(["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>"])
    grouped = st.builds(lambda g, x, r: f"{g}{x}){r}", groups, inner, _REPEATS)
    either = st.builds(lambda x, y: f"{x}|{y}", inner, inner)
    return grouped | either | st.lists(inner, max_size=3).map("".join)


PATTERNS = st.recursive(
    st.builds(lambda a, r: a + r, _ATOMS, _REPEATS), _grown, max_leaves=6
) | st.text("ab^$.*+?()[]{}|\\-dwsbB1,:=!<>", max_size=8)
TEXTS = st.lists(
    st.text(st.sampled_from("ab-_1é\U0001f600\U0001f601 \n\r\u2028\ufeff\x85.Aß/\0"), max_size=6),
    min_size=4,
    max_size=8,
)


@pytest.fixture(scope="module")
def judge() -> Iterator[Callable[[str, list[str]], Any]]:
    """What JavaScript says: for each text whether the pattern is found; ``None``: no pattern."""
    with subprocess.Popen(
        ["node", "-e", _JUDGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as node:
        stdin, stdout = node.stdin, node.stdout
        assert stdin is not None
        assert stdout is not None

        def say(pattern: str, texts: list[str]) -> Any:
            stdin.write(json.dumps([pattern, texts]) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield say
        stdin.close()


@pytest.mark.needs("node")
@settings(max_examples=250)
@given(PATTERNS, TEXTS)
def test_javascript_says_the_same(
    judge: Callable[[str, list[str]], Any], pattern: str, texts: list[str]
) -> None:
    says = judge(pattern, texts)
    if says is None:
        # What is no pattern there is none here.
        assert not is_enforced(pattern)
    else:
        ours = [fits(pattern, text) for text in texts]
        assert all(own in (None, its) for own, its in zip(ours, says, strict=True)), says


@pytest.mark.needs("node")
def test_most_patterns_that_agents_send_are_enforced(
    judge: Callable[[str, list[str]], Any],
) -> None:
    usual = [
        r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$",
        r"^https?://",
        r"^[A-Z]{2,3}-\d+$",
        r"^(?:\+\d{1,3}[- ]?)?\(?\d{3}\)?[- ]?\d{3}[- ]?\d{4}$",
        r"^#?([a-f0-9]{6}|[a-f0-9]{3})$",
        r"^\d+\.\d+\.\d+(?:-[\w.]+)?$",
        r"^(?=.*[A-Z])(?=.*[a-z])(?=.*\d).{8,}$",
        r"^[^\s/\\:*?<>|]+$",
    ]
    texts = ["a@b.io", "http://x", "AB-1", "+1 555 123 4567", "#aabbcc", "1.2.3-rc.1", "Passw0rd"]
    for pattern in usual:
        assert [fits(pattern, text) for text in texts] == judge(pattern, texts), pattern


def test_the_sets_of_characters_are_whole() -> None:
    for ranges in patterns._SETS.values():
        both = sorted([*ranges, *patterns._complement(ranges)])
        assert both[0][0] == 0
        assert both[-1][1] == 0x10FFFF
        assert all(a[1] + 1 == b[0] for a, b in pairwise(both))
