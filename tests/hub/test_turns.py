"""Sessions and turns as people meet them: one session an intent, and always a way out."""

from __future__ import annotations

from scene import AGENT, NATIVE, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Cancel, NewSession, Prompt, PromptTaken, SessionOpened
from acpls.session.content import Text


def asked(scene: Scene, kind: type) -> list[ef.SendAsk]:
    return [effect for effect in scene.of(ef.SendAsk) if isinstance(effect.ask, kind)]


def test_s10_prompts_while_a_session_starts_open_no_second_one() -> None:
    """S10: one session for one intent, and all of the stream is in it."""
    scene = Scene()
    first = scene.result("session.prompt", text="one")
    second = scene.result("session.prompt", text="two")
    opened = scene.command("session.openConversation")
    assert (first["session"], first["queued"]) == (second["session"], second["queued"])
    assert len(asked(scene, NewSession)) == 1
    scene.tells(up.MessageGrew("m1", "agent", Text("early")))
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert [x.ask.blocks for x in asked(scene, Prompt) if isinstance(x.ask, Prompt)] == [
        (Text("one"),)
    ]
    scene.says(" and late")
    entries = scene.result("session.get")["entries"]
    said = [e["content"][0]["text"] for e in entries if e["role"] == "agent"]
    assert said == ["early and late"]
    assert scene.reply(opened)["uri"]


def test_s13_a_turn_that_never_ends_can_be_taken_for_ended() -> None:
    """S13: the user ends it; what comes late is still in this session's story."""
    scene = Scene()
    scene.session()
    scene.prompts("one")
    late = scene.number(Prompt)
    scene.command("session.cancel")
    scene.passes(10)
    (told,) = scene.of(ef.TellUser)
    assert "acpls.session.endTurn" in told.message
    scene.command("session.endTurn")
    assert scene.result("session.get")["state"] == "idle"
    scene.prompts("two")
    scene.says("late words")
    # The reply to the first prompt comes after all: it ends no other turn than its own.
    scene.tells(up.TurnChanged("idle", "cancelled"))
    scene.give(ev.Replied(AGENT, late, PromptTaken()))
    snapshot = scene.result("session.get")
    assert (snapshot["state"], snapshot["entries"][-1]["content"]) == (
        "running",
        [{"type": "text", "text": "late words"}],
    )
    scene.ends()
    assert scene.result("session.get")["stopReason"] == "end_turn"


def test_s14_a_prompt_after_a_cancel_waits_for_the_agents_word() -> None:
    """S14: cancel, then wait, then prompt; and the user sees it waiting."""
    scene = Scene()
    scene.session()
    scene.prompts("one")
    scene.command("session.cancel")
    waiting = scene.result("session.prompt", text="two")
    assert waiting["queued"]
    assert [q["turn"] for q in scene.result("session.get")["queue"]] == [waiting["turn"]]
    scene.ends("cancelled")
    sent = [type(effect.ask) for effect in scene.of(ef.SendAsk)]
    assert sent == [NewSession, Prompt, Cancel, Prompt]
    assert scene.result("session.get")["queue"] == []
