"""An open question as lines of Markdown: all that is known of it, and its answers in order.

Invariant: pure. Commands, files and differences stand in code, so that nothing in them is
taken for markup; each line is printable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from acpls.text.visible import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acpls.questions import Part, Told

    Closed = Callable[[list[str]], list[str]]

DISMISS: Final = "Dismiss"
_DIFF_LIMIT: Final = 200


def block(question: Told, closed: Closed) -> Iterator[str]:
    """The lines of a question; ``closed`` ends the code that a text leaves open."""
    yield f"> **{question.title}**"
    yield ">"
    if question.source is not None:
        yield from (f"> From {question.source}", ">")
    for part in question.parts:
        yield from (f"> {line}".rstrip() for line in (*_part(part, closed), ""))
    yield from (f"> - {name}" for _, name in question.options)
    if question.dismiss:
        yield f"> - {DISMISS}"
    yield from (">", "> Answer with a code action.", "")


def _part(part: Part, closed: Closed) -> list[str]:
    shown = lines(part.text)
    if part.form in {"words", "page"}:
        said = closed(shown)
        return [f"{part.label}: {said[0]}", *said[1:]] if part.label else said
    if len(shown) == 1 and "`" not in shown[0] and part.form == "code":
        return [f"{part.label}: `{shown[0]}`"]
    if part.form == "diff" and len(shown) > _DIFF_LIMIT:
        rest = len(shown) - _DIFF_LIMIT
        shown[_DIFF_LIMIT:] = [f"({rest} more lines; acpls.question.list has them all)"]
    runs = (len(run) for line in shown for run in re.findall("`+", line))
    fence = "`" * max(3, max(runs, default=0) + 1)
    return [f"{part.label}:", "", f"{fence}{'diff' * (part.form == 'diff')}", *shown, fence]
