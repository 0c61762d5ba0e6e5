"""A question in plain words, alike wherever it is shown.

Invariant: pure. Every line is printable, and nothing that was said is left out of the whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acpls.text.visible import lines, middle, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.questions.question import Question

NOTHING: Final = "The agent says nothing about what it wants to do."
NO_OPTIONS: Final = "The agent offers no answer to choose."

_LINES_LIMIT: Final = 20
_LAST_LINES: Final = 6
_LINE_LIMIT: Final = 200

Form: TypeAlias = Literal["words", "code", "diff", "page"]
"""``page``: words of which nothing may be cut, such as an address."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to be said of a question, under a ``label`` or without one."""

    label: str
    text: str
    form: Form = "words"

    def lines(self) -> Iterator[str]:
        """Its lines without markup."""
        first, *rest = lines(self.text)
        if self.label and not rest and self.form != "diff":
            yield f"{self.label}: {first}"
            return
        if self.label:
            yield f"{self.label}:"
        indent = "    " if self.form in {"code", "diff"} else ""
        yield from (f"{indent}{line}".rstrip() for line in (first, *rest))


@dataclass(frozen=True, slots=True)
class Told:
    """``title`` and the names of the ``options`` are single lines; ``source``: which of several
    agents or sessions asks. ``options`` are the ids with their names, in order.
    """

    key: str
    title: str
    source: str | None
    parts: tuple[Part, ...]
    options: tuple[tuple[str, str], ...]
    dismiss: bool = False

    def line(self, limit: int) -> str:
        """The title and where the question comes from, in at most ``limit`` characters."""
        if self.source is None:
            return middle(self.title, limit)
        source = f" ({middle(self.source, limit // 3)})"
        return middle(self.title, limit - len(source)) + source

    def whole(self) -> list[str]:
        """All that there is to be said, below the title."""
        source = [] if self.source is None else [f"From: {self.source}"]
        return [*source, *(line for part in self.parts for line in part.lines())]

    def brief(self) -> str:
        """The title and what stands below it, in as many lines as a dialog can show."""
        source = [] if self.source is None else [f"From: {self.source}"]
        below = [line for part in self.parts if part.form != "page" for line in part.lines()]
        if len(below) > _LINES_LIMIT:
            # What matters may stand at either end.
            left_out = len(below) - _LINES_LIMIT + 1
            below[_LINES_LIMIT - _LAST_LINES : -_LAST_LINES + 1] = [f"… ({left_out} more lines)"]
        pages = [line for part in self.parts if part.form == "page" for line in part.lines()]
        cut = (middle(line, _LINE_LIMIT) for line in (self.title, *source, *below))
        return "\n".join((*cut, *pages))


def names(question: Question) -> tuple[tuple[str, str], ...]:
    """The id and the name of each option: one without a name has its id, and those of one
    name are told apart by theirs.
    """
    shown = [one_line(o.name) or one_line(o.option) or o.kind for o in question.options]
    count = Counter(shown)
    return tuple(
        (o.option, name if count[name] == 1 else f"{name} ({one_line(o.option)})")
        for o, name in zip(question.options, shown, strict=True)
    )
