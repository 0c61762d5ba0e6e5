"""Paths held against globs, by where they really are."""

from __future__ import annotations

import pytest

from acpls.permissions.places import Places, allowing, stopping, wanted
from acpls.settings import Rule

ROOTS = ("/link", "/ws/")
HOME = "/home/me"
REAL = {
    "/link": "/real",
    "/ws/": "/ws",
    "~": HOME,
    "/ws/a": "/ws/a",
    "/ws/src/b": "/ws/src/b",
    "/ws/out": "/etc/passwd",
    "/link/c": "/real/c",
    "~/d": f"{HOME}/d",
    "/ws/secret": "/vault",
    "/vault/e": "/vault/e",
    "/ws/secret/e": "/vault/e",
    r"C:\ws\f": r"C:\ws\f",
}
PLACES = Places(REAL, ROOTS)


def lets(glob: str, path: str, places: Places = PLACES) -> bool:
    return allowing(glob, places)(path)


def stops(glob: str, path: str, places: Places = PLACES) -> bool:
    return stopping(glob, places)(path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("a", "/ws/a"),
        ("src/**", "/ws/src/b"),
        ("**", "/ws/src/b"),
        ("**/b", "/ws/src/b"),
        ("c", "/link/c"),
        ("/ws/*", "/ws/a"),
        ("/etc/**", "/ws/out"),
        ("~/*", "~/d"),
        (f"{HOME}/d", "~/d"),
        ("/vault/**", "/ws/secret/e"),
        (r"C:\ws\*", r"C:\ws\f"),
        ("C:/ws/*", r"C:\ws\f"),
    ],
)
def test_what_a_glob_allows(glob: str, path: str) -> None:
    assert lets(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**", "/ws/out"),
        ("out", "/ws/out"),
        ("secret/**", "/ws/secret/e"),
        ("/link/**", "/link/c"),
        ("src", "/ws/src/b"),
        ("A", "/ws/a"),
        ("a", "/elsewhere/a"),
        ("**", "/unknown"),
        ("/unknown", "/unknown"),
        ("~/*", "/ws/a"),
    ],
)
def test_what_a_glob_does_not_allow(glob: str, path: str) -> None:
    """A link leads out of nothing that is allowed, and what nobody could look up is nowhere."""
    assert not lets(glob, path)


def test_without_a_home_nothing_is_in_it() -> None:
    places = Places({"/x": "/x"}, ())
    assert not lets("~/**", "/x", places)
    assert not stops("~/**", "/x", places)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("out", "/ws/out"),
        ("/ws/out", "/ws/out"),
        ("/etc/**", "/ws/out"),
        ("/etc", "/ws/out"),
        ("secret/**", "/ws/secret/e"),
        ("secret", "/ws/secret/e"),
        ("/ws/secret/**", "/vault/e"),
        ("secret/*", "/vault/e"),
        ("c", "/link/c"),
        ("/link/**", "/link/c"),
        ("/real/c", "/link/c"),
        ("SRC", "/ws/src/b"),
        ("**/.env", "/elsewhere/x/.env"),
        ("src/b", "/ws/src/../src/./b"),
        ("~/d", "~/d"),
        ("~/*", f"{HOME}/x"),
        ("~", f"{HOME}/x"),
        ("/unknown", "/unknown"),
        (r"C:\WS\*", r"c:\ws\g"),
        ("/**", "/ws/a"),
    ],
)
def test_what_a_glob_stops(glob: str, path: str) -> None:
    """By any name that the file has, in any case, and for folders with all that is in them."""
    assert stops(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [("src/c", "/ws/src/b"), ("b", "/ws/src/b"), ("/etc/x", "/ws/out"), ("~/x", "/ws/a")],
)
def test_what_a_glob_does_not_stop(glob: str, path: str) -> None:
    assert not stops(glob, path)


def test_globs_of_folders_are_no_globs() -> None:
    """A folder may have a name that looks like one."""
    places = Places({"/w[x]*": "/w[x]*", "/w[x]*/a": "/w[x]*/a", "/wx1/a": "/wx1/a"}, ("/w[x]*",))
    assert lets("a", "/w[x]*/a", places)
    assert not lets("a", "/wx1/a", places)


def test_what_has_to_be_looked_up() -> None:
    rules = (
        Rule("allow", path="/allowed/**"),
        Rule("deny", path="/x/y/*.py"),
        Rule("ask", path="sub/**"),
        Rule("deny", path="~/z"),
        Rule("deny", path="/*"),
        Rule("deny", command="rm *"),
    )
    assert wanted(rules, ("/p",), ("/ws",)) == ("/p", "/ws", "~", "/x/y", "/ws/sub", "~/z", "/")
