"""What a line of a ``.gitignore`` file says; beside the real Git it is in ``test_ignoring``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.client.rules import Rule, rules


def fits(line: str, *paths: str, is_folder: bool = False) -> set[str]:
    (rule,) = rules(line)
    return {
        path
        for path in paths
        if rule.fits(f"top/{path}", 4, f"top/{path}".rfind("/") + 1, is_folder=is_folder)
    }


def test_lines_that_say_nothing_are_left_out() -> None:
    assert list(rules("\n# one\n \n!\n/\n\r\n")) == []
    assert list(rules("f\r\n!d/\n")) == [
        Rule(ignored=True, folders=False, by_name=True, plain="f"),
        Rule(ignored=False, folders=True, by_name=True, plain="d"),
    ]


@pytest.mark.parametrize("line", ["f\\", "*\\", "[", "[a", "a/[!", "[]", "[[:none:]]", "[a-"])
def test_what_cannot_be_understood_says_nothing(line: str) -> None:
    assert list(rules(line)) == []


@pytest.mark.parametrize(
    ("line", "fitting", "others"),
    [
        ("[[:alpha:]_]", ["a", "Z", "_"], ["1", "aa", "-"]),
        ("[![:space:]]", ["a"], [" ", "\t"]),
        ("[[:x]", ["[", ":", "x"], ["]"]),
        ("[]-a]", ["]", "^", "a"], ["b", "["]),
        ("[a\\]b]", ["a", "]", "b"], ["\\"]),
        ("[a\\-c]", ["a", "-", "c"], ["b"]),
        ("[\\a-c]", ["a", "b", "c"], ["\\"]),
        ("[a-\\c]", ["a", "b", "c"], ["-"]),
        ("[c-a]", ["c"], ["a", "b", "-"]),
        ("[!c-a]", ["a", "b"], ["c"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[^a]", ["b", "^"], ["a"]),
        ("[[:digit:]-9]", ["5", "-", "9"], ["x"]),
        ("\\*", ["*"], ["a"]),
        ("a\\b", ["ab"], ["a\\b"]),
        ("a\\\\", ["a\\"], ["a"]),
        ("a\\\\  ", ["a\\"], ["a\\ "]),
        ("a\\   ", ["a "], ["a", "a  "]),
        ("*a*b", ["ab", "xaybab"], ["ba", "abx"]),
        ("a**b", ["ab", "axb"], ["a/b"]),
        ("?/b", ["a/b"], ["ab/b", "//b"]),
        ("a\\/b", ["a/b"], ["ab"]),
        ("/***/a", ["a", "x/a", "x/y/a"], ["ba"]),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c"], ["a/c", "a/b", "x/a/b/c"]),
        ("a/**/**/c", ["a/c", "a/x/c"], ["ac"]),
        ("**/a/*/c", ["a/b/c", "x/a/b/c"], ["a/c", "a/b/d/c"]),
        ("/**", ["a", "a/b"], []),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a"]),
        ("a//*", [], ["a/b", "a/", "b"]),
        ("a/*\nb"[:3], ["a/b", "a/b\nc", "a/\n"], ["a/b/c"]),
        ("*.x", ["a.x", "a\n.x"], ["a.x\n"]),
    ],
)
def test_what_a_rule_fits(line: str, fitting: list[str], others: list[str]) -> None:
    assert fits(line, *fitting, *others) == set(fitting)


def test_a_rule_for_folders_fits_no_file() -> None:
    assert fits("d*/", "d", "dd", is_folder=True) == {"d", "dd"}
    assert fits("d*/", "d", "dd") == set()
    assert fits("/a/**/", "a/b", "a", is_folder=True) == {"a/b"}


LONG = "a" * 250
DEEP = "/".join("a" * 2000)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("*a" * 60 + "*b", LONG),
        ("*" * 60 + "b", LONG),
        ("?*" * 60 + "b", LONG),
        ("[a-z]*" * 60 + "b", LONG),
        ("*aa*a" * 30 + "b", LONG),
        ("**/a/" * 60 + "b", DEEP),
        ("**/a/**/*a*/" * 30 + "b", DEEP),
        ("x*/" + "*a" * 60 + "*b", f"x/{LONG}"),
    ],
)
def test_no_rule_takes_long(line: str, path: str) -> None:
    """One that does would hold up the whole server, since no other thread can run meanwhile."""
    assert fits(line, path) == set()
    assert fits(line.removesuffix("b") + "a", path.removesuffix("a") + "a") == {path}


@given(st.text("ab*?[]!^-\\/: .#\n\r\u00e4\0", max_size=12), st.text("ab/\u00e4*\n\0", max_size=8))
def test_any_text_is_rules_for_any_path(text: str, path: str) -> None:
    for rule in rules(text):
        answers = [
            rule.fits(path, 0, path.rfind("/") + 1, is_folder=is_f) for is_f in (False, True)
        ]
        assert answers[0] <= answers[1]
