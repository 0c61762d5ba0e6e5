"""Questions come, are put to the user, and are settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import After, OpenLink, SendAnswer, ShowQuestions, ShowSession, TellUser
from acpls.hub import (
    claims,
    form_documents,
    forms,
    holding,
    login,
    permission_commands,
    permissions,
    telling,
)
from acpls.hub.putting import not_put, put_next
from acpls.hub.state import CannotDo
from acpls.hub.tokens import CrossedCancel
from acpls.questions import FILL, OPEN
from acpls.review.composing import Author
from acpls.session.asks import Failure
from acpls.session.content import AboutToolCall

if TYPE_CHECKING:
    from acpls.events import AnswerLost, QuestionAsked, QuestionPut, QuestionShown, RequestWithdrawn
    from acpls.hub.state import Effects, State
    from acpls.permissions import Scope
    from acpls.questions import Question
    from acpls.session.state import Session

INVALID_PARAMS = -32602

_TITLE_LIMIT = 40


def asked(state: State, event: QuestionAsked) -> Effects:
    """An agent asks for permission. The question stays open until somebody answers it."""
    session = telling.session_of(state, event.agent, event.session)
    if session is None:
        failure = Failure(INVALID_PARAMS, "no such session is open here")
        yield SendAnswer(event.agent, event.request, failure)
        return
    title, about = telling.draw(state, event, session)
    question = state.questions.ask(event, session.key, title, about)
    telling.belongs(question, session, event.session)
    question.can_dismiss = _withdraws(state, event.agent)
    yield ShowSession(session.key, "state")
    if session.stopping and question.foreground:
        # It was asked before the agent knew of the cancel.
        if not question.can_dismiss:
            yield from state.questions.settle(question, "cancel")
            return
        yield After(state.settings.cancel_seconds, CrossedCancel(question.key))
    yield ShowQuestions()
    yield from permissions.asked(state, question)
    yield from put_next(state)


def _withdraws(state: State, agent: str) -> bool:
    facts = state.agent(agent).facts
    return facts is not None and facts.withdraws_questions


def crossed_cancel(state: State, token: CrossedCancel) -> Effects:
    """An agent has had its time to withdraw what it asked while it was being stopped."""
    question = state.questions.all[token.question]
    session = state.sessions[question.session]
    if question.open and session.stopping and session.turn == question.turn:
        yield from state.questions.settle(question, "cancel")
        yield from put_next(state)


# --- what the user does ----------------------------------------------------------------


def was_put(state: State, event: QuestionPut) -> Effects:
    """The editor answered, or did not. No answer is never taken for a refusal."""
    question = state.questions.all[event.question]
    if event.dialog:
        question.dialog = "over"
    if event.action is not None:
        yield from forms.was_put(state, question, event)
        return
    if question.open and event.option is not None and question.offers(event.option):
        # An answer that decides nothing leaves it open, and it is not on the screen any more.
        question.dismissed = True
        # A scope that cannot be had is no reason to lose the answer.
        scopes = permissions.scopes(state, question, event.option)
        scope = event.scope if event.scope in scopes else None
        yield from answer(state, question, event.option, scope)
        return
    if event.dialog:
        yield from put_next(state)
    elif event.seen:
        question.shown = question.dismissed = True
        yield from put_next(state)
    else:
        question.dismissed = True
        yield from not_put(state, question)


def was_shown(state: State, event: QuestionShown) -> None:
    """The editor has a question on its screen. What it does not know of is passed over."""
    question = state.questions.all.get(event.question)
    if question is not None and question.open:
        question.shown = True


def answer(
    state: State, question: Question, option: str | None, scope: Scope | None = None
) -> Effects:
    """The user chose an option. Raises ``CannotDo`` for a settled question, a strange option,
    and where none was named: nothing is chosen for the user.

    ``scope``: for how long an answer that holds always is to be remembered.
    """
    _must_be_open(question)
    offered = ", ".join(o.option for o in question.options) or "nothing"
    if option is None:
        message = f"Which option is meant? The question offers: {offered}"
        raise CannotDo(message, field="option")
    if not question.offers(option):
        message = f"The question does not offer {option!r}; it offers: {offered}"
        raise CannotDo(message, field="option")
    permissions.check(state, question, option, scope)
    if option == FILL and question.form is not None:
        # That decides nothing yet, and what shows the question does so still.
        yield from form_documents.open_document(state, question)
        yield from put_next(state)
        return
    yield from state.questions.settle(question, "editor", option)
    yield from permissions.answered(state, question, option, scope)
    if question.kind == "login":
        yield from login.chosen(state, question.agent, option)
    elif question.kind == "revoke":
        yield from permission_commands.chosen(state, option)
    elif question.url is not None and option == OPEN:
        yield OpenLink(question.url)
    kind = next(o.kind for o in question.options if o.option == option)
    if kind.startswith("reject") and (author := _author(question)) is not None:
        # Some agents send no update for a refused tool call, so its proposals go by themselves.
        yield from claims.drop(state, author)
    yield from put_next(state)


def _author(question: Question) -> Author | None:
    """The tool call of ours that a question is about; that of a subagent is none."""
    if isinstance(question.subject, AboutToolCall) and question.subagent is None:
        return Author(question.session, question.subject.tool_call)
    return None


def dismiss(state: State, question: Question) -> Effects:
    """The user will not answer. Raises ``CannotDo`` where the agent cannot be told that."""
    _must_be_open(question)
    if not question.can_dismiss:
        message = "This question cannot be dismissed; choose an option"
        if question.kind == "permission":
            title = state.agent(question.agent).title
            message = f"{title} takes a dismissed question for a cancelled turn; choose an option"
        raise CannotDo(message, field="action")
    yield from state.questions.settle(question, "editor")
    yield from put_next(state)


def _must_be_open(question: Question) -> None:
    if not question.open:
        message = f"The question was settled already, by {question.by}"
        raise CannotDo(message, field="question")


# --- what ends a question without the user -----------------------------------------------


def withdrawn(state: State, event: RequestWithdrawn) -> Effects:
    """The agent no longer waits; it still gets its one answer."""
    question = state.questions.asked_as(event.agent, event.request)
    if question is not None:
        yield from state.questions.settle(question, "agent")
        yield from put_next(state)
    else:
        yield from holding.withdrawn(state, event.agent, event.request)


def answer_lost(state: State, event: AnswerLost) -> Effects:
    """An answer did not reach its agent. Who gave it is to know, and nobody else."""
    for question in reversed(state.questions.all.values()):
        if question.agent == event.agent and question.request == event.request:
            if question.by == "editor" and not question.is_ours:
                title = telling.line(state, question, _TITLE_LIMIT)
                yield TellUser("error", f"Your answer did not reach the agent: {title}")
            return


def cancel_turn(state: State, session: Session, turn: str | None) -> Effects:
    """Settle the open questions of a turn as cancelled; those of background work stay open,
    as do those of a turn before. Writes that are held wait no longer.
    """
    yield from holding.cancel(state, session.key)
    for question in state.questions.pending(session.key):
        if question.foreground and question.turn in {None, turn}:
            yield from state.questions.settle(question, "cancel")
    yield from put_next(state)


def cancel_all(state: State, session: Session) -> Effects:
    """The same, with all permissions that the session's agent waits for, as agents expect that
    do not withdraw their questions themselves.
    """
    for question in state.questions.pending(session.key):
        if question.kind == "permission":
            yield from state.questions.settle(question, "cancel")
    yield from cancel_turn(state, session, session.turn)
