"""Every open question can be seen and answered somewhere, whatever the editor does (P01, P02,
P07, P09, P16, P19).
"""

from __future__ import annotations

from typing import Any

import pytest
from scene import AGENT, CANCELLED, FACTS_2, ROOT, SELECTED, A, Scene, about

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Selected
from acpls.session.content import Choosable

DRAWS = ev.EditorReady((ROOT,), questions=True)
BOTH = ev.EditorReady((ROOT,), questions=True, dialogs=True, gentle_dialogs=True)
DIALOGS = ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True)
PLAIN = ev.EditorReady((ROOT,))


def opened(ready: ev.EditorReady, **more: Any) -> Scene:
    scene = Scene(ready=ready, **more)
    scene.session()
    scene.prompts()
    scene.seen.clear()
    return scene


def popups(scene: Scene) -> list[str]:
    return [told.message for told in scene.of(ef.TellUser) if told.level == "error"]


def dialogs(scene: Scene) -> list[str]:
    return [put.question for put in scene.of(ef.PutQuestion) if put.dialog]


# --- an editor that shows questions itself ---------------------------------------------


def test_a_question_that_is_not_confirmed_is_shown_in_other_ways_p01() -> None:
    scene = opened(BOTH)
    scene.asks(1, "Edit a.py?")
    scene.passes(2.9)
    assert (popups(scene), dialogs(scene)) == ([], [])
    scene.passes(0.2)
    assert popups(scene) == ["Waiting for you: Edit a.py?"]
    assert dialogs(scene) == ["q1"]
    # The first answer counts, whichever way it comes.
    scene.give(ev.QuestionPut("q1", "yes", dialog=True))
    scene.give(ev.QuestionPut("q1", "no"))
    assert scene.answers() == [SELECTED]


def test_a_question_on_the_screen_is_left_alone_p01() -> None:
    scene = opened(BOTH)
    scene.asks(1)
    scene.give(ev.QuestionShown("q1"))
    scene.passes(100_000)
    assert (popups(scene), dialogs(scene), scene.answers()) == ([], [], [])


def test_those_behind_one_on_the_screen_wait_in_the_editors_queue_p09() -> None:
    scene = opened(BOTH)
    for request in (1, 2, 3):
        scene.asks(request)
    scene.give(ev.QuestionShown("q1"))
    scene.passes(100)
    assert popups(scene) == []
    # When it is answered, the next one is to be shown.
    scene.give(ev.QuestionPut("q1", "yes"))
    scene.passes(2)
    scene.give(ev.QuestionShown("q2"))
    scene.passes(100)
    assert popups(scene) == []
    # Closing it makes room for the third, which is not shown.
    scene.give(ev.QuestionPut("q2", None))
    scene.passes(4)
    assert dialogs(scene) == ["q3"]
    assert scene.answers() == [SELECTED]


def test_what_is_not_shown_is_told_once_and_comes_as_one_dialog_at_a_time_p01() -> None:
    scene = opened(BOTH)
    for request in (1, 2):
        scene.asks(request, f"Number {request}?")
    scene.passes(10)
    assert popups(scene) == ["Waiting for you: Number 1?"]
    assert dialogs(scene) == ["q1"]
    scene.give(ev.QuestionPut("q1", None, dialog=True))
    assert dialogs(scene) == ["q1", "q2"]
    scene.result("question.answer", question="q1", option="no")
    assert popups(scene) == ["Waiting for you: Number 1?", "Waiting for you: Number 2?"]


def test_an_editor_that_cannot_show_what_it_announced_is_helped_at_once_p01() -> None:
    scene = opened(DRAWS)
    scene.asks(1)
    scene.give(ev.QuestionPut("q1", None, seen=False))
    assert popups(scene) == ["Waiting for you: May I?"]
    assert dialogs(scene) == []
    assert scene.state.questions.all["q1"].open


def test_a_question_that_is_settled_in_time_is_not_told() -> None:
    scene = opened(DRAWS)
    scene.asks(1)
    scene.asks(2)
    scene.result("question.answer", question="q1", option="yes")
    scene.passes(4)
    assert popups(scene) == ["Waiting for you: May I?"]
    assert [q.unseen for q in scene.state.questions.all.values()] == [False, True]


def test_a_word_about_a_question_that_there_is_not_is_passed_over() -> None:
    scene = opened(DRAWS)
    scene.asks(1)
    scene.result("question.answer", option="yes")
    scene.give(ev.QuestionShown("q1"))
    assert scene.give(ev.QuestionShown("q77")) == []
    assert not scene.state.questions.all["q1"].shown


# --- plain editors -----------------------------------------------------------------------


def test_a_plain_editor_is_told_at_once_of_one_after_the_other_p01_p19() -> None:
    scene = opened(PLAIN)
    for request in (1, 2, 3):
        scene.asks(request, f"Number {request}?")
    assert popups(scene) == ["Waiting for you: Number 1?"]
    scene.result("question.answer", option="yes")
    scene.result("question.answer", question="q3", option="no")
    assert popups(scene) == ["Waiting for you: Number 1?", "Waiting for you: Number 2?"]
    scene.result("question.answer", option="always")
    assert scene.answers() == [SELECTED, Selected("no"), Selected("always")]


def test_what_goes_with_a_stopped_turn_is_not_told() -> None:
    """The agent withdraws the questions one by one."""
    scene = opened(PLAIN, facts=FACTS_2)
    for request in (1, 2):
        scene.asks(request, f"Number {request}?")
    scene.result("session.cancel")
    scene.give(ev.RequestWithdrawn(AGENT, 1))
    assert popups(scene) == ["Waiting for you: Number 1?"]
    scene.give(ev.RequestWithdrawn(AGENT, 2))
    assert scene.answers() == [CANCELLED, CANCELLED]


def test_what_is_told_besides_goes_to_the_log() -> None:
    """A page must be seen in full, though another question is on the screen."""
    scene = opened(PLAIN)
    scene.asks(1)
    scene.give(ev.LinkAsked(AGENT, 2, None, "Log in", "https://a.example/x", "l"))
    told = scene.of(ef.TellUser)
    assert [t.level for t in told] == ["error", "info"]
    assert "https://a.example/x" in told[1].detail.split("\n")


def test_a_dialog_that_could_not_be_shown_is_told_of_p19() -> None:
    """Helix before 25.07 knows no dialogs."""
    scene = opened(DIALOGS)
    scene.asks(1)
    scene.asks(2)
    scene.give(ev.QuestionPut("q1", None, seen=False))
    assert popups(scene) == ["Waiting for you: May I?"]
    assert scene.put() == ["q1", "q2"]


def test_one_command_has_them_all_and_one_shows_the_oldest_p02() -> None:
    scene = opened(PLAIN)
    scene.asks(1, "First?")
    scene.says("Much later.")
    scene.asks(2, "Second?")
    assert [q["title"] for q in scene.result("question.list")] == ["First?", "Second?"]
    assert scene.result("session.get")["questions"] == ["q1", "q2"]
    assert scene.result("status")["questions"] == 2
    for name, title in ({}, "First?"), ({"question": "q2"}, "Second?"):
        uri = scene.result("question.show", **name)["uri"]
        shown = scene.of(ef.ShowDocument)[-1]
        assert (shown.uri, shown.take_focus) == (uri, True)
        (path,) = [path for path in scene.disk if path.endswith(".md")]
        assert shown.line is not None
        assert scene.disk[path].split("\n")[shown.line] == f"> **{title}**"


def test_the_line_of_a_question_is_in_the_open_document_before_it_is_shown_p02() -> None:
    scene = opened(PLAIN)
    scene.result("session.openConversation")
    (path,) = [path for path in scene.disk if path.endswith(".md")]
    scene.buffer(path)
    scene.asks(1, "Really?")
    ticket = scene.command("question.show")
    assert scene.of(ef.ShowDocument)[1:] == []
    scene.settles()
    assert "uri" in scene.reply(ticket)
    line = scene.of(ef.ShowDocument)[-1].line
    assert line is not None
    assert scene.text(path).split("\n")[line] == "> **Really?**"


def test_an_editor_that_takes_no_edits_is_shown_the_place_all_the_same_p02() -> None:
    scene = opened(PLAIN, manner="refuses")
    scene.result("session.openConversation")
    (path,) = [path for path in scene.disk if path.endswith(".md")]
    scene.buffer(path)
    scene.asks(1, "Really?")
    ticket = scene.command("question.show")
    scene.passes(10)
    assert "uri" in scene.reply(ticket)
    assert "Really?" not in scene.text(path)


def test_a_question_about_an_agent_is_shown_where_it_has_a_conversation() -> None:
    scene = opened(PLAIN)
    scene.give(ev.LinkAsked(AGENT, 2, None, "Log in", "https://a.example/x", "l"))
    assert scene.result("question.show")["uri"].endswith("s1.md")
    scene.session("other")
    assert scene.result("question.show")["uri"].endswith("s2.md")
    scene.state.current = None
    assert scene.result("question.show")["uri"].endswith("s1.md")


def test_a_question_about_an_agent_without_sessions_is_in_the_answer_and_the_log() -> None:
    scene = Scene(ready=PLAIN)
    scene.command("agent.start")
    scene.is_ready()
    scene.give(ev.LinkAsked(AGENT, 2, None, "Log in", "https://a.example/x", "l"))
    assert scene.result("question.show")["url"] == "https://a.example/x"
    assert scene.of(ef.TellUser)[-1].detail == "https://a.example/x"


# --- waiting -----------------------------------------------------------------------------


@pytest.mark.parametrize("ready", [DRAWS, BOTH, DIALOGS, PLAIN])
def test_waiting_answers_nothing_p09(ready: ev.EditorReady) -> None:
    scene = opened(ready)
    for request in range(5):
        scene.asks(request)
    scene.passes(1_000_000)
    assert scene.answers() == []
    assert len(scene.state.questions.pending()) == 5


def test_no_session_waits_for_the_question_of_another_p16() -> None:
    scene = opened(DRAWS)
    scene.session("other")
    scene.has(A, "one\n")
    scene.holds = {ef.ReadFile}
    scene.tool_call("call", title="Edit", kind="edit")
    scene.asks(1, subject=about("call"))
    scene.asks(2, native="other")
    assert scene.put()[-1] == "q2"
    scene.give(ev.QuestionPut("q2", "yes"))
    assert scene.answered(2) == SELECTED
    assert scene.answers(1) == []


# --- odd requests ------------------------------------------------------------------------


def test_a_question_without_options_can_only_be_cancelled() -> None:
    scene = opened(DRAWS)
    scene.asks(1, "Hm?", ())
    (told,) = scene.result("question.list")
    assert told["options"] == []
    assert "until its turn is stopped" in told["text"]
    failure = scene.error("question.answer", option="yes")
    assert failure.message == "The question does not offer 'yes'; it offers: nothing"
    scene.result("session.cancel")
    assert scene.answers() == [CANCELLED]


def test_nothing_is_chosen_where_no_option_is_named_p11() -> None:
    scene = opened(DRAWS)
    scene.asks(1)
    failure = scene.error("question.answer")
    assert failure.message == "Which option is meant? The question offers: yes, always, no"
    assert (failure.code, failure.field) == (-32602, "option")
    failure = scene.error("question.answer", option="yes", action="dismiss")
    assert failure.field == "action"
    assert scene.answers() == []


def test_dismissing_is_for_agents_that_withdraw_by_themselves_p11() -> None:
    scene = opened(DRAWS)
    scene.asks(1)
    assert "dismiss" not in scene.result("question.list")[0]
    assert scene.error("question.answer", action="dismiss").field == "action"
    assert scene.answers() == []
    scene = opened(DRAWS, facts=FACTS_2)
    scene.asks(1, options=())
    (told,) = scene.result("question.list")
    assert told["dismiss"]
    assert told["text"].endswith("The agent offers no answer to choose.")
    assert scene.result("question.answer", action="dismiss") == {}
    assert scene.answered(1) == CANCELLED
    assert scene.error("question.answer", question="q1", action="dismiss").field == "question"
    # The login is our own question, and has an option for that.
    scene.give(ev.LinkAsked(AGENT, 2, None, "Log in", "https://a.example/x", "l"))
    assert scene.error("question.answer", action="dismiss").field == "action"


def test_options_of_one_id_are_both_shown_p13() -> None:
    scene = opened(DRAWS)
    options = (
        Choosable("go", "Go", "allow_once"),
        Choosable("go", "Go", "perhaps"),
        Choosable("", " ", "unheard_of"),
    )
    scene.asks(1, options=options)
    (told,) = scene.result("question.list")
    assert told["options"] == [
        {"option": "go", "name": "Go (go)", "kind": "allow_once"},
        {"option": "go", "name": "Go (go)", "kind": "perhaps"},
        {"option": "", "name": "unheard_of", "kind": "unheard_of"},
    ]
    scene.result("question.answer", option="go")
    assert scene.answered(1) == Selected("go")


def test_many_questions_and_long_ones_cost_each_event_little() -> None:
    scene = opened(PLAIN)
    options = tuple(Choosable(f"o{n}", f"Option {n}", "allow_once") for n in range(300))
    for request in range(200):
        assert len(scene.seen) < 10
        scene.seen.clear()
        scene.asks(request, "long " * 20_000, options)
    told = scene.result("question.list")
    assert [len(each["options"]) for each in told] == [300] * 200
    assert len(told[0]["title"]) == 500
    assert told[0]["text"].startswith(("long " * 20_000).strip())


# --- cancelled, and lost -------------------------------------------------------------------


def test_what_crossed_a_cancel_is_answered_when_its_time_is_up() -> None:
    scene = opened(DRAWS, facts=FACTS_2)
    scene.result("session.cancel")
    scene.passes(scene.state.settings.cancel_seconds - 1)
    scene.asks(1)
    scene.passes(2)
    # What was open by then is over; what comes later has a time of its own.
    assert scene.answered(1) == CANCELLED
    scene.asks(2)
    scene.passes(scene.state.settings.cancel_seconds - 1)
    assert scene.answers(2) == []
    scene.passes(2)
    assert scene.answered(2) == CANCELLED


def test_what_crossed_a_cancel_and_was_settled_is_left_alone() -> None:
    scene = opened(DRAWS, facts=FACTS_2)
    scene.result("session.cancel")
    scene.asks(1)
    scene.give(ev.QuestionPut("q1", "no"))
    scene.passes(100)
    assert scene.answers() == [Selected("no")]


def test_what_runs_besides_the_turn_is_not_cancelled_with_it() -> None:
    scene = opened(DRAWS, facts=FACTS_2)
    beside = (up.Background("tool_call", "job"), up.Background("subagent", "child"))
    scene.tells(up.TurnChanged("running", background=beside))
    scene.tells(up.SubagentPatched("child", title="Helper"))
    scene.asks(1, subject=about("job"))
    scene.asks(2, native="child")
    scene.asks(3)
    scene.result("session.cancel")
    scene.ends("cancelled")
    assert scene.answered(3) == CANCELLED
    assert [q.request for q in scene.state.questions.pending()] == [1, 2]


def test_what_an_earlier_turn_left_open_is_not_cancelled_with_a_later_one() -> None:
    scene = opened(DRAWS, facts=FACTS_2)
    scene.asks(1)
    scene.ends()
    scene.prompts("again")
    scene.asks(2)
    scene.result("session.cancel")
    scene.ends("cancelled")
    assert (scene.answers(1), scene.answered(2)) == ([], CANCELLED)


def test_an_answer_that_got_lost_is_told_p05() -> None:
    scene = opened(DRAWS)
    scene.asks(1, "Delete it?")
    scene.asks(2)
    scene.result("question.answer", question="q1", option="yes")
    scene.give(ev.RequestWithdrawn(AGENT, 2))
    scene.seen.clear()
    for request in (1, 2, 3):
        scene.give(ev.AnswerLost(AGENT, request))
    scene.give(ev.AnswerLost("other", 1))
    assert popups(scene) == ["Your answer did not reach the agent: Delete it?"]
