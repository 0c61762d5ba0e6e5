"""Whether values fit the fields that they are for, and in plain words why not.

Invariant: no word of a problem repeats what the user wrote.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from acpls.forms import formats, patterns
from acpls.forms.fields import is_text, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acpls.forms.fields import Field, Form

KINDS: Final[Mapping[str, str]] = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list of choices",
}
_SHOWN_CHOICES: Final = 10
# What every reader of JSON takes for whole numbers.
_INT64: Final = 2**63


@dataclass(frozen=True, slots=True)
class Unfit:
    """A field whose value cannot be sent; ``why`` goes on after its title. ``field`` is its
    name, and ``None`` where the value is for none of the fields.
    """

    field: Field | None
    name: str
    why: str


def fitted(form: Form, content: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Unfit, ...]]:
    """The values to be sent, in the order of the fields, and what is wrong; then none must be
    sent. A value that is ``None`` is left out.
    """
    given = {name: value for name, value in content.items() if value is not None}
    known = {field.name for field in form.fields}
    unfit = [Unfit(None, name, "is no field of the form") for name in given if name not in known]
    values: dict[str, Any] = {}
    for field in form.fields:
        if field.name not in given:
            if field.required:
                unfit.append(Unfit(field, field.name, "must be filled in"))
            continue
        value = given[field.name]
        why = problem_with(field, value)
        if why is not None:
            unfit.append(Unfit(field, field.name, why))
        values[field.name] = int(value) if _is_whole(field, value) else value
    return values, tuple(unfit)


def problem_with(field: Field, value: object) -> str | None:
    """Why this cannot be the value of a field, or ``None``."""
    match field.kind:
        case "string" if is_text(value):
            return _of_text(field, str(value))
        case "number" | "integer" if _is_number(value):
            assert isinstance(value, int | float)
            return _of_number(field, value)
        case "boolean" if isinstance(value, bool):
            return None
        case "array" if isinstance(value, list) and all(map(is_text, value)):
            return _of_list(field, value)
        case _:
            return f"must be {KINDS[field.kind]}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(field: Field, value: object) -> bool:
    """Whether this is a whole number that was written with a fraction, such as 3.0."""
    return field.kind == "integer" and isinstance(value, float) and value.is_integer()


def _of_text(field: Field, value: str) -> str | None:
    if field.choices is not None and value not in {each.value for each in field.choices}:
        return f"must be one of {_some(field)}"
    # JSON Schema counts code points, as Python does.
    wrong = limits_broken(field, len(value))
    pattern = field.pattern if field.enforced else None
    if wrong is None and pattern is not None and patterns.fits(pattern, value) is False:
        wrong = f"must fit the pattern {one_line(pattern)}"
    if wrong is None and field.format is not None and not formats.fits(field.format, value):
        wrong = f"must be {formats.KNOWN[field.format].words}"
    return wrong


def _of_number(field: Field, value: float) -> str | None:
    # Of larger whole numbers not even a fraction can be made.
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return "has too many digits"
    if not math.isfinite(value) or (field.kind == "integer" and value % 1):
        return f"must be {KINDS[field.kind]}"
    return limits_broken(field, value)


def _of_list(field: Field, value: list[str]) -> str | None:
    if not {*value} <= {each.value for each in field.choices or ()}:
        return f"may only have {_some(field)}"
    if len({*value}) < len(value):
        return "has a choice twice"
    return limits_broken(field, len(value))


def limits_broken(field: Field, size: float) -> str | None:
    """What is wrong with a length, a number or a count."""
    if (field.low is None or size >= field.low) and (field.high is None or size <= field.high):
        return None
    return f"must {limits(field)}"


def limits(field: Field) -> str | None:
    """The limits of a field in words, which go on after "must" or "may"."""
    low, high = (None if x is None else _number(x) for x in (field.low, field.high))
    if low is None and high is None:
        return None
    span = low if low == high else f"{low} to {high}"
    if low is None or high is None:
        span = f"at most {high}" if low is None else f"at least {low}"
    if field.kind in {"number", "integer"}:
        return f"be {span}"
    what = "character" if field.kind == "string" else "choice"
    last = field.low if field.high is None else field.high
    return f"have {span} {what}{'' if last == 1 else 's'}"


def _number(value: float) -> str:
    is_whole = isinstance(value, int) or (value.is_integer() and abs(value) < _INT64)
    return str(int(value) if is_whole else value)


def _some(field: Field) -> str:
    values = [repr_of(each.value) for each in field.choices or ()]
    more = len(values) - _SHOWN_CHOICES
    shown = ", ".join(values[:_SHOWN_CHOICES])
    return f"{shown} and {more} more" if more > 0 else shown


def repr_of(text: str) -> str:
    """A text as it stands in a form's document."""
    escaped = "".join(_escaped(char) for char in text)
    return f'"{escaped}"'


_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    return char if char.isprintable() else f"\\U{ord(char):08x}"
