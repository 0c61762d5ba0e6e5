"""Scenarios of what a question is about, and of those that nobody will answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scenarios_questions import ALLOW, REJECT, answers, ask, both, offered

if TYPE_CHECKING:
    from sitting import Scenario, Sitting


def _is_dismissed(s: Sitting) -> None:
    """There will be no answer; the turn goes on. Only an agent that withdraws questions by
    itself can be told so.
    """
    s.prompt(ends=False)
    s.asked("Edit a.md")
    dismiss = "Dismiss: Edit a.md"
    if s.scenario.version == 1:
        assert dismiss not in s.hands.titles(7)
        answers(s, "No, leave it")
        s.until_idle()
        assert s.chosen() == ["no"]
        return
    s.hands.act(7, dismiss)
    s.until_idle()
    assert s.chosen() == [None]
    (session,) = s.tap.command("acpls.session.list")["sessions"]
    assert session["stopReason"] == "end_turn"
    assert offered(s) == []


def _stands_in_the_conversation(s: Sitting) -> None:
    """P02: one command leads to where it stands, with what is to be run and where."""
    s.prompt(ends=False)
    s.asked("Run it? make && make install")
    s.hands.command("acpls.question.show")
    s.until(lambda: s.hands.at()[0] != "a.md", "the conversation")
    s.until(lambda: "make && make install" in s.hands.text(), "what is to be run")
    s.shot("about")
    text = s.hands.text()
    row = next(n for n, line in enumerate(text.split("\n"), 1) if "**Run it? make" in line)
    # In ACP 1 nobody says where.
    assert (str(s.project) in text) == (s.scenario.version == 2)
    s.marked(row)
    answers(s, "No, leave it", line=row)
    s.until_idle()
    assert s.chosen() == ["no"]


def _cursor_is_at_the_question(s: Sitting) -> None:
    s.prompt(ends=False)
    s.asked("Edit a.md")
    s.hands.command("acpls.question.show")
    s.until(lambda: s.hands.at()[0] != "a.md", "the conversation")
    s.until(lambda: _row_at(s).startswith("> **Edit a.md**"), "the cursor at the question")
    s.shot("there")
    answers(s, "No, leave it", line=s.hands.at()[1])
    s.until_idle()


def _row_at(s: Sitting) -> str:
    """The line that the cursor is in. To have all of the text would move it in Helix."""
    _, line = s.hands.at()
    if s.hands.name != "helix":
        return s.hands.text().split("\n")[line - 1]
    return next(row[7:] for row in s.hands.terminal.lines() if f" {line} " in row[:8])


RUN: Final = {
    "ask": "Run it?",
    "call": {"tool": "run", "title": "Run it?", "kind": "execute"},
    "command": "make && make install",
    "options": [ALLOW, REJECT],
}
ABOUT: Final[list[Scenario]] = [
    *both(_is_dismissed, [[ask()]]),
    *both(_stands_in_the_conversation, [[RUN]]),
    *both(_cursor_is_at_the_question, [[ask()]]),
]
