"""Scenarios of whole files: new, deleted, moved, changed by a shell, and looked at later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scenarios_edits import BOTH, KEEP, MINE, MINE_TOO, ONE, REJECT, TOP, edit
from sitting import CODE, Scenario

if TYPE_CHECKING:
    from sitting import Sitting

SCRIPT: Final = b"#!/bin/sh\n"


# --- whole files ---------------------------------------------------------------------------


def _new_files(s: Sitting) -> None:
    """D13: a new file that is rejected goes."""
    s.prompt()
    s.waits(3)
    s.hands.open("new.md")
    s.marked(1)
    s.shot("new")
    s.hands.act(2, "Reject the new file")
    s.waits(2)
    assert not (s.project / "new.md").exists()
    s.hands.open("kept.md")
    s.marked(1)
    s.hands.act(1, "Keep the new file")
    s.waits(1)
    assert s.hands.save() == "written"
    assert s.disk("kept.md") == "kept\n"
    s.hands.open("a.md")
    s.hands.act(1, "Reject the change in all files")
    s.waits(0)
    assert not (s.project / "deep" / "er" / "other.md").exists()


def _new_file_with_lines_of_mine_above(s: Sitting) -> None:
    s.prompt()
    s.waits(1)
    s.hands.open("new.md")
    s.marked(1)
    s.hands.above(1, TOP)
    s.hands.act(2, "Reject the new file")
    s.waits(0)
    s.holds(f"{TOP}\n")
    assert not (s.project / "new.md").exists()
    s.saves("new.md")


def _new_file_with_lines_of_mine_inside(s: Sitting) -> None:
    s.prompt()
    s.waits(1)
    s.hands.open("new.md")
    s.marked(1)
    s.hands.above(2, TOP)
    titles = s.hands.titles(2)
    assert titles[0] == "Keep the new file (you wrote into these lines)"
    assert not any(title.startswith("Reject") for title in titles)
    s.saves("new.md")
    s.hands.act(2, titles[0])
    s.waits(0)
    s.holds(f"new\n{TOP}\nfile\n")


def _deleted(s: Sitting) -> None:
    """D38, D52: what was deleted comes back, with its mode."""
    script = s.project / "run.sh"
    script.chmod(0o755)
    s.prompt()
    s.waits(2)
    assert not script.exists()
    s.marked(1)
    s.hands.refocus()
    s.hands.act(2, "Reject the deletion of this file")
    s.waits(1)
    s.on_disk(CODE)
    s.hands.refocus()
    s.holds(CODE)
    s.saves(helix="refused")
    s.hands.act(2, "Reject the change in all files")
    s.waits(0)
    assert s.bytes("run.sh") == SCRIPT
    assert script.stat().st_mode & 0o777 == 0o755


def _deleted_under_unsaved_lines(s: Sitting) -> None:
    """D38: the file comes back, and the unsaved lines were never away."""
    s.hands.append(3, MINE)
    s.prompt()
    s.waits(1)
    s.marked(1)
    s.hands.refocus()
    s.shot("deleted")
    assert s.hands.text() == MINE_TOO
    s.hands.act(7, "Keep mine")
    s.waits(0)
    s.on_disk(CODE)
    assert s.hands.text() == MINE_TOO
    s.saves(neovim="asked", helix="refused")


def _moved(s: Sitting) -> None:
    """D38: a file goes back to where it was, from either place."""
    s.prompt()
    s.waits(2)
    s.marked(1)
    s.hands.refocus()
    s.shot("moved")
    (title,) = [t for t in s.hands.titles(2) if t.startswith("Reject the move to ")]
    assert title.endswith("sub/moved.md")
    s.hands.act(2, title)
    s.waits(1)
    s.on_disk(CODE)
    assert not (s.project / "sub" / "moved.md").exists()
    s.hands.refocus()
    s.holds(CODE)
    s.saves(helix="refused")
    # The other one is met where it is now.
    s.hands.open("there.md")
    s.marked(1)
    s.hands.act(1, "Reject the move from run.sh")
    s.waits(0)
    assert s.bytes("run.sh") == SCRIPT
    assert not (s.project / "there.md").exists()


# --- a shell -------------------------------------------------------------------------------


def _formatter(s: Sitting) -> None:
    """D03: a change that no tool call tells of has hunks like any other."""
    s.prompt()
    s.waits(2)
    s.hands.open("b.md")
    s.marked(2, 5)
    s.hands.act(2, KEEP)
    s.waits(1)
    s.hands.act(5, REJECT)
    s.waits(0)
    s.holds(CODE.replace("line 2\n", "LINE 2\n"))
    s.on_disk(CODE.replace("line 2\n", "LINE 2\n"), "b.md")
    s.saves("b.md", helix="refused")


# --- afterwards ------------------------------------------------------------------------------


def _comes_back_later(s: Sitting) -> None:
    """What waits for a verdict outlives the editor."""
    s.prompt()
    s.waits(4)
    s.again()
    s.waits(4)
    s.marked(3, 10)
    assert s.hands.text() == BOTH
    s.hands.act(3, KEEP)
    s.waits(3)
    s.hands.act(10, REJECT)
    s.waits(2)
    s.holds(ONE)
    s.on_disk(ONE)
    s.hands.act(1, "Reject all 2 changes in all files")
    s.waits(0)
    assert s.disk("b.md") == CODE


_SED = ["sed", "-i", "-e", "s/line 2$/LINE 2/", "-e", "s/line 5/LINE 5/", "b.md"]
_TWO = {"a.md": CODE.encode(), "b.md": CODE.encode()}
_SCRIPT = {"a.md": CODE.encode(), "run.sh": SCRIPT}
_NEW = [
    {"write": "new.md", "text": "new\nfile\n"},
    {"write": "kept.md", "text": "kept\n"},
    {"write": "deep/er/other.md", "text": "other\n"},
]
FILES = [
    Scenario("new_files", _new_files, [_NEW]),
    Scenario("new_file_with_lines_of_mine_above", _new_file_with_lines_of_mine_above, [_NEW[:1]]),
    Scenario("new_file_with_lines_of_mine_inside", _new_file_with_lines_of_mine_inside, [_NEW[:1]]),
    Scenario("deleted", _deleted, [[{"remove": "a.md"}, {"remove": "run.sh"}]], _SCRIPT),
    Scenario("deleted_under_unsaved_lines", _deleted_under_unsaved_lines, [[{"remove": "a.md"}]]),
    Scenario(
        "moved",
        _moved,
        [[{"move": "a.md", "to": "sub/moved.md"}, {"move": "run.sh", "to": "there.md"}]],
        _SCRIPT,
    ),
    Scenario("formatter", _formatter, [[{"run": _SED}]], _TWO),
    Scenario("comes_back_later", _comes_back_later, [[*edit(), *edit(name="b.md")]], _TWO),
]
