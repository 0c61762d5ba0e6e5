"""Questions from agents, each answered exactly once.

Invariant: ``Questions.settle`` is the only place that makes the answer to a question,
and a question that is settled stays settled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from acpls.effects import QuestionSettled, SendAnswer, ShowQuestions
from acpls.session.asks import Cancelled, Selected

if TYPE_CHECKING:
    from acpls.effects import Effect
    from acpls.events import QuestionAsked, RequestId
    from acpls.session.content import Choosable, Subject

SettledBy: TypeAlias = Literal["editor", "agent", "cancel"]


@dataclass(slots=True)
class Question:
    """A permission an agent asks for.

    ``by`` and ``option`` say how it was settled. ``put``: it was put to the user;
    ``dismissed``: that brought no answer. ``foreground``: it was asked during a turn.
    """

    key: str
    agent: str
    request: RequestId
    session: str
    title: str
    options: tuple[Choosable, ...]
    description: str | None = None
    subject: Subject = None
    foreground: bool = True
    put: bool = False
    dismissed: bool = False
    by: SettledBy | None = None
    option: str | None = None

    @property
    def open(self) -> bool:
        """Whether the agent still waits."""
        return self.by is None

    def offers(self, option: str) -> bool:
        """Whether this is one of the options, by its exact id."""
        return any(offered.option == option for offered in self.options)


@dataclass(slots=True)
class Questions:
    """All questions of all agents, in the order of their arrival."""

    all: dict[str, Question] = field(default_factory=dict)

    def ask(self, asked: QuestionAsked, session: str, title: str) -> Question:
        """A question came in for our session ``session``."""
        key = f"q{len(self.all) + 1}"
        question = Question(
            key,
            asked.agent,
            asked.request,
            session,
            title,
            asked.options,
            asked.description,
            asked.subject,
        )
        self.all[key] = question
        return question

    def pending(self, session: str | None = None) -> list[Question]:
        """The open questions, oldest first, of one session or of all."""
        return [q for q in self.all.values() if q.open and session in {None, q.session}]

    def asked_as(self, agent: str, request: RequestId) -> Question | None:
        """The open question that the agent asked under this request id."""
        for question in self.pending():
            # ``0 == False`` and ``1 == 1.0`` must not match, so the types are compared too.
            same = question.request == request and type(question.request) is type(request)
            if question.agent == agent and same:
                return question
        return None

    def settle(
        self,
        question: Question,
        by: SettledBy,
        option: str | None = None,
        *,
        agent_lives: bool = True,
    ) -> tuple[Effect, ...]:
        """Settle a question with an option that it offers, or as cancelled (``None``).

        Settling one that is settled does nothing. Raises ``ValueError`` for an option that
        the question does not offer; it stays open then.
        """
        if not question.open:
            return ()
        if option is not None and not question.offers(option):
            raise ValueError(f"{question.key} does not offer {option!r}")
        question.by, question.option = by, option
        answer = Cancelled() if option is None else Selected(option)
        sent = (SendAnswer(question.agent, question.request, answer),) if agent_lives else ()
        return (*sent, QuestionSettled(question.key, by, option), ShowQuestions())
