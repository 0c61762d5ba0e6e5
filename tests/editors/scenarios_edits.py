"""Scenarios of edits: verdicts on them, typing meanwhile, saving, undoing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sitting import CODE, Scenario

if TYPE_CHECKING:
    from sitting import Sitting

ONE: Final = CODE.replace("line 3\n", "LINE 3\n")
OTHER: Final = CODE.replace("line 9\n", "line 9\nline 9.5\n")
BOTH: Final = ONE.replace("line 9\n", "line 9\nline 9.5\n")
KEEP, REJECT = "Keep this change", "Reject this change"
TOP: Final = "mine at the top"
MINE: Final = " and mine"
MINE_TOO: Final = CODE.replace("line 3\n", f"line 3{MINE}\n")


def edit(text: str = BOTH, name: str = "a.md") -> list[Any]:
    """The agent writes the disk by itself, and tells of it."""
    return [
        {"tool": name, "title": f"Edit {name}", "kind": "edit", "status": "in_progress"},
        {"write": name, "text": text, "via": "disk"},
        {"tool": name, "status": "completed"},
    ]


# --- where the file is, and what the person decides --------------------------------------


def _closed(s: Sitting) -> None:
    """D01: hunks are met when the files are opened, or taken back without that."""
    s.prompt()
    s.waits(2, "b.md")
    s.hands.open("b.md")
    s.marked(3, 10)
    assert s.hands.text() == BOTH
    s.hands.act(10, KEEP)
    s.waits(1, "b.md")
    s.hands.act(3, REJECT)
    s.waits(0, "b.md")
    s.holds(OTHER)
    s.on_disk(OTHER, "b.md")
    s.saves("b.md", helix="refused")
    # The other one was never open.
    s.hands.command("acpls.review.reject")
    s.waits(0)
    s.on_disk(CODE, "c.md")


def _clean(s: Sitting) -> None:
    """D07: the edit is there once, and one hunk goes by itself."""
    s.prompt()
    s.waits(2)
    s.hands.refocus()
    s.holds(BOTH)
    s.marked(3, 10)
    s.shot("clean")
    s.hands.act(3, KEEP)
    s.waits(1)
    s.hands.act(10, REJECT)
    s.waits(0)
    s.holds(ONE)
    s.on_disk(ONE)
    s.saves(helix="refused")


def _dirty_elsewhere(s: Sitting) -> None:
    """D14: unsaved lines stay; hunks come into the document with the verdict."""
    s.hands.above(1, TOP)
    s.hands.append(13, MINE)
    s.prompt()
    s.waits(2)
    s.marked(4, 11)
    s.hands.refocus()
    s.shot("dirty")
    mine = f"{TOP}\n{CODE}".replace("line 12", "line 12 and mine")
    assert s.hands.text() == mine
    assert s.disk() == BOTH
    s.hands.act(4, KEEP)
    s.waits(1)
    s.holds(mine.replace("line 3", "LINE 3"))
    s.hands.act(11, REJECT)
    s.waits(0)
    s.on_disk(ONE)
    s.holds(mine.replace("line 3", "LINE 3"))
    s.saves(neovim="asked", helix="refused")
    assert s.disk() == mine.replace("line 3", "LINE 3")


def _dirty_in_the_same_lines(s: Sitting) -> None:
    """Either side of a clash can be taken."""
    s.hands.append(3, MINE)
    s.hands.append(9, MINE)
    s.prompt()
    s.waits(2)
    s.marked(3, 9)
    mine = CODE.replace("line 3\n", "line 3 and mine\n").replace("line 9\n", "line 9 and mine\n")
    assert s.hands.text() == mine
    s.hands.act(3, "Keep mine")
    s.waits(1)
    s.hands.act(9, "Take the agent's lines over mine")
    s.waits(0)
    s.holds(mine.replace("line 9 and mine", "LINE 9"))
    s.on_disk(CODE.replace("line 9", "LINE 9"))
    s.saves(neovim="asked", helix="refused")


def _by_command(s: Sitting) -> None:
    """D18: what was kept stays kept, and what was rejected can come once more."""
    s.prompt()
    one, _ = s.waits(2)
    s.holds(BOTH)
    if s.hands.takes_arguments:
        s.hands.command("acpls.review.keep", {"hunk": one["hunk"]})
    else:
        s.hands.act(3, KEEP)
    s.waits(1)
    s.hands.command("acpls.review.reject")
    s.waits(0)
    s.holds(ONE)
    s.on_disk(ONE)
    s.prompt()
    s.waits(1)
    s.holds(BOTH)
    s.hands.command("acpls.review.keep")
    s.waits(0)
    assert s.hands.text() == s.disk() == BOTH


def _all_of_a_file(s: Sitting) -> None:
    """All hunks of a file, and of all files."""
    s.prompt()
    s.waits(4)
    s.holds(BOTH)
    s.marked(3, 10)
    assert s.hands.titles(5)[:4] == [
        "Keep all 2 changes in this file",
        "Reject all 2 changes in this file",
        "Keep all 4 changes in all files",
        "Reject all 4 changes in all files",
    ]
    s.hands.act(5, "Keep all 2 changes in this file")
    s.waits(2)
    s.hands.act(5, "Reject all 2 changes in all files")
    s.waits(0)
    assert s.hands.text() == s.disk() == BOTH
    s.on_disk(CODE, "b.md")


_TWO_FILES = {"a.md": CODE.encode(), "b.md": CODE.encode()}
EDITS = [
    Scenario(
        "closed",
        _closed,
        [[*edit(name="b.md"), *edit(name="c.md")]],
        {**_TWO_FILES, "c.md": CODE.encode()},
    ),
    Scenario("clean", _clean, [edit()]),
    Scenario("dirty_elsewhere", _dirty_elsewhere, [edit()]),
    Scenario(
        "dirty_in_the_same_lines",
        _dirty_in_the_same_lines,
        [edit(ONE.replace("line 9", "LINE 9"))],
    ),
    Scenario("by_command", _by_command, [edit()]),
    Scenario("all_of_a_file", _all_of_a_file, [[*edit(), *edit(name="b.md")]], _TWO_FILES),
]
