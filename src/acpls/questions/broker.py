"""Questions from agents, each answered exactly once.

Invariant: ``Questions.settle`` is the only place that makes the answer to a question,
and a question that is settled stays settled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from acpls.effects import QuestionSettled, SendAnswer, ShowQuestions
from acpls.forms import answers_of, is_simple
from acpls.questions.question import Question
from acpls.session.asks import Accepted, Cancelled, Declined, Selected
from acpls.session.content import Choosable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.effects import Effect
    from acpls.events import FormAsked, LinkAsked, QuestionAsked, RequestId
    from acpls.forms import Form
    from acpls.questions.about import About
    from acpls.questions.question import SettledBy
    from acpls.session.asks import Answer
    from acpls.session.content import Json

OPEN: Final = "open"
OPENED: Final = "opened"
DECLINE: Final = "decline"
ACCEPT: Final = "accept"
FILL: Final = "fill"
_LINK: Final[Mapping[str, Answer]] = {
    OPEN: Accepted(),
    OPENED: Accepted(),
    DECLINE: Declined(),
}


@dataclass(slots=True)
class Questions:
    """All questions of all agents, in the order of their arrival."""

    all: dict[str, Question] = field(default_factory=dict)
    _open: dict[str, Question] = field(default_factory=dict)

    def ask(
        self, asked: QuestionAsked, session: str, title: str, about: About | None = None
    ) -> Question:
        """A question came in for our session ``session``."""
        return self._add(
            Question(
                self._key(),
                asked.agent,
                asked.request,
                session,
                title,
                asked.options,
                asked.description,
                asked.subject,
                about=about,
                call=asked.call,
            )
        )

    def visit(self, asked: LinkAsked, session: str, *, can_open: bool) -> Question:
        """An agent wants a page visited; ``can_open``: the editor can show it."""
        options = (
            *((Choosable(OPEN, "Open the page", "link"),) if can_open else ()),
            Choosable(OPENED, "I have opened the page myself", "link"),
            Choosable(DECLINE, "Do not open it", "reject_once"),
        )
        return self._add(
            Question(
                self._key(),
                asked.agent,
                asked.request,
                session,
                asked.message,
                options,
                asked.url,
                kind="link",
                url=asked.url,
                link=asked.link,
                answers=_LINK,
            )
        )

    def fill_in(
        self, asked: FormAsked, session: str, title: str, form: Form, description: str
    ) -> Question:
        """An agent wants a form filled in; one of a few answers has these as its options."""
        answers: dict[str, Answer] = {DECLINE: Declined()}
        options = [Choosable(FILL, "Fill in the form", "form")]
        if is_simple(form):
            simple = answers_of(form)
            options = [option for option, _ in simple]
            answers |= {option.option: Accepted(values) for option, values in simple}
        options.append(Choosable(DECLINE, "Decline the form", "reject_once"))
        return self._add(
            Question(
                self._key(),
                asked.agent,
                asked.request,
                session,
                title,
                tuple(options),
                description,
                kind="form",
                form=form,
                answers=answers,
            )
        )

    def login(
        self, agent: str, session: str, title: str, options: tuple[Choosable, ...], description: str
    ) -> Question:
        """An agent needs a login, and there may be several ways."""
        return self._add(
            Question(
                self._key(),
                agent,
                None,
                session,
                title,
                options,
                description,
                kind="login",
                foreground=False,
            )
        )

    def about_write(
        self,
        agent: str,
        session: str,
        title: str,
        options: tuple[Choosable, ...],
        description: str,
        write: object,
    ) -> Question:
        """A write that an agent asked for needs the user's word; ``write`` is given back."""
        return self._add(
            Question(
                self._key(),
                agent,
                None,
                session,
                title,
                options,
                description,
                kind="write",
                write=write,
            )
        )

    def revoking(self, agent: str, title: str, options: tuple[Choosable, ...]) -> Question:
        """Which of the answers that are remembered is to be forgotten."""
        return self._add(
            Question(self._key(), agent, None, "", title, options, kind="revoke", foreground=False)
        )

    def _key(self) -> str:
        return f"q{len(self.all) + 1}"

    def _add(self, question: Question) -> Question:
        self.all[question.key] = self._open[question.key] = question
        return question

    def pending(self, session: str | None = None) -> list[Question]:
        """The open questions, oldest first, of one session or of all."""
        return [q for q in self._open.values() if session in {None, q.session}]

    def shown_in(self, session: str, agent: str) -> list[Question]:
        """The open questions of a session, and those about its agent itself."""
        return [
            q
            for q in self.pending()
            if q.session == session or (not q.session and q.agent == agent)
        ]

    def asked_as(self, agent: str, request: RequestId) -> Question | None:
        """The open question that the agent asked under this request id."""
        for question in self._open.values():
            # ``0 == False`` and ``1 == 1.0`` must not match, so the types are compared too.
            same = question.request == request and type(question.request) is type(request)
            if question.agent == agent and same and not question.is_ours:
                return question
        return None

    def about_login(self, agent: str) -> Question | None:
        """The open question of how to log in to an agent."""
        pending = self.pending()
        return next((q for q in pending if q.kind == "login" and q.agent == agent), None)

    def elicited(self, agent: str, session: str | None = None) -> list[Question]:
        """The open pages and forms of an agent, of one session or of all."""
        pending = self.pending(session)
        return [q for q in pending if q.agent == agent and q.kind in {"link", "form"}]

    def visits(self, agent: str, link: str | None = None) -> list[Question]:
        """The open questions for a visit that an agent asked for, of one link or all."""
        return [q for q in self.elicited(agent) if q.kind == "link" and link in {None, q.link}]

    def settle(
        self,
        question: Question,
        by: SettledBy,
        option: str | None = None,
        *,
        content: Json | None = None,
        agent_lives: bool = True,
    ) -> tuple[Effect, ...]:
        """Settle a question with an option that it offers, or as cancelled (``None``).

        ``ACCEPT`` answers a form with ``content``, values that were found to fit it.
        Settling one that is settled does nothing. Raises ``ValueError`` for an option that
        the question does not offer, or that answers nothing; it stays open then.
        """
        if not question.open:
            return ()
        values = question.form is not None and option == ACCEPT and content is not None
        # An option of an agent's may have any id.
        fills = question.form is not None and option == FILL
        if option is not None and not values and (fills or not question.offers(option)):
            raise ValueError(f"{question.key} does not offer {option!r}")
        question.by, question.option = by, option
        del self._open[question.key]
        settled = (QuestionSettled(question.key, by, option), ShowQuestions())
        if question.is_ours or not agent_lives:
            return settled
        answer: Answer = Accepted(content)
        if not values:
            answer = (
                Cancelled() if option is None else question.answers.get(option, Selected(option))
            )
        return (SendAnswer(question.agent, question.request, answer), *settled)
