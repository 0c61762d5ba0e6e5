"""Sessions are opened again when their agent has ended (X20, S19), each once (S10)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scene import AGENT, FACTS, FACTS_2, NATIVE, OPENING, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import (
    Ask,
    CloseSession,
    Failure,
    ForkSession,
    NewSession,
    Opening,
    Prompt,
    ResumeSession,
    SessionOpened,
)
from acpls.session.content import Command, Option, Text
from acpls.session.state import Notice

MODE = Option("mode", "Mode", "select", "ask")
AGAIN = ResumeSession(NATIVE, OPENING)
UNKNOWN = Failure(-32602, "no such session")
BOTH = ({"agents": {AGENT: {"command": "one"}, "other": {"command": "two"}}},)


def asks_of(scene: Scene) -> list[Ask]:
    return [effect.ask for effect in scene.of(ef.SendAsk)]


def states(scene: Scene) -> dict[str, str]:
    return {key: session.state for key, session in scene.state.sessions.items()}


def lost() -> Scene:
    """A scene whose one session was lost with its agent."""
    scene = Scene()
    scene.session()
    scene.dies("demo was killed")
    scene.seen.clear()
    return scene


def ends(scene: Scene) -> None:
    """The end that we wanted is told: what was asked of the old process fails first."""
    reason = "demo was ended"
    for number, ask in scene.asked.items():
        if number in scene.state.asks and not isinstance(ask, NewSession | ResumeSession):
            scene.give(ev.AskFailed(AGENT, number, Failure(-32603, reason)))
    scene.give(ev.AgentEnded(AGENT, reason, 0, wanted=True))


# --- four ways ---------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["agent.restart", "agent.start", "session.prompt"])
def test_a_lost_session_is_opened_again_under_the_same_keys_x20_s19(way: str) -> None:
    scene = lost()
    arguments = {"text": "go on"} if way == "session.prompt" else {}
    scene.result(way, **arguments)
    assert states(scene) == {"s1": "starting"}
    assert scene.state.sessions["s1"].error is None
    assert asks_of(scene) == [AGAIN]
    assert len(scene.of(ef.StartAgent)) == 1
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert states(scene) == {"s1": "idle"}
    assert scene.state.natives == {(AGENT, NATIVE): "s1"}
    sent = [ask for ask in asks_of(scene) if isinstance(ask, Prompt)]
    assert sent == ([Prompt(NATIVE, (Text("go on"),))] if arguments else [])
    # What it is told goes where it went before.
    scene.says("hello")
    assert scene.state.sessions["s1"].message("m1") is not None


def test_resume_is_answered_when_the_agent_has_opened_the_session_x20() -> None:
    scene = lost()
    ticket = scene.command("session.resume", session="s1")
    assert scene.replies[ticket] == []
    assert scene.state.current == "s1"
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert (scene.reply(ticket)["state"], scene.reply(ticket)["live"]) == ("idle", True)


def test_resume_of_a_session_that_lives_is_answered_at_once() -> None:
    scene = Scene()
    scene.session()
    assert scene.result("session.resume")["state"] == "idle"
    assert ResumeSession not in {type(ask) for ask in asks_of(scene)}


def test_what_was_closed_or_never_open_cannot_be_resumed() -> None:
    scene = Scene()
    scene.session()
    scene.command("session.new")
    scene.ask_fails(Failure(-32603, "no"), NewSession)
    scene.result("session.close", session="s1")
    closed = scene.error("session.resume", session="s1")
    assert closed.message == "The session was closed; acpls.session.new opens another"
    never = scene.error("session.resume", session="s2")
    assert never.message == "The session was never open; acpls.session.new opens another"
    assert (closed.field, never.field) == ("session", "session")


def test_sessions_that_were_closed_or_never_open_stay_so_after_a_restart() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    scene.result("session.close", session="s1")
    scene.give(ev.AgentEnded(AGENT, "demo was killed"))
    scene.result("agent.restart")
    assert states(scene) == {"s1": "lost", "s2": "starting"}


def test_an_agent_that_ended_with_no_session_has_none_to_open_again() -> None:
    scene = Scene()
    scene.command("agent.start")
    scene.give(ev.AgentEnded(AGENT, "demo was killed"))
    assert [told.level for told in scene.of(ef.TellUser)] == ["error"]


def test_two_prompts_open_a_session_again_once_and_go_out_in_order_s10() -> None:
    scene = lost()
    queued = [scene.result("session.prompt", text=text)["queued"] for text in ("a", "b")]
    assert queued == [True, True]
    assert asks_of(scene) == [AGAIN]
    assert scene.result("session.resume")["state"] == "starting"
    assert asks_of(scene) == [AGAIN]
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    scene.tells(up.TurnChanged("running"))
    scene.ends()
    texts = [ask.blocks for ask in asks_of(scene) if isinstance(ask, Prompt)]
    assert texts == [(Text("a"),), (Text("b"),)]


def test_what_an_agent_says_of_a_session_before_it_is_open_again_is_not_lost_s18() -> None:
    scene = lost()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.tells(up.CommandsSet((Command("early", "First"),)))
    scene.replied(SessionOpened(NATIVE, (MODE,)), ResumeSession)
    session = scene.state.sessions["s1"]
    assert (session.commands, session.options) == ((Command("early", "First"),), (MODE,))


def test_the_options_of_the_settings_are_for_new_sessions_only() -> None:
    scene = Scene()
    layer = {"agents": {AGENT: {"command": "agent", "options": {"mode": "code"}}}}
    scene.give(ev.SettingsChanged((layer,)))
    scene.session()
    scene.dies()
    scene.result("agent.restart")
    scene.is_ready()
    scene.seen.clear()
    scene.replied(SessionOpened(NATIVE, (MODE,)), ResumeSession)
    assert asks_of(scene) == []


# --- it cannot be opened again -----------------------------------------------------------------


def test_a_session_that_the_agent_has_no_more_goes_on_as_a_new_one_with_a_notice_s19() -> None:
    scene = lost()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.ask_fails(UNKNOWN, ResumeSession)
    assert asks_of(scene) == [AGAIN]
    scene.passes(0.1)
    assert asks_of(scene) == [AGAIN, NewSession(OPENING)]
    (notice,) = [e for e in scene.state.sessions["s1"].entries.values() if isinstance(e, Notice)]
    title = "Demo agent could not open this session again and goes on with a new one"
    assert (notice.severity, notice.title, notice.description) == (
        "warning",
        title,
        "no such session",
    )
    scene.replied(SessionOpened("fresh"), NewSession)
    assert scene.state.natives == {(AGENT, "fresh"): "s1"}
    assert asks_of(scene)[-1] == Prompt("fresh", (Text("go"),))
    assert [told for told in scene.of(ef.TellUser) if told.level == "error"] == []


def test_an_agent_that_cannot_resume_after_all_may_load_s19() -> None:
    """Its resuming is unknown to it; the second time it is asked to load, and knows the session."""
    scene = lost()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.ask_fails(Failure(-32601, "Method not found"), ResumeSession)
    scene.passes(0.1)
    assert asks_of(scene) == [AGAIN, AGAIN]
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert asks_of(scene)[-1] == Prompt(NATIVE, (Text("go"),))
    assert not [e for e in scene.state.sessions["s1"].entries.values() if isinstance(e, Notice)]


def test_an_agent_that_can_neither_resume_nor_load_gets_a_new_session_s19() -> None:
    scene = lost()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    for _ in range(2):
        scene.ask_fails(Failure(-32601, "Method not found"), ResumeSession)
        scene.passes(0.1)
    assert asks_of(scene) == [AGAIN, AGAIN, NewSession(OPENING)]


def test_a_resume_that_fails_answers_its_command_once() -> None:
    scene = lost()
    ticket = scene.command("session.resume")
    scene.is_ready()
    scene.ask_fails(UNKNOWN, ResumeSession)
    assert scene.failure(ticket).message == "Demo agent: no such session"
    scene.passes(0.1)
    scene.replied(SessionOpened("fresh"), NewSession)
    assert len(scene.replies[ticket]) == 1
    assert states(scene) == {"s1": "idle"}


def test_a_session_is_lost_not_new_when_its_agent_died_again_x20() -> None:
    scene = lost()
    ticket = scene.command("session.resume")
    scene.dies("demo ended with exit code 1")
    scene.passes(1)
    assert states(scene) == {"s1": "lost"}
    assert asks_of(scene) == [AGAIN]
    assert scene.state.sessions["s1"].native == NATIVE
    # Who waited for the command was told of the end.
    assert scene.failure(ticket).message == "demo ended with exit code 1"
    assert [told.level for told in scene.of(ef.TellUser)] == ["info", "info"]
    # And there is always another time.
    scene.result("agent.restart")
    assert asks_of(scene) == [AGAIN, AGAIN]


def test_a_session_that_is_being_opened_again_once_more_is_not_opened_anew_as_well_s10() -> None:
    scene = lost()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.ask_fails(UNKNOWN, ResumeSession)
    scene.give(ev.AgentEnded(AGENT, "demo was killed"))
    scene.result("agent.restart")
    scene.passes(0.1)
    assert asks_of(scene) == [AGAIN, AGAIN]
    assert states(scene) == {"s1": "starting"}


def test_a_session_that_was_closed_meanwhile_is_not_opened_anew() -> None:
    scene = lost()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.ask_fails(UNKNOWN, ResumeSession)
    scene.result("session.close")
    scene.passes(1)
    assert NewSession(OPENING) not in asks_of(scene)


# --- while it lives ------------------------------------------------------------------------------


def test_a_restart_loses_the_turn_and_opens_the_sessions_again() -> None:
    scene = Scene()
    scene.session("one")
    scene.session("two")
    scene.result("session.prompt", session="s1", text="go")
    scene.asks(1, native="one")
    scene.result("session.prompt", session="s1", text="next")
    scene.seen.clear()
    scene.result("agent.restart")
    assert states(scene) == {"s1": "starting", "s2": "starting"}
    assert scene.state.sessions["s1"].turn is None
    assert scene.of(ef.QuestionSettled) == [ef.QuestionSettled("q1", "agent")]
    assert scene.answers() == []
    ends(scene)
    assert scene.of(ef.TellUser) == []
    assert states(scene) == {"s1": "starting", "s2": "starting"}
    scene.is_ready()
    first, second = [e.number for e in scene.of(ef.SendAsk)]
    scene.give(ev.Replied(AGENT, first, SessionOpened("one")))
    scene.give(ev.Replied(AGENT, second, SessionOpened("two")))
    # The turn that was lost is not taken up again; what waited goes out.
    assert asks_of(scene)[-1] == Prompt("one", (Text("next"),))
    scene.passes(1)
    assert [told.message for told in scene.of(ef.TellUser)] == []


def test_what_the_old_process_says_at_its_end_is_not_of_the_sessions_of_the_new_one_s19() -> None:
    """In ACP 1 the end of a prompt, whatever ends it, is told as the end of its turn."""
    scene = Scene()
    scene.session()
    scene.prompts("one")
    scene.result("session.prompt", text="two")
    scene.result("agent.restart")
    scene.seen.clear()
    for event in (
        ev.SessionTold(AGENT, NATIVE, up.TurnChanged("idle", "error", "demo was ended")),
        ev.SessionTold(AGENT, NATIVE, up.MessageGrew("m", "agent", Text("late"))),
        ev.Notified(AGENT, "_demo/bye", {}, NATIVE),
        ev.QuestionAsked(AGENT, 1, NATIVE, "May I?", ()),
        ev.FormAsked(AGENT, 2, None, "Who?", {}),
        ev.LinkAsked(AGENT, 3, None, "Visit", "https://a.example", "l"),
        ev.LinkDone(AGENT, "l"),
        ev.RequestWithdrawn(AGENT, 1),
        ev.FileReadAsked(AGENT, 4, NATIVE, f"{ROOT}/a"),
        ev.FileWriteAsked(AGENT, 5, NATIVE, f"{ROOT}/a", "x"),
        ev.AgentMisspoke(AGENT, "half a line"),
    ):
        assert scene.give(event) == []
    assert states(scene) == {"s1": "starting"}
    assert scene.state.early == {}
    ends(scene)
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert asks_of(scene) == [Prompt(NATIVE, (Text("two"),))]
    # From now on it is heard again.
    scene.says("hello")
    assert scene.state.sessions["s1"].message("m1") is not None


def test_what_another_agent_says_is_heard_while_one_ends() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(BOTH))
    scene.session("one", AGENT)
    scene.session("two", "other")
    scene.result("agent.restart", agent=AGENT)
    scene.tells(up.MessageGrew("m", "agent", Text("hi")), "two", "other")
    assert scene.state.sessions["s2"].message("m") is not None


@pytest.mark.parametrize("kind", [NewSession, ForkSession, ResumeSession])
def test_what_the_old_process_was_to_open_is_asked_of_the_new_one(kind: type[Ask]) -> None:
    scene = Scene(facts=replace(FACTS, can_fork=True))
    if kind is NewSession:
        ticket = scene.command("session.new")
    else:
        scene.session()
        if kind is ResumeSession:
            scene.dies()
        ticket = scene.command("session.fork" if kind is ForkSession else "session.resume")
    scene.is_ready()
    asked, old = scene.asked[scene.number(kind)], scene.number(kind)
    scene.seen.clear()
    scene.result("agent.restart")
    assert asks_of(scene).count(asked) == 1
    assert scene.give(ev.AskFailed(AGENT, old, Failure(-32603, "demo was ended"))) == []
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    scene.replied(SessionOpened("fresh"), kind)
    assert scene.reply(ticket)["nativeId"] == "fresh"
    assert scene.of(ef.TellUser) == []


def test_a_command_that_the_old_process_owes_an_answer_fails_once() -> None:
    scene = Scene()
    scene.session()
    ticket = scene.command("session.list", agent=AGENT)
    scene.result("agent.restart")
    ends(scene)
    assert scene.failure(ticket).message == "demo was ended"


def test_an_agent_that_was_stopped_and_started_at_once_has_its_sessions_again() -> None:
    """The new process does not know the sessions that are open in the old one."""
    scene = Scene()
    scene.session()
    scene.result("agent.stop")
    assert states(scene) == {"s1": "lost"}
    scene.result("agent.start")
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    assert asks_of(scene)[-1] == AGAIN
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert states(scene) == {"s1": "idle"}


def test_an_agent_that_was_stopped_and_is_started_later_has_its_sessions_again() -> None:
    scene = Scene()
    scene.session()
    scene.result("agent.stop")
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.result("agent.start")
    assert asks_of(scene)[-1] == AGAIN


def test_a_prompt_after_a_stop_starts_the_agent_again() -> None:
    scene = Scene()
    scene.session()
    scene.result("agent.stop")
    scene.seen.clear()
    scene.result("session.prompt", text="go")
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    assert asks_of(scene) == [AGAIN]
    assert states(scene) == {"s1": "starting"}


@pytest.mark.parametrize("wanted", [True, False])
def test_the_end_of_the_old_process_is_not_that_of_the_new_one(wanted: bool) -> None:
    """It may have died by itself just before."""
    scene = Scene()
    scene.session()
    scene.result("agent.restart")
    scene.seen.clear()
    assert scene.give(ev.AgentEnded(AGENT, "demo was killed", wanted=wanted)) == []
    assert states(scene) == {"s1": "starting"}
    scene.is_ready()
    scene.give(ev.AgentEnded(AGENT, "demo was killed", wanted=False))
    assert states(scene) == {"s1": "lost"}


def test_the_first_of_two_processes_that_end_ends_nothing_of_the_second() -> None:
    scene = Scene()
    scene.session()
    scene.result("agent.restart")
    scene.result("agent.stop")
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    assert states(scene) == {"s1": "starting"}
    scene.result("agent.start")
    assert asks_of(scene)[1:] == [AGAIN, AGAIN]
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert states(scene) == {"s1": "idle"}


def test_nothing_is_asked_about_a_session_before_it_is_open_again() -> None:
    scene = Scene(facts=replace(FACTS_2, can_fork=True, can_set_title=True))
    scene.session()
    scene.tells(up.OptionsSet((MODE,)))
    scene.tells(up.ToolCallPatched("call", status="in_progress", can_cancel=True))
    scene.tells(up.TerminalPatched("term", can_cancel=True))
    scene.result("agent.restart")
    scene.seen.clear()
    for name, arguments, message in (
        ("session.setOption", {"option": "mode", "value": "code"}, "The session is not open"),
        ("session.fork", {}, "The session is not open"),
        (
            "toolCall.cancel",
            {"toolCall": "call"},
            "This tool call cannot be stopped by itself",
        ),
        (
            "terminal.cancel",
            {"terminal": "term"},
            "This terminal cannot be stopped by itself",
        ),
    ):
        assert scene.error(name, **arguments).message == message
    assert scene.result("session.rename", title="Tea") == {}
    assert scene.result("session.close") == {}
    assert asks_of(scene) == []


def test_only_the_sessions_of_the_agent_are_touched() -> None:
    scene = Scene()
    scene.give(ev.SettingsChanged(BOTH))
    scene.session("one", AGENT)
    scene.session("two", "other")
    scene.command("session.new", agent="other")
    scene.seen.clear()
    scene.result("agent.restart", agent=AGENT)
    assert states(scene) == {"s1": "starting", "s2": "idle", "s3": "starting"}
    assert asks_of(scene) == [ResumeSession("one", OPENING)]


def test_a_session_of_an_agent_that_is_configured_no_more_stays_lost() -> None:
    scene = lost()
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "two"}}},)))
    failure = scene.error("session.resume")
    assert failure.message == "No agent is called 'demo'; configured: other"
    assert scene.error("session.prompt", text="go").field == "agent"
    assert states(scene) == {"s1": "lost"}


def test_a_session_that_opens_after_it_was_lost_is_closed_at_the_agent() -> None:
    scene = Scene(facts=FACTS_2)
    scene.session()
    scene.dies()
    scene.result("session.prompt", text="go")
    scene.is_ready()
    scene.result("session.close")
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert asks_of(scene)[-1] == CloseSession(NATIVE)


# --- what they are opened with -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("cwd", "others"),
    [(ROOT, ("/more", "/most")), ("/more", (ROOT, "/most")), ("/elsewhere", ())],
)
def test_the_other_folders_of_the_editor_go_along_with_one_of_them(
    cwd: str, others: tuple[str, ...]
) -> None:
    scene = Scene(ready=ev.EditorReady((ROOT, "/more", "/most")))
    scene.session(cwd=cwd)
    assert asks_of(scene) == [NewSession(Opening(cwd, others))]


def test_a_session_has_the_servers_and_words_of_its_agents_settings() -> None:
    scene = Scene(facts=replace(FACTS, can_fork=True))
    entry = {
        "command": "agent",
        "mcpServers": {"tools": {"command": "/bin/tools", "args": ["-v"]}},
        "systemPrompt": {"mode": "override", "text": "Be brief."},
    }
    scene.give(ev.SettingsChanged(({"agents": {AGENT: entry}},)))
    spec = scene.state.settings.agents[AGENT]
    wanted = Opening(ROOT, (), spec.mcp_servers, spec.system_prompt)
    assert wanted.system_prompt is not None
    assert [server.name for server in wanted.mcp_servers] == ["tools"]
    scene.session()
    scene.command("session.fork")
    scene.dies()
    scene.result("session.prompt", session="s1", text="go")
    assert asks_of(scene) == [
        NewSession(wanted),
        ForkSession(NATIVE, wanted),
        ResumeSession(NATIVE, wanted),
    ]


def test_a_session_that_cannot_be_opened_again_without_its_settings_is_lost() -> None:
    scene = lost()
    scene.result("agent.restart")
    scene.is_ready()
    scene.ask_fails(Failure(-32601, "no such method"), ResumeSession)
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "two"}}},)))
    scene.passes(0.1)
    assert states(scene) == {"s1": "lost"}
    # When the agent is back, a restart brings it back too.
    scene.give(ev.SettingsChanged(({"agents": {AGENT: {"command": "agent"}}},)))
    scene.result("agent.restart")
    assert states(scene) == {"s1": "starting"}


def test_each_session_is_loaded_where_resuming_turns_out_to_be_missing() -> None:
    scene = Scene()
    for native in ("one", "two"):
        scene.session(native)
    scene.dies()
    scene.result("agent.restart")
    scene.is_ready()
    first = [n for n, ask in scene.asked.items() if isinstance(ask, ResumeSession)]
    for number in first:
        scene.give(ev.AskFailed(AGENT, number, Failure(-32601, "no such method")))
    scene.passes(0.1)
    again = [ask for ask in scene.asked.values() if isinstance(ask, ResumeSession)][len(first) :]
    assert sorted(ask.session for ask in again) == ["one", "two"]


def test_a_prompt_for_an_agent_that_is_not_configured_is_not_kept_for_later() -> None:
    scene = lost()
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "two"}}},)))
    assert scene.error("session.prompt", session="s1", text="go").field == "agent"
    assert scene.state.sessions["s1"].queue == []
