"""Forms that need no document: a yes or no, or one choice of a few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from acpls.forms.checking import problem_with
from acpls.session.content import Choosable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.forms.fields import Form

# A menu with more would be worse than a document.
CHOICES_LIMIT: Final = 12
_KIND: Final = "form"


def is_simple(form: Form) -> bool:
    """Whether the answers to a form are few enough to be offered one by one."""
    if len(form.fields) > 1:
        return False
    return all(
        each.kind == "boolean"
        or (
            each.kind == "string"
            and each.choices is not None
            and len(each.choices) <= CHOICES_LIMIT
        )
        for each in form.fields
    )


def answers_of(form: Form) -> list[tuple[Choosable, dict[str, Any]]]:
    """The answers to a simple form, each with the values that it stands for.

    Their ids do not tell which values these are.
    """
    return [
        (Choosable(f"choice-{number}", name, _KIND), values)
        for number, (name, values) in enumerate(_answers(form), 1)
    ]


def _answers(form: Form) -> Iterator[tuple[str, dict[str, Any]]]:
    if not form.fields:
        yield "Accept", {}
        return
    (field,) = form.fields
    if field.choices is None:
        yield "Yes", {field.name: True}
        yield "No", {field.name: False}
    for choice in field.choices or ():
        if problem_with(field, choice.value) is None:
            yield choice.title, {field.name: choice.value}
    if not field.required:
        yield "Leave it open", {}
