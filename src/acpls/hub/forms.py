"""Forms that agents want filled in.

Invariant: only values that fit the form are sent, and they are sent to the agent alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acpls.effects import After, SendAnswer, ShowQuestions, TellUser
from acpls.forms import Unreadable, described, fitted, read
from acpls.hub import telling
from acpls.hub.putting import put_next, tell_plainly
from acpls.hub.state import CannotDo
from acpls.hub.tokens import CrossedCancel
from acpls.questions import ACCEPT, DECLINE, OPENED
from acpls.session.asks import Declined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.events import FormAsked, QuestionPut
    from acpls.hub.state import Effects, State
    from acpls.questions import Question
    from acpls.session.state import Session

KINDS = frozenset({"form", "link"})
"""The kinds of questions that are answered with an action."""
ACTIONS = frozenset({"accept", "decline", "cancel"})


def asked(state: State, event: FormAsked) -> Effects:
    """An agent asks for values; what cannot be shown as it is meant is declined, in words."""
    try:
        form = replace(read(event.schema), message=event.message)
    except Unreadable as why:
        yield SendAnswer(event.agent, event.request, Declined())
        told = f"A form of {state.agent(event.agent).title} was declined: {why}"
        yield TellUser("error", told, event.message)
        return
    asks = event.session
    session = None if asks is None else telling.session_of(state, event.agent, asks)
    key = "" if session is None else session.key
    title, description = described(form, f"{state.agent(event.agent).title} asks for values")
    own = session is not None and session.native == asks
    call = session.tool_call(event.tool_call or "") if session is not None and own else None
    if call is not None and call.title:
        description = f"For: {call.title}\n{description}"
    question = state.questions.fill_in(event, key, title, form, description)
    yield from arrived(state, question, session, asks)
    yield ShowQuestions()
    yield from tell_plainly(state, question)
    yield from put_next(state)


def arrived(
    state: State, question: Question, session: Session | None, native: str | None
) -> Effects:
    """Take down whose form or page it is. One that crosses a cancel is cancelled in time."""
    telling.belongs(question, session, native)
    if session is not None and session.stopping and question.foreground:
        yield After(state.settings.cancel_seconds, CrossedCancel(question.key))


def act(
    state: State, question: Question, action: str, content: Mapping[str, Any] | None
) -> Effects:
    """The user accepts, declines or cancels. Raises ``CannotDo``, and then nothing is sent."""
    settled_already(question)
    if question.kind not in KINDS:
        raise CannotDo("This question is answered with an option", field="action")
    if action == "cancel":
        yield from state.questions.settle(question, "editor")
    elif action == "decline":
        yield from state.questions.settle(question, "editor", DECLINE)
    elif question.form is None:
        yield from state.questions.settle(question, "editor", OPENED)
    else:
        values, unfit = fitted(question.form, content or {})
        if unfit:
            first = unfit[0]
            title = first.name if first.field is None else first.field.title
            more = f" (and {len(unfit) - 1} more)" if len(unfit) > 1 else ""
            raise CannotDo(f"{title} {first.why}{more}", field=f"content.{first.name}")
        yield from state.questions.settle(question, "editor", ACCEPT, content=values)
    yield from put_next(state)


def settled_already(question: Question) -> None:
    """Raises ``CannotDo`` for a question that nobody waits for any more."""
    if not question.open:
        message = f"The question was settled already, by {question.by}"
        raise CannotDo(message, field="question")


def was_put(state: State, question: Question, event: QuestionPut) -> Effects:
    """What an editor answered that draws forms itself; what does not fit leaves it open."""
    question.dismissed = True
    content = event.content if isinstance(event.content, dict) else None
    if question.open and isinstance(event.action, str) and event.action in ACTIONS:
        yield from act(state, question, event.action, content)
    else:
        yield from put_next(state)
