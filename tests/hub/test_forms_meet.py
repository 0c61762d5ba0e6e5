"""Forms and pages where they meet subagents, turns, dialogs and following."""

from __future__ import annotations

from typing import Any

import pytest
from form_scene import FORM, PLAIN, YES_OR_NO, form, opened, said
from scene import AGENT, FACTS, FACTS_2, NATIVE, ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Accepted, AgentFacts, Cancelled
from acpls.session.content import Location

FORMS_AND_DIALOGS = ev.EditorReady((ROOT,), forms=True, dialogs=True, gentle_dialogs=True)


@pytest.mark.parametrize("link", [False, True])
def test_what_a_subagent_wants_filled_in_or_visited_is_its_sessions(link: bool) -> None:
    scene = opened(busy=True)
    scene.tells(up.SubagentPatched("sub", title="Helper"))
    if link:
        scene.give(ev.LinkAsked(AGENT, 7, "sub", "Look", "https://example.com/", "visit"))
    else:
        form(scene, session="sub")
    (shown,) = scene.result("question.list")
    assert (shown["session"], shown["subagent"]) == ("s1", "sub")
    assert shown["source"] == "subagent Helper"
    scene.result("session.close")
    assert scene.answers() == [Cancelled()]


def test_a_form_of_an_earlier_turn_is_not_cancelled_with_a_later_one() -> None:
    scene = opened(busy=True)
    form(scene)
    scene.ends()
    scene.prompts()
    scene.command("session.cancel")
    scene.tells(up.TurnChanged("idle", "cancelled"))
    scene.settles()
    assert scene.answers() == []


def test_a_form_that_an_editor_cannot_draw_is_shown_in_a_dialog_one_at_a_time() -> None:
    scene = opened(FORMS_AND_DIALOGS)
    scene.asks(1)
    form(scene, YES_OR_NO)
    scene.give(ev.QuestionPut("q2", None, seen=False))
    # There is a dialog already.
    assert [put for put in scene.of(ef.PutQuestion) if put.dialog] == []
    scene.give(ev.QuestionPut("q1", None))
    assert scene.put()[-1] == "q2"
    scene.asks(2)
    assert scene.put().count("q3") == 0
    scene.give(ev.QuestionPut("q2", "choice-1", dialog=True))
    assert scene.answered(7) == Accepted({"sure": True})
    assert scene.put()[-1] == "q3"


@pytest.mark.parametrize("focus", [False, True])
def test_filling_in_a_form_is_not_going_away(focus: bool) -> None:
    ready = ev.EditorReady((ROOT,), links=True, gentle_show=True, focus=focus)
    scene = Scene(ready=ready)
    scene.has(A, "one\n")
    scene.session()
    scene.prompts()
    scene.result("follow.set", on=True)
    scene.passes(60)
    scene.tool_call("call", kind="read", locations=(Location(A, 1),))
    scene.settles()
    assert any(place.move for place in scene.of(ef.ShowPlace))
    form(scene)
    assert scene.result("form.open")["uri"].endswith(".toml")
    scene.buffer(FORM)
    if focus:
        scene.give(ev.FocusChanged(f"file://{FORM}", typing=True, rows=(3, 3)))
    scene.replaces(FORM, 'name = ""', 'name = "me"')
    assert scene.result("status")["follow"] == "on"


def test_why_a_form_is_not_dismissed_is_true() -> None:
    scene = opened(busy=True)
    form(scene)
    failure = scene.error("question.answer", action="dismiss")
    assert failure.field == "action"
    assert "cancelled turn" not in failure.message
    assert scene.answers() == []


def test_a_form_that_is_filled_in_from_a_dialog_leaves_room_for_the_next_one() -> None:
    ready = ev.EditorReady((ROOT,), questions=True, dialogs=True, gentle_dialogs=True, links=True)
    scene = opened(ready)
    form(scene)
    scene.asks(1)
    scene.passes(4)
    dialogs = ef.PutQuestion("q1", dialog=True), ef.PutQuestion("q2", dialog=True)
    assert dialogs[0] in scene.seen
    scene.give(ev.QuestionPut("q1", "fill", dialog=True))
    assert dialogs[1] in scene.seen


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("facts", [FACTS, FACTS_2])
def test_a_form_that_crosses_a_cancel_is_cancelled_when_its_time_is_up(
    link: bool, facts: AgentFacts
) -> None:
    scene = Scene(ready=PLAIN, facts=facts)
    scene.session()
    scene.prompts()
    scene.command("session.cancel")
    scene.passes(100)
    if link:
        scene.give(ev.LinkAsked(AGENT, 7, NATIVE, "Look", "https://example.com/", "visit"))
    else:
        form(scene)
    scene.passes(100)
    assert scene.answered(7) == Cancelled()


# --- answers that make no sense ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"option": "yes", "content": {"name": "me"}}, "content"),
        ({"option": "always", "action": "accept"}, "action"),
        ({"action": "dismiss", "scope": "user"}, "scope"),
        ({"action": "accept", "content": {}}, "content"),
        ({"action": "accept"}, "action"),
        ({"option": "yes", "scope": "user"}, "scope"),
        ({"content": {}}, "content"),
        ({"scope": "user"}, "scope"),
        ({}, "option"),
        ({"question": "", "option": "yes"}, "question"),
    ],
)
def test_a_permission_takes_no_odd_mixture(arguments: dict[str, Any], field: str) -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.prompts()
    scene.asks(1)
    assert scene.error("question.answer", **arguments).field == field
    assert scene.answers() == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"option": "fill", "scope": "user"}, "scope"),
        ({"option": "fill", "content": {"name": "me"}}, "content"),
        ({"option": "decline", "scope": "session"}, "scope"),
        ({"action": "accept", "scope": "user", "content": {"name": "me", "count": 1}}, "scope"),
        ({"action": "decline", "content": {"name": "me"}}, "content"),
        ({"action": "accept", "option": "fill"}, "action"),
        ({"option": "accept"}, "option"),
    ],
)
def test_a_form_takes_no_odd_mixture(arguments: dict[str, Any], field: str) -> None:
    scene = opened(busy=True)
    form(scene)
    assert scene.error("question.answer", **arguments).field == field
    assert scene.answers() == []
    assert scene.of(ef.WriteFile) == []


def test_a_form_that_is_opened_by_command_leaves_its_dialog_on_the_screen() -> None:
    ready = ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True, links=True)
    scene = opened(ready)
    form(scene)
    scene.asks(1)
    scene.result("question.answer", question="q1", option="fill")
    assert scene.put() == ["q1"]
    scene.give(ev.QuestionPut("q1", None))
    assert scene.put() == ["q1", "q2"]


def test_a_forms_document_says_which_subagent_asks() -> None:
    scene = opened(busy=True)
    scene.tells(up.SubagentPatched("sub", title="Help\ner"))
    form(scene, session="sub")
    scene.result("form.open")
    lines = scene.disk[FORM].splitlines()
    assert "# From: subagent Help ⏎ er" in lines[: lines.index("#")]


@pytest.mark.parametrize("message", ["", " \n\t"])
def test_a_page_of_which_nothing_is_said_has_a_title(message: str) -> None:
    scene = opened()
    scene.give(ev.LinkAsked(AGENT, 7, NATIVE, message, "https://example.com/", "visit"))
    (shown,) = scene.result("question.list")
    assert shown["title"] == "Demo agent wants you to visit a page"
    assert said(scene) == ["Waiting for you: Demo agent wants you to visit a page"]
