"""The answers to an open question, as code actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls.hub import permissions
from acpls.lsp.offers import Offer

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
        yield Offer(f"{option.name or option.option}: {question.title}", *_answer(question, option))
    for option in question.options:
        command, argument = _answer(question, option)
        for scope in permissions.scopes(state, question, option.option)[1:]:
            title = f"{option.name or option.option} ({_WIDER[scope]}): {question.title}"
            yield Offer(title, command, {**argument, "scope": scope})


def _answer(question: Question, option: Choosable) -> tuple[str, dict[str, Any]]:
    return "acpls.question.answer", {"question": question.key, "option": option.option}
