"""The answers to an open question, as code actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls import forms
from acpls.hub import permissions
from acpls.lsp.offers import Offer
from acpls.questions import FILL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.hub.state import State
    from acpls.questions import Question
    from acpls.session.content import Choosable

SHOW_REQUEST: Final = "Show what is asked"


_WIDER: Final = {"workspace": "in this workspace", "user": "everywhere"}


def of(state: State, question: Question) -> Iterator[Offer]:
    """What can be done about a question; the first of it decides nothing."""
    # Editors may preselect the first action, so the first one decides nothing.
    if question.session:
        show: tuple[str, dict[str, Any]] = (
            "acpls.session.openConversation",
            {"session": question.session},
        )
    else:
        show = "acpls.question.list", {}
    yield Offer(f"{SHOW_REQUEST}: {question.title}", *show)
    for option in question.options:
        title = f"{option.name or option.option}: {question.title}"
        if question.form is not None and option.option == FILL:
            yield Offer(title, "acpls.form.open", {"question": question.key})
        else:
            yield Offer(title, *_answer(question, option))
    for option in question.options:
        command, argument = _answer(question, option)
        for scope in permissions.scopes(state, question, option.option)[1:]:
            title = f"{option.name or option.option} ({_WIDER[scope]}): {question.title}"
            yield Offer(title, command, {**argument, "scope": scope})


def in_form(question: Question) -> Iterator[Offer]:
    """What can be done in the document in which a form is filled in."""
    argument = {"question": question.key}
    yield Offer(forms.SEND, "acpls.form.send", argument)
    yield Offer(forms.DECLINE, "acpls.question.answer", {**argument, "action": "decline"})


def _answer(question: Question, option: Choosable) -> tuple[str, dict[str, Any]]:
    return "acpls.question.answer", {"question": question.key, "option": option.option}
