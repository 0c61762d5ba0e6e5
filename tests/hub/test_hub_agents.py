"""Agents start, get ready, and end, wanted or not."""

from __future__ import annotations

from scene import AGENT, FACTS, NATIVE, OPENING, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import AskDue
from acpls.session import updates as up
from acpls.session.asks import Failure, NewSession, Prompt, ResumeSession, SessionOpened
from acpls.session.content import Text
from acpls.settings import AgentSpec

SPEC = AgentSpec("agent")
BOTH = ({"agents": {AGENT: {"command": "one"}, "other": {"command": "two"}}},)


def test_an_agent_is_started_once() -> None:
    scene = Scene()
    scene.seen.clear()
    ticket = scene.command("agent.start")
    entry = {"agent": AGENT, "title": AGENT, "state": "starting"}
    assert scene.seen == [
        ef.StartAgent(AGENT, SPEC),
        ef.ShowAgent(AGENT, "starting"),
        ef.ReplyCommand(ticket, entry),
    ]
    assert scene.result("agent.start") == entry
    assert len(scene.of(ef.StartAgent)) == 1


def test_what_an_agent_does_while_it_starts_is_shown() -> None:
    scene = Scene()
    scene.command("agent.start")
    assert scene.give(ev.AgentStarting(AGENT, "waits for the first answer")) == [
        ef.ShowAgent(AGENT, "starting", "waits for the first answer")
    ]
    assert scene.state.agent(AGENT).message == "waits for the first answer"
    assert scene.give(ev.AgentReady(AGENT, FACTS)) == [ef.ShowAgent(AGENT, "ready")]
    agent = scene.state.agent(AGENT)
    assert (agent.state, agent.facts, agent.message) == ("ready", FACTS, None)
    assert agent.title == "Demo agent"


def test_an_agent_is_stopped_once() -> None:
    scene = Scene()
    scene.command("agent.start")
    scene.is_ready()
    assert scene.result("agent.stop")["state"] == "stopped"
    scene.result("agent.stop")
    assert scene.of(ef.EndAgent) == [ef.EndAgent(AGENT)]


def test_nonsense_of_an_agent_is_a_warning() -> None:
    scene = Scene()
    assert scene.give(ev.AgentMisspoke(AGENT, "session/update: no sessionId")) == [
        ef.TellUser("warning", "demo: session/update: no sessionId")
    ]


def test_an_end_that_nobody_wanted_is_told_with_its_last_words() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.asks(1)
    scene.seen.clear()
    scene.give(ev.AgentEnded(AGENT, "demo was killed (SIGKILL)", None, "last words"))
    assert scene.of(ef.ShowAgent) == [ef.ShowAgent(AGENT, "ended", "demo was killed (SIGKILL)")]
    assert scene.of(ef.TellUser) == [
        ef.TellUser("error", "demo was killed (SIGKILL)", "last words"),
        ef.TellUser("info", "acpls.agent.restart starts demo and its sessions again"),
    ]
    # Nobody is there to be answered, but the question is settled.
    assert scene.answers() == []
    assert scene.of(ef.QuestionSettled) == [ef.QuestionSettled("q1", "agent")]
    session = scene.state.sessions["s1"]
    assert (session.state, session.error) == ("lost", "demo was killed (SIGKILL)")
    assert scene.state.natives == {}


def test_an_end_that_was_wanted_is_only_shown() -> None:
    scene = Scene()
    scene.session()
    scene.command("agent.stop")
    scene.seen.clear()
    scene.give(ev.AgentEnded(AGENT, "demo was stopped", 0, wanted=True))
    assert scene.of(ef.TellUser) == []
    assert scene.of(ef.ShowAgent) == [ef.ShowAgent(AGENT, "ended", "demo was stopped", 0)]
    agent = scene.state.agent(AGENT)
    assert (agent.state, agent.message, agent.exit_code) == ("ended", "demo was stopped", 0)
    assert scene.state.sessions["s1"].state == "lost"


def test_an_end_that_a_command_was_told_of_is_not_told_twice() -> None:
    scene = Scene()
    ticket = scene.command("session.new")
    reason = "demo could not be started: no such program"
    scene.ask_fails(Failure(-32603, reason), NewSession)
    scene.give(ev.AgentEnded(AGENT, reason))
    assert scene.failure(ticket).message == reason
    assert scene.of(ef.TellUser) == [ef.TellUser("info", reason)]
    # The next end is news again.
    scene.command("agent.start")
    scene.give(ev.AgentEnded(AGENT, reason))
    assert scene.of(ef.TellUser)[-1] == ef.TellUser("error", reason)


def test_an_end_is_told_where_the_command_was_told_of_something_else() -> None:
    scene = Scene()
    scene.command("session.new")
    scene.is_ready()
    scene.ask_fails(Failure(-32603, "no disk space"), NewSession)
    scene.give(ev.AgentEnded(AGENT, "demo ended with exit code 1", 1))
    assert scene.of(ef.TellUser) == [ef.TellUser("error", "demo ended with exit code 1")]


def test_after_a_restart_the_old_sessions_and_new_ones_wait_for_the_new_process() -> None:
    """X20, S19."""
    scene = Scene()
    scene.session("old")
    scene.seen.clear()
    assert scene.result("agent.restart")["state"] == "starting"
    again = ResumeSession("old", OPENING)
    assert scene.seen[:-1] == [
        ef.EndAgent(AGENT),
        ef.ShowSession("s1", "state"),
        ef.WatchFiles(()),
        ef.StartAgent(AGENT, SPEC),
        ef.ShowAgent(AGENT, "starting"),
        ef.ShowSession("s1", "state"),
        ef.SendAsk(AGENT, 2, again),
        ef.After(300.0, AskDue(2, 300.0)),
    ]
    ticket = scene.command("session.new")
    scene.result("session.prompt", text="go")
    scene.seen.clear()
    scene.give(ev.AgentEnded(AGENT, "demo was stopped", 0, wanted=True))
    assert scene.seen == []
    assert scene.state.agent(AGENT).state == "starting"
    states = [session.state for session in scene.state.sessions.values()]
    assert states == ["starting", "starting"]
    scene.is_ready()
    scene.replied(SessionOpened("old"), ResumeSession)
    scene.replied(SessionOpened("new"), NewSession)
    assert scene.reply(ticket)["nativeId"] == "new"
    assert scene.of(ef.SendAsk)[-1].ask == Prompt("new", (Text("go"),))
    states = [session.state for session in scene.state.sessions.values()]
    assert states == ["idle", "idle"]


def test_an_agent_that_was_not_running_restarts_without_an_end() -> None:
    scene = Scene()
    assert scene.result("agent.restart")["state"] == "starting"
    assert scene.of(ef.EndAgent) == []


def test_an_unwanted_end_while_starting_loses_the_sessions_that_wait() -> None:
    scene = Scene()
    scene.command("session.new")
    scene.dies("demo could not be started")
    assert scene.state.sessions["s1"].state == "lost"
    assert scene.state.agent(AGENT).state == "ended"


def test_the_end_of_one_agent_does_not_touch_another() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(BOTH))
    scene.session("a", AGENT)
    scene.session("b", "other")
    scene.tells(up.TurnChanged("running"), "unknown", AGENT)
    scene.tells(up.TurnChanged("running"), "unknown", "other")
    scene.dies("gone", AGENT)
    states = {key: session.state for key, session in scene.state.sessions.items()}
    assert states == {"s1": "lost", "s2": "idle"}
    # A new process may give the same ids to other sessions.
    assert list(scene.state.early) == [("other", "unknown")]


def test_a_session_that_was_lost_before_keeps_its_reason() -> None:
    scene = Scene()
    scene.session()
    scene.dies("first")
    scene.session("again")
    scene.dies("second")
    errors = [session.error for session in scene.state.sessions.values()]
    assert errors == ["first", "second"]


def test_after_an_end_the_agent_starts_anew_with_the_next_session() -> None:
    scene = Scene()
    scene.session()
    scene.dies()
    scene.session()
    assert len(scene.of(ef.StartAgent)) == 2
    agent = scene.state.agent(AGENT)
    assert (agent.state, agent.exit_code) == ("ready", None)
    assert scene.state.natives == {(AGENT, NATIVE): "s2"}
    assert scene.of(ef.SendAsk)[-1].ask == NewSession(OPENING)


def test_questions_of_other_agents_move_up_when_one_ends() -> None:
    dialogs = ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True)
    scene = Scene(ready=dialogs)
    scene.give(ev.SettingsChanged(BOTH))
    scene.session("a", AGENT)
    scene.session("b", "other")
    scene.asks(1, native="a", agent=AGENT)
    scene.asks(1, native="b", agent="other")
    assert scene.put() == ["q1"]
    scene.dies("gone", AGENT)
    assert scene.put() == ["q1", "q2"]
