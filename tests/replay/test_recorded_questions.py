"""What recorded agents asked is answered once, and nothing stays open when they were stopped."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest
from questioned import ABOUT_QUESTIONS, AGENTS, account, accounts_file, played, stored
from recorded import FOLDER, Line, read

from acpls.questions import Question, Questions, SettledBy

if TYPE_CHECKING:
    from questioned import Questioned

    from acpls.effects import Effect

STOPPED: Final = [
    name
    for name in ABOUT_QUESTIONS
    if any(
        isinstance(x, Line) and x.message and x.message.get("method") == "session/cancel"
        for x in read(name)
    )
]


@pytest.mark.parametrize("name", ABOUT_QUESTIONS)
def test_questions_go_as_their_account_says(name: str) -> None:
    assert account(name) == stored(name)


@pytest.mark.parametrize("name", ABOUT_QUESTIONS)
def test_each_request_has_one_answer_and_none_when_the_agent_is_gone(name: str) -> None:
    """P05, P08: by the id of the request, whatever else two of them have in common."""
    for one in played(name):
        assert _types(one.answers()) == _types(one.asked)
        assert one.too_late == []
        assert one.scene.state.questions.pending() == []


def _types(requests: list[object]) -> Counter[tuple[type, object]]:
    # Ids begin at 0 in some agents, and are texts in others.
    return Counter((type(request), request) for request in requests)


@pytest.mark.parametrize("name", STOPPED)
def test_nothing_stays_open_when_a_turn_was_stopped(name: str) -> None:
    for one in played(name):
        assert one.left_open == []
        assert one.at_the_end == []


def test_a_question_that_is_forgotten_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = Questions.settle

    def forgetful(
        questions: Questions, question: Question, by: SettledBy, *given: Any, **more: Any
    ) -> tuple[Effect, ...]:
        return () if by == "cancel" else settle(questions, question, by, *given, **more)

    monkeypatch.setattr(Questions, "settle", forgetful)
    forgotten = [one for name in STOPPED for one in played(name) if one.left_open]
    assert {one.name.split("/")[0] for one in forgotten} >= {"gemini", "opencode", "vibe"}
    assert all(_types(one.answers()) != _types(one.asked) for one in forgotten)


def test_there_are_questions_of_many_agents_in_both_versions() -> None:
    every = [one for name in ABOUT_QUESTIONS for one in played(name)]
    asking_ones = [one for one in every if one.asked]
    assert (len(ABOUT_QUESTIONS), len(STOPPED), len(asking_ones)) == (181, 53, 147)
    assert sum(len(one.asked) for one in every) == 192
    assert {_protocol(one) for one in asking_ones} == {1, 2}
    # The ids that agents give: 0 is one, and so is a text.
    assert {type(request) for one in every for request in one.asked} == {int, str}
    assert any(request == 0 for one in every for request in one.asked)


def _protocol(one: Questioned) -> int:
    assert one.process.facts is not None
    return one.process.facts.protocol


def test_no_account_is_left_over() -> None:
    kept = [line for agent in AGENTS for line in accounts_file(agent).read_text().splitlines()]
    assert sum(line.startswith("## ") for line in kept) == len(ABOUT_QUESTIONS)
    assert sorted(file.parent.name for file in FOLDER.glob("*/questions.md")) == sorted(AGENTS)
