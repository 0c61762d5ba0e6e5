"""Each ask is over once, whatever comes first: its reply, its failure, its time, a login, a
restart, or the end of its agent (A01, A02, S10, S19, X20).

The agent is a process that is started and ended like a real one: what is asked of it while it
starts waits, what is asked of one that ends fails, and its end fails what it owes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from scene import AGENT, FACTS, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.agents import OPENS
from acpls.session import asks
from acpls.session import updates as up
from acpls.session.asks import Ask, AuthMethod, Failure, Reply
from acpls.session.content import Option

REFUSED = Failure(-32000, "log in first")
BROKEN = Failure(-32603, "it broke")
MODE = Option("mode", "Mode", "select", "ask")
TERMINALS = ev.EditorReady((ROOT,), questions=True, terminals=True, links=True)
ABLE = replace(
    FACTS,
    auth_methods=(
        AuthMethod("web", "Browser"),
        AuthMethod("shell", "Terminal", "terminal", args=("login",)),
        AuthMethod("key", "API key", "env_var", variables=("KEY",)),
    ),
    can_close=True,
    can_fork=True,
    can_set_title=True,
    can_log_out=True,
)
METHODS = st.sampled_from([None, "web", "shell", "key"])
numbers = st.integers(0, 50)


@dataclass
class Process:
    """One start of the agent. ``owes``: asks without a reply; ``opened``: its sessions."""

    ready: bool = False
    ending: bool = False
    owes: dict[int, Ask] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)


class EachAskIsOverOnce(RuleBasedStateMachine):
    """Commands, an agent that may do anything at any time, and a user who logs in or not."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene(ready=TERMINALS, facts=ABLE)
        self.state = self.scene.state
        # The last one is the one that is asked; those before are ending.
        self.processes: list[Process] = []
        self.programs: list[object] = []
        self.tickets: list[str] = []
        self.turns: set[str] = set()
        self.natives = 0
        self.looked_at = 0

    # --- what the hub wants ------------------------------------------------------------

    def give(self, event: ev.Event) -> None:
        self.scene.give(event)
        self.follow()

    def command(self, name: str, **arguments: object) -> None:
        self.tickets.append(self.scene.command(name, **arguments))
        self.follow()
        for reply in self.scene.replies[self.tickets[-1]]:
            if isinstance(reply, ef.ReplyCommand) and "turn" in reply.value:
                self.turns.add(reply.value["turn"])

    def follow(self) -> None:
        """Do what was wanted of the host, as it does it."""
        while self.looked_at < len(self.scene.seen):
            effect = self.scene.seen[self.looked_at]
            self.looked_at += 1
            current = self.processes[-1] if self.processes else Process(ending=True)
            match effect:
                case ef.StartAgent():
                    assert current.ending, "started twice"
                    self.processes.append(Process())
                case ef.EndAgent():
                    current.ending = True
                case ef.SendAsk(_, number, ask):
                    self.asked(current, number, ask)
                case ef.WithdrawAsk(_, number):
                    current.owes.pop(number, None)
                case ef.RunProgram(token):
                    self.programs.append(token)
                case _:
                    pass

    def asked(self, current: Process, number: int, ask: Ask) -> None:
        if current.ending:
            self.give(ev.AskFailed(AGENT, number, Failure(-32603, f"{AGENT} is not running")))
            return
        if not isinstance(ask, asks.NewSession | asks.ResumeSession | asks.ForkSession):
            # The process knows each session that it is asked about.
            session = getattr(ask, "session", None)
            assert session is None or session in current.opened, ask
        if not isinstance(ask, asks.Cancel):
            current.owes[number] = ask

    # --- the editor's user -------------------------------------------------------------------

    def session_at(self, number: int) -> str:
        keys = list(self.state.sessions)
        return keys[number % len(keys)]

    @initialize(running=st.booleans())
    def begins(self, running: bool) -> None:
        self.command("session.new")
        if running:
            self.gets_ready()
            self.replies(0)

    @rule()
    def opens(self) -> None:
        self.command("session.new")

    @rule()
    def prompts_the_current_one(self) -> None:
        self.command("session.prompt", text="go")

    @precondition(lambda self: self.state.sessions)
    @rule(number=numbers, what=st.sampled_from(["resume", "fork", "prompt", "rename", "cancel"]))
    def works_with_a_session(self, number: int, what: str) -> None:
        more = {"prompt": {"text": "go"}, "rename": {"title": "T"}}.get(what, {})
        self.command(f"session.{what}", session=self.session_at(number), **more)

    @precondition(lambda self: self.state.sessions)
    @rule(number=numbers)
    def sets_an_option(self, number: int) -> None:
        key = self.session_at(number)
        self.command("session.setOption", session=key, option="mode", value="code")

    @precondition(lambda self: self.state.sessions)
    @rule(number=numbers)
    def closes(self, number: int) -> None:
        self.command("session.close", session=self.session_at(number))

    @rule()
    def lists(self) -> None:
        self.command("session.list", agent=AGENT)

    @rule(what=st.sampled_from(["start", "restart", "stop", "logout", "die"]))
    def disturbs_the_agent(self, what: str) -> None:
        if what == "die" and self.alone():
            self.end(wanted=False)
        elif what != "die":
            self.command(f"agent.{what}")

    @rule(method=METHODS)
    def logs_in(self, method: str | None) -> None:
        self.command("agent.login", **({} if method is None else {"methodId": method}))

    @precondition(lambda self: self.state.agent(AGENT).state == "loggingIn")
    @rule()
    def cancels_the_login(self) -> None:
        self.command("agent.cancelLogin")

    @precondition(lambda self: self.state.questions.pending())
    @rule(number=numbers)
    def answers_a_question(self, number: int) -> None:
        pending = self.state.questions.pending()
        question = pending[number % len(pending)]
        option = question.options[number % len(question.options)].option
        self.give(ev.QuestionPut(question.key, option))

    @precondition(lambda self: self.programs)
    @rule(code=st.sampled_from([0, 1, None]))
    def leaves_a_program(self, code: int | None) -> None:
        self.give(ev.ProgramRan(self.programs.pop(0), code))

    # --- the agent ---------------------------------------------------------------------------

    def alone(self) -> bool:
        """Whether there is one process, which has no other before it to be ended."""
        return len(self.processes) == 1 and not self.processes[0].ending

    @precondition(lambda self: self.alone() and not self.processes[0].ready)
    @rule()
    def gets_ready(self) -> None:
        self.processes[0].ready = True
        self.give(ev.AgentReady(AGENT, ABLE))

    def owes(self) -> bool:
        return self.alone() and self.processes[0].ready and bool(self.processes[0].owes)

    @precondition(owes)
    @rule(number=numbers)
    def replies(self, number: int) -> None:
        process = self.processes[0]
        ask = list(process.owes)[number % len(process.owes)]
        self.reply(process, ask, process.owes.pop(ask))

    def reply(self, process: Process, number: int, ask: Ask) -> None:
        reply: Reply = asks.Done()
        match ask:
            case asks.NewSession() | asks.ForkSession():
                self.natives += 1
                process.opened.add(f"n{self.natives}")
                reply = asks.SessionOpened(f"n{self.natives}", (MODE,))
            case asks.ResumeSession(session):
                process.opened.add(session)
                reply = asks.SessionOpened(session, (MODE,))
            case asks.ListSessions():
                reply = asks.SessionsListed(())
            case asks.SetOption():
                reply = asks.OptionsReplied()
            case asks.Prompt(session):
                self.give(ev.SessionTold(AGENT, session, up.TurnChanged("idle", "end_turn")))
                reply = asks.PromptTaken()
            case _:
                pass
        self.give(ev.Replied(AGENT, number, reply))

    @precondition(owes)
    @rule(number=numbers)
    def refuses(self, number: int) -> None:
        self.fail(number, REFUSED)

    @precondition(owes)
    @rule(number=numbers)
    def fails(self, number: int) -> None:
        self.fail(number, BROKEN)

    def fail(self, number: int, failure: Failure) -> None:
        process = self.processes[0]
        ask = list(process.owes)[number % len(process.owes)]
        del process.owes[ask]
        self.give(ev.AskFailed(AGENT, ask, failure))

    @precondition(owes)
    @rule(number=numbers)
    def replies_too_late_and_twice(self, number: int) -> None:
        process = self.processes[0]
        given = set(self.scene.asked) - set(process.owes) - set(self.state.asks)
        if given:
            ask = sorted(given)[number % len(given)]
            self.give(ev.Replied(AGENT, ask, asks.Done()))

    @precondition(lambda self: self.alone() and self.processes[0].ready)
    @rule(of_session=st.booleans(), number=numbers)
    def wants_a_page_visited(self, of_session: bool, number: int) -> None:
        opened = sorted(self.processes[0].opened)
        session = opened[number % len(opened)] if opened and of_session else None
        self.give(ev.LinkAsked(AGENT, number, session, "Visit", "https://a.example", "l"))

    @rule()
    def is_done_with_the_page(self) -> None:
        self.give(ev.LinkDone(AGENT, "l"))

    @precondition(lambda self: self.processes and self.processes[0].ending)
    @rule()
    def has_ended_as_wanted(self) -> None:
        self.end(wanted=True)

    def end(self, *, wanted: bool) -> None:
        process = self.processes[0]
        process.ending = True
        reason = f"{AGENT} was {'ended' if wanted else 'killed'}"
        for number, ask in process.owes.items():
            if isinstance(ask, asks.Prompt):
                # A turn of ACP 1 ends with its prompt.
                self.give(ev.SessionTold(AGENT, ask.session, up.TurnChanged("idle", "error")))
            self.give(ev.AskFailed(AGENT, number, Failure(-32603, reason)))
        self.processes.remove(process)
        self.give(ev.AgentEnded(AGENT, reason, wanted=wanted))

    @rule(seconds=st.sampled_from([0.1, 1.0, 61.0, 301.0]))
    def time_passes(self, seconds: float) -> None:
        self.scene.passes(seconds)
        self.follow()

    # --- what holds ----------------------------------------------------------------------------

    @invariant()
    def no_command_is_answered_twice(self) -> None:
        for ticket in self.tickets:
            assert len(self.scene.replies[ticket]) <= 1, ticket

    @invariant()
    def a_session_is_opened_once_at_a_time(self) -> None:
        waiting = [*self.state.asks.values(), *self.state.agent(AGENT).blocked]
        opening = [w.session for w in waiting if isinstance(w.ask, OPENS)]
        assert len(opening) == len(set(opening)), opening

    @invariant()
    def what_waits_for_a_login_waits_for_the_user(self) -> None:
        agent = self.state.agent(AGENT)
        if agent.blocked:
            assert agent.lives
            assert agent.state == "loggingIn" or self.state.questions.about_login(AGENT)

    @invariant()
    def no_prompt_is_lost(self) -> None:
        sessions = self.state.sessions.values()
        queued = {queued.turn for session in sessions for queued in session.queue}
        sent = {key.removeprefix("message:") for s in sessions for key in s.entries}
        assert self.turns <= queued | sent

    @invariant()
    def only_living_sessions_are_known_by_the_agents_ids(self) -> None:
        for (agent, native), key in self.state.natives.items():
            session = self.state.sessions[key]
            assert (session.agent, session.native) == (agent, native)
            assert session.state != "lost"

    def teardown(self) -> None:
        while self.processes:
            self.end(wanted=self.processes[0].ending)
        self.time_passes(1000.0)
        for ticket in self.tickets:
            assert len(self.scene.replies[ticket]) == 1, ticket
        assert self.state.asks == {}
        assert self.state.agent(AGENT).blocked == []
        assert self.state.questions.pending() == []
        for session in self.state.sessions.values():
            assert session.state == "lost"
            assert session.turn is None


TestEachAskIsOverOnce = EachAskIsOverOnce.TestCase
TestEachAskIsOverOnce.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, print_blob=False
)
