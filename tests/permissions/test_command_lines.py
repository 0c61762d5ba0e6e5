"""Command lines are taken apart as a shell would, or are not understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.permissions import commands
from acpls.permissions.commands import Part, of_words, split


def texts(line: str, *, windows: bool = False) -> list[str] | None:
    """The commands of a line that is understood."""
    found = split(line, windows=windows)
    return [part.text for part in found.parts] if found.understood else None


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("git status", ["git status"]),
        ("  git\tstatus  ", ["git\tstatus"]),
        ("a && b || c; d | e |& f & g", ["a", "b", "c", "d", "e", "f", "g"]),
        ("a\nb\n\n c", ["a", "b", "c"]),
        ("a &&\n b |\n\n c", ["a", "b", "c"]),
        ("a;b&", ["a", "b"]),
        ("a;", ["a"]),
        ("a 'b; c' \"d && e\" f", ["a 'b; c' \"d && e\" f"]),
        ("a 'b\nc'", ["a 'b\nc'"]),
        ("a b\\ c \\* \\\\", ["a b\\ c \\* \\\\"]),
        ('a "b\\\\c\\d"', ['a "b\\\\c\\d"']),
        ("a *.py b?[c] stash@{0} x{1,2} #b"[:-3], ["a *.py b?[c] stash@{0} x{1,2}"]),
        ("a b#c ~/d e=f !g", ["a b#c ~/d e=f !g"]),
        ("grep 'x$' \"y$\" z$ $", ["grep 'x$' \"y$\" z$ $"]),
        ("a 2>&1", ["a"]),
        ("a 2>/dev/null >>/dev/null | b", ["a", "b"]),
        ("a &>/dev/null", ["a"]),
        ("a &> /dev/null b", ["a  b"]),
        ("a >&2;b", ["a", "b"]),
        ("2>&1 a", ["a"]),
        ("a x2>&1", ["a x2"]),
        ("./a/b.sh -x", ["./a/b.sh -x"]),
    ],
)
def test_what_is_understood(line: str, parts: list[str]) -> None:
    assert texts(line) == parts


@pytest.mark.parametrize(
    "line",
    [
        *("", " ", "\n", ";", "a;;b", "a & & b", "; a", "&& a", "a &&", "a ||", "a |", "a\n&& b"),
        *("a $(b)", "a `b`", "a $b", "a ${b}", 'a "$(b)"', 'a "`b`"', 'a "$b"', "a $'b'", 'a $"b"'),
        *("a > b", "a >> b", "a < b", "a <<EOF\nb\nEOF", "a <<< b", "a <(b)", "a >(b)", "a >| b"),
        *("a 2>&1x", "a >/dev/nullx", "a >&b", "a <> b", "> a", ">/dev/null", "a &> b"),
        *("(a)", "{ a; }", "a (b", "a ) b", "a }", "if a; then b; fi", "! a", "time a", "a() b"),
        *("a 'b", 'a "b', "a \\", "a \\\nb", "a \\;", "a 'b\\' c", 'a "b\\"c"', 'a "b\\$c"'),
        *("X=1 a", "a=b", "$a", "'a' b", '"a" b', "a\\ b c", "a'b' c", "*a", "a* b", "~/a b", "%1"),
        *("# a", "a # b", "a\rb", "a\x00", "a \x1b[0m", "a\u00a0b", "a \u2028b", "a 'b\tc'"),
        *("a \u201cb\u201d", "a --% b", "a \\\u2019"),
        "a " + "b" * commands.LENGTH_LIMIT,
        "a;" * (commands.PARTS_LIMIT + 1),
    ],
)
def test_what_is_not_understood(line: str) -> None:
    assert texts(line) is None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a $(b; c `d e`) f", {"b", "c `d e`", "d e", "a $(b; c `d e`) f"}),
        ('a "x $(b "c; d") y" e', {'b "c; d"', 'a "x $(b "c; d") y" e'}),
        ('a "x `b` y"', {"b", 'a "x `b` y"'}),
        ("(a; b) && c", {"a", "b", "c"}),
        ("a > b c", {"a > b c"}),
        ("a <(b)", {"a <", "b"}),
        ("{ a; }", {"{ a", "}"}),
        ("a <<EOF\nb\nEOF", {"a <<EOF", "b", "EOF"}),
        ("a `b", {"a `b", "b"}),
        ("a) b", {"a", "b"}),
        ("a 'b; c", {"a 'b; c"}),
    ],
)
def test_parts_are_found_in_what_is_not_understood(line: str, found: set[str]) -> None:
    whole = split(line)
    assert not whole.understood
    assert {part.text for part in whole.parts} == found


def test_words_are_without_quotes_and_redirections() -> None:
    (part,) = split("a 'b c'\"d\"\\ e >f 2>&1 ''").parts
    assert part.words == ("a", "b cd e", "")


def test_deep_nesting_and_many_commands_end() -> None:
    assert not split("$(" * 5_000).understood
    assert not split("(" * 5_000).understood
    assert len(split("`$(" * 5_000).parts) <= commands.PARTS_LIMIT
    assert split("a" * (commands.LENGTH_LIMIT + 1)).parts == ()
    assert len(split("a;" * 2_000).parts) == commands.PARTS_LIMIT


# --- lists of words --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("git", "status"), ["git status"]),
        (("git", "commit", "-m", "some words"), ["git commit -m some words"]),
        (("bash", "-lc", "a; b"), ["a", "b"]),
        (("/bin/sh", "-c", "a 'b c'"), ["a 'b c'"]),
        (("bash", "-c", "a", "b"), ["bash -c a b"]),
        (("git", "status;", "rm"), None),
        (("a", "$b"), None),
        (("bash", "-c", "a $(b)"), None),
    ],
)
def test_a_list_of_words(words: tuple[str, ...], parts: list[str] | None) -> None:
    found = of_words(words)
    assert ([part.text for part in found.parts] if found.understood else None) == parts


def test_a_list_of_words_is_found_whole_and_as_a_line() -> None:
    found = of_words(("git", "status;", "rm", "-rf"))
    whole = Part("git status; rm -rf", ("git", "status;", "rm", "-rf"))
    assert found.parts[0] == whole
    assert [part.text for part in found.parts[1:]] == ["git status", "rm -rf"]


# --- Windows ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("git status", ["git status"]),
        (r"C:\tools\git.exe status -s", [r"C:\tools\git.exe status -s"]),
        ("a && b || c & d | e; f\ng", ["a", "b", "c", "d", "e", "f", "g"]),
        ('a "b c" d', ['a "b c" d']),
        ("a;", ["a"]),
        ("a\n\nb", ["a", "b"]),
    ],
)
def test_what_is_understood_on_windows(line: str, parts: list[str]) -> None:
    assert texts(line, windows=True) == parts


@pytest.mark.parametrize(
    "line",
    [
        *("", "a &&", "a |", "& a", "a && && b", "a 'b & c'", "a ^& b", "a %b%", "a $b", "a `b"),
        *("a > b", "a < b", "(a)", "a (b)", "{a}", 'a "b', 'a "b & c"', 'a "b\\" c', "a !b!"),
        *('"a" b', "a=b", "@a", "a # b", "a \u201cb\u201d", "a\rb", "a;" * 600),
    ],
)
def test_what_is_not_understood_on_windows(line: str) -> None:
    assert texts(line, windows=True) is None


def test_parts_are_found_in_what_is_not_understood_on_windows() -> None:
    found = split('a (b) & ^del "c d" %e% > f', windows=True)
    assert [part.words for part in found.parts] == [
        ("a",),
        ("b",),
        ("del", "c", "d", "%e%", "f"),
    ]


def test_a_list_of_words_on_windows() -> None:
    assert of_words(("git", "status"), windows=True).understood
    assert not of_words(("git", "a & b"), windows=True).understood


# --- anything --------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [*"abc \t\n;&|<>()$`'\"\\#{}!=*?~", "&&", "||", "|&", "$(", "2>&1", ">/dev/null", "<<E"]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.booleans())
def test_every_line_has_an_outcome_that_keeps_all_of_it(line: str, windows: bool) -> None:
    found = split(line, windows=windows)
    assert found.line == line
    assert all(part.words for part in found.parts)
    if found.understood:
        assert found.parts
        for part in found.parts:
            assert part.words[0] == part.text.split()[0]
