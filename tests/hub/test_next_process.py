"""One process of an agent after another: nothing of the old one is taken for the new one's."""

from __future__ import annotations

import pytest
from scene import AGENT, FACTS, NATIVE, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Failure, NewSession, Prompt, ResumeSession, SessionOpened
from acpls.session.content import Choosable, Text


def prompts(scene: Scene) -> list[Prompt]:
    return [e.ask for e in scene.of(ef.SendAsk) if isinstance(e.ask, Prompt)]


def restarted() -> Scene:
    """A scene whose agent was restarted in the middle of a turn; the old one's end is not told."""
    scene = Scene()
    scene.session()
    scene.prompts("one")
    scene.tells(up.TurnChanged("running"))
    scene.result("session.prompt", text="two")
    scene.result("agent.restart")
    scene.seen.clear()
    return scene


@pytest.mark.parametrize(
    "last_words",
    [
        ev.SessionTold(AGENT, NATIVE, up.TurnChanged("idle", "error", "demo was ended")),
        ev.QuestionAsked(AGENT, 1, NATIVE, "Sure?", (Choosable("y", "Yes", "allow_once"),)),
        ev.LinkAsked(AGENT, 1, NATIVE, "Visit this", "https://example.org", "l1"),
        ev.FormAsked(AGENT, 1, NATIVE, "Fill this in", {}),
    ],
)
def test_what_an_ended_process_still_said_is_not_the_next_ones_s19(last_words: ev.Event) -> None:
    """The session is open in the next process when that says so, and not before."""
    scene = restarted()
    scene.give(last_words)
    assert scene.state.sessions["s1"].state == "starting"
    assert scene.state.questions.pending() == []
    assert scene.of(ef.SendAnswer) == []
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    assert prompts(scene) == []
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert prompts(scene) == [Prompt(NATIVE, (Text("two"),))]


def test_a_process_that_was_stopped_while_it_started_does_not_come_back() -> None:
    """Its last news must not count for the next one: else an end would be waited for in vain."""
    scene = Scene()
    scene.command("agent.start")
    scene.result("agent.stop")
    scene.give(ev.AgentStarting(AGENT, "still starting"))
    scene.give(ev.AgentReady(AGENT, FACTS))
    (entry,) = scene.result("agent.list")
    assert entry["state"] == "stopped"
    scene.result("agent.restart")
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    assert scene.state.agent(AGENT).ending == 0
    scene.is_ready()
    (entry,) = scene.result("agent.list")
    assert entry["state"] == "ready"


def test_an_id_that_another_session_got_meanwhile_stays_with_that_one() -> None:
    """Some agents count their sessions from the beginning in each process."""
    scene = Scene()
    scene.session()
    scene.dies()
    scene.result("agent.restart")
    scene.is_ready()
    scene.command("session.new")
    scene.ask_fails(Failure(-32002, "no such session"), ResumeSession)
    scene.replied(SessionOpened(NATIVE), NewSession)
    scene.passes(1)
    assert scene.state.natives[AGENT, NATIVE] == "s2"
    scene.says("hello")
    assert scene.state.sessions["s2"].message("m1") is not None


def test_a_prompt_waits_for_what_a_loaded_session_may_still_tell_s19() -> None:
    """Some agents reply first, and only then tell again what was said."""
    scene = Scene()
    scene.session()
    scene.dies()
    scene.result("session.prompt", text="go on")
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE, loaded=True), ResumeSession)
    assert scene.state.sessions["s1"].state == "idle"
    assert prompts(scene) == []
    scene.passes(0.5)
    assert prompts(scene) == [Prompt(NATIVE, (Text("go on"),))]


def test_messages_of_the_next_process_are_new_ones_s19() -> None:
    """Agents that tell no ids of messages are counted from the beginning again."""
    scene = Scene()
    scene.session()
    scene.says("before", "made-1")
    scene.dies()
    scene.result("agent.restart")
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    scene.says("after", "made-1")
    entries = scene.state.sessions["s1"].entries
    assert list(entries) == ["message:made-1", "message:made-1'"]


def test_an_end_is_told_once_though_the_agent_has_ended_again_since() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("one")
    scene.ask_fails(Failure(-32603, "demo was killed"), Prompt)
    scene.give(ev.AgentEnded(AGENT, "demo was killed"))
    scene.result("agent.restart")
    scene.give(ev.AgentEnded(AGENT, "demo has no licence"))
    scene.passes(1)
    told = [effect.message for effect in scene.of(ef.TellUser) if effect.level == "error"]
    assert told == ["demo was killed", "demo has no licence"]
