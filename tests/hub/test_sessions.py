"""Sessions open, take prompts in order, are cancelled, end, and are closed."""

from __future__ import annotations

import pytest
from scene import AGENT, CANCELLED, FACTS, FACTS_2, NATIVE, OPENING, ROOT, A, Scene, about

from acpls import effects as ef
from acpls import events as ev
from acpls.hub import sessions
from acpls.hub.tokens import AskDue, CancelDue, Failed, NextPrompt, TurnStarts
from acpls.session import updates as up
from acpls.session.asks import (
    Ask,
    Cancel,
    CloseSession,
    Done,
    Failure,
    NewSession,
    OptionsReplied,
    Prompt,
    PromptTaken,
    SessionOpened,
    SetOption,
)
from acpls.session.content import Command, Fragment, Location, Option, Text
from acpls.settings import AgentSpec
from acpls.text import uris

MODE = Option("mode", "Mode", "select", "ask")
CODE = Option("mode", "Mode", "select", "code")
BOTH = ({"agents": {AGENT: {"command": "one"}, "other": {"command": "two"}}},)


def asks_of(scene: Scene) -> list[Ask]:
    return [effect.ask for effect in scene.of(ef.SendAsk)]


def prompts_of(scene: Scene) -> list[str]:
    """The texts of the prompts that were sent."""
    return [
        block.text
        for ask in asks_of(scene)
        if isinstance(ask, Prompt)
        for block in ask.blocks
        if isinstance(block, Text)
    ]


def errors_of(scene: Scene) -> list[str]:
    return [told.message for told in scene.of(ef.TellUser) if told.level == "error"]


# --- opening ---------------------------------------------------------------------------


def test_a_new_session_starts_its_agent_and_asks_for_a_session() -> None:
    scene = Scene()
    scene.seen.clear()
    ticket = scene.command("session.new", title="Tea")
    assert scene.seen == [
        ef.StartAgent(AGENT, AgentSpec("agent")),
        ef.ShowAgent(AGENT, "starting"),
        ef.ShowSession("s1", "state"),
        ef.SendAsk(AGENT, 1, NewSession(OPENING)),
        ef.After(300.0, AskDue(1, 300.0)),
    ]
    assert scene.replies[ticket] == []
    assert scene.state.current == "s1"


def test_the_answer_to_a_new_session_is_its_entry() -> None:
    scene = Scene()
    ticket = scene.command("session.new", title="Tea")
    scene.is_ready()
    scene.seen.clear()
    scene.replied(SessionOpened(NATIVE), NewSession)
    entry = {
        "session": "s1",
        "agent": AGENT,
        "nativeId": NATIVE,
        "cwd": ROOT,
        "title": "Tea",
        "state": "idle",
        "live": True,
    }
    assert scene.seen == [
        ef.ShowSession("s1", "state"),
        ef.WatchFiles((ROOT,)),
        ef.SyncFiles(TurnStarts("s1"), (ROOT,)),
        ef.ReplyCommand(ticket, entry),
        ef.ShowSession("s1", "queue"),
    ]


def test_options_and_commands_come_with_the_session() -> None:
    scene = Scene()
    scene.command("session.new")
    scene.is_ready()
    compact = Command("compact", "Make it short")
    scene.replied(SessionOpened(NATIVE, (MODE,), (compact,)), NewSession)
    session = scene.state.sessions["s1"]
    assert session.options == (MODE,)
    assert session.commands == (compact,)
    assert ef.ShowSession("s1", "options") in scene.seen
    assert ef.ShowSession("s1", "commands") in scene.seen


def test_a_second_session_uses_the_running_agent() -> None:
    scene = Scene()
    assert scene.session("one") == "s1"
    assert scene.session("two") == "s2"
    assert len(scene.of(ef.StartAgent)) == 1
    assert scene.state.current == "s2"


def test_an_agent_that_is_not_configured_gets_no_session() -> None:
    scene = Scene()
    failure = scene.error("session.new", agent="nobody")
    assert failure.message == "No agent is called 'nobody'; configured: demo"
    assert (failure.code, failure.field) == (-32602, "agent")
    assert scene.state.sessions == {}


def test_an_opened_session_shows_that_the_agent_is_logged_in() -> None:
    scene = Scene()
    scene.command("session.new")
    scene.is_ready()
    scene.ask_fails(Failure(-32000, "Authentication required"), NewSession)
    assert scene.state.agent(AGENT).state == "needsLogin"
    scene.session()
    assert len(scene.of(ef.StartAgent)) == 1
    assert scene.of(ef.ShowAgent)[-1] == ef.ShowAgent(AGENT, "ready")
    assert scene.state.agent(AGENT).message is None


def test_a_session_that_is_lost_while_it_opens_is_closed_at_the_agent() -> None:
    scene = Scene(facts=FACTS_2)
    opener = scene.command("session.new")
    scene.is_ready()
    assert scene.result("session.close", session="s1") == {}
    assert scene.state.sessions["s1"].state == "lost"
    assert asks_of(scene) == [NewSession(OPENING)]
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert asks_of(scene)[1:] == [CloseSession(NATIVE)]
    assert scene.failure(opener).message == "The session was closed before it was open"
    assert scene.state.natives == {}


def test_an_agent_that_cannot_close_is_not_asked_to_close_what_it_opened_late() -> None:
    scene = Scene()
    opener = scene.command("session.new")
    scene.is_ready()
    scene.command("session.close", session="s1")
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert asks_of(scene) == [NewSession(OPENING)]
    assert scene.failure(opener).code == -32603


# --- early updates ---------------------------------------------------------------------


def test_updates_before_the_reply_that_opens_the_session_are_not_lost() -> None:
    """S18."""
    scene = Scene()
    scene.command("session.new")
    scene.is_ready()
    assert scene.says("Welcome") == []
    assert scene.tells(up.CommandsSet((Command("early", "First"),))) == []
    scene.replied(SessionOpened(NATIVE), NewSession)
    session = scene.state.sessions["s1"]
    message = session.message("m1")
    assert message is not None
    assert message.text() == "Welcome"
    assert session.commands == (Command("early", "First"),)
    assert scene.state.early == {}


def test_a_turn_that_began_before_the_reply_stays_a_turn() -> None:
    """S18."""
    scene = Scene()
    ticket = scene.command("session.new")
    scene.is_ready()
    scene.tells(up.TurnChanged("running"))
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.reply(ticket)["state"] == "running"


def test_early_updates_of_one_session_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """S18."""
    monkeypatch.setattr(sessions, "EARLY_UPDATES", 3)
    scene = Scene()
    scene.command("session.new")
    scene.is_ready()
    for letter in "abcde":
        scene.says(letter)
    scene.replied(SessionOpened(NATIVE), NewSession)
    message = scene.state.sessions["s1"].message("m1")
    assert message is not None
    assert message.text() == "abc"


def test_early_updates_are_kept_of_the_newest_sessions_only() -> None:
    """S18."""
    scene = Scene()
    for number in range(sessions.EARLY_SESSIONS + 1):
        scene.says("x", native=f"n{number}")
    scene.says("y", native="n1")
    assert list(scene.state.early) == [(AGENT, f"n{number}") for number in range(1, 17)]
    assert len(scene.state.early[AGENT, "n1"]) == 2


# --- prompts ---------------------------------------------------------------------------


def test_a_prompt_for_a_free_session_is_sent_at_once() -> None:
    scene = Scene()
    scene.session()
    scene.seen.clear()
    ticket = scene.command("session.prompt", text="Make tea")
    assert scene.seen == [
        ef.ShowSession("s1", "queue"),
        ef.ShowSession("s1", "message", "t1"),
        ef.ShowSession("s1", "state"),
        ef.SyncFiles(TurnStarts("s1"), (ROOT,)),
        ef.SendAsk(AGENT, 2, Prompt(NATIVE, (Text("Make tea"),))),
        ef.ReplyCommand(ticket, {"session": "s1", "turn": "t1", "queued": False}),
    ]


def test_a_prompt_waits_for_the_session_to_open() -> None:
    scene = Scene()
    scene.command("session.new")
    answer = scene.result("session.prompt", text="first")
    assert answer == {"session": "s1", "turn": "t1", "queued": True}
    scene.is_ready()
    assert prompts_of(scene) == []
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert prompts_of(scene) == ["first"]


def test_prompts_are_sent_one_by_one_in_the_order_given() -> None:
    scene = Scene()
    scene.session()
    queued = [scene.result("session.prompt", text=text)["queued"] for text in ("a", "b", "c")]
    assert queued == [False, True, True]
    assert prompts_of(scene) == ["a"]
    scene.tells(up.TurnChanged("running"))
    scene.ends()
    assert prompts_of(scene) == ["a", "b"]
    assert scene.state.sessions["s1"].turn == "t2"
    scene.tells(up.TurnChanged("idle", "end_turn"))
    assert prompts_of(scene) == ["a", "b", "c"]
    assert scene.state.sessions["s1"].queue == []


def test_a_prompt_makes_its_session_the_current_one() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    scene.result("session.prompt", session="s1", text="go")
    assert scene.state.current == "s1"


def test_a_prompt_that_the_agent_names_is_confirmed() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.prompts()
    scene.seen.clear()
    scene.replied(PromptTaken("theirs"), Prompt)
    assert scene.seen == [ef.ShowSession("s1", "message", "t1")]
    # The reply of version 1 says nothing, and neither does one to an unknown ask.
    assert scene.give(ev.Replied(AGENT, 99, PromptTaken("x"))) == []


def test_a_failed_turn_lets_the_queue_go_on_a_little_later() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    scene.result("session.prompt", text="b")
    scene.seen.clear()
    scene.ask_fails(Failure(-32603, "overloaded"), Prompt)
    session = scene.state.sessions["s1"]
    assert (session.state, session.stop_reason, session.error) == ("idle", "error", "overloaded")
    assert ef.After(0.1, NextPrompt("s1")) in scene.seen
    assert prompts_of(scene) == []
    scene.passes(0.1)
    assert prompts_of(scene) == ["b"]
    assert errors_of(scene) == ["Demo agent: overloaded"]


def test_the_queue_stays_when_the_turn_failed_because_the_agent_ended() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    scene.result("session.prompt", text="b")
    scene.dies("demo ended with exit code 1")
    scene.passes(1)
    session = scene.state.sessions["s1"]
    assert prompts_of(scene) == ["a"]
    assert [queued.turn for queued in session.queue] == ["t2"]
    assert session.state == "lost"
    # The end is told once, not once more for the prompt.
    assert errors_of(scene) == ["demo ended with exit code 1"]


# --- cancel ----------------------------------------------------------------------------


def test_cancel_reaches_the_agent_strictly_before_the_answers_to_its_questions() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.asks(1)
    scene.asks(2)
    scene.seen.clear()
    scene.result("session.cancel")
    sent = [e for e in scene.seen if isinstance(e, ef.SendAsk | ef.SendAnswer)]
    assert sent == [
        ef.SendAsk(AGENT, 3, Cancel(NATIVE)),
        ef.SendAnswer(AGENT, 1, CANCELLED),
        ef.SendAnswer(AGENT, 2, CANCELLED),
    ]
    assert scene.of(ef.After) == [ef.After(10.0, CancelDue("s1", "t1"))]
    assert 3 not in scene.state.asks


def test_an_agent_that_withdraws_its_questions_is_left_to_do_so() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.prompts()
    scene.asks(1)
    scene.result("session.cancel")
    assert scene.answers() == []
    assert asks_of(scene)[-1] == Cancel(NATIVE)
    # It has its time, and does not do so.
    scene.passes(10)
    assert scene.answered(1) == CANCELLED


def test_an_unconfirmed_cancel_is_told_once_after_the_seconds_set() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(({"session": {"cancelSeconds": 3}},)))
    scene.session()
    scene.prompts()
    scene.result("session.cancel")
    scene.result("session.cancel")
    assert asks_of(scene).count(Cancel(NATIVE)) == 1
    scene.passes(2.9)
    assert errors_of(scene) == []
    scene.passes(0.1)
    message = "Demo agent has not confirmed the stop; acpls.session.endTurn ends it"
    assert errors_of(scene) == [message]


def test_a_confirmed_cancel_is_not_complained_about() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    scene.tool_call("call", status="in_progress")
    scene.result("session.cancel")
    scene.ends("cancelled")
    call = scene.state.sessions["s1"].tool_call("call")
    assert call is not None
    assert call.status == "cancelled"
    # Not even when the next turn is being cancelled at that time.
    scene.passes(5)
    scene.prompts("b")
    scene.result("session.cancel")
    scene.passes(5)
    assert errors_of(scene) == []
    scene.passes(5)
    assert len(errors_of(scene)) == 1


def test_an_error_in_answer_to_a_cancelled_prompt_is_not_worth_a_word() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    scene.result("session.prompt", session="s1", text="go")
    scene.result("session.prompt", session="s2", text="go")
    other = scene.number(Prompt)
    scene.result("session.cancel", session="s1")
    scene.give(ev.AskFailed(AGENT, other - 1, Failure(-32800, "cancelled")))
    scene.passes(1)
    assert errors_of(scene) == []
    assert scene.state.sessions["s1"].turn is None
    # Those of other sessions are.
    scene.give(ev.AskFailed(AGENT, other, Failure(-32603, "broken")))
    scene.passes(1)
    assert errors_of(scene) == ["Demo agent: broken"]


def test_a_question_that_crosses_the_cancel_is_cancelled_at_once() -> None:
    """Some agents do not end their turn before they are answered."""
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.result("session.cancel")
    scene.asks(1)
    assert scene.answered(1) == CANCELLED
    scene.ends("end_turn")
    assert scene.answers() == [CANCELLED]


def test_a_question_that_crosses_the_cancel_is_left_to_an_agent_that_withdraws() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.prompts()
    scene.result("session.cancel")
    scene.asks(1)
    assert scene.answers() == []
    scene.ends("end_turn")
    assert scene.answered(1) == CANCELLED


def test_an_agent_that_cancels_by_itself_gets_its_questions_answered() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.asks(1)
    scene.ends("cancelled")
    assert scene.answered(1) == CANCELLED


def test_a_question_outlives_the_ordinary_end_of_its_turn() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.asks(1)
    scene.ends()
    assert scene.answers() == []
    assert len(scene.state.questions.pending()) == 1


def test_there_is_nothing_to_cancel_in_an_idle_session() -> None:
    scene = Scene()
    scene.command("session.new")
    scene.result("session.cancel")
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    scene.result("session.cancel")
    assert asks_of(scene) == [NewSession(OPENING)]


# --- the forced end of a turn ------------------------------------------------------------


def test_a_forced_end_cancels_the_turn_here_and_goes_on_with_the_queue() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    scene.asks(1)
    scene.result("session.prompt", text="b")
    assert scene.result("session.endTurn") == {}
    assert scene.answered(1) == CANCELLED
    assert prompts_of(scene) == ["a", "b"]
    session = scene.state.sessions["s1"]
    assert session.turn == "t2"
    assert session.stop_reason is None
    assert Cancel(NATIVE) not in asks_of(scene)


def test_the_late_end_of_an_abandoned_turn_does_not_end_the_next_one() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    first = scene.number(Prompt)
    scene.result("session.endTurn")
    scene.prompts("b")
    assert scene.tells(up.TurnChanged("idle", "cancelled")) == []
    assert scene.give(ev.Replied(AGENT, first, PromptTaken())) == []
    session = scene.state.sessions["s1"]
    assert (session.state, session.turn) == ("running", "t2")
    scene.ends()
    assert (session.state, session.turn, session.stop_reason) == ("idle", None, "end_turn")


def test_the_next_turn_ends_even_if_the_abandoned_one_never_does() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    scene.result("session.endTurn")
    scene.prompts("b")
    scene.tells(up.TurnChanged("idle", "end_turn"))
    session = scene.state.sessions["s1"]
    assert session.state == "running"
    scene.replied(PromptTaken(), Prompt)
    assert (session.state, session.turn, session.stop_reason) == ("idle", None, "end_turn")
    assert scene.state.held_ends == {}


def test_late_output_of_an_abandoned_turn_still_finds_its_place() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    scene.says("one ")
    scene.result("session.endTurn")
    scene.says("two")
    message = scene.state.sessions["s1"].message("m1")
    assert message is not None
    assert message.text() == "one two"


def test_an_abandoned_prompt_that_fails_leaves_the_next_turn_alone() -> None:
    scene = Scene()
    scene.session()
    scene.prompts("a")
    first = scene.number(Prompt)
    scene.result("session.endTurn")
    scene.prompts("b")
    scene.give(ev.AskFailed(AGENT, first, Failure(-32603, "too late")))
    assert scene.state.sessions["s1"].turn == "t2"
    scene.passes(0.1)
    assert errors_of(scene) == ["Demo agent: too late"]


def test_only_prompts_of_the_same_session_are_abandoned() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    scene.result("session.prompt", session="s1", text="a")
    scene.result("session.prompt", session="s2", text="b")
    scene.result("session.endTurn", session="s1")
    abandoned = {waiting.session: waiting.abandoned for waiting in scene.state.asks.values()}
    assert abandoned == {"s1": True, "s2": False}


def test_no_turn_can_be_ended_where_there_is_none() -> None:
    scene = Scene()
    scene.session()
    scene.seen.clear()
    ticket = scene.command("session.endTurn")
    assert scene.seen == [ef.ReplyCommand(ticket, {})]


# --- closing -----------------------------------------------------------------------------


def test_close_cancels_the_turn_and_closes_on_both_sides() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.prompts()
    scene.asks(1)
    assert scene.result("session.close") == {}
    assert asks_of(scene)[-2:] == [Cancel(NATIVE), CloseSession(NATIVE)]
    assert scene.answered(1) == CANCELLED
    session = scene.state.sessions["s1"]
    assert (session.state, session.error) == ("lost", "closed")
    assert scene.state.current is None
    assert scene.state.natives == {}
    # The agent's word comes later, and the cancel that was due has nothing to say.
    assert scene.replied(Done(), CloseSession) == [ef.ReplyCommand(None, {})]
    scene.passes(10)
    assert errors_of(scene) == []


def test_closing_another_session_leaves_the_current_one() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    scene.result("session.close", session="s1")
    assert scene.state.current == "s2"
    assert CloseSession("one") not in asks_of(scene)


def test_a_lost_session_is_closed_without_its_agent() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.dies("gone")
    assert scene.result("session.close") == {}
    session = scene.state.sessions["s1"]
    assert (session.state, session.error) == ("lost", "gone")
    assert asks_of(scene) == [NewSession(OPENING)]


def test_an_agent_that_fails_to_close_is_not_worth_a_word() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.result("session.close")
    scene.seen.clear()
    assert scene.ask_fails(Failure(-32601, "Method not found"), CloseSession) == []


# --- failures ------------------------------------------------------------------------------


def test_a_session_that_cannot_be_opened_is_lost_and_the_command_fails() -> None:
    scene = Scene()
    ticket = scene.command("session.new")
    scene.is_ready()
    scene.ask_fails(Failure(-32603, "no disk space", "errno 28"), NewSession)
    failure = scene.failure(ticket)
    assert failure == ef.FailCommand(ticket, -32603, "Demo agent: no disk space", "errno 28")
    session = scene.state.sessions["s1"]
    assert (session.state, session.error) == ("lost", "Demo agent: no disk space")
    assert scene.state.current is None
    # Who waited for the command knows; nobody else is told.
    scene.passes(1)
    assert scene.of(ef.TellUser) == []


def test_a_session_that_cannot_be_opened_leaves_another_current_one() -> None:
    scene = Scene()
    scene.command("session.new")
    first = scene.number(NewSession)
    scene.is_ready()
    scene.session("two")
    scene.give(ev.AskFailed(AGENT, first, Failure(-32603, "no")))
    assert scene.state.current == "s2"


def test_a_session_opened_along_with_a_prompt_fails_aloud() -> None:
    scene = Scene()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.ask_fails(Failure(-32603, "no", "why"), NewSession)
    token = Failed(AGENT, "no", "Demo agent: no", "why")
    assert ef.After(0.1, token) in scene.seen
    scene.passes(0.1)
    assert scene.of(ef.TellUser) == [ef.TellUser("error", "Demo agent: no", "why")]


def test_a_message_that_names_its_agent_is_not_prefixed_again() -> None:
    scene = Scene()
    ticket = scene.command("session.new")
    scene.ask_fails(Failure(-32603, "demo: not found in PATH"), NewSession)
    assert scene.failure(ticket).message == "demo: not found in PATH"


def test_a_prompt_that_fails_after_its_turn_ended_changes_nothing_but_is_told() -> None:
    scene = Scene()
    scene.session()
    scene.prompts()
    scene.tells(up.TurnChanged("idle", "end_turn"))
    scene.ask_fails(Failure(-32603, "odd"), Prompt)
    session = scene.state.sessions["s1"]
    assert (session.state, session.stop_reason, session.error) == ("idle", "end_turn", None)
    scene.passes(0.1)
    assert errors_of(scene) == ["Demo agent: odd"]


def test_a_failure_of_an_unknown_ask_is_nobodys() -> None:
    scene = Scene()
    assert scene.give(ev.AskFailed(AGENT, 7, Failure(-32603, "what?"))) == []


# --- options ---------------------------------------------------------------------------------


@pytest.fixture
def with_options() -> Scene:
    scene = Scene()
    scene.command("session.new")
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE, (MODE,)), NewSession)
    return scene


@pytest.mark.parametrize(("reply", "value"), [((CODE,), "code"), (None, "ask")])
def test_an_option_is_set_when_the_agent_says_so(
    with_options: Scene, reply: tuple[Option, ...] | None, value: str
) -> None:
    ticket = with_options.command("session.setOption", option="mode", value="code")
    with_options.replied(OptionsReplied(reply), SetOption)
    (option,) = with_options.reply(ticket)["options"]
    assert (option["option"], option["value"]) == ("mode", value)


def test_an_option_that_cannot_be_set_fails_the_command(with_options: Scene) -> None:
    ticket = with_options.command("session.setOption", option="mode", value="code")
    with_options.ask_fails(Failure(-32602, "no such mode"), SetOption)
    assert with_options.failure(ticket).message == "Demo agent: no such mode"
    assert with_options.state.sessions["s1"].state == "idle"


# --- places ------------------------------------------------------------------------------------


def moves(scene: Scene) -> list[bool]:
    return [place.move for place in scene.take(ef.ShowPlace)]


def test_each_new_place_is_shown_once() -> None:
    scene = Scene()
    scene.session()
    scene.seen.clear()
    at = (Location(A, 3),)
    scene.tool_call("call", locations=at)
    scene.tool_call("call", locations=at)
    assert scene.of(ef.ShowPlace) == [ef.ShowPlace("s1", A, 2, 2, "edit", "call", move=False)]


def test_a_finished_or_placeless_tool_call_is_nowhere() -> None:
    scene = Scene()
    scene.session()
    scene.tool_call("done", locations=(Location(A, 3),), status="completed")
    scene.tool_call("think", title="Think", kind="think")
    scene.tells(up.ToolCallGrew("think", Text("hm")))
    assert scene.of(ef.ShowPlace) == []


def test_the_editor_goes_along_only_when_wanted_and_idle() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, "one\ntwo\nthree\n")
    scene.buffer(A)
    lines = iter(range(1, 50))

    def now_at() -> list[bool]:
        scene.seen.clear()
        scene.tool_call("call", locations=(Location(A, next(lines)),))
        return moves(scene)

    assert now_at() == [False]
    scene.result("follow.set", on=True)
    assert now_at() == [True]
    scene.types(A, 0, "x")
    assert now_at() == [False]
    scene.passes(1.9)
    assert now_at() == [False]
    scene.passes(0.1)
    assert now_at() == [True]
    scene.give(ev.FocusChanged(uris.from_path(A), typing=True))
    assert now_at() == [False]
    scene.give(ev.FocusChanged(uris.from_path(A), typing=False))
    assert now_at() == [True]
    scene.result("follow.set")
    assert now_at() == [False]


def test_our_own_edits_do_not_count_as_typing() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, "one\ntwo\n")
    scene.buffer(A)
    scene.result("follow.set", on=True)
    scene.agent_edits(A, "two", "2")
    scene.settles()
    assert scene.text(A) == "one\n2\n"
    (key,) = scene.keys()
    scene.command("review.reject", hunk=key)
    scene.settles()
    assert scene.text(A) == "one\ntwo\n"
    scene.seen.clear()
    scene.tool_call("next", locations=(Location(A, 1),))
    assert moves(scene) == [True]


def test_a_reload_by_the_editor_does_not_count_as_typing() -> None:
    scene = Scene()
    scene.session()
    scene.puts(A, "one\n")
    uri = scene.buffer(A)
    scene.result("follow.set", on=True)
    scene.agent_edits(A, "one", "1")
    scene.shows(uri, "1\n")
    scene.seen.clear()
    scene.tool_call("next", locations=(Location(A, 1),))
    assert moves(scene) == [True]


def test_proposals_of_a_tool_call_go_with_its_turn() -> None:
    scene = Scene()
    scene.session()
    scene.has(A, "one\n")
    scene.prompts()
    scene.tool_call("call", Fragment(A, "one", "1"), status="pending")
    scene.asks(1, subject=about())
    assert [change.preview for change in scene.state.ledger.proposals.values()] == [True]
    scene.ends("cancelled")
    assert scene.state.ledger.proposals == {}


def test_sessions_of_two_agents_do_not_meet() -> None:
    scene = Scene(facts=FACTS)
    scene.give(ev.SettingsChanged(BOTH))
    scene.session("same", AGENT)
    scene.session("same", "other")
    scene.tells(up.MessageGrew("m1", "agent", Text("hello")), "same", "other")
    assert scene.state.sessions["s1"].message("m1") is None
    message = scene.state.sessions["s2"].message("m1")
    assert message is not None
    assert message.text() == "hello"
