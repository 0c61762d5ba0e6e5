"""Each question is answered once while its agent lives and never after, whatever comes between:
answers, second answers, cancels, withdrawals, ends of turns, sessions, agents and time
(P05, P07, P08, P09, P10, P11, P16).

There are an agent that withdraws its questions and one that does not, both with sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scene import FACTS, FACTS_2, ROOT, YES_NO, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session import asks
from acpls.session import updates as up
from acpls.session.asks import Cancelled, Failure, PromptTaken, Selected, SessionOpened
from acpls.session.content import AboutCommand, AboutToolCall, Choosable

AGENTS = {"one": FACTS, "two": FACTS_2}
NATIVES = ("a", "b")
# Each of them is an id of its own, whatever ``==`` and ``bool`` say.
REQUESTS: list[ev.RequestId] = [0, "0", "", 1, "1", "None", -1, 10**30]
OPTIONS = (
    YES_NO,
    (Choosable("no", "No", "reject_once"), Choosable("no", "Never", "reject_always")),
    (Choosable("", "", "of_no_kind"),),
    (),
)
EDITORS = [
    ev.EditorReady((ROOT,), questions=True),
    ev.EditorReady((ROOT,), questions=True, dialogs=True, gentle_dialogs=True),
    ev.EditorReady((ROOT,), dialogs=True, gentle_dialogs=True),
    ev.EditorReady((ROOT,)),
]
numbers = st.integers(0, 30)
few = st.integers(0, 5)
# Mostly one of them, so that more happens there.
agents = st.sampled_from(["one", "one", "two", "two", "two"])
natives = st.sampled_from(["a"] * 8 + ["b"])


@dataclass
class Asked:
    """A request of an agent. ``may_cancel``: something has happened that cancels it."""

    key: str
    session: str
    background: bool
    options: tuple[str, ...]
    chosen: str | None = None
    may_cancel: bool = False


@dataclass
class Process:
    """One run of an agent: what it waits for by the type and value of its ids."""

    waits: dict[str, Asked] = field(default_factory=dict)
    answered: int = 0
    asked: int = 0


class AnsweredOnce(RuleBasedStateMachine):
    """Two agents with two sessions each; the model knows what each process waits for."""

    @initialize(editor=st.sampled_from(EDITORS))
    def begin(self, editor: ev.EditorReady) -> None:
        self.scene = Scene(ready=editor)
        self.state = self.scene.state
        agents = {name: {"command": name} for name in AGENTS}
        self.scene.give(ev.SettingsChanged(({"agents": agents},)))
        self.processes: dict[str, Process] = {}
        self.looked_at = 0
        self.keys: dict[tuple[str, str], str] = {}
        self.drawn: list[Asked] = []
        for agent in AGENTS:
            self.processes[agent] = Process()
            for native in NATIVES:
                self.scene.command("session.new", agent=agent)
                self.keys[agent, native] = str(self.state.current)
            self.comes_up(agent)
        assert {s.state for s in self.state.sessions.values()} == {"idle"}

    def comes_up(self, agent: str) -> None:
        self.scene.give(ev.AgentReady(agent, AGENTS[agent]))
        opens = (asks.NewSession, asks.ResumeSession)
        for number, waiting in list(self.state.asks.items()):
            if waiting.agent == agent and isinstance(waiting.ask, opens):
                native = next(n for (a, n), k in self.keys.items() if k == waiting.session)
                self.scene.give(ev.Replied(agent, number, SessionOpened(native)))

    # --- what agents are told ----------------------------------------------------------

    def follow(self) -> None:
        seen = self.scene.seen
        while self.looked_at < len(seen):
            effect = seen[self.looked_at]
            self.looked_at += 1
            if isinstance(effect, ef.SendAnswer):
                self.is_answered(effect)

    def is_answered(self, effect: ef.SendAnswer) -> None:
        process = self.processes[effect.agent]
        asked = process.waits.pop(repr(effect.request), None)
        assert asked is not None, f"{effect} answers nothing that a living agent waits for"
        process.answered += 1
        match effect.answer:
            case Selected(option):
                # Just what the user chose for this question, or for one like it and always.
                if self.state.questions.all[asked.key].by == "rule":
                    assert option == "yes"
                    assert any(other.chosen == "always" for other in self.drawn)
                else:
                    assert asked.chosen == option
            case Cancelled():
                assert asked.may_cancel, f"{asked} was not to be cancelled"
            case other:
                raise AssertionError(other)

    def lives(self, agent: str) -> bool:
        return self.state.agent(agent).lives

    def waiting(self, agent: str, key: str) -> list[Asked]:
        return [a for a in self.processes[agent].waits.values() if a.session == key]

    # --- the agent -----------------------------------------------------------------------

    @rule(
        agent=agents,
        native=natives,
        request=st.sampled_from(REQUESTS),
        options=st.sampled_from(OPTIONS),
        command=st.booleans(),
        works=st.booleans(),
    )
    def asks(
        self,
        agent: str,
        native: str,
        request: ev.RequestId,
        options: tuple[Choosable, ...],
        command: bool,
        works: bool,
    ) -> None:
        self.ask(agent, native, request, options, command=command, works=works)

    def ask(
        self,
        agent: str,
        native: str,
        request: ev.RequestId,
        options: tuple[Choosable, ...],
        *,
        command: bool,
        works: bool,
    ) -> None:
        if works:
            self.works(agent, native)
        process, key = self.processes[agent], self.keys[agent, native]
        session = self.state.sessions[key]
        if not self.lives(agent) or repr(request) in process.waits or not session.open:
            return
        subject = AboutCommand("make", ROOT) if command else AboutToolCall("same")
        before = len(self.state.questions.all)
        asked = Asked(f"q{before + 1}", key, not session.busy, tuple(o.option for o in options))
        # One that crosses a cancel belongs to the turn that is being stopped.
        asked.may_cancel = session.stopping
        process.waits[repr(request)] = asked
        process.asked += 1
        self.drawn.append(asked)
        self.scene.give(ev.QuestionAsked(agent, request, native, "?", options, subject=subject))
        assert list(self.state.questions.all)[before:] == [asked.key]
        self.follow()
        if asked.may_cancel and not AGENTS[agent].withdraws_questions:
            assert repr(request) not in process.waits

    @rule(agent=agents, first=numbers, works=st.lists(st.booleans(), min_size=2, max_size=4))
    def asks_several(self, agent: str, first: int, works: list[bool]) -> None:
        for number, at_work in enumerate(works, first):
            request = REQUESTS[number % len(REQUESTS)]
            self.ask(agent, "a", request, YES_NO, command=False, works=at_work)

    @rule(agent=agents, request=st.sampled_from(REQUESTS))
    def withdraws(self, agent: str, request: ev.RequestId) -> None:
        waits = self.processes[agent].waits
        asked = waits.get(repr(request))
        if asked is not None:
            asked.may_cancel = True
        self.scene.give(ev.RequestWithdrawn(agent, request))
        self.follow()
        assert repr(request) not in waits

    @rule(
        agent=agents,
        native=natives,
        reason=st.sampled_from(["end_turn", "end_turn", "cancelled", "error"]),
    )
    def ends_a_turn(self, agent: str, native: str, reason: str) -> None:
        key = self.keys[agent, native]
        session = self.state.sessions[key]
        if not self.lives(agent) or not session.open or not session.busy:
            return
        cancels = session.stopping or reason == "cancelled"
        for asked in self.waiting(agent, key):
            asked.may_cancel |= cancels and not asked.background
        foreground = [a for a in self.waiting(agent, key) if not a.background]
        turn = session.turn
        self.scene.give(ev.SessionTold(agent, native, up.TurnChanged("idle", reason)))
        for number, waiting in list(self.state.asks.items()):
            if waiting.session == key and isinstance(waiting.ask, asks.Prompt):
                self.scene.give(ev.Replied(agent, number, PromptTaken()))
        self.follow()
        if cancels and turn is not None:
            of_turn = [a for a in foreground if self.state.questions.all[a.key].turn == turn]
            assert not [a for a in of_turn if a in self.waiting(agent, key)]
        # What an ended turn leaves open is not of the next one.
        for asked in self.waiting(agent, key):
            asked.background = True

    @rule(agent=agents, rarely=st.integers(0, 3))
    def dies(self, agent: str, rarely: int) -> None:
        if rarely:
            return
        if self.lives(agent):
            for asked in self.processes[agent].waits.values():
                asked.may_cancel |= self.state.sessions[asked.session].stopping
            # That its prompts fail is told first.
            self.scene.fails_all("it fell over", agent)
            self.follow()
            self.processes[agent] = Process()
            self.scene.dies("it fell over", agent)
            self.follow()

    @rule(agent=agents, rarely=st.integers(0, 3))
    def is_restarted(self, agent: str, rarely: int) -> None:
        if rarely and self.lives(agent):
            return
        ran = self.lives(agent)
        self.processes[agent] = Process()
        self.scene.command("agent.restart", agent=agent)
        if ran:
            # What the old one owes fails, but for what the new one is asked.
            opens = (asks.NewSession, asks.ResumeSession)
            for number, waiting in list(self.state.asks.items()):
                if waiting.agent == agent and not isinstance(waiting.ask, opens):
                    self.scene.give(ev.AskFailed(agent, number, Failure(-32603, "ended")))
            self.scene.give(ev.AgentEnded(agent, "ended", wanted=True))
        self.comes_up(agent)
        self.follow()

    # --- the user ------------------------------------------------------------------------

    def works(self, agent: str, native: str) -> None:
        """See to it that the agent is at work for the user."""
        session = self.state.sessions[self.keys[agent, native]]
        if session.open and not session.busy:
            self.scene.result("session.prompt", session=session.key, text="go")
            self.scene.give(ev.SessionTold(agent, native, up.TurnChanged("running")))
            self.follow()

    @precondition(lambda self: self.drawn)
    @rule(number=few, choice=numbers, how=st.sampled_from(["put", "dialog", "command"]))
    def answers(self, number: int, choice: int, how: str) -> None:
        """Also for a second time, or long after the question was settled."""
        asked = self.drawn[-1 - number % len(self.drawn)]
        option = [*asked.options, "strange"][choice % (len(asked.options) + 1)]
        question = self.state.questions.all[asked.key]
        was_open = question.open
        if was_open and option in asked.options:
            asked.chosen = option
        if how == "command":
            ticket = self.scene.command("question.answer", question=asked.key, option=option)
            failed = isinstance(self.scene.replies[ticket][0], ef.FailCommand)
            assert failed == (not was_open or option not in asked.options)
        else:
            self.scene.give(ev.QuestionPut(asked.key, option, dialog=how == "dialog"))
        self.follow()
        assert question.open == (was_open and option not in asked.options)

    @precondition(lambda self: self.drawn)
    @rule(number=few, seen=st.booleans(), dialog=st.booleans())
    def closes_a_dialog(self, number: int, seen: bool, dialog: bool) -> None:
        asked = self.drawn[-1 - number % len(self.drawn)]
        was_open = self.state.questions.all[asked.key].open
        self.scene.give(ev.QuestionPut(asked.key, None, seen, dialog))
        self.follow()
        assert self.state.questions.all[asked.key].open == was_open

    @precondition(lambda self: self.drawn)
    @rule(number=few)
    def dismisses(self, number: int) -> None:
        asked = self.drawn[-1 - number % len(self.drawn)]
        question = self.state.questions.all[asked.key]
        allowed = question.open and AGENTS[question.agent].withdraws_questions
        asked.may_cancel |= allowed
        ticket = self.scene.command("question.answer", question=asked.key, action="dismiss")
        assert isinstance(self.scene.replies[ticket][0], ef.ReplyCommand) == allowed
        self.follow()

    @precondition(lambda self: self.drawn)
    @rule(number=few)
    def sees(self, number: int) -> None:
        self.scene.give(ev.QuestionShown(self.drawn[-1 - number % len(self.drawn)].key))
        self.follow()

    @rule(
        agent=agents,
        native=natives,
        what=st.sampled_from(["cancel"] * 6 + ["endTurn", "close"]),
    )
    def stops(self, agent: str, native: str, what: str) -> None:
        key = self.keys[agent, native]
        session = self.state.sessions[key]
        busy, begins = session.busy, not session.stopping
        withdraws = AGENTS[agent].withdraws_questions
        for asked in self.waiting(agent, key):
            # A closed session has no more background; an old agent's answers are all due.
            all_of_it = what == "close" or (what == "cancel" and not withdraws)
            asked.may_cancel |= what == "close" or (busy and (all_of_it or not asked.background))
        self.scene.command(f"session.{what}", session=key)
        self.follow()
        if what == "close" or (what == "cancel" and not withdraws and busy and begins):
            assert not self.waiting(agent, key)
        if what == "close" and self.lives(agent):
            # A new one in its place.
            self.scene.command("session.new", agent=agent)
            self.keys[agent, native] = str(self.state.current)
            number = self.scene.number(asks.NewSession)
            self.scene.give(ev.Replied(agent, number, SessionOpened(native)))
        elif what == "endTurn":
            for number, waiting in list(self.state.asks.items()):
                if waiting.session == key:
                    failure = Failure(-32800, "cancelled")
                    self.scene.give(ev.AskFailed(agent, number, failure))
            for asked in self.waiting(agent, key):
                asked.background = True
        self.follow()

    @rule(seconds=st.sampled_from([0.5, 3.0, 10.0, 100_000.0]))
    def time_passes(self, seconds: float) -> None:
        """Of itself it answers nothing but what is left of a turn that is being stopped."""
        open_before = {q.key for q in self.state.questions.pending()}
        stopping = {s.key for s in self.state.sessions.values() if s.stopping}
        self.scene.passes(seconds)
        self.follow()
        gone = open_before - {q.key for q in self.state.questions.pending()}
        assert {self.state.questions.all[key].session for key in gone} <= stopping
        limit = self.state.settings.cancel_seconds
        if seconds > limit:
            for agent, process in self.processes.items():
                for asked in process.waits.values():
                    question = self.state.questions.all[asked.key]
                    session = self.state.sessions[asked.session]
                    of_turn = question.turn == session.turn and question.foreground
                    assert not (session.stopping and of_turn), (agent, asked)

    # --- what holds ----------------------------------------------------------------------

    @invariant()
    def what_is_open_is_what_agents_wait_for(self) -> None:
        waits = {a.key for p in self.processes.values() for a in p.waits.values()}
        pending = [q.key for q in self.state.questions.pending()]
        assert set(pending) == waits
        assert pending == [key for key in self.state.questions.all if key in waits]

    @invariant()
    def each_is_answered_once(self) -> None:
        for process in self.processes.values():
            assert process.answered + len(process.waits) == process.asked

    @invariant()
    def they_are_put_in_order_and_one_dialog_at_a_time(self) -> None:
        put = self.scene.of(ef.PutQuestion)
        for dialog in (False, True):
            of_session: dict[str, list[int]] = {}
            for effect in put:
                if effect.dialog == dialog:
                    question = self.state.questions.all[effect.question]
                    of_session.setdefault(question.session, []).append(int(effect.question[1:]))
            for keys in of_session.values():
                assert keys == sorted(set(keys))
        pending = self.state.questions.pending()
        if not self.state.editor.questions:
            assert sum(q.put and not q.dismissed for q in pending) <= 1
        assert sum(q.dialog == "open" for q in pending) <= 1


AnsweredOnce.TestCase.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, print_blob=False
)
TestAnsweredOnce = AnsweredOnce.TestCase
