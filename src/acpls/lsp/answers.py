"""The answers to an open question, as code actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls import forms
from acpls.lsp.offers import Offer
from acpls.questions import FILL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.questions import Question

SHOW_REQUEST: Final = "Show what is asked"


def of(question: Question) -> Iterator[Offer]:
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
        argument = {"question": question.key}
        if question.form is not None and option.option == FILL:
            yield Offer(title, "acpls.form.open", argument)
        else:
            argument["option"] = option.option
            yield Offer(title, "acpls.question.answer", argument)


def in_form(question: Question) -> Iterator[Offer]:
    """What can be done in the document in which a form is filled in."""
    argument = {"question": question.key}
    yield Offer(forms.SEND, "acpls.form.send", argument)
    yield Offer(forms.DECLINE, "acpls.question.answer", {**argument, "action": "decline"})
