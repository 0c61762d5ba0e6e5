"""Logins that come to an end in another way than was meant (A01)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scene import AGENT, FACTS, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import ForLogin
from acpls.session.asks import AuthMethod, Failure, NewSession

SHELL = AuthMethod("shell", "Terminal", "terminal", args=("login",))
SETTINGS = {"agents": {AGENT: {"command": "agent"}}}
OTHERS = {"agents": {"other": {"command": "other"}}}


def refused() -> tuple[Scene, str]:
    """A scene whose agent wants a login, and the ticket of the command that waits for it."""
    ready = ev.EditorReady((ROOT,), questions=True, terminals=True)
    scene = Scene(ready=ready, facts=replace(FACTS, auth_methods=(SHELL,)))
    scene.give(ev.SettingsChanged((SETTINGS,)))
    ticket = scene.command("session.new")
    scene.is_ready()
    scene.ask_fails(Failure(-32000, "Authentication required"), NewSession)
    scene.seen.clear()
    return scene, ticket


@pytest.mark.parametrize("option", ["again", "method:shell"])
def test_an_agent_that_the_settings_lost_is_not_started_again(option: str) -> None:
    scene, ticket = refused()
    scene.give(ev.SettingsChanged((OTHERS,)))
    (question,) = scene.state.questions.pending()
    scene.give(ev.QuestionPut(question.key, option))
    assert scene.failure(ticket).message == f"{AGENT} is not in the settings any more"
    assert scene.of(ef.StartAgent) == []
    assert scene.of(ef.RunProgram) == []


@pytest.mark.parametrize("code", [0, 1, None])
def test_a_program_that_was_given_up_ends(code: int | None) -> None:
    """Who has logged in all the same is logged in; all else changes nothing."""
    scene, ticket = refused()
    (question,) = scene.state.questions.pending()
    scene.give(ev.QuestionPut(question.key, "method:shell"))
    scene.result("agent.cancelLogin")
    scene.seen.clear()
    scene.give(ev.ProgramRan(ForLogin(AGENT), code))
    assert len(scene.of(ef.StartAgent)) == (1 if code == 0 else 0)
    assert scene.replies[ticket] == []


def test_the_end_of_an_agent_that_a_command_told_of_is_told_no_second_time() -> None:
    scene, ticket = refused()
    scene.give(ev.AgentEnded(AGENT, "demo was killed"))
    assert scene.failure(ticket).message == "demo was killed"
    assert [told.level for told in scene.of(ef.TellUser) if told.level == "error"] == []


def test_a_session_that_waits_for_a_login_is_lost_when_its_agent_is_stopped() -> None:
    """Else it would be starting for ever, when the agent is started before its end is told."""
    scene, ticket = refused()
    scene.result("agent.stop")
    assert scene.failure(ticket).message == f"{FACTS.title or FACTS.name} was stopped"
    assert scene.state.sessions["s1"].state == "lost"
    scene.result("agent.start")
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    assert scene.state.sessions["s1"].state == "lost"
