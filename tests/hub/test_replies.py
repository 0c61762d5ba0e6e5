"""What agents reply, or do not, or say besides: each ask is over once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scene import AGENT, FACTS, NATIVE, OPENING, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import AskDue
from acpls.session import updates as up
from acpls.session.asks import (
    Ask,
    AuthMethod,
    CancelTerminal,
    CancelToolCall,
    CloseSession,
    Done,
    Failure,
    ForkSession,
    KnownSession,
    ListSessions,
    LogIn,
    LogOut,
    NewSession,
    OptionsReplied,
    Prompt,
    ResumeSession,
    SessionOpened,
    SessionsListed,
    SetOption,
    SetTitle,
)
from acpls.session.content import Choice, Exit, Option

CHOICES = (Choice("ask", "Ask"), Choice("code", "Code"))
MODE = Option("mode", "Mode", "select", "ask", CHOICES, category="mode")
MODEL = Option("llm", "Model", "select", "big", category="model")
WEB = Option("web", "Web", "boolean", False)
ABLE = replace(FACTS, can_fork=True, can_close=True, can_set_title=True, can_log_out=True)


def asks_of(scene: Scene) -> list[Ask]:
    return [effect.ask for effect in scene.of(ef.SendAsk)]


def able() -> Scene:
    """A session whose agent can do everything, with a tool call and a terminal to stop."""
    scene = Scene(facts=ABLE)
    scene.session()
    scene.tells(up.OptionsSet((MODE,)))
    scene.tells(up.ToolCallPatched("call", status="in_progress", can_cancel=True))
    scene.tells(up.TerminalPatched("term", can_cancel=True))
    return scene


# --- time limits ---------------------------------------------------------------------------

LIMITED: list[tuple[str, dict[str, Any], type[Ask]]] = [
    ("session.list", {"agent": AGENT}, ListSessions),
    ("session.setOption", {"option": "mode", "value": "code"}, SetOption),
    ("session.rename", {"title": "Tea"}, SetTitle),
    ("toolCall.cancel", {"toolCall": "call"}, CancelToolCall),
    ("terminal.cancel", {"terminal": "term"}, CancelTerminal),
    ("agent.logout", {}, LogOut),
    ("session.new", {}, NewSession),
    ("session.fork", {}, ForkSession),
]


@pytest.mark.parametrize(("name", "arguments", "kind"), LIMITED)
def test_an_agent_that_does_not_reply_is_waited_for_no_longer(
    name: str, arguments: dict[str, Any], kind: type[Ask]
) -> None:
    scene = able()
    ticket = scene.command(name, **arguments)
    number = scene.number(kind)
    limit_s = 300.0 if kind in (NewSession, ForkSession) else 60.0
    assert ef.After(limit_s, AskDue(number, limit_s)) in scene.seen
    scene.passes(limit_s - 1)
    assert scene.replies[ticket] == []
    scene.passes(1)
    assert scene.of(ef.WithdrawAsk) == [ef.WithdrawAsk(AGENT, number)]
    message = f"Demo agent: no answer within {limit_s:g} seconds"
    assert scene.failure(ticket).message == message
    # What it says later is nothing.
    scene.passes(1)
    assert scene.give(ev.Replied(AGENT, number, Done())) == []
    assert scene.give(ev.AskFailed(AGENT, number, Failure(-32603, "late"))) == []
    assert scene.of(ef.TellUser) == []


def test_a_prompt_and_a_login_take_as_long_as_they_take() -> None:
    scene = Scene(facts=replace(FACTS, auth_methods=(AuthMethod("web", "Browser"),)))
    scene.session()
    scene.prompts()
    login = scene.command("agent.login", methodId="web")
    scene.passes(3600)
    assert scene.of(ef.WithdrawAsk) == []
    assert scene.replies[login] == []
    assert {type(waiting.ask) for waiting in scene.state.asks.values()} == {Prompt, LogIn}


def test_a_reply_in_time_leaves_nothing_to_be_due() -> None:
    scene = able()
    ticket = scene.command("session.rename", title="Tea")
    scene.replied(Done(), SetTitle)
    scene.passes(60)
    assert scene.of(ef.WithdrawAsk) == []
    assert scene.reply(ticket) == {}


def test_the_time_of_an_ask_begins_again_while_the_agent_starts() -> None:
    scene = Scene()
    ticket = scene.command("session.list", agent=AGENT)
    scene.passes(150)
    assert scene.replies[ticket] == []
    scene.is_ready()
    scene.passes(29)
    assert scene.replies[ticket] == []
    scene.passes(1)
    assert scene.failure(ticket).message == "Demo agent: no answer within 60 seconds"


def test_a_session_that_does_not_open_again_in_time_goes_on_as_a_new_one_s19() -> None:
    scene = Scene()
    scene.session()
    scene.dies()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    number = scene.number(ResumeSession)
    scene.passes(300)
    assert scene.of(ef.WithdrawAsk) == [ef.WithdrawAsk(AGENT, number)]
    scene.passes(0.1)
    assert asks_of(scene)[-1] == NewSession(OPENING)


def test_a_close_that_is_not_answered_is_not_worth_a_word() -> None:
    scene = able()
    scene.result("session.close")
    number = scene.number(CloseSession)
    scene.passes(61)
    assert scene.of(ef.WithdrawAsk) == [ef.WithdrawAsk(AGENT, number)]
    assert scene.of(ef.TellUser) == []


# --- the options of the settings ---------------------------------------------------------------


def opened_with(options: dict[str, Any], *offered: Option) -> Scene:
    """A session that was opened with these settings, and offers these options."""
    scene = Scene()
    layer = {"agents": {AGENT: {"command": "agent", "options": options}}}
    scene.give(ev.SettingsChanged((layer,)))
    scene.command("session.new")
    scene.is_ready()
    scene.seen.clear()
    scene.replied(SessionOpened(NATIVE, offered), NewSession)
    return scene


def test_a_new_session_gets_its_options_by_id_or_by_category() -> None:
    scene = opened_with({"mode": "code", "model": "small", "web": True}, MODE, MODEL, WEB)
    assert asks_of(scene) == [
        SetOption(NATIVE, "mode", "code"),
        SetOption(NATIVE, "llm", "small"),
        SetOption(NATIVE, "web", True),
    ]
    scene.replied(OptionsReplied((replace(WEB, value=True),)), SetOption)
    assert scene.state.sessions["s1"].options[0].value is True
    assert scene.of(ef.TellUser) == []


def test_an_id_comes_before_a_category() -> None:
    scene = opened_with({"model": "x"}, MODEL, Option("model", "Other", "select", "y"))
    assert asks_of(scene) == [SetOption(NATIVE, "model", "x")]


def test_an_option_that_has_its_value_already_is_not_set() -> None:
    assert asks_of(opened_with({"mode": "ask", "web": False}, MODE, WEB)) == []


@pytest.mark.parametrize(("offered", "named"), [((MODE, WEB), "mode, web"), ((), "none")])
def test_an_option_that_the_session_does_not_have_is_one_warning(
    offered: tuple[Option, ...], named: str
) -> None:
    scene = opened_with({"colour": "red"}, *offered)
    warning = f"demo has no option 'colour'; it has: {named}"
    assert scene.of(ef.TellUser) == [ef.TellUser("warning", warning)]
    assert asks_of(scene) == []


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"mode": "fly"}, "The option 'mode' cannot be 'fly', but: ask, code"),
        ({"mode": True}, "The option 'mode' cannot be True, but: ask, code"),
        ({"web": "yes"}, "The option 'web' cannot be 'yes', but: true or false"),
    ],
)
def test_a_value_that_an_option_cannot_take_is_one_warning_and_not_sent(
    options: dict[str, Any], wrong: str
) -> None:
    scene = opened_with(options, MODE, WEB)
    assert scene.of(ef.TellUser) == [ef.TellUser("warning", f"demo: {wrong}")]
    assert asks_of(scene) == []


def test_an_option_that_cannot_be_set_is_told() -> None:
    scene = opened_with({"mode": "code"}, MODE)
    scene.ask_fails(Failure(-32602, "no such mode"), SetOption)
    scene.passes(0.1)
    assert scene.of(ef.TellUser) == [ef.TellUser("error", "Demo agent: no such mode")]


def test_a_session_of_an_agent_that_left_the_settings_is_opened_all_the_same() -> None:
    scene = Scene()
    ticket = scene.command("session.new")
    scene.is_ready()
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "x"}}},)))
    scene.replied(SessionOpened(NATIVE, (MODE,)), NewSession)
    assert scene.reply(ticket)["state"] == "idle"


def test_an_id_of_another_open_session_is_no_new_session() -> None:
    scene = Scene()
    scene.session()
    ticket = scene.command("session.new")
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.failure(ticket).message == "Demo agent gave it the id of another session"
    assert scene.state.sessions["s2"].state == "lost"
    scene.says("still s1")
    assert scene.state.sessions["s1"].message("m1") is not None


# --- left out, and other notifications -----------------------------------------------------------


def test_what_an_agent_cannot_take_is_told_once() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(({"agents": {AGENT: {"command": "a"}, "b": {"command": "b"}}},)))
    for agent, what in ((AGENT, "http"), (AGENT, "http"), (AGENT, "sse"), ("b", "http")):
        scene.give(ev.LeftOut(agent, f"no {what}"))
    assert [told.message for told in scene.of(ef.TellUser)] == [
        "demo: no http",
        "demo: no sse",
        "b: no http",
    ]
    assert {told.level for told in scene.of(ef.TellUser)} == {"warning"}


def test_an_unknown_notification_is_kept_in_its_session_and_is_nothing_else() -> None:
    scene = Scene()
    scene.session()
    effects = scene.give(ev.Notified(AGENT, "_demo/mood", {"mood": ["odd"]}, NATIVE))
    ((what, key),) = [(e.what, e.key) for e in effects if isinstance(e, ef.ShowSession)]
    assert what == "other"
    assert len(effects) == 1
    (entry,) = scene.result("session.get")["entries"]
    assert entry == {
        "entry": key,
        "type": "other",
        "payload": {"method": "_demo/mood", "params": {"mood": ["odd"]}},
    }


@pytest.mark.parametrize("session", [None, "strange"])
def test_an_unknown_notification_of_no_session_is_only_in_the_log(session: str | None) -> None:
    scene = Scene()
    scene.session()
    assert scene.give(ev.Notified(AGENT, "_demo/mood", None, session)) == []


# --- commands that agents carry out ----------------------------------------------------------


def test_the_sessions_of_an_agent_are_listed_page_by_page() -> None:
    scene = able()
    ticket = scene.command("session.list", agent=AGENT, cwd="/x", cursor="c1")
    assert asks_of(scene)[-1] == ListSessions("/x", "c1")
    known = (
        KnownSession(NATIVE, "/ws", "Tea", "2030-01-01T00:00:00Z", ("/more",)),
        KnownSession("old", "/x"),
    )
    scene.replied(SessionsListed(known, "c2"), ListSessions)
    assert scene.reply(ticket) == {
        "sessions": [
            {
                "nativeId": NATIVE,
                "session": "s1",
                "agent": AGENT,
                "cwd": "/ws",
                "title": "Tea",
                "updatedAt": "2030-01-01T00:00:00Z",
            },
            {"nativeId": "old", "agent": AGENT, "cwd": "/x"},
        ],
        "nextCursor": "c2",
    }
    ticket = scene.command("session.list", agent=AGENT)
    scene.replied(SessionsListed(()), ListSessions)
    assert scene.reply(ticket) == {"sessions": []}


def test_listing_the_sessions_of_an_agent_starts_it() -> None:
    scene = Scene()
    scene.command("session.list", agent=AGENT)
    assert len(scene.of(ef.StartAgent)) == 1


def test_a_copy_of_a_session_is_a_session_of_its_own() -> None:
    scene = able()
    scene.state.sessions["s1"].cwd = "/elsewhere"
    ticket = scene.command("session.fork", session="s1")
    fork = asks_of(scene)[-1]
    assert isinstance(fork, ForkSession)
    assert (fork.session, fork.opening.cwd) == (NATIVE, "/elsewhere")
    assert scene.state.current == "s2"
    scene.replied(SessionOpened("copy"), ForkSession)
    assert scene.reply(ticket)["session"] == "s2"
    assert scene.state.natives == {(AGENT, NATIVE): "s1", (AGENT, "copy"): "s2"}


def test_an_agent_that_left_the_settings_and_runs_opens_copies_without_them() -> None:
    scene = able()
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "x"}}},)))
    scene.command("session.fork")
    assert asks_of(scene)[-1] == ForkSession(NATIVE, OPENING)


def test_a_copy_that_fails_is_lost_and_the_original_is_the_current_one_no_more() -> None:
    scene = able()
    ticket = scene.command("session.fork")
    scene.ask_fails(Failure(-32603, "no"), ForkSession)
    assert scene.failure(ticket).message == "Demo agent: no"
    assert scene.state.sessions["s2"].state == "lost"
    assert scene.state.current is None


def test_a_copy_takes_an_agent_that_can_and_a_session_that_is_open() -> None:
    scene = Scene()
    scene.session()
    assert scene.error("session.fork").message == "Demo agent cannot copy sessions"
    scene = Scene()
    scene.command("session.new")
    assert scene.error("session.fork").message == "demo cannot copy sessions"
    scene.is_ready()
    assert scene.error("session.fork").message == "Demo agent cannot copy sessions"
    assert list(scene.state.sessions) == ["s1"]


def test_a_title_is_set_when_the_agent_says_so() -> None:
    scene = able()
    ticket = scene.command("session.rename", title="Tea")
    assert asks_of(scene)[-1] == SetTitle(NATIVE, "Tea")
    assert scene.state.sessions["s1"].title is None
    scene.replied(Done(), SetTitle)
    assert scene.reply(ticket) == {}
    assert scene.state.sessions["s1"].title == "Tea"


@pytest.mark.parametrize("state", ["open", "starting", "unknown agent"])
def test_a_title_that_no_agent_keeps_is_ours(state: str) -> None:
    scene = Scene(facts=FACTS if state == "open" else ABLE)
    if state == "open":
        scene.session()
    else:
        scene.command("session.new")
        if state == "starting":
            scene.is_ready()
    scene.seen.clear()
    assert scene.result("session.rename", title="Tea") == {}
    assert scene.state.sessions["s1"].title == "Tea"
    assert scene.of(ef.ShowSession) == [ef.ShowSession("s1", "title")]
    assert asks_of(scene) == []


def test_a_tool_call_is_stopped_while_the_agent_offers_that() -> None:
    scene = able()
    ticket = scene.command("toolCall.cancel", toolCall="call")
    assert asks_of(scene)[-1] == CancelToolCall(NATIVE, "call")
    scene.replied(Done(), CancelToolCall)
    assert scene.reply(ticket) == {}


@pytest.mark.parametrize(
    "update",
    [
        up.ToolCallPatched("call", can_cancel=False),
        up.ToolCallPatched("call", status="completed"),
        up.ToolCallPatched("other", can_cancel=True),
    ],
)
def test_a_tool_call_cannot_be_stopped_otherwise(update: up.ToolCallPatched) -> None:
    scene = able()
    scene.tells(update)
    name = "strange" if update.tool_call == "other" else "call"
    failure = scene.error("toolCall.cancel", toolCall=name)
    assert failure.message == "This tool call cannot be stopped by itself"
    assert failure.field == "toolCall"
    assert CancelToolCall not in {type(ask) for ask in asks_of(scene)}


def test_a_terminal_is_stopped_while_the_agent_offers_that() -> None:
    scene = able()
    ticket = scene.command("terminal.cancel", terminal="term")
    assert asks_of(scene)[-1] == CancelTerminal(NATIVE, "term")
    scene.replied(Done(), CancelTerminal)
    assert scene.reply(ticket) == {}


@pytest.mark.parametrize(
    "update",
    [
        up.TerminalPatched("term", can_cancel=False),
        up.TerminalPatched("term", exit=Exit(0)),
        up.TerminalPatched("other", can_cancel=True),
    ],
)
def test_a_terminal_cannot_be_stopped_otherwise(update: up.TerminalPatched) -> None:
    scene = able()
    scene.tells(update)
    name = "strange" if update.terminal == "other" else "term"
    failure = scene.error("terminal.cancel", terminal=name)
    assert failure.message == "This terminal cannot be stopped by itself"
    assert failure.field == "terminal"
    assert CancelTerminal not in {type(ask) for ask in asks_of(scene)}
