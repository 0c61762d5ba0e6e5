"""Pages that agents want visited, and forms: asked, answered once, never opened unasked (A03)."""

from __future__ import annotations

import pytest
from scene import AGENT, CANCELLED, NATIVE, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.conversing import rendering
from acpls.session.asks import Accepted, Declined
from acpls.session.state import Session

LINKS = ev.EditorReady((ROOT,), questions=True, links=True)
URL = "https://login.example/device?code=AB-12&redirect=http%3A%2F%2Flocalhost%3A1"


def linked(scene: Scene, session: str | None = None, url: str = URL, request: int = 7) -> None:
    scene.give(ev.LinkAsked(AGENT, request, session, "Log in to Demo", url, "link"))


def opened(ready: ev.EditorReady = LINKS) -> Scene:
    scene = Scene(ready=ready)
    scene.session()
    scene.seen.clear()
    return scene


# --- asked -------------------------------------------------------------------------------


def test_a_page_is_a_question_with_the_full_url_and_is_not_opened_a03() -> None:
    scene = opened()
    linked(scene)
    (told,) = scene.result("question.list")
    assert told == {
        "question": "q1",
        "agent": AGENT,
        "title": "Log in to Demo",
        "description": URL,
        "text": URL,
        "url": URL,
        "options": [
            {"option": "open", "name": "Open the page", "kind": "link"},
            {"option": "opened", "name": "I have opened the page myself", "kind": "link"},
            {"option": "decline", "name": "Do not open it", "kind": "reject_once"},
        ],
        "state": "open",
    }
    assert scene.put() == ["q1"]
    scene.passes(3600)
    assert scene.of(ef.OpenLink) == []
    assert scene.answers() == []


def test_an_editor_that_opens_no_pages_is_offered_none_a03() -> None:
    scene = opened(ev.EditorReady((ROOT,), questions=True))
    linked(scene)
    (told,) = scene.result("question.list")
    assert [option["option"] for option in told["options"]] == ["opened", "decline"]
    assert told["url"] == URL


@pytest.mark.parametrize("shows", [True, False])
def test_where_no_question_can_be_shown_the_url_is_in_the_log_a03(shows: bool) -> None:
    scene = opened(ev.EditorReady((ROOT,), questions=shows, links=True))
    linked(scene)
    told = [(t.level, t.message, URL in t.detail) for t in scene.of(ef.TellUser)]
    assert told == ([] if shows else [("error", "Waiting for you: Log in to Demo", True)])
    assert scene.of(ef.OpenLink) == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "ssh://x",
        "https:/x",
        "",
        " https://x",
        "x",
        "https://x y",
        "https://x\nhttps://y",
        "https://\u202ex",
    ],
)
def test_what_is_no_page_is_declined_and_told(url: str) -> None:
    scene = opened()
    linked(scene, url=url)
    assert scene.answered(7) == Declined()
    assert scene.state.questions.all == {}
    assert scene.of(ef.TellUser) == [
        ef.TellUser("warning", "Demo agent wants a page opened that is none", url)
    ]


@pytest.mark.parametrize("url", ["http://localhost:8080/x", "https://x"])
def test_pages_of_the_web_are_asked_about(url: str) -> None:
    scene = opened()
    linked(scene, url=url)
    assert scene.state.questions.all["q1"].url == url


def test_a_page_of_a_session_belongs_to_it() -> None:
    scene = opened()
    scene.prompts()
    linked(scene, NATIVE)
    assert scene.result("question.list")[0]["session"] == "s1"
    # It is cancelled with its turn.
    scene.result("session.cancel")
    assert scene.answered(7) == CANCELLED


def test_a_page_asked_for_outside_of_a_turn_outlives_the_next() -> None:
    scene = opened()
    linked(scene, NATIVE)
    linked(scene, "strange", request=8)
    scene.prompts()
    scene.result("session.cancel")
    assert [question.session for question in scene.state.questions.pending()] == ["s1", ""]


# --- answered ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "answer", "opens"),
    [("open", Accepted(), True), ("opened", Accepted(), False), ("decline", Declined(), False)],
)
def test_the_answer_of_the_user_a03(option: str, answer: object, opens: bool) -> None:
    scene = opened()
    linked(scene)
    scene.give(ev.QuestionPut("q1", option))
    assert scene.answered(7) == answer
    assert scene.of(ef.OpenLink) == ([ef.OpenLink(URL)] if opens else [])
    failure = scene.error("question.answer", question="q1", option="open")
    assert failure.message == "The question was settled already, by editor"
    assert len(scene.of(ef.OpenLink)) == opens


def test_a_page_that_is_done_settles_its_question_a03() -> None:
    scene = opened()
    linked(scene)
    scene.give(ev.LinkDone("other", "link"))
    scene.give(ev.LinkDone(AGENT, "other link"))
    assert scene.answers() == []
    scene.seen.clear()
    scene.give(ev.LinkDone(AGENT, "link"))
    assert scene.answered(7) == Accepted()
    assert scene.of(ef.QuestionSettled) == [ef.QuestionSettled("q1", "agent", "opened")]
    assert scene.of(ef.OpenLink) == []
    # Once more, or after the user's answer, it is nothing.
    assert scene.give(ev.LinkDone(AGENT, "link")) == []


def test_a_page_that_is_asked_for_no_more_is_withdrawn() -> None:
    scene = opened()
    linked(scene)
    scene.give(ev.RequestWithdrawn(AGENT, 7))
    assert scene.answered(7) == CANCELLED
    assert scene.state.questions.pending() == []


def test_pages_go_with_their_agent() -> None:
    scene = opened()
    linked(scene)
    linked(scene, NATIVE, request=8)
    scene.give(ev.AgentEnded("other", "gone"))
    assert len(scene.state.questions.pending()) == 2
    scene.give(ev.AgentEnded(AGENT, "gone"))
    assert scene.state.questions.pending() == []
    assert scene.answers() == []


def test_pages_go_with_a_restart_of_their_agent() -> None:
    scene = opened()
    linked(scene)
    scene.result("agent.restart")
    assert scene.state.questions.pending() == []


def test_the_next_question_is_put_when_a_page_is_done() -> None:
    scene = opened(ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True))
    linked(scene)
    scene.asks(1)
    assert scene.put() == ["q1"]
    scene.give(ev.LinkDone(AGENT, "link"))
    assert scene.put() == ["q1", "q2"]


# --- forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("session", [None, NATIVE])
def test_a_form_is_declined_and_the_user_is_told(session: str | None) -> None:
    scene = opened()
    scene.give(ev.FormAsked(AGENT, 7, session, "Your name?", {"type": "object"}))
    assert scene.answered(7) == Declined()
    message = "Demo agent asks to fill in a form, which acpls cannot show yet"
    assert scene.of(ef.TellUser) == [ef.TellUser("warning", message, "Your name?")]
    assert scene.state.questions.all == {}


def test_a_page_that_is_about_the_agent_is_shown_in_its_conversations_a03() -> None:
    """A03: whoever has no plugin can read and copy the whole address there."""
    scene = opened()
    linked(scene)
    shown = rendering(scene.state, scene.state.sessions["s1"])
    assert f"> {URL}" in shown.lines
    assert list(shown.questions) == ["q1"]
    stranger = Session("s9", "stranger", ROOT)
    assert rendering(scene.state, stranger).questions == {}
