"""Questions come, are put to the user, and are answered exactly once."""

from __future__ import annotations

import pytest
from scene import (
    AGENT,
    CANCELLED,
    FACTS,
    FACTS_2,
    ROOT,
    SELECTED,
    A,
    Scene,
    about,
)

from acpls import effects as ef
from acpls import events as ev
from acpls.session.asks import AgentFacts, Failure, Selected
from acpls.session.content import AboutCommand, AboutToolCall, Choosable, Fragment, Subject

DIALOGS = ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True)
ROUGH = ev.EditorReady((ROOT,), dialogs=True)
PLAIN = ev.EditorReady((ROOT,))


def opened(ready: ev.EditorReady | None = None) -> Scene:
    """A scene with a session in a turn."""
    scene = Scene() if ready is None else Scene(ready=ready)
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def previews(scene: Scene) -> set[str]:
    """The questions that show what they are about to change."""
    return {shown["question"] for shown in scene.result("question.list") if "preview" in shown}


def put(scene: Scene, question: str, option: str | None) -> None:
    scene.give(ev.QuestionPut(question, option))


# --- arrival ---------------------------------------------------------------------------


def test_a_question_is_shown_put_and_answered() -> None:
    scene = opened()
    assert scene.asks(1) == "q1"
    assert scene.seen[:3] == [
        ef.ShowSession("s1", "state"),
        ef.ShowQuestions(),
        ef.PutQuestion("q1"),
    ]
    scene.seen.clear()
    assert scene.result("question.answer", question="q1", option="yes") == {}
    assert scene.seen[:3] == [
        ef.SendAnswer(AGENT, 1, SELECTED),
        ef.QuestionSettled("q1", "editor", "yes"),
        ef.ShowQuestions(),
    ]


def test_a_question_for_a_session_that_is_not_open_is_refused_as_such() -> None:
    scene = opened()
    scene.give(ev.QuestionAsked(AGENT, 1, "strange", "May I?", ()))
    assert scene.answered(1) == Failure(-32602, "no such session is open here")
    assert scene.state.questions.all == {}


@pytest.mark.parametrize(
    ("given", "subject", "title"),
    [
        ("Delete it?", AboutToolCall("call"), "Delete it?"),
        (None, AboutToolCall("call"), "Edit the menu"),
        # The one that waits may be what is meant.
        (None, AboutToolCall("unknown"), "Edit the menu"),
        (None, AboutCommand("make tea", ROOT), "Run make tea"),
        ("", None, "Demo agent asks for permission and says nothing more"),
    ],
)
def test_a_question_always_has_a_title(given: str | None, subject: Subject, title: str) -> None:
    scene = opened()
    scene.tool_call("call", title="Edit the menu")
    scene.asks(1, given, subject=subject)
    assert scene.state.questions.all["q1"].title == title


# --- putting them to the user ------------------------------------------------------------


def test_an_editor_that_queues_questions_gets_all_at_once() -> None:
    """P07."""
    scene = opened()
    scene.asks(1)
    scene.asks(2)
    assert scene.put() == ["q1", "q2"]


def test_dialogs_come_one_at_a_time() -> None:
    """P07."""
    scene = opened(DIALOGS)
    for request in (1, 2, 3):
        scene.asks(request)
    assert scene.put() == ["q1"]
    put(scene, "q1", "yes")
    assert scene.put() == ["q1", "q2"]
    put(scene, "q2", "no")
    assert scene.put() == ["q1", "q2", "q3"]
    assert scene.answers() == [SELECTED, Selected("no")]


def test_a_dismissed_dialog_is_no_answer_and_makes_room_for_the_next() -> None:
    """P07."""
    scene = opened(DIALOGS)
    scene.asks(1)
    scene.asks(2)
    put(scene, "q1", None)
    assert scene.put() == ["q1", "q2"]
    assert scene.answers() == []
    # It stays open, and can be answered in other ways.
    scene.result("question.answer", question="q1", option="yes")
    assert scene.answered(1) == SELECTED


@pytest.mark.parametrize(
    ("ready", "dialogs", "wanted"),
    [
        (DIALOGS, "auto", ["q1"]),
        (DIALOGS, False, []),
        (ROUGH, "auto", []),
        (ROUGH, True, ["q1"]),
        (PLAIN, True, []),
    ],
)
def test_dialogs_are_used_where_they_are_wanted_and_there(
    ready: ev.EditorReady, dialogs: object, wanted: list[str]
) -> None:
    scene = Scene(ready=ready)
    scene.give(ev.SettingsChanged(({"questions": {"dialogs": dialogs}},)))
    scene.session()
    scene.asks(1)
    assert scene.put() == wanted
    assert len(scene.state.questions.pending()) == 1


def test_open_questions_are_put_when_the_editor_comes_to_be_ready() -> None:
    scene = opened(PLAIN)
    scene.asks(1)
    assert scene.put() == []
    scene.give(DIALOGS)
    assert scene.put() == ["q1"]


def test_open_questions_are_put_when_dialogs_become_allowed() -> None:
    scene = opened(ROUGH)
    scene.asks(1)
    assert scene.put() == []
    scene.give(ev.SettingsChanged(({"questions": {"dialogs": True}},)))
    assert scene.put() == ["q1"]


def test_a_question_about_a_change_waits_until_the_file_was_read() -> None:
    scene = opened()
    scene.has(A, "one\n")
    scene.holds = {ef.ReadFile}
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    scene.asks(1, subject=about())
    # Those behind it wait as well, but for those of other sessions (P16).
    scene.asks(2, subject=AboutCommand("make", ROOT))
    scene.session("other")
    scene.asks(3, native="other")
    assert scene.put() == ["q3"]
    scene.let(ef.ReadFile)
    assert scene.put() == ["q3", "q1", "q2"]
    assert previews(scene) == {"q1"}


def test_a_question_that_had_to_wait_waits_for_the_open_dialog_too() -> None:
    """P07: the older one is no reason for a second dialog."""
    scene = opened(DIALOGS)
    scene.has(A, "one\n")
    scene.holds = {ef.ReadFile}
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    scene.asks(1, subject=about())
    scene.session("other")
    scene.asks(2, native="other")
    assert scene.put() == ["q2"]
    scene.let(ef.ReadFile)
    assert scene.put() == ["q2"]
    put(scene, "q2", "yes")
    assert scene.put() == ["q2", "q1"]


# --- answers -------------------------------------------------------------------------------


def test_a_late_answer_of_the_editor_is_none() -> None:
    """P10."""
    scene = opened()
    scene.asks(1)
    scene.result("question.answer", question="q1", option="no")
    put(scene, "q1", "yes")
    assert scene.answers(1) == [Selected("no")]


def test_a_second_answer_is_refused() -> None:
    """P10."""
    scene = opened()
    scene.asks(1)
    put(scene, "q1", "yes")
    failure = scene.error("question.answer", question="q1", option="no")
    assert failure.message == "The question was settled already, by editor"
    assert (failure.code, failure.field) == (-32602, "question")
    assert scene.answers(1) == [SELECTED]


def test_an_answer_after_the_cancel_is_refused() -> None:
    """P10."""
    scene = opened()
    scene.asks(1)
    scene.result("session.cancel")
    failure = scene.error("question.answer", question="q1", option="yes")
    assert failure.message == "The question was settled already, by cancel"
    assert scene.answers(1) == [CANCELLED]


def test_an_option_that_is_not_offered_leaves_the_question_open() -> None:
    scene = opened()
    scene.asks(1)
    failure = scene.error("question.answer", question="q1", option="maybe")
    message = "The question does not offer 'maybe'; it offers: yes, always, no"
    assert (failure.message, failure.field) == (message, "option")
    put(scene, "q1", "maybe")
    assert scene.answers() == []
    assert scene.state.questions.all["q1"].open


def test_the_answer_is_the_exact_id_of_the_option() -> None:
    scene = opened()
    odd = (Choosable(" Yes\n", "Yes", "allow_once"), Choosable("yes", "Never", "reject_always"))
    scene.asks(1, options=odd)
    put(scene, "q1", " Yes\n")
    assert scene.answered(1) == Selected(" Yes\n")


# --- withdrawn -----------------------------------------------------------------------------


def test_a_withdrawn_question_gets_its_one_answer() -> None:
    scene = opened(DIALOGS)
    scene.asks(1)
    scene.asks(2)
    scene.seen.clear()
    scene.give(ev.RequestWithdrawn(AGENT, 1))
    assert scene.answered(1) == CANCELLED
    assert scene.of(ef.QuestionSettled) == [ef.QuestionSettled("q1", "agent")]
    assert scene.put() == ["q2"]
    # Again, or for a request that was never a question: nothing.
    assert scene.give(ev.RequestWithdrawn(AGENT, 1)) == []


@pytest.mark.parametrize(("withdrawn", "settled"), [(1, "q1"), ("1", "q2")])
def test_questions_are_told_apart_by_their_request(withdrawn: int | str, settled: str) -> None:
    """P08: two questions about one tool call; ``1`` is not ``"1"``."""
    scene = opened()
    scene.tool_call("call")
    scene.asks(1, subject=about())
    scene.asks("1", subject=about())
    scene.give(ev.RequestWithdrawn(AGENT, withdrawn))
    states = {key: question.open for key, question in scene.state.questions.all.items()}
    assert states == {"q1": settled != "q1", "q2": settled != "q2"}


def test_questions_about_the_same_tool_call_are_answered_one_by_one() -> None:
    """P08."""
    scene = opened()
    scene.tool_call("call")
    scene.asks(1, subject=about())
    scene.asks(2, subject=about())
    put(scene, "q2", "no")
    assert scene.answers(1) == []
    assert scene.answered(2) == Selected("no")


# --- refusals and what they refuse -----------------------------------------------------------


@pytest.mark.parametrize(("option", "stays"), [("no", False), ("yes", True), ("always", True)])
def test_a_refusal_drops_the_proposal(option: str, *, stays: bool) -> None:
    """P11: some agents send no update for a refused tool call."""
    scene = opened()
    scene.has(A, "one\n")
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    scene.asks(1, subject=about())
    assert previews(scene) == {"q1"}
    scene.seen.clear()
    put(scene, "q1", option)
    assert bool(scene.state.ledger.proposals) == stays
    assert (ef.ShowReview(A) in scene.seen) == (not stays)


def test_a_refusal_that_is_about_no_tool_call_drops_nothing() -> None:
    """P11."""
    scene = opened()
    scene.has(A, "one\n")
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    scene.asks(1, subject=AboutCommand("rm", ROOT))
    put(scene, "q1", "no")
    assert len(scene.state.ledger.proposals) == 1


# --- the turn is cancelled ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "left"), [(FACTS, ["other"]), (FACTS_2, ["background", "turn", "other"])]
)
def test_only_the_questions_of_the_session_are_cancelled(
    facts: AgentFacts, left: list[str]
) -> None:
    """An agent that withdraws its questions by itself is left to do that, for a while."""
    scene = Scene(facts=facts)
    scene.session("one")
    scene.asks("background", native="one")
    scene.session("two")
    scene.prompts("go", session="s2")
    scene.asks("other", native="two")
    scene.result("session.prompt", session="s1", text="go")
    scene.asks("turn", native="one")
    scene.result("session.cancel", session="s1")
    assert {q.request for q in scene.state.questions.pending()} == set(left)
    scene.passes(scene.state.settings.cancel_seconds)
    assert scene.answered("turn") == CANCELLED
    left = [request for request in left if request != "turn"]
    assert [q.request for q in scene.state.questions.pending()] == left
