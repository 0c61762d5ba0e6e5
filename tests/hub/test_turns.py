"""Sessions and turns as people meet them: one session an intent, always a way out, and all
that a turn did to files.
"""

from __future__ import annotations

from scene import AGENT, NATIVE, ROOT, A, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import TurnEnds, TurnStarts
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


# --- the files of a turn -------------------------------------------------------------------


def watched(scene: Scene) -> list[tuple[str, ...]]:
    return [effect.roots for effect in scene.of(ef.WatchFiles)]


def test_the_files_are_looked_at_before_a_turn_and_after_it() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    assert scene.state.at_work == {"s1"}
    scene.ends()
    assert scene.state.at_work == set()
    tokens = [effect.token for effect in scene.of(ef.SyncFiles)]
    assert tokens == [TurnStarts("s1"), TurnStarts("s1"), TurnEnds("s1")]
    assert {effect.roots for effect in scene.of(ef.SyncFiles)} == {(ROOT,)}
    # What the session did by then is over as well.
    assert (scene.state.named, scene.state.changed_by) == ({}, set())


def test_a_prompt_is_sent_only_after_its_look_was_asked_for() -> None:
    scene = Scene()
    scene.session()
    scene.seen.clear()
    scene.result("session.prompt", text="go")
    kinds = [type(e) for e in scene.seen if isinstance(e, ef.SyncFiles | ef.SendAsk)]
    assert kinds == [ef.SyncFiles, ef.SendAsk]


def test_an_agent_is_at_work_when_its_files_were_looked_at_or_it_says_so() -> None:
    scene = Scene()
    scene.session()
    scene.holds = {ef.SyncFiles}
    scene.result("session.prompt", text="go")
    assert scene.state.at_work == set()
    scene.let()
    assert scene.state.at_work == {"s1"}
    scene.ends()
    scene.let()
    # The look takes too long to be waited for.
    scene.result("session.prompt", text="again")
    scene.tells(up.TurnChanged("running"))
    assert scene.state.at_work == {"s1"}
    # And so may one that works unasked.
    scene.ends()
    while scene.held:
        scene.let()
    scene.tells(up.TurnChanged("running"))
    assert scene.state.at_work == {"s1"}


def test_a_look_before_a_turn_that_is_over_already_starts_no_work() -> None:
    scene = Scene()
    scene.session()
    scene.holds = {ef.SyncFiles}
    scene.result("session.prompt", text="go")
    scene.ends()
    scene.let()
    assert scene.state.at_work == set()


def test_a_turn_that_follows_at_once_is_work_as_well() -> None:
    """Its agent may begin before the files were looked at after the turn before it."""
    scene = Scene()
    scene.has(A, "one\n")
    scene.session()
    scene.prompts("first")
    scene.holds = {ef.SyncFiles}
    scene.ends()
    scene.result("session.prompt", text="second")
    scene.tells(up.TurnChanged("running"))
    scene.let()
    assert scene.state.at_work == {"s1"}
    scene.puts(A, "two\n")
    scene.notices(A)
    assert scene.hunks() == [("one\n", "two\n")]
    scene.let()
    scene.ends()
    scene.let()
    assert scene.state.at_work == set()
    titles = [checkpoint.title for checkpoint in scene.state.checkpoints.all]
    assert titles == ["second"]


def test_the_files_of_a_lost_agent_are_looked_at_once_more() -> None:
    scene = Scene()
    scene.has(A, "one\n")
    scene.session()
    scene.prompts()
    scene.puts(A, "two\n")
    scene.dies()
    assert scene.hunks() == [("one\n", "two\n")]
    assert scene.state.at_work == set()
    assert scene.of(ef.SyncFiles)[-1].token == TurnEnds("s1")


def test_files_are_watched_while_a_session_has_use_for_it() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two", cwd="/else")
    assert watched(scene) == [(ROOT,), (ROOT, "/else")]
    scene.prompts()
    scene.dies()
    assert watched(scene)[-1] == ()
    # A session that is over has no use for it.
    scene.command("session.new", cwd="/third")
    scene.is_ready()
    scene.replied(SessionOpened("third"), NewSession)
    assert watched(scene)[-1] == ("/third", ROOT)


def test_what_could_not_be_looked_at_is_told() -> None:
    scene = Scene()
    scene.session()
    reason = "/ws has so many files that some cannot be undone"
    scene.give(ev.FilesSynced(TurnStarts("s1"), problem=reason))
    assert scene.of(ef.TellUser) == [ef.TellUser("warning", reason)]


def test_a_turn_is_called_by_the_first_words_of_its_prompt() -> None:
    scene = Scene()
    scene.has(A, "one\n")
    scene.session()
    scene.prompts("\n  Make tea\nand coffee")
    scene.agent_writes(A, "two\n")
    scene.ends()
    scene.works()
    scene.agent_writes(A, "three\n")
    scene.tells(up.TurnChanged("idle", "end_turn"))
    assert [checkpoint.title for checkpoint in scene.state.checkpoints.all] == ["Make tea", ""]
