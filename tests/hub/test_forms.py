"""Forms that agents want filled in: shown, checked, answered exactly once."""

from __future__ import annotations

from typing import Any

import pytest
from form_scene import DRAWS, MARK, PLAIN, SCHEMA, YES_OR_NO, form, opened, said, settled
from scene import AGENT, CANCELLED, NATIVE, ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.conversing import rendering
from acpls.session import updates as up
from acpls.session.asks import Accepted, Cancelled, Declined
from acpls.session.content import Fragment

CONTENT = {"name": "Ann", "count": 2}
QUESTIONS = ev.EditorReady((ROOT,), questions=True)
DIALOGS = ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True)


def options(scene: Scene) -> list[str]:
    (told,) = scene.result("question.list")
    return [option["name"] for option in told["options"]]


# --- asked -------------------------------------------------------------------------------


ABOUT = (
    "- Your name\n- count\n- password (optional)\npassword: Careful: this seems "
    "to ask for a secret. The agent gets what you write here."
)


def test_a_form_is_a_question_that_says_what_it_asks_for() -> None:
    scene = opened()
    form(scene)
    (told,) = scene.result("question.list")
    assert told == {
        "question": "q1",
        "session": "s1",
        "agent": AGENT,
        "title": "Who are you?",
        "description": ABOUT,
        "text": ABOUT,
        "options": [
            {"option": "fill", "name": "Fill in the form", "kind": "form"},
            {"option": "decline", "name": "Decline the form", "kind": "reject_once"},
        ],
        "state": "open",
        "schema": SCHEMA,
    }
    assert scene.answers() == []
    shown = rendering(scene.state, scene.state.sessions["s1"])
    row = shown.questions["q1"]
    assert shown.lines[row] == "> **Who are you?**"
    assert shown.lines[row + 2 : row + 5] == (
        "> - Your name",
        "> - count",
        "> - password (optional)",
    )
    assert "> - Fill in the form" in shown.lines
    assert "> Answer with a code action." in shown.lines


@pytest.mark.parametrize("native", [None, "strange"])
def test_a_form_may_be_about_no_session(native: str | None) -> None:
    scene = opened()
    form(scene, session=native)
    (told,) = scene.result("question.list")
    assert "session" not in told
    assert said(scene) == ["Waiting for you: Who are you?"]
    scene.result("question.answer", action="accept", content=CONTENT)
    assert scene.answered(7) == Accepted(CONTENT)


@pytest.mark.parametrize(
    ("ready", "tells", "puts"),
    [(PLAIN, 1, 0), (QUESTIONS, 0, 1), (DIALOGS, 0, 1), (DRAWS, 0, 1)],
)
def test_how_a_form_is_shown(ready: ev.EditorReady, tells: int, puts: int) -> None:
    scene = opened(ready)
    form(scene)
    assert (len(said(scene)), len(scene.put())) == (tells, puts)


def test_a_form_that_is_one_choice_has_its_answers_as_options() -> None:
    scene = opened()
    form(scene, YES_OR_NO)
    assert options(scene) == ["Yes", "No", "Decline the form"]
    scene.result("question.answer", option="choice-2")
    assert scene.answered(7) == Accepted({"sure": False})
    assert settled(scene) == [("editor", "choice-2")]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"properties": {"x": {"type": "map"}}, "required": ["x"]}, "x is of a kind that acpls"),
        ({"properties": 3}, "its properties are no object"),
    ],
)
def test_a_form_that_cannot_be_shown_is_declined_and_told(schema: dict[str, Any], why: str) -> None:
    scene = opened()
    form(scene, schema)
    assert scene.answered(7) == Declined()
    assert scene.state.questions.all == {}
    (message,) = said(scene)
    assert message.startswith(f"A form of Demo agent was declined: {why}")


def test_what_is_left_out_is_said() -> None:
    scene = opened()
    form(scene, {"properties": {"x": {"type": "map"}}})
    (told,) = scene.result("question.list")
    assert told["description"] == "acpls does not know how to ask for x, and leaves it out."
    assert options(scene) == ["Accept", "Decline the form"]


# --- answered with an action ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "answer", "option"),
    [
        ({"action": "accept", "content": CONTENT}, Accepted(CONTENT), "accept"),
        (
            {"action": "accept", "content": {**CONTENT, "password": None}},
            Accepted(CONTENT),
            "accept",
        ),
        ({"action": "decline"}, Declined(), "decline"),
        ({"option": "decline"}, Declined(), "decline"),
        ({"action": "cancel"}, CANCELLED, None),
    ],
)
def test_the_answers(arguments: dict[str, Any], answer: object, option: str | None) -> None:
    scene = opened()
    form(scene)
    assert scene.result("question.answer", **arguments) == {}
    assert scene.answered(7) == answer
    assert settled(scene) == [("editor", option)]
    failure = scene.error("question.answer", question="q1", **arguments)
    assert (failure.message, failure.field) == (
        "The question was settled already, by editor",
        "question",
    )
    assert len(scene.answers()) == 1


@pytest.mark.parametrize(
    ("content", "message", "field"),
    [
        (None, "Your name must be filled in (and 1 more)", "content.name"),
        ({"name": "A", "count": 1}, "Your name must have at least 2 characters", "content.name"),
        ({"name": MARK, "count": 0}, "count must be at least 1", "content.count"),
        ({**CONTENT, "else": MARK}, "else is no field of the form", "content.else"),
        ({**CONTENT, "password": [MARK]}, "password must be a text", "content.password"),
    ],
)
def test_what_does_not_fit_is_not_sent(
    content: dict[str, Any] | None, message: str, field: str
) -> None:
    scene = opened()
    form(scene)
    given = {} if content is None else {"content": content}
    failure = scene.error("question.answer", action="accept", **given)
    assert (failure.code, failure.message, failure.field) == (-32602, message, field)
    assert scene.answers() == []
    scene.result("question.answer", action="accept", content=CONTENT)
    assert scene.answered(7) == Accepted(CONTENT)


def test_an_action_is_for_forms_and_pages() -> None:
    scene = opened()
    scene.asks()
    failure = scene.error("question.answer", action="accept")
    assert (failure.message, failure.field) == (
        "This question is answered with an option",
        "action",
    )
    failure = scene.error("question.answer")
    message = "Which option is meant? The question offers: yes, always, no"
    assert (failure.message, failure.field) == (message, "option")
    scene.give(ev.LinkAsked(AGENT, 8, None, "Log in", "https://a.example", "l"))
    scene.result("question.answer", question="q2", action="accept")
    assert scene.answered(8) == Accepted()
    assert scene.of(ef.OpenLink) == []


def test_a_form_of_a_tool_call_says_for_which_and_its_verdicts_are_none_of_the_form() -> None:
    scene = opened()
    scene.tool_call("call", Fragment(A, None, "new\n"), title="Ask the server", status="pending")
    form(scene, tool_call="call")
    (told,) = scene.result("question.list")
    assert told["description"].startswith("For: Ask the server\n- Your name")
    assert "subject" not in told
    scene.result("review.reject", all=True)
    assert scene.answers() == []


def test_a_subagents_form_is_asked_for_the_session_it_works_for() -> None:
    scene = opened()
    scene.prompts()
    scene.tells(up.SubagentPatched("another", "Helper"))
    form(scene, session="another")
    (told,) = scene.result("question.list")
    assert (told["session"], told["subagent"]) == ("s1", "another")
    scene.result("session.cancel")
    scene.ends("cancelled")
    assert scene.answered(7) == Cancelled()


# --- editors that draw forms ----------------------------------------------------------------


def test_an_editor_that_draws_forms_gets_all_at_once_and_pages_too() -> None:
    scene = opened(DRAWS)
    form(scene)
    scene.asks(1)
    form(scene, request=8)
    scene.give(ev.LinkAsked(AGENT, 9, None, "Log in", "https://a.example", "l"))
    # Permissions are none of these, and have no dialog here.
    assert scene.put() == ["q1", "q3", "q4"]
    scene.give(ev.QuestionPut("q4", None, "accept"))
    assert scene.answered(9) == Accepted()
    assert said(scene) == ["Waiting for you: May I?"]


@pytest.mark.parametrize(
    "answer",
    [
        (None, None),
        ("dance", None),
        (["accept"], None),
        ("accept", None),
        ("accept", "Ann"),
        ("accept", {"name": "A", "count": 1}),
    ],
)
def test_what_it_answers_wrongly_leaves_the_form_open(answer: tuple[object, object]) -> None:
    scene = opened(DRAWS)
    form(scene)
    scene.give(ev.QuestionPut("q1", None, *answer))
    assert scene.answers() == []
    assert len(said(scene)) == (answer[0] == "accept")
    scene.result("question.answer", action="accept", content=CONTENT)
    assert scene.answered(7) == Accepted(CONTENT)
    # Late words change nothing.
    scene.give(ev.QuestionPut("q1", None, "decline"))
    assert len(scene.answers()) == 1


def test_dialogs_are_one_at_a_time_beside_forms_that_are_drawn() -> None:
    scene = opened(
        ev.EditorReady((ROOT,), forms=True, dialogs=True, gentle_dialogs=True),
    )
    scene.asks(1)
    form(scene)
    scene.asks(2)
    assert scene.put() == ["q1", "q2"]
    scene.give(ev.QuestionPut("q1", "yes"))
    assert scene.put() == ["q1", "q2", "q3"]


# --- over without an answer --------------------------------------------------------------------


def test_a_form_goes_with_its_turn_and_one_of_before_stays() -> None:
    scene = opened()
    form(scene)
    scene.prompts()
    form(scene, request=8)
    scene.result("session.cancel")
    assert scene.answers() == [CANCELLED]
    assert [question.key for question in scene.state.questions.pending()] == ["q1"]


def test_a_form_can_be_withdrawn() -> None:
    scene = opened()
    form(scene)
    scene.give(ev.RequestWithdrawn(AGENT, 7))
    assert scene.answered(7) == CANCELLED
    assert settled(scene) == [("agent", None)]


def test_a_form_goes_with_its_agent_and_nobody_is_answered() -> None:
    scene = opened()
    form(scene)
    form(scene, session=None, request=8)
    scene.dies()
    assert scene.answers() == []
    assert scene.state.questions.pending() == []


def test_a_form_goes_with_its_session() -> None:
    scene = opened()
    form(scene)
    scene.result("session.close")
    assert scene.answered(7) == CANCELLED


def test_a_login_that_is_given_up_takes_its_form_along() -> None:
    scene = opened()
    scene.state.agent(AGENT).state = "loggingIn"
    form(scene, session=None)
    form(scene, session=NATIVE, request=8)
    scene.result("agent.cancelLogin")
    assert scene.answers() == [CANCELLED]
    assert [question.kind for question in scene.state.questions.pending()] == ["form", "login"]
