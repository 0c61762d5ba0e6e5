"""Scenarios of files that the agent writes through the client, and of the questions about that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scenarios_edits import BOTH, KEEP, MINE, MINE_TOO, ONE, OTHER, REJECT, TOP
from sitting import CODE, Scenario

if TYPE_CHECKING:
    from sitting import Sitting

READ: Final = {"read": "a.md", "via": "client", "into": "text"}


def writes(text: str) -> list[Any]:
    """The agent writes through the client, where that can be done."""
    return [READ, {"write": "a.md", "text": text, "via": "client"}]


ASKS: Final = "(Waiting for you: )?Scripted agent writes a.md, where you h.*"


# --- writes --------------------------------------------------------------------------------


def _client_writes_a_clean_document(s: Sitting) -> None:
    """The agent is answered with success, and the document follows."""
    s.prompt()
    s.waits(2)
    s.holds(BOTH)
    assert s.disk() == BOTH
    assert s.heard()[-2:] == [{"content": CODE}, {}]
    s.marked(3, 10)
    s.hands.act(3, KEEP)
    s.waits(1)
    s.hands.act(10, REJECT)
    s.waits(0)
    s.holds(ONE)
    s.on_disk(ONE)
    s.saves(helix="refused")


def _client_writes_a_dirty_document(s: Sitting) -> None:
    """D06: what the agent was given has the unsaved line, which is no hunk."""
    s.hands.above(1, TOP)
    s.prompt()
    s.waits(2)
    s.marked(4, 11)
    assert s.heard()[-2:] == [{"content": f"{TOP}\n{CODE}"}, {}]
    assert s.hands.text() == f"{TOP}\n{CODE}"
    assert s.disk() == f"{TOP}\n{BOTH}"
    s.hands.act(4, KEEP)
    s.waits(1)
    s.hands.act(11, REJECT)
    s.waits(0)
    s.holds(f"{TOP}\n{ONE}")
    s.on_disk(f"{TOP}\n{ONE}")
    s.saves(helix="refused")


def _asked(s: Sitting, answer: str) -> None:
    s.hands.append(3, MINE)
    s.prompt(ends=False)
    s.until(lambda: len(s.tap.command("acpls.question.list")) == 1, "a question")
    titles = s.hands.titles(7)
    s.shot("asked")
    s.hands.act(7, next(title for title in titles if title.startswith(answer)))
    s.until_idle()


def _keeps_mine(s: Sitting) -> None:
    """D11: the person's lines stay, and the agent is told."""
    _asked(s, "Keep mine and refuse the agent's text")
    assert s.hands.text() == MINE_TOO
    assert s.disk() == CODE
    assert "keeps the unsaved changes" in s.heard()[-1]["message"]
    s.saves()


def _merges(s: Sitting) -> None:
    """D11: the file has the agent's text, the document both sides."""
    _asked(s, "Let the agent write")
    s.waits(2)
    s.marked(3, 10)
    s.shot("clash")
    assert s.heard()[-1] == {}
    assert s.hands.text() == MINE_TOO
    s.hands.act(3, "Keep mine")
    s.waits(1)
    s.hands.act(10, KEEP)
    s.waits(0)
    s.holds(MINE_TOO.replace("line 9\n", "line 9\nline 9.5\n"))
    assert s.disk() == OTHER
    s.saves(neovim="asked", helix="refused")


def _stops(s: Sitting) -> None:
    """D11: the turn ends, and nothing is written."""
    _asked(s, "Stop the agent")
    assert s.hands.text() == MINE_TOO
    assert s.disk() == CODE
    (session,) = s.tap.command("acpls.session.list")["sessions"]
    assert session["stopReason"] == "cancelled"
    s.saves()


def _held(s: Sitting) -> None:
    """The agent's write waits for the verdicts."""
    s.prompt(ends=False)
    s.waits(2)
    s.marked(3, 10)
    s.shot("held")
    assert s.hands.text() == s.disk() == CODE
    s.hands.act(3, KEEP)
    s.hands.act(10, REJECT)
    s.until_idle()
    s.waits(0)
    assert s.disk() == ONE
    s.holds(ONE)
    s.saves(helix="refused")


_WRITES = [{"write": "a.md", "text": BOTH, "via": "client"}]
CLIENT = [
    Scenario(
        "client_writes_a_clean_document",
        _client_writes_a_clean_document,
        [writes(BOTH)],
        version=1,
    ),
    Scenario(
        "client_writes_a_dirty_document",
        _client_writes_a_dirty_document,
        [writes(f"{TOP}\n{BOTH}")],
        version=1,
    ),
    Scenario("keeps_mine", _keeps_mine, [_WRITES], version=1, popups=(ASKS,)),
    Scenario("merges", _merges, [_WRITES], version=1, popups=(ASKS,)),
    Scenario("stops", _stops, [[*_WRITES, "wait_cancel"]], version=1, popups=(ASKS,)),
    Scenario("held", _held, [_WRITES], version=1, settings='[review]\nmode = "before"\n'),
]
