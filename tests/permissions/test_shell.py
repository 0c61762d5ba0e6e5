"""What a real shell runs of lines that an allowing rule lets pass: the program of the rule alone.

The shell runs in an empty folder, with nothing on its path but programs that note that they ran.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.permissions.commands import split
from acpls.permissions.readings import lets, read

if TYPE_CHECKING:
    from pathlib import Path

RULE = "git status*"
SHELL = "/bin/sh"
# They have no shell of their own: the note is the name of what is made.
PROGRAM = '#!/bin/sh\n: > "$NOTES/{name}"\n'
OTHERS = ("rm", "evil", "gitx", "status")

PIECES = (
    *("git status", "git", " ", "status", "rm", "evil", "gitx", "-s", "x", "\n", "\t", "'", '"'),
    *("\\", ";", "&", "&&", "|", "||", "|&", "(", ")", "{", "}", "$(", "`", "$", "<", ">", "<<E\n"),
    *(
        "2>&1",
        "&>",
        ">/dev/null",
        "#",
        "!",
        "=",
        "X=1 ",
        "*",
        "~",
        "E\n",
        "if ",
        "then ",
        "fi",
        "$X",
    ),
    *("eval ", "exec ", "command ", "; rm", "| rm", "&& rm", "$(rm)", "`rm`", "\nrm", " & rm"),
)
# Of these many lines are made that pass.
GLUED = (
    *("'", '"', "\\", " ", "a", "-s", ";", "\n", "&", "|", "git status", "rm", "2>&1", "2", "x*"),
    *(">/dev/null", ">&2", "&>/dev/null", "$", "~", "{", "}", "=", "!", "#", "^", "%", "\t", "@"),
)


class Sandbox:
    """``runs`` gives the names of the programs that a shell starts for a line."""

    def __init__(self, folder: Path) -> None:
        self._programs, self._notes, self._cwd = (folder / x for x in ("bin", "notes", "cwd"))
        for each in (self._programs, self._notes, self._cwd):
            each.mkdir()
        for name in ("git", *OTHERS):
            file = self._programs / name
            file.write_text(PROGRAM.format(name=name))
            file.chmod(0o755)

    def runs(self, line: str) -> set[str]:
        env = {"PATH": str(self._programs), "NOTES": str(self._notes), "HOME": str(self._cwd)}
        subprocess.run(
            [SHELL, "-c", f"{line}\nwait"],
            cwd=self._cwd,
            env={**env, "X": "rm"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
        ran = {note.name for note in self._notes.iterdir()}
        for folder in (self._notes, self._cwd):
            for left in folder.iterdir():
                left.unlink()
        return ran


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("shell"))


def passes(line: str) -> bool:
    found = split(line)
    return found.understood and all(lets(RULE, part) for part in found.parts)


@pytest.mark.parametrize(
    ("line", "ran"),
    [
        ("git status; git status -s", {"git"}),
        ("git status '; rm' \"&& evil\" \\* 2>&1", {"git"}),
        ("git status |\n git status &", {"git"}),
    ],
)
def test_what_passes_runs(sandbox: Sandbox, line: str, ran: set[str]) -> None:
    assert passes(line)
    assert sandbox.runs(line) == ran


@pytest.mark.parametrize(
    "line",
    [
        *("git status; rm", "git status && rm", "git status\nrm", "git status | rm"),
        *("git status & rm", "git status $(rm)", "git status `rm`", 'git status "$(rm)"'),
        *("X=1 rm", "if git status; then rm; fi", "(rm)", "{ rm; }", "git status || rm; rm"),
        *("eval rm", "'r'm", "\\rm", "$X", "git() { rm; }; git status", "! rm", "git status;rm"),
    ],
)
def test_what_does_not_pass_runs_others(sandbox: Sandbox, line: str) -> None:
    """The shell of this test is one that shows what it runs."""
    assert not passes(line)
    assert "rm" in sandbox.runs(line)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(GLUED), max_size=7).map("".join))
def test_what_passes_runs_no_other_program(sandbox: Sandbox, rest: str) -> None:
    line = f"git status{rest}"
    if passes(line):
        assert sandbox.runs(line) <= {"git"}, line


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["git status", "'git' status", "\\git status", "git  status", "xgit status"]),
    st.sampled_from([";", "&&", "||", "|", "|&", "&", "\n", ";;", "\r\n", ">|", "& &"]),
    st.sampled_from(["rm x", "'rm' x", "r''m x", "\\rm x", "/bin/rm x", "X=1 rm x", "$(rm x)"]),
    st.booleans(),
)
def test_nothing_that_is_glued_on_passes(
    first: str, operator: str, glued: str, spaced: bool
) -> None:
    space = " " if spaced else ""
    assert not passes(f"{first}{space}{operator}{space}{glued}")
    assert not passes(f"{glued}{space}{operator}{space}{first}")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=5).map("".join))
def test_what_runs_a_program_is_found_or_not_understood(sandbox: Sandbox, rest: str) -> None:
    line = f"git status{rest}"
    if "rm" in sandbox.runs(line):
        found = split(line)
        assert read(found).fit("rm*") or not found.understood
