"""Rules, answers, cancels, withdrawals and deaths in any order: one answer each."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from scene import AGENT, CANCELLED, ROOT, Scene

from acpls import effects as ef
from acpls import events as ev
from acpls.session.asks import Selected
from acpls.session.content import AboutCommand

LINES = ("git status", "make", "make; rm x", "rm x", "git status $(rm x)")
ALLOW = {"decision": "allow", "command": "git *"}
DENY = {"decision": "deny", "command": "rm *"}


class Rules(RuleBasedStateMachine):
    """An agent asks whether it may run things, while the rules come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene(holds={ef.ReadPermissions})
        self.scene.session()
        self.scene.prompts()
        self.asked: dict[int, str] = {}
        self.always: set[str] = set()

        # Every rule that held at any time.
        self.ever: list[dict[str, str]] = []
        self.alive = True

    @precondition(lambda self: self.alive)
    @rule(line=st.sampled_from(LINES))
    def asks(self, line: str) -> None:
        request = len(self.asked)
        self.asked[request] = line
        self.scene.asks(request, subject=AboutCommand(line, ROOT))

    @rule(at=st.integers(0, 20), option=st.sampled_from(["yes", "no", "always"]))
    def answers(self, at: int, option: str) -> None:
        pending = self.scene.state.questions.pending()
        if pending:
            question = pending[at % len(pending)]
            self.scene.result("question.answer", question=question.key, option=option)
            if option == "always":
                self.always.add(self.asked[int(str(question.request))])

    @precondition(lambda self: self.scene.held)
    @rule(at=st.integers(0, 20))
    def is_read(self, at: int) -> None:
        held = self.scene.held
        held.insert(0, held.pop(at % len(held)))
        self.scene.let()

    @rule(rules=st.lists(st.sampled_from([ALLOW, DENY]), unique_by=str))
    def sets(self, rules: list[dict[str, str]]) -> None:
        self.ever += rules
        self.scene.give(ev.SettingsChanged(({"permissions": {"rules": rules}},)))

    @rule(at=st.integers(0, 20))
    def is_withdrawn(self, at: int) -> None:
        if self.asked:
            self.scene.give(ev.RequestWithdrawn(AGENT, at % len(self.asked)))

    @precondition(lambda self: self.alive)
    @rule()
    def is_cancelled(self) -> None:
        self.scene.result("session.cancel")

    @precondition(lambda self: self.alive)
    @rule()
    def dies(self) -> None:
        self.scene.dies()
        self.alive = False

    @invariant()
    def each_request_has_one_answer_and_a_right_one(self) -> None:
        for question in self.scene.state.questions.all.values():
            request, line = question.request, self.asked[int(str(question.request))]
            assert isinstance(request, int)
            answers = self.scene.answers(request)
            assert len(answers) <= 1
            assert not (question.open and (answers or not self.alive))
            if question.by != "rule":
                continue
            (answer,) = answers
            assert answer != CANCELLED
            if answer == Selected("yes"):
                assert (ALLOW in self.ever and line == "git status") or line in self.always
            else:
                assert answer == Selected("no")
                assert DENY in self.ever
                assert "rm x" in line

    def teardown(self) -> None:
        """In the end nobody waits for a judgement."""
        while self.scene.held:
            self.scene.let()
        assert not self.scene.state.permissions.awaited
        assert self.scene.state.permissions.remembering == 0
        pending = {question.key for question in self.scene.state.questions.pending()}
        assert pending <= set(self.scene.put())


Rules.TestCase.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)
TestRules = Rules.TestCase
