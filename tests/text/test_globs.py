"""Globs as regular expressions; as Git reads them they are tested with the rules of .gitignore."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.text import globs


def fits(made: str, text: str) -> bool:
    return re.compile(made, re.DOTALL).fullmatch(text) is not None


@pytest.mark.parametrize(
    ("glob", "fitting", "others"),
    [
        ("a.txt", ["a.txt"], ["a_txt", "b/a.txt", "a.txt/b"]),
        ("src/*.py", ["src/a.py", "src/.py"], ["src/b/a.py", "a.py", "src/a.pyc"]),
        ("src/**", ["src/a", "src/b/c"], ["src", "srca", "a/src/b"]),
        ("**/a", ["a", "b/a", "b/c/a"], ["ba", "a/b"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "b"]),
        ("**/a/**/b/**/c", ["a/b/c", "x/a/y/b/z/c"], ["a/c", "b/a/c"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc", "a c"], ["ac", "a/c"]),
        ("a*b*c", ["abc", "axbxc", "abbcc"], ["ac", "a/b/c"]),
        ("a**c", ["ac", "abc"], ["a/c"]),
        ("[ab]", ["a", "b"], ["c", "ab"]),
        ("[!ab]", ["c"], ["a", "/"]),
        ("[^a]", ["b"], ["a"]),
        ("[a-c]", ["b"], ["d", "-"]),
        ("[c-a]", ["c"], ["b", "a"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[[:digit:]x]", ["4", "x"], ["a", ":"]),
        ("[[:x]", ["[", ":", "x"], ["]"]),
        ("[\\]]", ["]"], ["\\"]),
        ("\\*", ["*"], ["a", "\\*"]),
        ("a\\/b", ["a/b"], ["a\\/b"]),
        ("/a", [], ["a", "/a"]),
        ("", [], ["a"]),
    ],
)
def test_globs_of_paths(glob: str, fitting: list[str], others: list[str]) -> None:
    made = globs.of_path(glob)
    assert [path for path in (*fitting, *others) if fits(made, path)] == fitting


@pytest.mark.parametrize("glob", ["[", "[a", "a\\", "[[:none:]]", "[a-", "[\\"])
def test_a_glob_that_cannot_be_understood(glob: str) -> None:
    with pytest.raises(ValueError, match=r"it ends too early|no such class"):
        globs.of_path(glob)


def test_a_name_is_one_part() -> None:
    made = globs.of_name("a*")
    assert fits(made, "abc")
    assert not fits(made, "a/b")


@pytest.mark.parametrize(
    ("glob", "fitting", "others"),
    [
        ("git status", ["git status"], ["git status ", "git"]),
        ("git *", ["git ", "git a/b\nc"], ["git", "a git "]),
        ("*a*b", ["ab", "xaxb"], ["ba", "abc"]),
        ("**", ["", "anything"], []),
        ("a?c", ["abc", "a/c"], ["ac"]),
        ("a.[b]\\", ["a.[b]\\"], ["axb"]),
    ],
)
def test_globs_of_any_text(glob: str, fitting: list[str], others: list[str]) -> None:
    made = globs.of_text(glob)
    assert [text for text in (*fitting, *others) if fits(made, text)] == fitting


@given(st.lists(st.sampled_from(["*", "?", "a", "b", "/"])), st.text("ab/", max_size=12))
def test_any_text_fits_as_it_would_by_trying_everything(glob: list[str], text: str) -> None:
    plain = "".join({"*": ".*", "?": "."}.get(char, char) for char in glob)
    assert fits(globs.of_text("".join(glob)), text) == fits(plain, text)


def test_no_glob_takes_long() -> None:
    """A regular expression that goes back over its stars would never come to an end here."""
    text = "a" * 20_000
    assert not fits(globs.of_text("*a*a*a*a*a*a*a*a*b"), text)
    assert not fits(globs.of_path("**/*a*a*a*a*a*a*b"), f"{'a/' * 1000}{text}")
