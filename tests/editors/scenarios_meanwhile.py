"""Scenarios of what happens between an edit and a verdict: typing, reloading, saving, undoing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios_edits import BOTH, KEEP, MINE, ONE, OTHER, REJECT, TOP, edit
from sitting import CODE, Scenario

if TYPE_CHECKING:
    from sitting import Sitting


# --- while an edit is on its way -----------------------------------------------------------


def _types_before_the_file_is_brought_in(s: Sitting) -> None:
    s.tap.hold()
    s.prompt()
    s.tap.until_held()
    s.hands.above(1, TOP)
    s.tap.let()
    s.waits(2)
    s.until(lambda: bool(s.refusals()), "a refusal")
    s.marked(4, 11)
    assert s.hands.text() == f"{TOP}\n{CODE}"
    s.hands.act(4, KEEP)
    s.waits(1)
    s.holds(f"{TOP}\n{ONE}")
    s.hands.act(11, REJECT)
    s.waits(0)
    s.on_disk(ONE)
    s.holds(f"{TOP}\n{ONE}")
    s.saves(neovim="asked", helix="refused")


def _types_before_a_verdict_is_carried_out(s: Sitting) -> None:
    s.hands.append(12, MINE)
    s.prompt()
    s.waits(2)
    s.marked(3, 10)
    s.tap.hold()
    s.hands.act(3, KEEP)
    s.tap.until_held()
    s.hands.above(1, TOP)
    s.tap.let()
    s.waits(1)
    s.until(lambda: bool(s.refusals()), "a refusal")
    s.holds(f"{TOP}\n{ONE}".replace("line 12", "line 12 and mine"))
    s.hands.act(11, KEEP)
    s.waits(0)
    s.holds(f"{TOP}\n{BOTH}".replace("line 12", "line 12 and mine"))
    s.saves(neovim="asked", helix="refused")


def _types_while_a_verdict_is_carried_out(s: Sitting) -> None:
    def keep() -> None:
        s.prompt()
        one, _ = s.waits(2)
        s.tap.command("acpls.review.keep", {"hunk": one["hunk"]})
        s.waits(1)

    s.hands.above(1, TOP, keep)
    s.holds(f"{TOP}\n{ONE}")
    s.hands.act(11, KEEP)
    s.waits(0)
    s.holds(f"{TOP}\n{BOTH}")
    s.saves(neovim="asked", helix="refused")


def _reloads_before_the_file_is_brought_in(s: Sitting) -> None:
    s.prompt()
    s.hands.reload()
    _is_there_once(s)


def _reloads_while_the_file_is_brought_in(s: Sitting) -> None:
    s.tap.hold()
    s.prompt()
    s.tap.until_held()
    s.hands.reload()
    s.holds(BOTH)
    s.tap.let()
    _is_there_once(s)


def _is_there_once(s: Sitting) -> None:
    s.waits(2)
    s.holds(BOTH)
    s.marked(3, 10)
    s.hands.act(3, KEEP)
    s.waits(1)
    s.hands.act(10, KEEP)
    s.waits(0)
    s.holds(BOTH)
    assert s.disk() == BOTH


# --- saving and undoing --------------------------------------------------------------------


def _saves_before_and_after(s: Sitting) -> None:
    """D53: saves by the person and edits by the agent take turns."""
    s.hands.above(1, TOP)
    s.saves()
    s.prompt()
    s.waits(2)
    s.holds(f"{TOP}\n{BOTH}")
    s.marked(4, 11)
    s.hands.act(4, KEEP)
    s.waits(1)
    s.saves(helix="refused")
    s.waits(1)
    s.hands.append(14, MINE)
    s.saves()
    s.waits(1)
    s.hands.act(11, REJECT)
    s.waits(0)
    s.holds(f"{TOP}\n{ONE}".replace("line 12", "line 12 and mine"))
    s.saves(helix="refused")


def _saves_over_what_is_not_in_the_document(s: Sitting) -> None:
    s.hands.above(1, TOP)
    s.prompt()
    s.waits(2)
    s.marked(4, 11)
    s.hands.act(4, KEEP)
    s.waits(1)
    # Having been asked, the person overwrites the rest of what the agent wrote.
    s.saves(neovim="asked", helix="refused")
    s.waits(0)
    assert s.disk() == f"{TOP}\n{ONE}"


def _undoes_a_kept_hunk(s: Sitting) -> None:
    s.hands.above(1, TOP)
    s.prompt()
    s.waits(2)
    s.marked(4, 11)
    s.hands.act(4, KEEP)
    s.waits(1)
    s.holds(f"{TOP}\n{ONE}")
    s.hands.undo()
    s.holds(f"{TOP}\n{CODE}")
    s.hands.act(11, KEEP)
    s.waits(0)
    s.holds(f"{TOP}\n{OTHER}")
    s.saves(neovim="asked", helix="refused")


def _undoes_what_was_brought_in(s: Sitting) -> None:
    s.prompt()
    s.waits(2)
    s.holds(BOTH)
    s.marked(3, 10)
    s.hands.act(3, KEEP)
    s.waits(1)
    s.hands.undo()
    s.holds(CODE)
    s.saves(neovim="asked", helix="refused")
    s.waits(0)
    assert s.disk() == CODE


MEANWHILE = [
    Scenario("types_before_the_file_is_brought_in", _types_before_the_file_is_brought_in, [edit()]),
    Scenario(
        "types_before_a_verdict_is_carried_out", _types_before_a_verdict_is_carried_out, [edit()]
    ),
    Scenario(
        "types_while_a_verdict_is_carried_out", _types_while_a_verdict_is_carried_out, [edit()]
    ),
    Scenario(
        "reloads_before_the_file_is_brought_in", _reloads_before_the_file_is_brought_in, [edit()]
    ),
    Scenario(
        "reloads_while_the_file_is_brought_in",
        _reloads_while_the_file_is_brought_in,
        [edit()],
        # It counts versions anew after that, so an edit for the text before is taken.
        not_in=("neovim",),
    ),
    Scenario("saves_before_and_after", _saves_before_and_after, [edit(f"{TOP}\n{BOTH}")]),
    Scenario(
        "saves_over_what_is_not_in_the_document",
        _saves_over_what_is_not_in_the_document,
        [edit()],
    ),
    Scenario("undoes_a_kept_hunk", _undoes_a_kept_hunk, [edit()]),
    Scenario("undoes_what_was_brought_in", _undoes_what_was_brought_in, [edit()]),
]
