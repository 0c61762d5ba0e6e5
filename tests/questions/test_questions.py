"""Each question is answered exactly once, with what it offers (P05, P07, P08, P10, P11)."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from acpls.effects import Effect, QuestionSettled, SendAnswer, ShowQuestions
from acpls.events import LinkAsked, QuestionAsked, RequestId
from acpls.questions import OPENED, Question, Questions, SettledBy
from acpls.session.asks import Accepted, Answer, Cancelled, Declined, Selected
from acpls.session.content import AboutToolCall, Choosable

OPTIONS = (
    Choosable("allow", "Allow", "allow_once"),
    Choosable("", "Empty", "reject_once"),
    Choosable(" Allow ", "Almost the same", "allow_always"),
    Choosable("0", "Zero", "ask_a_friend"),
)
# Each of them is an id of its own, whatever ``==`` says.
REQUESTS: list[RequestId] = [0, "0", "", None, 1, "1", True, False, "None", -1]
AGENTS = ["claude", "codex"]
SESSIONS = ["s1", "s2"]


def asked(agent: str, request: RequestId, tool_call: str = "call") -> QuestionAsked:
    subject = AboutToolCall(tool_call)
    return QuestionAsked(agent, request, "native", "Edit?", OPTIONS, "why", subject)


def answers(effects: tuple[Effect, ...]) -> list[SendAnswer]:
    return [effect for effect in effects if isinstance(effect, SendAnswer)]


# --- one by one --------------------------------------------------------------------------


def test_an_answer_is_sent_and_told() -> None:
    questions = Questions()
    question = questions.ask(asked("claude", 7), "s1", "Edit hello.py?")
    assert question.options == OPTIONS  # P11: all, in order, with their names.
    assert (question.title, question.description) == ("Edit hello.py?", "why")
    effects = questions.settle(question, "editor", " Allow ")
    assert effects == (
        SendAnswer("claude", 7, Selected(" Allow ")),
        QuestionSettled(question.key, "editor", " Allow "),
        ShowQuestions(),
    )
    assert (question.by, question.option, question.open) == ("editor", " Allow ", False)
    assert not questions.pending()


def test_a_cancel_is_no_refusal_and_a_refusal_no_cancel_p11() -> None:
    questions = Questions()
    cancelled = questions.ask(asked("claude", 1), "s1", "?")
    refused = questions.ask(asked("claude", 2), "s1", "?")
    (answer,) = answers(questions.settle(cancelled, "cancel"))
    assert answer == SendAnswer("claude", 1, Cancelled())
    (answer,) = answers(questions.settle(refused, "editor", ""))
    assert answer == SendAnswer("claude", 2, Selected(""))


@pytest.mark.parametrize("option", ["Allow", "allow ", "allow_once", "ALLOW", "cancelled", "1"])
def test_what_is_not_offered_exactly_is_not_sent_p05(option: str) -> None:
    questions = Questions()
    question = questions.ask(asked("claude", 1), "s1", "?")
    assert not question.offers(option)
    with pytest.raises(ValueError, match="q1 does not offer"):
        questions.settle(question, "editor", option)
    assert question.open
    assert questions.settle(question, "editor", "0")[0] == SendAnswer("claude", 1, Selected("0"))


def test_two_requests_about_one_tool_call_are_two_questions_p08() -> None:
    questions = Questions()
    first = questions.ask(asked("claude", 1, "same"), "s1", "?")
    second = questions.ask(asked("claude", 2, "same"), "s1", "?")
    assert questions.pending() == [first, second]
    assert answers(questions.settle(second, "editor", "allow")) == [
        SendAnswer("claude", 2, Selected("allow"))
    ]
    assert questions.pending() == [first]


def test_an_answer_stays_with_the_question_it_was_drawn_for_p10() -> None:
    questions = Questions()
    drawn = questions.ask(asked("claude", 1), "s1", "List files?")
    questions.settle(drawn, "agent")
    # The agent may use the id of its request again, for something else.
    questions.ask(asked("claude", 1), "s1", "Delete files?")
    assert questions.settle(drawn, "editor", "allow") == ()
    assert [q.title for q in questions.pending()] == ["Delete files?"]


def test_questions_wait_in_the_order_of_their_arrival_p07() -> None:
    questions = Questions()
    keys = [questions.ask(asked("claude", n), SESSIONS[n % 2], "?").key for n in range(4)]
    assert [q.key for q in questions.pending()] == keys
    assert [q.key for q in questions.pending("s2")] == [keys[1], keys[3]]
    assert questions.pending("s3") == []


def test_a_request_is_known_by_agent_and_exact_id() -> None:
    questions = Questions()
    made = {
        (agent, number): questions.ask(asked(agent, request), "s1", "?")
        for agent in AGENTS
        for number, request in enumerate(REQUESTS)
    }
    for (agent, number), question in made.items():
        assert questions.asked_as(agent, REQUESTS[number]) is question
    assert questions.asked_as("gemini", 0) is None
    assert questions.asked_as("claude", 2) is None


# --- pages and logins ----------------------------------------------------------------------


def link(agent: str = "claude", request: RequestId = 1, name: str = "l") -> LinkAsked:
    return LinkAsked(agent, request, None, "Visit", "https://a.example/x", name)


@pytest.mark.parametrize(
    ("option", "answer"),
    [("open", Accepted()), ("opened", Accepted()), ("decline", Declined()), (None, Cancelled())],
)
def test_a_visit_is_answered_in_its_own_words_a03(option: str | None, answer: Answer) -> None:
    questions = Questions()
    question = questions.visit(link(), "", can_open=True)
    assert (question.title, question.description) == ("Visit", "https://a.example/x")
    (sent,) = answers(questions.settle(question, "editor", option))
    assert sent == SendAnswer("claude", 1, answer)


def test_a_page_is_opened_only_where_that_can_be_done_a03() -> None:
    questions = Questions()
    assert questions.visit(link(), "", can_open=True).offers("open")
    assert not questions.visit(link(), "", can_open=False).offers("open")


def test_visits_are_known_by_agent_and_link() -> None:
    questions = Questions()
    first = questions.visit(link(), "s1", can_open=True)
    second = questions.visit(link(request=2, name="m"), "", can_open=True)
    third = questions.visit(link("codex"), "", can_open=True)
    questions.ask(asked("claude", 3), "s1", "?")
    assert questions.visits("claude") == [first, second]
    assert questions.visits("claude", "m") == [second]
    assert questions.visits("codex", "l") == [third]
    questions.settle(first, "agent", OPENED)
    assert questions.visits("claude") == [second]
    assert questions.asked_as("claude", 2) is second


def test_a_question_about_a_login_answers_no_agent_a02() -> None:
    questions = Questions()
    question = questions.login("claude", "s1", "Log in", OPTIONS, "how")
    assert questions.about_login("claude") is question
    assert questions.about_login("codex") is None
    # It is no request of the agent's, not even of one without an id.
    assert questions.asked_as("claude", None) is None
    assert not question.foreground
    effects = questions.settle(question, "editor", "allow")
    assert effects == (QuestionSettled(question.key, "editor", "allow"), ShowQuestions())
    assert questions.about_login("claude") is None


# --- in any order ------------------------------------------------------------------------


class AnyOrder(RuleBasedStateMachine):
    """Agents ask, die and start again; users answer, twice or too late; turns are cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.questions = Questions()
        # What each living agent waits for: by type and value, since ``1 == True``.
        self.waits: dict[tuple[str, str], str] = {}
        self.outcomes: dict[str, str] = {}
        self.drawn: list[Question] = []

    @rule(
        agent=st.sampled_from(AGENTS),
        request=st.sampled_from(REQUESTS),
        session=st.sampled_from(SESSIONS),
    )
    def ask(self, agent: str, request: RequestId, session: str) -> None:
        if (agent, repr(request)) in self.waits:
            return  # The connection refuses an id that is in use.
        question = self.questions.ask(asked(agent, request), session, "?")
        assert question.key not in self.outcomes
        self.waits[agent, repr(request)] = question.key
        self.outcomes[question.key] = "open"
        self.drawn.append(question)

    def settle(self, question: Question, by: SettledBy, option: str | None = None) -> None:
        sent = self.questions.settle(question, by, option)
        if self.outcomes[question.key] != "open":
            assert sent == ()
            return
        answer, told, shown = sent
        assert isinstance(answer, SendAnswer)
        key = self.waits.pop((answer.agent, repr(answer.request)))
        assert key == question.key
        if option is None:
            assert answer.answer == Cancelled()
        else:
            assert answer.answer == Selected(option)
        assert (told, shown) == (QuestionSettled(key, by, option), ShowQuestions())
        self.outcomes[key] = by

    @precondition(lambda self: self.drawn)
    @rule(data=st.data(), option=st.sampled_from([o.option for o in OPTIONS]))
    def answer(self, data: st.DataObject, option: str) -> None:
        self.settle(data.draw(st.sampled_from(self.drawn)), "editor", option)

    @precondition(lambda self: self.drawn)
    @rule(data=st.data(), option=st.sampled_from(["Allow", "reject", "None"]))
    def answer_what_is_not_offered(self, data: st.DataObject, option: str) -> None:
        question = data.draw(st.sampled_from(self.drawn))
        if question.open:
            with pytest.raises(ValueError, match="does not offer"):
                self.questions.settle(question, "editor", option)
        else:
            assert self.questions.settle(question, "editor", option) == ()

    @rule(agent=st.sampled_from(AGENTS), request=st.sampled_from(REQUESTS))
    def withdraw(self, agent: str, request: RequestId) -> None:
        question = self.questions.asked_as(agent, request)
        key = self.waits.get((agent, repr(request)))
        assert (None if question is None else question.key) == key
        if question is not None:
            self.settle(question, "agent")

    @rule(session=st.sampled_from(SESSIONS))
    def cancel(self, session: str) -> None:
        for question in self.questions.pending(session):
            self.settle(question, "cancel")
        assert self.questions.pending(session) == []

    @rule(agent=st.sampled_from(AGENTS))
    def die(self, agent: str) -> None:
        for question in self.questions.pending():
            if question.agent == agent:
                sent = self.questions.settle(question, "agent", agent_lives=False)
                assert answers(sent) == []
                assert QuestionSettled(question.key, "agent", None) in sent
                self.outcomes[question.key] = "dead"
        self.waits = {at: key for at, key in self.waits.items() if at[0] != agent}

    @invariant()
    def open_questions_are_those_that_agents_wait_for(self) -> None:
        pending = [q.key for q in self.questions.pending()]
        assert sorted(pending) == sorted(self.waits.values())
        assert pending == [key for key in self.questions.all if key in pending]


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestAnyOrder = AnyOrder.TestCase
