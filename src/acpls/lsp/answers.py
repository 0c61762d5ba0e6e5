"""The answers to open questions, as code actions.

Invariant: what a menu can hold is bounded; what is left out can be reached all the same.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from acpls import forms
from acpls.conversation.asked import DISMISS
from acpls.hub import permissions, telling
from acpls.lsp.offers import Offer
from acpls.lsp.wording import TITLE_LIMIT
from acpls.questions import FILL
from acpls.questions.told import names
from acpls.text.visible import middle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.hub.state import State
    from acpls.questions import Question

SHOW_REQUEST: Final = "Show what is asked"
OPTIONS_LIMIT: Final = 20
QUESTIONS_LIMIT: Final = 10

_NAME_LIMIT: Final = 40
_SHOW: Final = "acpls.question.show"
_ANSWER: Final = "acpls.question.answer"
_WIDER: Final = {"workspace": "kept for this workspace", "user": "kept everywhere"}


def offers(state: State, but: Question | None = None) -> Iterator[Offer]:
    """What can be done about the open questions, oldest first, and not about one of them."""
    pending = [question for question in state.questions.pending() if question is not but]
    for question in pending[:QUESTIONS_LIMIT]:
        yield from _of(state, question)
    rest = pending[QUESTIONS_LIMIT:]
    if rest:
        what = "question" if len(rest) == 1 else f"{len(rest)} questions"
        yield Offer(f"Show the other {what}", _SHOW, {"question": rest[0].key})


def _of(state: State, question: Question) -> Iterator[Offer]:
    # Editors may preselect the first action, so the first one decides nothing.
    this = {"question": question.key}
    yield Offer(_titled(state, SHOW_REQUEST, question), _SHOW, this)
    for option, name in islice(names(question), OPTIONS_LIMIT):
        title = _titled(state, middle(name, _NAME_LIMIT), question)
        if question.form is not None and option == FILL:
            yield Offer(title, "acpls.form.open", this)
        else:
            yield Offer(title, _ANSWER, {**this, "option": option})
    for option, name in islice(names(question), OPTIONS_LIMIT):
        for scope in permissions.scopes(state, question, option)[1:]:
            title = _titled(state, f"{middle(name, _NAME_LIMIT)} ({_WIDER[scope]})", question)
            yield Offer(title, _ANSWER, {**this, "option": option, "scope": scope})
    rest = len(question.options) - OPTIONS_LIMIT
    if rest > 0:
        yield Offer(_titled(state, f"Show {rest} more answers", question), _SHOW, this)
    if question.can_dismiss:
        yield Offer(_titled(state, DISMISS, question), _ANSWER, {**this, "action": "dismiss"})


def in_form(question: Question) -> Iterator[Offer]:
    """What can be done in the document in which a form is filled in."""
    argument = {"question": question.key}
    yield Offer(forms.SEND, "acpls.form.send", argument)
    yield Offer(forms.DECLINE, _ANSWER, {**argument, "action": "decline"})


def _titled(state: State, what: str, question: Question) -> str:
    limit = TITLE_LIMIT - len(what) - len(": ")
    return f"{what}: {telling.line(state, question, limit)}"
