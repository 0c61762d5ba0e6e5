"""Questions come, are put to the user, and are settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import OpenLink, SendAnswer, ShowQuestions
from acpls.hub import (
    claims,
    form_documents,
    forms,
    holding,
    login,
    permission_commands,
    permissions,
)
from acpls.hub.putting import put_next
from acpls.hub.state import CannotDo
from acpls.questions import FILL, OPEN
from acpls.review.composing import Author
from acpls.session.asks import Failure
from acpls.session.content import AboutCommand, AboutToolCall

if TYPE_CHECKING:
    from acpls.events import QuestionAsked, QuestionPut, RequestWithdrawn
    from acpls.hub.state import Effects, State
    from acpls.permissions import Scope
    from acpls.questions import Question
    from acpls.session.state import Session

INVALID_PARAMS = -32602


def asked(state: State, event: QuestionAsked) -> Effects:
    """An agent asks for permission. The question stays open until somebody answers it."""
    session = state.session_of(event.agent, event.session)
    if session is None:
        failure = Failure(INVALID_PARAMS, "no such session is open here")
        yield SendAnswer(event.agent, event.request, failure)
        return
    question = state.questions.ask(event, session.key, _title(state, session, event))
    question.foreground = session.busy
    yield ShowQuestions()
    yield from permissions.judge(state, question)
    yield from put_next(state)


def _title(state: State, session: Session, event: QuestionAsked) -> str:
    match event.subject:
        case AboutToolCall(tool_call):
            call = session.tool_call(tool_call)
            about = call.title if call is not None else ""
        case AboutCommand(command):
            about = f"Run {command}"
        case _:
            about = ""
    agent = state.agent(event.agent).title
    return event.title or about or f"{agent} asks for permission and says nothing more"


def was_put(state: State, event: QuestionPut) -> Effects:
    """The editor answered, or did not. No answer is never taken for a refusal."""
    question = state.questions.all[event.question]
    if event.action is not None:
        yield from forms.was_put(state, question, event)
    elif question.open and event.option is not None and question.offers(event.option):
        # A scope that cannot be had is no reason to lose the answer.
        scopes = permissions.scopes(state, question, event.option)
        yield from answer(
            state, question, event.option, event.scope if event.scope in scopes else None
        )
    else:
        question.dismissed = True
        yield from put_next(state)


def answer(state: State, question: Question, option: str, scope: Scope | None = None) -> Effects:
    """The user chose an option. Raises ``CannotDo`` for a settled question, or a strange option.

    ``scope``: for how long an answer that holds always is to be remembered.
    """
    if not question.open:
        message = f"The question was settled already, by {question.by}"
        raise CannotDo(message, field="question")
    if not question.offers(option):
        offered = ", ".join(o.option for o in question.options)
        message = f"The question does not offer {option!r}; it offers: {offered}"
        raise CannotDo(message, field="option")
    if option == FILL and question.form is not None:
        # That decides nothing yet.
        question.dismissed = True
        yield from form_documents.open_document(state, question)
        yield from put_next(state)
        return
    permissions.check(state, question, option, scope)
    yield from state.questions.settle(question, "editor", option)
    yield from permissions.answered(state, question, option, scope)
    if question.kind == "login":
        yield from login.chosen(state, question.agent, option)
    elif question.kind == "revoke":
        yield from permission_commands.chosen(state, option)
    elif question.url is not None and option == OPEN:
        yield OpenLink(question.url)
    kind = next(o.kind for o in question.options if o.option == option)
    if kind.startswith("reject") and isinstance(question.subject, AboutToolCall):
        # Some agents send no update for a refused tool call, so its proposals go by themselves.
        yield from claims.drop(state, Author(question.session, question.subject.tool_call))
    yield from put_next(state)


def withdrawn(state: State, event: RequestWithdrawn) -> Effects:
    """The agent no longer waits; it still gets its one answer."""
    question = state.questions.asked_as(event.agent, event.request)
    if question is not None:
        yield from state.questions.settle(question, "agent")
        yield from put_next(state)
    else:
        yield from holding.withdrawn(state, event.agent, event.request)


def cancel_turn(state: State, session: Session) -> Effects:
    """Settle the session's open questions as cancelled; those of background work stay open.
    Writes that are held wait no longer.
    """
    yield from holding.cancel(state, session.key)
    for question in state.questions.pending(session.key):
        if question.foreground:
            yield from state.questions.settle(question, "cancel")
    yield from put_next(state)
