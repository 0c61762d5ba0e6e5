"""Forms and pages where they meet subagents, turns, dialogs and following."""

from __future__ import annotations

import pytest
from form_scene import FORM, YES_OR_NO, form, opened
from scene import AGENT, ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Accepted, Cancelled
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
