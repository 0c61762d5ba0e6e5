"""A form as a TOML document: comments say what is wanted, the user fills in the values.

Invariant: whatever stands in the document gives values or problems, each with its line; no
problem repeats what the user wrote.
"""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from acpls.forms import patterns
from acpls.forms.checking import KINDS, fitted, limits, repr_of
from acpls.forms.fields import printable
from acpls.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from acpls.forms.fields import Field, Form, Value

SEND: Final = "Send the form"
DECLINE: Final = "Decline the form"
CAREFUL: Final = "Careful: this seems to ask for a secret. The agent gets what you write here."

# So many values are tried, where something has no end.
_TRIES_LIMIT: Final = 100
_FILE: Final = re.compile(r"form-[A-Za-z0-9-]+\.toml")
_KEY: Final = re.compile(
    r"\s*(?P<off>#\s*)?\[{0,2}\s*(?P<key>[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')\s*[.=\]]"
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_AT: Final = re.compile(r"at line (\d+)")
_HINTS: Final[Mapping[str, str]] = {
    "string": "A text in quotes",
    "number": "A number, such as 1.5",
    "integer": "A whole number, such as 3",
    "boolean": "true or false",
    "array": 'A list, such as ["a", "b"]',
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a document that cannot be sent: its zero-based line, and what it is.

    ``field`` is the name of the field, where it is one.
    """

    line: int
    message: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Filled:
    """What a document says: values that can be sent where there are no ``problems``."""

    content: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()


def is_form_file(path: str) -> bool:
    """Whether a file is the document of a form, of which nothing may be kept."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return folder.endswith("/.acp") and _FILE.fullmatch(name) is not None


# --- written ---------------------------------------------------------------------------


def written(form: Form, source: str | None = None) -> tuple[str, int]:
    """The document of a form before anybody wrote in it, and the zero-based line of its first
    value. ``source``: which of several asks.
    """
    lines = [] if source is None else [*_remarks(f"From: {source}"), "#"]
    for text in (form.message, form.title, form.description):
        # Some agents say the same in all of these.
        said = [*_remarks(text or "")]
        if said and said != lines[-1 - len(said) : -1]:
            lines += [*said, "#"]
    lines += [
        f'# Write your answers below, then run the code action "{SEND}" or "{DECLINE}".',
        "# It need not be saved. A line that begins with # is not sent: take the # away to answer.",
    ]
    for name in form.left_out:
        lines += _remarks(f"acpls does not know how to ask for {name}, and leaves it out.")
    first = len(lines)
    for at, field in enumerate(form.fields):
        lines += ["", *_about(field)]
        first = first if at else len(lines)
        lines.append(_value_line(field))
    return "\n".join([*lines, ""]), first


def _about(field: Field) -> Iterator[str]:
    yield from _remarks(f"{field.title} ({'required' if field.required else 'optional'})")
    yield from _remarks(field.description or "")
    if field.is_secret:
        yield f"# {CAREFUL}"
    if field.choices is not None:
        yield f"# {'Any' if field.kind == 'array' else 'One'} of:"
        for choice in field.choices:
            said = "" if choice.title == choice.value else f": {choice.title}"
            said += f" ({choice.description})" if choice.description else ""
            yield from _remarks(f"{repr_of(choice.value)}{said}", indent="  ")
    wanted = [_HINTS[field.kind]] if field.choices is None else []
    span = limits(field)
    if span is not None:
        wanted.append(f"it must {span}")
    if field.format is not None:
        wanted.append(f"format: {field.format}")
    if wanted:
        yield from _remarks("; ".join(wanted))
    if field.pattern is not None:
        is_checked = field.enforced and patterns.is_enforced(field.pattern)
        checked = "" if is_checked else " (acpls does not check it)"
        yield from _remarks(f"Pattern: {field.pattern}{checked}")


def _remarks(text: str, indent: str = "") -> Iterator[str]:
    for line in printable(text):
        yield f"# {indent}{line}".rstrip()


def _value_line(field: Field) -> str:
    key = field.name if _BARE.fullmatch(field.name) else repr_of(field.name)
    if field.default is not None:
        return f"{key} = {_toml(field.default)}"
    empty = "[]" if field.kind == "array" else '""'
    if field.required:
        return f"{key} = {empty}"
    return f"# {key} = {empty}"


def _toml(value: Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return repr_of(value)
        case list():
            return f"[{', '.join(map(repr_of, value))}]"
        case _:
            # TOML takes what Python writes of a number that is finite.
            return repr(value)


# --- read ------------------------------------------------------------------------------


def filled(form: Form, text: str) -> Filled:
    """What the user wrote into a document; line endings and byte order mark may be any."""
    plain = _plainly(text)
    try:
        read = tomllib.loads(plain)
    except (ValueError, RecursionError) as wrong:
        found = _AT.search(str(wrong))
        line = int(found[1]) - 1 if found else _unended(plain)
        message = (
            'This line cannot be read: texts stand in "quotes", lists in [ ], one value a line'
        )
        return Filled({}, (Problem(line, message),))
    lines = _lines(plain)
    given = {name: _plain(value) for name, value in read.items()}
    for field in form.fields:
        if field.required and field.default != "" and given.get(field.name) == "":
            # It was never filled in, or emptied again.
            offers = {choice.value for choice in field.choices or ()}
            if "" not in offers:
                del given[field.name]
    content, unfit = fitted(form, given)
    problems = [
        Problem(
            lines.get(each.name, 0),
            f"This line {each.why}"
            if each.field is None
            else f"{each.field.title} {each.why}{_wanted(each.field, given)}",
            None if each.field is None else each.name,
        )
        for each in unfit
    ]
    return Filled(content, tuple(sorted(problems, key=lambda problem: problem.line)))


def _unended(text: str) -> int:
    """The line on which begins what has no end."""
    rows = text.split("\n")
    starts = [at for at, row in enumerate(rows) if (found := _KEY.match(row)) and not found["off"]]
    for at in reversed(starts[:_TRIES_LIMIT]):
        with suppress(ValueError, RecursionError):
            tomllib.loads("\n".join(rows[:at]))
            return at
    return 0


def is_text_of(written: str, text: str) -> bool:
    """Whether a document still is what was written, but for what editors do to any text."""
    return _plainly(written).rstrip("\n") == _plainly(text).rstrip("\n")


def _plainly(text: str) -> str:
    """The text with the line endings of TOML, which knows no lone carriage return."""
    lines = split_lines(text.removeprefix("\ufeff"))
    return "".join(line.rstrip("\r\n") + "\n" for line in lines)


def _wanted(field: Field, given: Mapping[str, Any]) -> str:
    return "" if field.name in given or field.kind == "string" else f": {KINDS[field.kind]}"


def _plain(value: Any) -> Any:
    """A value of TOML as one of JSON: dates need no quotes."""
    match value:
        case datetime() | date():
            return value.isoformat()
        case _:
            return value


def _lines(text: str) -> dict[str, int]:
    """On which lines the values stand; of those that are commented out, the lines of these."""
    on: dict[str, int] = {}
    off: dict[str, int] = {}
    for at, line in enumerate(text.split("\n")):
        found = _KEY.match(line)
        if found is None:
            continue
        try:
            (name,) = tomllib.loads(f"{found['key']} = 0")
        except ValueError:
            continue
        (off if found["off"] else on).setdefault(name, at)
    return off | on
