"""What a form is about, in words: never its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.forms.document import CAREFUL
from acpls.forms.fields import printable
from acpls.forms.simple import is_simple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.forms.fields import Form


def described(form: Form, otherwise: str) -> tuple[str, str]:
    """A title of one line, and the rest; ``otherwise`` is the title of one that says nothing."""
    said: list[str] = []
    for text in (form.message, form.title, form.description):
        # Some agents say the same in all of these.
        said += [line for line in printable(text or "") if line not in said]
    title, *rest = said or [otherwise]
    return title, "\n".join([*rest, *_asked(form, title)])


def _asked(form: Form, title: str) -> Iterator[str]:
    if is_simple(form):
        for field in form.fields:
            about = [field.title, *printable(field.description or "")]
            yield from (line for line in about if line != title)
            for choice in field.choices or ():
                if choice.description:
                    yield " ".join([f"{choice.title}:", *printable(choice.description)])
    else:
        for field in form.fields:
            yield f"- {field.title}{'' if field.required else ' (optional)'}"
    for name in form.left_out:
        yield f"acpls does not know how to ask for {name}, and leaves it out."
    if form.secrets:
        yield f"{', '.join(field.title for field in form.secrets)}: {CAREFUL}"
