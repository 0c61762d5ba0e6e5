"""A form is a question like any other: answered once, and only with what was found to fit."""

from __future__ import annotations

import pytest

from acpls.effects import QuestionSettled, SendAnswer, ShowQuestions
from acpls.events import FormAsked, LinkAsked
from acpls.forms import Form, read
from acpls.questions import ACCEPT, DECLINE, FILL, Questions
from acpls.session.asks import Accepted, Answer, Cancelled, Declined

VALUES = {"name": "Ann"}
TEXT = read({"properties": {"name": {"type": "string"}}})
YES_OR_NO = read({"properties": {"sure": {"type": "boolean"}}, "required": ["sure"]})


def asked(agent: str = "claude", session: str | None = "native") -> FormAsked:
    return FormAsked(agent, 7, session, "Who?", {})


@pytest.mark.parametrize(
    ("form", "options"),
    [
        (TEXT, [FILL, DECLINE]),
        (YES_OR_NO, ["choice-1", "choice-2", DECLINE]),
        (Form(), ["choice-1", DECLINE]),
    ],
)
def test_what_is_offered(form: Form, options: list[str]) -> None:
    question = Questions().fill_in(asked(), "s1", "Who?", form, "about")
    assert [option.option for option in question.options] == options
    assert (question.kind, question.form) == ("form", form)
    # Nothing of it may be taken for permission.
    assert not any(option.kind.startswith("allow") for option in question.options)


@pytest.mark.parametrize(
    ("form", "option", "answer"),
    [
        (TEXT, ACCEPT, Accepted(VALUES)),
        (TEXT, DECLINE, Declined()),
        (TEXT, None, Cancelled()),
        (YES_OR_NO, "choice-1", Accepted({"sure": True})),
        (YES_OR_NO, ACCEPT, Accepted(VALUES)),
    ],
)
def test_the_answer_is_made_once(form: Form, option: str | None, answer: Answer) -> None:
    questions = Questions()
    question = questions.fill_in(asked(), "s1", "Who?", form, "about")
    content = VALUES if option == ACCEPT else None
    assert questions.settle(question, "editor", option, content=content) == (
        SendAnswer("claude", 7, answer),
        QuestionSettled("q1", "editor", option),
        ShowQuestions(),
    )
    assert questions.settle(question, "editor", ACCEPT, content=VALUES) == ()


@pytest.mark.parametrize("option", [FILL, ACCEPT, "choice-3"])
def test_what_answers_nothing_leaves_it_open(option: str) -> None:
    questions = Questions()
    question = questions.fill_in(asked(), "s1", "Who?", TEXT, "about")
    with pytest.raises(ValueError, match="q1 does not offer"):
        questions.settle(question, "editor", option)
    assert question.open


def test_pages_and_forms_of_an_agent_are_found() -> None:
    questions = Questions()
    form = questions.fill_in(asked(), "s1", "Who?", TEXT, "")
    other = questions.fill_in(asked("codex"), "", "Who?", TEXT, "")
    page = LinkAsked("claude", 8, None, "Log in", "https://a.example", "l")
    link = questions.visit(page, "", can_open=True)
    assert questions.elicited("claude") == [form, link]
    assert questions.elicited("claude", "") == [link]
    assert questions.elicited("codex") == [other]
    assert questions.visits("claude") == [link]


def test_values_are_in_no_words_about_an_answer() -> None:
    assert "Ann" not in repr(Accepted(VALUES))
