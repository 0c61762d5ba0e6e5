"""The scenarios of a review in a real Neovim with the configuration of this repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from nvim import neovim
from nvim_hands import NvimHands
from scenarios import of
from scenarios_edits import BOTH, KEEP, ONE, TOP, edit
from sitting import CODE, Scenario, Sitting

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.editors,
    pytest.mark.needs("nvim", found=neovim()),
    pytest.mark.timeout(60),
]


@pytest.mark.parametrize("scenario", of("neovim"), ids=lambda scenario: scenario.name)
def test_neovim(tmp_path: Path, scenario: Scenario) -> None:
    Sitting.play(tmp_path, scenario, NvimHands)


def _is_edited_while_it_asks_about_a_save(s: Sitting) -> None:
    nvim = s.hands
    assert isinstance(nvim, NvimHands)
    s.tap.hold()
    s.prompt()
    s.tap.until_held()
    nvim.keys(":write<CR>")
    nvim.until_shown("(y/n)?")
    s.tap.let()
    s.until(lambda: bool(s.refusals()), "the edit is refused")
    nvim.keys("y")
    s.until(lambda: bool(s.tap.sent("editor", "textDocument/didSave")), "the file is written")
    nvim.go_on()
    s.waits(0)
    assert nvim.text() == s.disk() == CODE


def test_neovim_loses_no_line_of_a_document_that_it_asks_about(tmp_path: Path) -> None:
    """It would write as many lines as there were when it asked, and call that saved."""
    scenario = Scenario("asked", _is_edited_while_it_asks_about_a_save, [edit()])
    Sitting.play(tmp_path, scenario, NvimHands)


# --- what Neovim itself says of an edit ------------------------------------------------------


def _is_told(s: Sitting) -> None:
    """Neovim prints a line, which may be too long for the screen."""
    s.hands.terminal.until_shown("newer than")
    s.hands.go_on()
    s.until(lambda: bool(s.tap.answers()), "an answer")


def _types_before_the_file_is_brought_in(s: Sitting) -> None:
    s.tap.hold()
    s.prompt()
    s.tap.until_held()
    s.hands.above(1, TOP)
    s.tap.let()
    _is_told(s)
    assert [answer["result"] for answer in s.tap.answers()] == [{"applied": True}]
    assert s.hands.text() == f"{TOP}\n{CODE}"
    s.waits(2)
    s.marked(4, 11)
    s.hands.act(5, "Keep all 2 changes in this file")
    s.waits(0)
    s.holds(f"{TOP}\n{BOTH}")


def _types_before_a_verdict_is_carried_out(s: Sitting) -> None:
    s.hands.append(12, " and mine")
    s.prompt()
    s.waits(2)
    s.marked(3, 10)
    s.tap.hold()
    s.hands.act(3, KEEP)
    s.tap.until_held()
    s.hands.above(1, TOP)
    s.tap.let()
    _is_told(s)
    s.until(lambda: bool(s.tap.sent("server", "window/showMessage")), "the hunk stays")
    assert [answer["result"] for answer in s.tap.answers()] == [{"applied": True}]
    mine = CODE.replace("line 12", "line 12 and mine")
    assert s.hands.text() == f"{TOP}\n{mine}"
    assert len(s.pending()) == 2
    # Once more, then.
    s.hands.act(4, KEEP)
    s.waits(1)
    s.holds(f"{TOP}\n{ONE}".replace("line 12", "line 12 and mine"))
    s.hands.act(11, KEEP)
    s.waits(0)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("the_file", _types_before_the_file_is_brought_in, [edit()]),
        Scenario(
            "a_verdict",
            _types_before_a_verdict_is_carried_out,
            [edit()],
            popups=("Cannot keep a change: the document changed meanwhile.*",),
        ),
    ],
    ids=lambda scenario: scenario.name,
)
def test_neovim_says_of_an_edit_that_it_was_made_and_does_not_make_it(
    tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the handler of our configuration: typed text stays, and no edit lands elsewhere."""
    monkeypatch.setenv("ACPLS_PLAIN", "1")
    Sitting.play(tmp_path, scenario, NvimHands)
