"""What an agent refuses for want of a login waits, and goes on by itself (A01, A02, A03, A06)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scene import AGENT, FACTS, NATIVE, OPENING, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.tokens import ForLogin
from acpls.session import updates as up
from acpls.session.asks import (
    Ask,
    AuthMethod,
    CloseSession,
    Done,
    Failure,
    ListSessions,
    LogIn,
    LogOut,
    NewSession,
    Prompt,
    PromptTaken,
    ResumeSession,
    SessionOpened,
    SessionsListed,
    SetOption,
)
from acpls.session.content import Option, Text

if TYPE_CHECKING:
    from acpls.questions import Question

WEB = AuthMethod("web", "Browser", description="Opens a page")
SHELL = AuthMethod("shell", "Terminal", "terminal", args=("login", "--now"), env=(("B", "2"),))
OTHER = AuthMethod("other", "Other program", "terminal", command="/bin/auth")
KEY = AuthMethod("key", "API key", "env_var", variables=("DEMO_KEY", "DEMO_ORG"))
BARE = AuthMethod("bare", "Variables", "env_var")
METHODS = (WEB, SHELL, OTHER, KEY, BARE)
REFUSED = Failure(-32000, "Authentication required")
TERMINALS = ev.EditorReady((ROOT,), questions=True, terminals=True)
PLAIN = ev.EditorReady((ROOT,), questions=True)
LATER = "Demo agent needs a login; acpls.agent.login asks for it again"


def scene_of(ready: ev.EditorReady = PLAIN, **setting: Any) -> Scene:
    """A scene whose agent has all kinds of methods; ``setting``: of the agent."""
    facts = replace(FACTS, auth_methods=METHODS, can_log_out=True, can_close=True)
    scene = Scene(ready=ready, facts=facts)
    if setting:
        scene.give(ev.SettingsChanged(({"agents": {AGENT: {"command": "agent", **setting}}},)))
    return scene


def refused(scene: Scene) -> str:
    """A new session is refused; the ticket of the command that waits for it."""
    ticket = scene.command("session.new")
    scene.is_ready()
    scene.ask_fails(REFUSED, NewSession)
    return ticket


def question_of(scene: Scene) -> Question:
    """The one open question."""
    (question,) = scene.state.questions.pending()
    return question


def choose(scene: Scene, option: str) -> None:
    scene.seen.clear()
    scene.give(ev.QuestionPut(question_of(scene).key, option))


def asks_of(scene: Scene) -> list[Ask]:
    return [effect.ask for effect in scene.of(ef.SendAsk)]


def shown(scene: Scene) -> list[tuple[str, str | None]]:
    """The states of the agent that were shown, with their messages."""
    return [(effect.state, effect.message) for effect in scene.of(ef.ShowAgent)]


def listed(scene: Scene) -> str:
    (entry,) = scene.result("agent.list")
    return str(entry["state"])


# --- it is needed ------------------------------------------------------------------------


def test_a_refused_session_waits_and_the_user_is_asked_how_to_log_in_a02_a06() -> None:
    scene = scene_of()
    ticket = refused(scene)
    assert scene.replies[ticket] == []
    assert scene.state.sessions["s1"].state == "starting"
    assert shown(scene)[-1] == ("needsLogin", "Demo agent needs a login")
    assert listed(scene) == "needsLogin"
    (told,) = scene.result("question.list")
    assert (told["agent"], told["session"]) == (AGENT, "s1")
    assert told["title"] == "Demo agent needs a login"
    assert [(o["option"], o["name"]) for o in told["options"]] == [
        ("method:web", "Browser"),
        ("method:shell", "Terminal: I have run acpls login demo shell"),
        ("method:other", "Other program: I have run acpls login demo other"),
        ("method:key", "API key: I have set DEMO_KEY, DEMO_ORG"),
        ("method:bare", "Variables"),
        ("again", "I have logged in: try again"),
        ("later", "Not now"),
    ]
    assert told["description"].split("\n") == [
        "Authentication required",
        "Opens a page",
        "Terminal: run this in a terminal: acpls login demo shell",
        "Other program: run this in a terminal: acpls login demo other",
        "API key: set DEMO_KEY, DEMO_ORG in agents.demo.env",
    ]
    assert scene.put() == [told["question"]]


def test_an_editor_that_runs_programs_is_offered_the_programs_themselves() -> None:
    scene = scene_of(TERMINALS)
    refused(scene)
    question = question_of(scene)
    names = {option.option: option.name for option in question.options}
    assert names["method:shell"] == "Terminal"
    assert "acpls login" not in str(question.description)


@pytest.mark.parametrize(
    ("ready", "told"),
    [
        (ev.EditorReady((ROOT,)), True),
        (ev.EditorReady((ROOT,), dialogs=True), True),
        (ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True), False),
        (PLAIN, False),
    ],
)
def test_where_no_question_can_be_shown_the_user_is_told_of_the_login_a02(
    ready: ev.EditorReady, told: bool
) -> None:
    scene = scene_of(ready)
    refused(scene)
    message = "Waiting for you: Demo agent needs a login"
    description = str(question_of(scene).description)
    said = [(t.level, t.message, description in t.detail) for t in scene.of(ef.TellUser)]
    assert said == ([("error", message, True)] if told else [])
    assert "acpls login demo shell" in description


def test_a_line_to_be_copied_is_quoted_for_the_shell() -> None:
    facts = replace(FACTS, auth_methods=(replace(SHELL, id="one; rm *"),))
    scene = Scene(facts=facts)
    refused(scene)
    assert "acpls login demo 'one; rm *'" in str(question_of(scene).description)


def test_a_refused_list_of_an_agent_without_methods_waits_too_a02() -> None:
    scene = Scene()
    ticket = scene.command("session.list", agent=AGENT)
    scene.is_ready()
    scene.ask_fails(REFUSED, ListSessions)
    assert scene.replies[ticket] == []
    (told,) = scene.result("question.list")
    assert "session" not in told
    assert [option["option"] for option in told["options"]] == ["again", "later"]


def test_a_refused_prompt_waits_at_the_head_of_its_queue_a02() -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("one")
    scene.result("session.prompt", text="two")
    scene.ask_fails(REFUSED, Prompt)
    assert [queued.turn for queued in scene.state.sessions["s1"].queue] == ["t1", "t2"]
    assert listed(scene) == "needsLogin"
    # Nothing is sent meanwhile.
    scene.seen.clear()
    scene.passes(1)
    assert asks_of(scene) == []
    assert scene.result("session.prompt", text="three")["queued"] is True


def test_a_refused_resume_waits_a02() -> None:
    scene = scene_of()
    scene.session()
    scene.dies()
    ticket = scene.command("session.resume")
    scene.is_ready()
    scene.ask_fails(REFUSED, ResumeSession)
    assert scene.replies[ticket] == []
    scene.passes(1)
    assert NewSession(OPENING) not in asks_of(scene)[1:]
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    assert asks_of(scene)[-1] == ResumeSession(NATIVE, OPENING)
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert scene.reply(ticket)["state"] == "idle"


def test_two_refusals_are_one_question() -> None:
    scene = scene_of()
    first = refused(scene)
    second = scene.command("session.new")
    scene.ask_fails(REFUSED, NewSession)
    assert len(scene.state.questions.all) == 1
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    numbers = [effect.number for effect in scene.of(ef.SendAsk)]
    for native, number in zip("ab", numbers[-2:], strict=True):
        scene.give(ev.Replied(AGENT, number, SessionOpened(native)))
    assert [scene.reply(t)["nativeId"] for t in (first, second)] == ["a", "b"]


@pytest.mark.parametrize("kind", [CloseSession, LogOut])
def test_nobody_logs_in_to_close_or_to_log_out(kind: type[Ask]) -> None:
    scene = scene_of()
    scene.session()
    ticket = scene.command("session.close" if kind is CloseSession else "agent.logout")
    scene.ask_fails(REFUSED, kind)
    assert scene.state.questions.all == {}
    assert len(scene.replies[ticket]) == 1


@pytest.mark.parametrize("stop", ["session.endTurn", "session.cancel"])
def test_a_refusal_of_a_prompt_that_the_user_stopped_is_none(stop: str) -> None:
    scene = scene_of()
    scene.session()
    scene.prompts()
    scene.result(stop)
    scene.ask_fails(REFUSED, Prompt)
    assert scene.state.questions.all == {}
    assert scene.state.sessions["s1"].queue == []


# --- the agent logs in by itself ---------------------------------------------------------------


def test_after_the_login_what_was_refused_goes_on_by_itself_a01() -> None:
    scene = scene_of()
    ticket = refused(scene)
    choose(scene, "method:web")
    assert asks_of(scene) == [LogIn("web")]
    assert shown(scene) == [("loggingIn", "waits for Browser")]
    assert listed(scene) == "loggingIn"
    # It takes as long as the user does.
    scene.passes(3600)
    assert scene.of(ef.WithdrawAsk) == []
    scene.replied(Done(), LogIn)
    assert shown(scene)[-1] == ("ready", None)
    assert asks_of(scene)[-1] == NewSession(OPENING)
    assert scene.replies[ticket] == []
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.reply(ticket)["session"] == "s1"
    assert scene.state.questions.pending() == []
    scene.is_over()


def test_after_the_login_a_refused_prompt_is_sent_again_as_the_same_message_a01() -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("one")
    scene.result("session.prompt", text="two")
    scene.ask_fails(REFUSED, Prompt)
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.passes(1)
    assert asks_of(scene) == [LogIn("web"), Prompt(NATIVE, (Text("one"),))]
    session = scene.state.sessions["s1"]
    assert [entry.id for entry in session.entries.values()] == ["t1"]
    assert (session.turn, session.error) == ("t1", None)
    scene.tells(up.TurnChanged("running"))
    scene.ends()
    assert asks_of(scene)[-1] == Prompt(NATIVE, (Text("two"),))


def test_a_login_that_fails_is_asked_for_again_with_the_reason() -> None:
    scene = scene_of()
    ticket = refused(scene)
    choose(scene, "method:web")
    scene.ask_fails(Failure(-32603, "the page was closed"), LogIn)
    assert scene.replies[ticket] == []
    assert listed(scene) == "needsLogin"
    description = str(question_of(scene).description)
    assert description.startswith("The login failed: the page was closed\n")
    assert scene.put() == [question_of(scene).key]


def test_what_is_refused_while_the_user_logs_in_waits_without_a_word() -> None:
    scene = scene_of()
    refused(scene)
    late = scene.command("session.new")
    number = scene.number(NewSession)
    choose(scene, "method:web")
    scene.give(ev.AskFailed(AGENT, number, REFUSED))
    assert listed(scene) == "loggingIn"
    assert scene.state.questions.pending() == []
    scene.replied(Done(), LogIn)
    assert asks_of(scene)[-2:] == [NewSession(OPENING)] * 2
    scene.replied(SessionOpened("b"), NewSession)
    assert scene.reply(late)["nativeId"] == "b"


def test_a_session_that_opens_shows_that_the_user_is_logged_in_a01() -> None:
    """He may have logged in elsewhere."""
    scene = scene_of()
    first = refused(scene)
    second = scene.command("session.new")
    number = scene.number(NewSession)
    scene.give(ev.Replied(AGENT, number, SessionOpened("b")))
    assert scene.reply(second)["state"] == "idle"
    assert listed(scene) == "ready"
    assert scene.state.questions.pending() == []
    scene.replied(SessionOpened("a"), NewSession)
    assert scene.reply(first)["nativeId"] == "a"


# --- try again, not now ----------------------------------------------------------------------


def test_try_again_asks_a_new_process_which_knows_of_the_login_a01() -> None:
    scene = scene_of()
    ticket = refused(scene)
    choose(scene, "again")
    sent = [e for e in scene.seen if isinstance(e, ef.EndAgent | ef.StartAgent | ef.SendAsk)]
    assert [type(effect) for effect in sent] == [ef.EndAgent, ef.StartAgent, ef.SendAsk]
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.reply(ticket)["state"] == "idle"
    assert listed(scene) == "ready"


def test_not_now_fails_what_waits_once_a06() -> None:
    scene = scene_of()
    tickets = [refused(scene), scene.command("session.list", agent=AGENT)]
    scene.ask_fails(REFUSED, ListSessions)
    choose(scene, "later")
    for ticket in tickets:
        assert scene.failure(ticket) == ef.FailCommand(ticket, -32603, LATER)
    session = scene.state.sessions["s1"]
    assert (session.state, session.error) == ("lost", LATER)
    assert listed(scene) == "needsLogin"
    # Logging in later does not open what nobody waits for any more.
    scene.result("agent.login")
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    assert asks_of(scene) == [LogIn("web")]
    assert session.state == "lost"


def test_not_now_keeps_prompts_which_go_out_after_a_later_login() -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("one")
    scene.ask_fails(REFUSED, Prompt)
    choose(scene, "later")
    scene.passes(1)
    assert asks_of(scene) == []
    assert len(scene.state.sessions["s1"].queue) == 1
    assert listed(scene) == "needsLogin"
    scene.result("agent.login")
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.passes(1)
    assert asks_of(scene)[-1] == Prompt(NATIVE, (Text("one"),))


def test_a_prompt_whose_session_was_never_open_goes_out_after_a_later_login() -> None:
    scene = scene_of()
    scene.result("session.prompt", text="one")
    scene.is_ready()
    scene.ask_fails(REFUSED, NewSession)
    choose(scene, "later")
    session = scene.state.sessions["s1"]
    assert (session.state, len(session.queue)) == ("lost", 1)
    scene.result("agent.login")
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert asks_of(scene)[-1] == Prompt(NATIVE, (Text("one"),))
    assert session.state == "idle"


def test_a_session_that_was_to_be_opened_again_is_so_after_a_later_login() -> None:
    scene = scene_of()
    scene.session()
    scene.dies()
    scene.result("session.prompt", text="one")
    scene.is_ready()
    scene.ask_fails(REFUSED, ResumeSession)
    choose(scene, "later")
    assert scene.state.sessions["s1"].state == "lost"
    scene.result("agent.login")
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert asks_of(scene)[-1] == Prompt(NATIVE, (Text("one"),))


def test_closing_a_session_that_waits_leaves_the_question_for_the_others() -> None:
    scene = scene_of()
    first = refused(scene)
    second = scene.command("session.new")
    scene.ask_fails(REFUSED, NewSession)
    scene.result("session.close", session="s1")
    assert question_of(scene).kind == "login"
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    for native, number in zip("ab", [e.number for e in scene.of(ef.SendAsk)][-2:], strict=True):
        scene.give(ev.Replied(AGENT, number, SessionOpened(native)))
    assert scene.failure(first).message == "The session was closed before it was open"
    assert scene.reply(second)["state"] == "idle"


# --- programs in a terminal ----------------------------------------------------------------------


def test_a_program_of_the_agents_own_is_run_and_its_success_goes_on_a01() -> None:
    scene = scene_of(TERMINALS, args=["acp"], env={"A": "1"}, cwd="/home")
    ticket = refused(scene)
    choose(scene, "method:shell")
    (run,) = scene.of(ef.RunProgram)
    assert run == ef.RunProgram(
        ForLogin(AGENT),
        "Log in to Demo agent",
        ("agent", "acp", "login", "--now"),
        (("A", "1"), ("B", "2")),
        "/home",
    )
    assert shown(scene) == [("loggingIn", "waits for Terminal")]
    scene.seen.clear()
    scene.give(ev.ProgramRan(run.token, 0))
    # The process that runs does not know of it.
    assert [type(e) for e in scene.seen if isinstance(e, ef.EndAgent | ef.StartAgent)] == [
        ef.EndAgent,
        ef.StartAgent,
    ]
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.reply(ticket)["state"] == "idle"


def test_a_program_that_the_agent_names_is_run_instead_of_its_own() -> None:
    scene = scene_of(TERMINALS, args=["acp"])
    refused(scene)
    choose(scene, "method:other")
    (run,) = scene.of(ef.RunProgram)
    assert run.argv == ("/bin/auth",)


@pytest.mark.parametrize(
    ("code", "why"),
    [(3, "The program ended with exit code 3"), (None, "The editor could not run the program")],
)
def test_a_program_that_fails_leads_to_the_question_with_the_reason(
    code: int | None, why: str
) -> None:
    scene = scene_of(TERMINALS)
    ticket = refused(scene)
    choose(scene, "method:shell")
    scene.give(ev.ProgramRan(ForLogin(AGENT), code))
    assert scene.replies[ticket] == []
    assert listed(scene) == "needsLogin"
    assert str(question_of(scene).description).startswith(f"{why}\n")


def test_the_end_of_a_program_that_nobody_waits_for_is_nothing() -> None:
    scene = scene_of(TERMINALS)
    refused(scene)
    choose(scene, "method:shell")
    scene.command("agent.cancelLogin")
    # One that has logged in all the same is not: test_login_given_up.py.
    assert scene.give(ev.ProgramRan(ForLogin(AGENT), 1)) == []


@pytest.mark.parametrize("option", ["method:shell", "method:key"])
def test_what_only_the_user_can_do_is_taken_for_done_and_tried_a01(option: str) -> None:
    scene = scene_of()
    ticket = refused(scene)
    choose(scene, option)
    assert scene.of(ef.RunProgram) == []
    assert len(scene.of(ef.StartAgent)) == 1
    scene.is_ready()
    scene.replied(SessionOpened(NATIVE), NewSession)
    assert scene.reply(ticket)["state"] == "idle"


# --- the method of the settings --------------------------------------------------------------


def test_the_method_of_the_settings_is_tried_once_without_asking() -> None:
    scene = scene_of(authMethod="web")
    ticket = refused(scene)
    assert scene.state.questions.all == {}
    assert asks_of(scene)[-1] == LogIn("web")
    scene.replied(Done(), LogIn)
    scene.ask_fails(REFUSED, NewSession)
    assert scene.replies[ticket] == []
    assert question_of(scene).kind == "login"
    assert asks_of(scene).count(LogIn("web")) == 1


def test_a_method_of_the_settings_that_the_agent_does_not_have_is_not_tried() -> None:
    scene = scene_of(authMethod="smoke signals")
    refused(scene)
    assert question_of(scene).kind == "login"


def test_a_method_that_does_not_help_is_not_tried_for_ever() -> None:
    """An agent may open sessions and refuse prompts, and is restarted in between."""
    scene = scene_of(authMethod="key")
    scene.session()
    scene.prompts("one")
    for _ in range(2):
        scene.ask_fails(REFUSED, Prompt)
        if not scene.state.questions.pending():
            scene.is_ready()
            scene.replied(SessionOpened(NATIVE), ResumeSession)
    assert len(scene.of(ef.StartAgent)) == 2
    assert question_of(scene).kind == "login"


def test_a_prompt_that_is_taken_makes_the_method_worth_another_try() -> None:
    scene = scene_of(authMethod="web")
    scene.session()
    for _ in range(2):
        scene.prompts("one")
        scene.ask_fails(REFUSED, Prompt)
        scene.replied(Done(), LogIn)
        scene.passes(1)
        scene.tells(up.TurnChanged("running"))
        scene.ends()
    assert asks_of(scene).count(LogIn("web")) == 2
    assert scene.state.questions.all == {}


# --- by command ----------------------------------------------------------------------------------


def test_login_by_a_method_is_answered_when_it_is_done() -> None:
    scene = scene_of()
    scene.session()
    ticket = scene.command("agent.login", methodId="web")
    assert scene.replies[ticket] == []
    assert listed(scene) == "loggingIn"
    scene.replied(Done(), LogIn)
    assert scene.reply(ticket)["state"] == "ready"


def test_login_by_a_method_that_fails_fails_the_command_and_asks() -> None:
    scene = scene_of()
    scene.session()
    ticket = scene.command("agent.login", methodId="web")
    scene.ask_fails(Failure(-32603, "no network", "errno 101"), LogIn)
    assert scene.failure(ticket) == ef.FailCommand(ticket, -32603, "no network", "errno 101")
    assert question_of(scene).kind == "login"
    # Nothing was refused, so the agent can be worked with.
    assert listed(scene) == "ready"
    assert scene.result("session.prompt", text="go")["queued"] is False


def test_login_without_a_method_asks_the_user_and_stops_nothing() -> None:
    scene = scene_of()
    scene.session()
    assert scene.result("agent.login")["state"] == "ready"
    assert question_of(scene).title == "Demo agent needs a login"
    assert scene.result("session.prompt", text="go")["queued"] is False
    choose(scene, "later")
    assert listed(scene) == "ready"


def test_login_to_an_agent_that_does_not_run_starts_it_and_asks_then() -> None:
    scene = scene_of()
    assert scene.result("agent.login")["state"] == "starting"
    assert scene.state.questions.all == {}
    scene.is_ready()
    assert question_of(scene).kind == "login"
    assert scene.put() == ["q1"]


def test_an_agent_that_did_not_start_is_not_asked_about_the_next_time() -> None:
    scene = scene_of()
    scene.result("agent.login")
    scene.give(ev.AgentEnded(AGENT, "demo could not be started"))
    scene.session()
    assert scene.state.questions.all == {}


def test_login_by_a_method_needs_an_agent_that_runs() -> None:
    failure = scene_of().error("agent.login", methodId="web")
    assert failure.message == "demo does not run; acpls.agent.start starts it"
    assert failure.field == "agent"


@pytest.mark.parametrize(("name", "arguments"), [("login", {"methodId": "web"}), ("logout", {})])
def test_an_agent_that_is_being_restarted_takes_no_login_yet(
    name: str, arguments: dict[str, str]
) -> None:
    scene = scene_of()
    scene.session()
    scene.result("agent.restart")
    failure = scene.error(f"agent.{name}", **arguments)
    assert (failure.message, failure.field) == ("demo is still starting", "agent")
    assert {type(ask) for ask in asks_of(scene)} == {NewSession, ResumeSession}


def test_login_to_an_agent_that_is_being_restarted_asks_when_it_is_ready() -> None:
    scene = scene_of()
    scene.session()
    scene.result("agent.restart")
    assert scene.result("agent.login")["state"] == "starting"
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    assert question_of(scene).kind == "login"


def test_login_by_a_method_that_is_not_offered_names_those_that_are() -> None:
    scene = scene_of()
    scene.session()
    failure = scene.error("agent.login", methodId="x")
    offered = "web, shell, other, key, bare"
    assert failure.message == f"demo has no login 'x'; it has: {offered}"
    assert failure.field == "methodId"
    bare = Scene()
    bare.session()
    assert bare.error("agent.login", methodId="x").message.endswith("it has: none")


def test_login_by_a_program_is_answered_with_what_to_run() -> None:
    scene = scene_of(args=["acp"], env={"A": "1"})
    scene.session()
    assert scene.result("agent.login", methodId="shell") == {
        "command": "agent",
        "args": ["acp", "login", "--now"],
        "env": {"A": "1", "B": "2"},
    }
    assert scene.of(ef.RunProgram) == []
    assert listed(scene) == "ready"


def test_login_by_a_program_runs_it_where_the_editor_does_that() -> None:
    scene = scene_of(TERMINALS)
    scene.session()
    assert scene.result("agent.login", methodId="shell")["state"] == "loggingIn"
    assert len(scene.of(ef.RunProgram)) == 1


def test_login_by_variables_restarts_the_agent() -> None:
    scene = scene_of()
    scene.session()
    assert scene.result("agent.login", methodId="key")["state"] == "starting"
    assert scene.of(ef.EndAgent) == [ef.EndAgent(AGENT)]


# --- cancelled, logged out, restarted, gone ------------------------------------------------------


def test_a_login_that_takes_too_long_can_be_cancelled_a03() -> None:
    scene = scene_of()
    waiting = refused(scene)
    ticket = scene.command("agent.login", methodId="web")
    number = scene.number(LogIn)
    scene.give(ev.LinkAsked(AGENT, 9, None, "Visit", "https://a.example/x", "l"))
    scene.seen.clear()
    assert scene.result("agent.cancelLogin")["state"] == "needsLogin"
    assert scene.of(ef.WithdrawAsk) == [ef.WithdrawAsk(AGENT, number)]
    assert scene.failure(ticket).message == "The login was cancelled"
    assert len(scene.of(ef.SendAnswer)) == 1
    # The page is gone; how to log in is still asked, and what waits still waits.
    assert question_of(scene).kind == "login"
    assert scene.replies[waiting] == []
    # A reply that comes all the same is nothing.
    assert scene.give(ev.Replied(AGENT, number, Done())) == []


def test_a_login_that_was_cancelled_is_asked_for_again_with_the_reason_a03() -> None:
    scene = scene_of()
    refused(scene)
    choose(scene, "method:web")
    scene.result("agent.cancelLogin")
    assert str(question_of(scene).description).startswith("The login was cancelled\n")


def test_the_pages_of_sessions_outlive_a_cancelled_login() -> None:
    scene = scene_of()
    scene.session()
    scene.give(ev.LinkAsked(AGENT, 9, NATIVE, "Visit", "https://a.example/x", "l"))
    scene.command("agent.login", methodId="web")
    scene.result("agent.cancelLogin")
    urls = [question.url for question in scene.state.questions.pending()]
    assert urls == ["https://a.example/x", None]


def test_where_there_is_no_login_there_is_nothing_to_cancel() -> None:
    scene = scene_of()
    scene.session()
    scene.seen.clear()
    ticket = scene.command("agent.cancelLogin")
    assert scene.seen == [ef.ReplyCommand(ticket, scene.reply(ticket))]
    assert scene.reply(ticket)["state"] == "ready"


def test_logging_out_is_a_command_and_shown_a06() -> None:
    scene = scene_of(authMethod="web")
    scene.session()
    ticket = scene.command("agent.logout")
    assert asks_of(scene)[-1] == LogOut()
    scene.replied(Done(), LogOut)
    assert scene.reply(ticket)["state"] == "needsLogin"
    assert shown(scene)[-1] == ("needsLogin", "Demo agent is logged out")
    # Who logged out is not logged in again unasked.
    scene.command("session.new")
    scene.ask_fails(REFUSED, NewSession)
    assert question_of(scene).kind == "login"


def test_a_logout_that_is_done_during_a_login_does_not_end_it() -> None:
    scene = scene_of(TERMINALS)
    scene.session()
    scene.command("agent.logout")
    ticket = scene.command("session.new")
    scene.ask_fails(REFUSED, NewSession)
    choose(scene, "method:shell")
    scene.replied(Done(), LogOut)
    assert listed(scene) == "loggingIn"
    scene.give(ev.ProgramRan(ForLogin(AGENT), 0))
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    scene.replied(SessionOpened("b"), NewSession)
    assert scene.reply(ticket)["state"] == "idle"


@pytest.mark.parametrize("runs", [True, False])
def test_logging_out_takes_an_agent_that_can(runs: bool) -> None:
    scene = Scene()
    if runs:
        scene.session()
    message = "Demo agent cannot log out by itself"
    failure = scene.error("agent.logout")
    expected = message if runs else "demo does not run; acpls.agent.start starts it"
    assert (failure.message, failure.field) == (expected, "agent")


@pytest.mark.parametrize("logging_in", [False, True])
def test_an_agent_that_dies_while_a_login_is_waited_for_fails_all_once(logging_in: bool) -> None:
    scene = scene_of()
    tickets = [refused(scene), scene.command("session.list", agent=AGENT)]
    scene.ask_fails(REFUSED, ListSessions)
    if logging_in:
        tickets.append(scene.command("agent.login", methodId="web"))
    scene.give(ev.LinkAsked(AGENT, 9, None, "Visit", "https://a.example/x", "l"))
    scene.seen.clear()
    scene.dies("demo was killed")
    assert [scene.failure(ticket).message for ticket in tickets] == ["demo was killed"] * len(
        tickets
    )
    assert scene.state.questions.pending() == []
    assert scene.of(ef.SendAnswer) == []
    assert scene.state.agent(AGENT).blocked == []
    assert listed(scene) == "ended"
    scene.settles()
    scene.is_over()


def test_stopping_an_agent_fails_what_waits_for_its_login() -> None:
    scene = scene_of()
    ticket = refused(scene)
    scene.result("agent.stop")
    assert scene.failure(ticket).message == "Demo agent was stopped"
    assert scene.state.questions.pending() == []


def test_restarting_an_agent_asks_again_what_waits_for_its_login() -> None:
    scene = scene_of()
    tickets = [refused(scene), scene.command("session.list", agent=AGENT)]
    scene.ask_fails(REFUSED, ListSessions)
    scene.seen.clear()
    scene.result("agent.restart")
    assert scene.state.questions.pending() == []
    scene.give(ev.AgentEnded(AGENT, "demo was ended", wanted=True))
    scene.is_ready()
    assert asks_of(scene) == [NewSession(OPENING), ListSessions()]
    scene.replied(SessionOpened(NATIVE), NewSession)
    scene.replied(SessionsListed(()), ListSessions)
    assert [len(scene.replies[ticket]) for ticket in tickets] == [1, 1]


def test_what_is_about_a_session_fails_when_its_agent_is_restarted_for_the_login() -> None:
    """The session is not open in the new process yet, and may get another id there."""
    scene = scene_of()
    scene.session()
    scene.tells(up.OptionsSet((Option("mode", "Mode", "select", "a"),)))
    ticket = scene.command("session.setOption", option="mode", value="b")
    scene.ask_fails(REFUSED, SetOption)
    choose(scene, "again")
    assert scene.failure(ticket).message == "Demo agent is being restarted"
    assert asks_of(scene) == [ResumeSession(NATIVE, OPENING)]


def test_a_login_of_a_process_that_was_restarted_fails_without_a_question() -> None:
    scene = scene_of()
    scene.session()
    ticket = scene.command("agent.login", methodId="web")
    number = scene.number(LogIn)
    scene.result("agent.restart")
    scene.give(ev.AskFailed(AGENT, number, Failure(-32603, "demo was ended")))
    assert scene.failure(ticket).message == "demo was ended"
    assert scene.state.questions.all == {}
    assert listed(scene) == "starting"


def test_a_session_that_opens_during_a_login_leaves_the_login_alone() -> None:
    scene = scene_of()
    refused(scene)
    ticket = scene.command("agent.login", methodId="web")
    login = scene.number(LogIn)
    scene.command("session.new")
    scene.replied(SessionOpened("b"), NewSession)
    assert listed(scene) == "loggingIn"
    scene.seen.clear()
    scene.give(ev.Replied(AGENT, login, Done()))
    assert listed(scene) == "ready"
    assert scene.reply(ticket)["state"] == "ready"
    assert asks_of(scene) == [NewSession(OPENING)]


def test_an_option_that_a_login_is_needed_for_is_set_after_it() -> None:
    scene = scene_of()
    scene.session()
    scene.tells(up.OptionsSet((Option("mode", "Mode", "select", "a"),)))
    ticket = scene.command("session.setOption", option="mode", value="b")
    scene.ask_fails(REFUSED, SetOption)
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    assert asks_of(scene)[-1] == SetOption(NATIVE, "mode", "b")
    scene.ask_fails(Failure(-32602, "no"), SetOption)
    assert scene.failure(ticket).message == "Demo agent: no"


# --- a prompt that was taken -----------------------------------------------------------------


def test_a_prompt_that_was_taken_and_then_refused_goes_out_again_a01_a06() -> None:
    """In ACP 2 the end of the turn says so, after the prompt was taken."""
    scene = scene_of()
    scene.session()
    scene.prompts("go")
    scene.replied(PromptTaken("m1"), Prompt)
    scene.tells(up.MessageSet("m1", "user", (Text("go"),)))
    scene.tells(up.TurnChanged("idle", "error", "Authentication required", error_code=-32000))
    assert listed(scene) == "needsLogin"
    assert question_of(scene).session == "s1"
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.passes(0)
    assert asks_of(scene)[-1] == Prompt(NATIVE, (Text("go"),))
    session = scene.state.sessions["s1"]
    assert [m.text() for m in session.entries.values()] == ["go"]  # type: ignore[union-attr]  # all are messages
    assert (session.queue, session.busy) == ([], True)


@pytest.mark.parametrize("code", [None, -32603])
def test_a_turn_that_failed_for_other_reasons_only_failed(code: int | None) -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("go")
    scene.replied(PromptTaken("m1"), Prompt)
    scene.tells(up.TurnChanged("idle", "error", "overloaded", error_code=code))
    assert scene.state.questions.pending() == []
    assert listed(scene) == "ready"


def test_a_turn_that_was_being_stopped_wants_no_login() -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("go")
    scene.replied(PromptTaken("m1"), Prompt)
    scene.result("session.cancel")
    scene.tells(up.TurnChanged("idle", "error", "no", error_code=-32000))
    assert scene.state.questions.pending() == []


# --- what the question says ----------------------------------------------------------------------


def test_an_agent_of_the_editors_settings_is_named_by_its_program_a02() -> None:
    """The command line does not know it, so its own program stands in the line to copy."""
    facts = replace(FACTS, auth_methods=(SHELL, OTHER))
    scene = Scene(ready=PLAIN, facts=facts)
    layer = {"agents": {AGENT: {"command": "/opt/my agent", "args": ["--acp"]}}}
    scene.give(ev.SettingsChanged((None, layer)))
    refused(scene)
    description = str(question_of(scene).description).split("\n")
    assert description[1:] == [
        "Terminal: run this in a terminal: B=2 '/opt/my agent' --acp login --now",
        "Other program: run this in a terminal: /bin/auth",
    ]
    scene.give(ev.SettingsChanged((layer, None)))
    choose(scene, "later")
    scene.command("agent.login")
    assert "acpls login demo shell" in str(question_of(scene).description)


def test_of_two_methods_with_one_id_one_is_offered() -> None:
    twice = replace(WEB, name="Another browser")
    scene = Scene(ready=PLAIN, facts=replace(FACTS, auth_methods=(WEB, twice, KEY)))
    refused(scene)
    names = [option.name for option in question_of(scene).options]
    assert names[:2] == ["Browser", "API key: I have set DEMO_KEY, DEMO_ORG"]


def test_the_method_of_the_settings_is_tried_once_for_a_prompt_that_is_refused_again() -> None:
    """In ACP 2 a prompt that was taken says nothing of being logged in."""
    scene = scene_of(authMethod="web")
    scene.session()
    scene.prompts("go")
    for _ in range(2):
        scene.replied(PromptTaken("m"), Prompt)
        scene.tells(up.TurnChanged("running"))
        scene.tells(up.TurnChanged("idle", "error", "no", error_code=-32000))
        if scene.state.questions.pending():
            break
        scene.replied(Done(), LogIn)
        scene.passes(0)
    assert sum(isinstance(ask, LogIn) for ask in scene.asked.values()) == 1
    assert question_of(scene).kind == "login"
    # A turn that ends well is a login that worked, so the next refusal is tried anew.
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.passes(0)
    scene.replied(PromptTaken("m"), Prompt)
    scene.tells(up.TurnChanged("running"))
    scene.tells(up.TurnChanged("idle", "end_turn"))
    assert not scene.state.agent(AGENT).tried_login


def test_a_prompt_that_is_refused_twice_over_is_queued_once() -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("one")
    scene.tells(up.TurnChanged("running"))
    scene.tells(up.TurnChanged("idle", "error", "no", error_code=-32000))
    number = scene.number(Prompt)
    scene.give(ev.AskFailed(AGENT, number, REFUSED))
    assert len(scene.state.sessions["s1"].queue) == 1


def test_a_prompt_that_goes_out_again_is_what_the_user_sent() -> None:
    scene = scene_of()
    scene.session()
    blocks = [
        {"type": "text", "text": "see"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
    ]
    scene.result("session.prompt", blocks=blocks)
    sent = asks_of(scene)[-1]
    scene.tells(up.MessageSet("m", "user", (Text("see <ctx>a</ctx>"),)))
    scene.tells(up.TurnChanged("running"))
    scene.tells(up.TurnChanged("idle", "error", "no", error_code=-32000))
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.passes(0)
    assert asks_of(scene)[-1] == sent


def test_a_session_that_opens_is_no_login_where_only_prompts_were_refused() -> None:
    scene = scene_of()
    scene.session()
    scene.prompts("go")
    scene.ask_fails(REFUSED, Prompt)
    question = question_of(scene)
    scene.command("session.new")
    scene.replied(SessionOpened("b"), NewSession)
    assert question_of(scene) is question
    assert listed(scene) == "needsLogin"


def test_what_waits_goes_on_though_another_session_cannot_be_opened_again() -> None:
    scene = scene_of()
    scene.command("session.prompt", text="one")
    scene.is_ready()
    scene.ask_fails(REFUSED, NewSession)
    choose(scene, "later")
    ticket = scene.command("session.new")
    scene.ask_fails(REFUSED, NewSession)
    scene.give(ev.SettingsChanged(({"agents": {"other": {"command": "x"}}},)))
    choose(scene, "method:web")
    scene.replied(Done(), LogIn)
    scene.replied(SessionOpened("b"), NewSession)
    assert scene.reply(ticket)["state"] == "idle"
