"""The hub as a whole: its table of events, its refusals, its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from scene import AGENT, ROOT, A, Scene, held

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import Hub, tokens
from acpls.hub.state import Agent, CannotDo
from acpls.session import updates as up
from acpls.session.asks import Failure, NewSession, SessionOpened
from acpls.settings import AgentSpec
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SAVED_FIRST = tokens.SavedFirst(tokens.ForWrite(AGENT, 9, "s1", A, "two\n"))


def test_a_new_hub_knows_the_default_agent_only() -> None:
    hub = Hub(AgentSpec("agent"), "word")
    assert dict(hub.state.settings.agents) == {"demo": AgentSpec("agent")}
    assert hub.state.chosen_agent() == "demo"
    assert hub.state.launch == "word"


def test_the_time_of_an_event_is_the_hubs_time() -> None:
    hub = Hub(AgentSpec("agent"))
    hub.handle(ev.FocusChanged(None, typing=True), 12.5)
    assert hub.state.now_s == 12.5
    assert hub.state.follow.typing


def test_each_kind_of_event_is_taken_in() -> None:
    """No event is forgotten in the table; each one leaves a trace, or is known to do nothing."""
    scene = Scene()
    scene.puts(A, "one\n")
    events: list[ev.Event] = [
        ev.SettingsChanged(()),
        ev.EditorReady((ROOT,), questions=True),
        ev.CommandGiven("acpls.session.new", {}, "ticket"),
        ev.AgentStarting(AGENT, "waits"),
        ev.AgentReady(AGENT, scene.facts),
        ev.Replied(AGENT, 1, SessionOpened("native")),
        ev.SessionTold(AGENT, "native", up.TurnChanged("running")),
        ev.QuestionAsked(AGENT, 1, "native", "May I?", ()),
        ev.QuestionPut("q1", None),
        ev.RequestWithdrawn(AGENT, 1),
        ev.BufferOpened(uris.from_path(A), 1, "one\n"),
        ev.BufferChanged(uris.from_path(A), 2, ()),
        ev.BufferSaved(uris.from_path(A)),
        ev.BufferClosed(uris.from_path(A)),
        ev.FocusChanged(None, typing=False),
        ev.Notified(AGENT, "_agent/odd", {}, "native"),
        ev.FileNoticed(held(A, "one\n"), ev.FIRST),
        ev.HeadMoved(ROOT),
        ev.HeadCompared(tokens.AtHead(()), frozenset()),
        ev.StoredRead(tokens.LoadedReview(), {}),
        ev.ReviewLoaded(None, None),
        ev.PermissionsRead(tokens.ToJudge((), frozenset()), {}, (), 1),
        ev.PermissionKept(tokens.RuleKept("allow it"), "p1", 1, "the disk is full"),
        ev.DocumentSaved(SAVED_FIRST, uris.from_path(A)),
        ev.LeftOut(AGENT, "it takes no images"),
        ev.QuestionShown("q1"),
        ev.AnswerLost(AGENT, 99),
        ev.FormAsked(AGENT, 4, "native", "Your name?", {}),
        ev.LinkAsked(AGENT, 5, None, "Look", "https://a.example", "link"),
        ev.LinkDone(AGENT, "link"),
        ev.ProgramRan(tokens.ForLogin(AGENT), 0),
        ev.FileReadAsked(AGENT, 2, "native", A),
        ev.FileWriteAsked(AGENT, 3, "native", A, "two\n"),
        ev.EditApplied(1),
        ev.EditRefused(1, "no"),
        ev.AskFailed(AGENT, 1, Failure(-32603, "no")),
        ev.CommandAbandoned("ticket"),
        ev.AgentMisspoke(AGENT, "nonsense"),
        ev.AgentEnded(AGENT, "gone"),
    ]
    silent = {type(event) for event in events if not scene.give(event)}
    assert silent == {
        ev.SettingsChanged,
        ev.EditorReady,
        ev.QuestionPut,
        ev.QuestionShown,
        ev.AnswerLost,
        ev.BufferChanged,
        ev.BufferClosed,
        ev.FocusChanged,
        ev.ProgramRan,
        ev.EditApplied,
        ev.EditRefused,
        ev.AskFailed,
        ev.CommandAbandoned,
        ev.FileNoticed,
        ev.HeadMoved,
        ev.HeadCompared,
        ev.StoredRead,
        ev.ReviewLoaded,
        ev.PermissionsRead,
    }
    by_the_scene = {ev.FileRead, ev.FileWritten, ev.FilesSynced, ev.TimePassed}
    assert {type(event) for event in events} | by_the_scene == set(get_args(ev.Event))
    assert scene.disk == {A: "two\n"}


# --- refusals ----------------------------------------------------------------------------


def test_a_refusal_answers_the_command_with_the_field_at_fault() -> None:
    scene = Scene()
    failure = scene.error("session.get")
    message = "No session is open; acpls.session.new opens one"
    assert (failure.code, failure.message, failure.field) == (-32602, message, "session")


def test_a_refusal_that_no_field_is_to_blame_for() -> None:
    scene = Scene()
    failure = scene.error("question.answer", option="yes")
    assert (failure.code, failure.message, failure.field) == (-32803, "No question is open", None)


def test_a_refusal_that_nobody_waits_for_is_told_to_the_user() -> None:
    scene = Scene()
    assert scene.give(ev.CommandGiven("acpls.session.get")) == [
        ef.TellUser("error", "No session is open; acpls.session.new opens one")
    ]


def test_what_was_decided_before_a_refusal_is_still_done() -> None:
    scene = Scene()
    scene.give(ev.EditorReady(()))
    scene.seen.clear()
    scene.command("session.prompt", text="go")
    assert [type(effect) for effect in scene.seen] == [ef.FailCommand]
    assert scene.state.sessions == {}


def test_a_refusal_says_what_and_where() -> None:
    refusal = CannotDo("It cannot be done", field="uri")
    assert (str(refusal), refusal.message, refusal.field) == ("It cannot be done",) * 2 + ("uri",)


def test_an_abandoned_command_is_worked_off_all_the_same() -> None:
    scene = Scene()
    ticket = scene.command("session.new")
    assert scene.give(ev.CommandAbandoned(ticket)) == []
    scene.is_ready()
    scene.replied(SessionOpened("native"), NewSession)
    assert scene.state.sessions["s1"].state == "idle"


# --- settings ----------------------------------------------------------------------------


def test_settings_take_effect_and_their_faults_are_told() -> None:
    scene = Scene()
    layers = (
        {"follow": {"on": True, "idleSeconds": 7}, "session": {"cancelSeconds": 3}},
        {"folow": True},
    )
    effects = scene.give(ev.SettingsChanged(layers))
    message = 'unknown setting "folow"; did you mean "follow"?'
    assert effects == [ef.TellUser("warning", message)]
    state = scene.state
    assert (state.follow.on, state.follow.idle_s) == (True, 7)
    assert state.settings.cancel_seconds == 3
    assert list(state.problems) == [message]
    scene.give(ev.SettingsChanged(()))
    assert (state.follow.on, state.follow.idle_s) == (False, 2.0)
    assert list(state.problems) == []


def test_known_agents_complete_settings_of_their_name() -> None:
    asked: list[list[object]] = []

    def lent_to(layers: Sequence[object]) -> Mapping[str, AgentSpec]:
        asked.append(list(layers))
        return {"tea": AgentSpec("tea-agent", ("acp",))}

    hub = Hub(AgentSpec("agent"), lent_to=lent_to)
    layer = {"agents": {"tea": {"env": {"A": "1"}}, "coffee": {"env": {}}}}
    effects = hub.handle(ev.SettingsChanged((layer,)), 0.0)
    assert dict(hub.state.settings.agents) == {"tea": AgentSpec("tea-agent", ("acp",), {"A": "1"})}
    (warning,) = [effect for effect in effects if isinstance(effect, ef.TellUser)]
    assert warning.message.startswith("agents.coffee.command is missing")
    assert layer in asked[-1]


def test_a_layer_below_counts_from_the_start_and_below_those_that_come() -> None:
    below = {"follow": {"on": True}, "session": {"cancelSeconds": 3}}
    hub = Hub(AgentSpec("agent"), below=below)
    assert hub.state.settings.cancel_seconds == 3
    hub.handle(ev.SettingsChanged(({"session": {"cancelSeconds": 4}},)), 0.0)
    settings = hub.state.settings
    assert (settings.follow_on, settings.cancel_seconds) == (True, 4)


def test_an_agent_chosen_here_comes_before_that_of_the_settings() -> None:
    scene = Scene()
    agents = {"one": {"command": "1"}, "two": {"command": "2"}}
    scene.give(ev.SettingsChanged(({"agents": agents},)))
    assert scene.state.chosen_agent() == "one"
    assert scene.result("agent.select", agent="two") == {"agent": "two"}
    assert scene.state.chosen_agent() == "two"


# --- state -------------------------------------------------------------------------------


def test_numbers_and_keys_count_by_kind() -> None:
    state = Scene().state
    assert [state.number("a"), state.number("a"), state.number("b")] == [1, 2, 1]
    assert [state.key("s"), state.key("t"), state.key("s")] == ["s1", "t1", "s2"]


@pytest.mark.parametrize(
    ("state", "lives"),
    [
        ("stopped", False),
        ("starting", True),
        ("ready", True),
        ("needsLogin", True),
        ("loggingIn", True),
        ("ended", False),
    ],
)
def test_an_agent_lives_while_its_process_may(state: str, lives: bool) -> None:
    agent = Agent("demo", state)  # type: ignore[arg-type]  # the parameter is a plain string
    assert agent.lives is lives


def test_a_session_reads_and_writes_in_its_own_folder_and_those_of_the_editor() -> None:
    scene = Scene(ready=ev.EditorReady((ROOT, "/more"), questions=True))
    scene.session("one", cwd="/else")
    scene.session("two")
    state = scene.state
    assert state.roots_of(state.sessions["s1"]) == ("/else", ROOT, "/more")
    assert state.roots_of(state.sessions["s2"]) == (ROOT, "/more")
    assert state.roots_of(None) == (ROOT, "/more")
    assert state.all_roots() == (ROOT, "/more", "/else")


# --- conversations follow ------------------------------------------------------------------


def test_whatever_changes_in_a_session_touches_its_conversation_once() -> None:
    scene = Scene()
    scene.session()
    scene.result("session.openConversation")
    scene.settles()
    scene.seen.clear()
    scene.prompts()
    scene.asks(1)
    due = [after for after in scene.of(ef.After) if after.seconds < 1]
    assert [after.token for after in due] == [tokens.ForConversation("s1")]
