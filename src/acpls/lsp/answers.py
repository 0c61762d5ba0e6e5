"""The answers to an open question, as code actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls.lsp.offers import Offer

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
        yield Offer(
            f"{option.name or option.option}: {question.title}",
            "acpls.question.answer",
            {"question": question.key, "option": option.option},
        )
