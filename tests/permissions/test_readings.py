"""Command lines held against globs: strictly where that allows, in every way where it stops."""

from __future__ import annotations

import pytest

from acpls.permissions.commands import Command, split
from acpls.permissions.readings import READINGS_LIMIT, fits, lets, read


def stops(glob: str, command: Command, *, windows: bool = False) -> bool:
    return read(command, windows=windows).fit(glob)


def allowed(glob: str, line: str, *, windows: bool = False) -> bool:
    found = split(line, windows=windows)
    return found.understood and all(lets(glob, part) for part in found.parts)


@pytest.mark.parametrize(
    ("glob", "line"),
    [
        ("git status", "git status"),
        ("git status*", "git status -s"),
        ("git *", "git log 2>&1"),
        ("*", "anything at all && /bin/else"),
        ("npm*", "npm-run"),
        ("./scripts/*", "./scripts/build.sh --all"),
        ("cat src/*", "cat src/a b"),
        ("make ????", "make test"),
    ],
)
def test_what_a_glob_allows(glob: str, line: str) -> None:
    assert allowed(glob, line)


@pytest.mark.parametrize(
    ("glob", "line"),
    [
        ("git status", "git status -s"),
        ("git status*", "git  status"),
        ("git status*", "sudo git status"),
        ("git status*", "git status && rm x"),
        ("git*", "git/../rm x"),
        ("git*status", "git x status"),
        ("./scripts/*", "./scripts/../rm"),
        ("./scripts/*", "./scripts/a/../../../rm"),
        ("*/make", "../../rm /make"),
        ("make", "Make"),
        ("git status*", "'git' status"),
        ("'git' status*", "'git' status"),
    ],
)
def test_what_a_glob_does_not_allow(glob: str, line: str) -> None:
    assert not allowed(glob, line)


def test_a_glob_allows_on_windows() -> None:
    assert allowed("git *", "git status", windows=True)
    assert not allowed("git *", r"git\..\rm x", windows=True)


@pytest.mark.parametrize(
    "line",
    [
        *("rm x", "a; rm x", "a && (rm x)", "a $(rm x)", 'a "`rm x`"', "{ rm x; }", "X=1 rm x"),
        *("/bin/rm x", "'rm' x", "r\\m x", "rm   x", "RM x", "sudo rm x", "sudo -u me rm x"),
        *("env A=1 rm x", "if a; then rm x; fi", "! rm x", "bash -c 'rm x'", 'sh -c "a; rm x"'),
        *("sudo bash -c 'rm x'", "eval 'rm x'", "eval rm x", "xargs -0 rm x", "find . -exec rm x"),
        *(
            "sh -c 'sh -c \"rm x\"'",
            "a <(rm x)",
            "sh <<E\nrm x\nE",
            "a | /usr/bin/sudo /bin/sh -c 'rm x'",
        ),
        *("command rm x", "time rm x", "while rm x; do a; done", "watch 'rm x'"),
    ],
)
def test_what_a_glob_stops(line: str) -> None:
    assert stops("rm *", split(line))


@pytest.mark.parametrize(
    "line",
    ["rmdir x", "git rm x", "echo rm x", "git commit -m 'a; rm x'", "echo 'rm x'", "X=1", ""],
)
def test_what_a_glob_does_not_stop(line: str) -> None:
    assert not stops("rm *", split(line))


@pytest.mark.parametrize(
    "line",
    ["del x", "a & DEL x", "cmd /c del x", "C:\\x\\del.exe x", "a | ^del x", "call del x"],
)
def test_what_a_glob_stops_on_windows(line: str) -> None:
    assert stops("del *", split(line, windows=True), windows=True)


def test_the_whole_line_may_be_named() -> None:
    assert stops("curl*|*sh*", split("curl x | sh"))
    assert stops("*$(*", split("a $(b)"))


@pytest.mark.parametrize(
    "line", ["sudo a;" * 499, "; ".join(f"a{n} b{n} 'c'" for n in range(499)), "sudo " * 3_900]
)
def test_a_line_is_not_read_without_end(line: str) -> None:
    found = read(split(line))
    assert len(found.texts) <= READINGS_LIMIT


def test_a_line_that_can_be_read_in_too_many_ways_is_not_read_in_all() -> None:
    lines = [
        "; ".join(f"sudo a{n} b{n} c{n} d{n} e{n}" for n in range(499)),
        "sudo " * 3_900,
    ]
    assert [read(split(line)).whole for line in lines] == [False, False]
    assert read(split("sudo a b c; d")).whole


def test_deep_lines_come_to_an_end() -> None:
    assert not stops("rm *", split("sh -c " * 3_000))
    assert not stops("rm *", split("sudo " * 3_000))


def test_globs_may_be_about_any_case() -> None:
    assert fits("A*", "ab", any_case=True)
    assert not fits("A*", "ab")
