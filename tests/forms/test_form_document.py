"""A form as a document: what is written, and what is read from it whatever editors do to it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.forms import Field, Form, Problem, filled, is_form_file, is_text_of, read, written
from acpls.forms.words import described

MARK = "hunter2"
SCHEMA: dict[str, Any] = {
    "title": "Deployment",
    "description": "Tell me where.\n\nAnd when.",
    "properties": {
        "target": {"type": "string", "title": "Target", "minLength": 2, "maxLength": 20},
        "mail": {"type": "string", "format": "email", "default": "me@here.example"},
        "count": {"type": "integer", "title": "How many", "minimum": 1},
        "share of it": {"type": "number", "default": 0.5},
        "colour": {
            "type": "string",
            "oneOf": [
                {"const": "r", "title": "Red"},
                {"const": "g", "title": "Green", "description": "as grass"},
            ],
        },
        "days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}, "minItems": 1},
        "sure": {"type": "boolean", "description": "Think\ntwice"},
        "apiKey": {"type": "string", "pattern": r"^sk-\w+$"},
        "code": {"type": "string", "pattern": r"(a)\1"},
        "shape": {"type": "circle"},
    },
    "required": ["target", "count", "colour", "days", "sure"],
}
WRITTEN = """\
# Where to?
#
# Deployment
#
# Tell me where.
#
# And when.
#
# Write your answers below, then run the code action "Send the form" or "Decline the form".
# It need not be saved. A line that begins with # is not sent: take the # away to answer.
# acpls does not know how to ask for shape, and leaves it out.

# Target (required)
# A text in quotes; it must have 2 to 20 characters
target = ""

# mail (optional)
# A text in quotes; format: email
mail = "me@here.example"

# How many (required)
# A whole number, such as 3; it must be at least 1
count = ""

# share of it (optional)
# A number, such as 1.5
"share of it" = 0.5

# colour (required)
# One of:
#   "r": Red
#   "g": Green (as grass)
colour = ""

# days (required)
# Any of:
#   "mo"
#   "tu"
# it must have at least 1 choice
days = []

# sure (required)
# Think
# twice
# true or false
sure = ""

# apiKey (optional)
# Careful: this seems to ask for a secret. The agent gets what you write here.
# A text in quotes
# Pattern: ^sk-\\w+$
# apiKey = ""

# code (optional)
# A text in quotes
# Pattern: (a)\\1 (acpls does not check it)
# code = ""
"""
ANSWERS = {
    'target = ""': 'target = "live"',
    'count = ""': "count = 3",
    'colour = ""': 'colour = "g"',
    "days = []": 'days = [\n  "tu",\n  "mo",\n]',
    'sure = ""': "sure = true",
    '# apiKey = ""': f'apiKey = "sk-{MARK}"',
}
CONTENT = {
    "target": "live",
    "mail": "me@here.example",
    "count": 3,
    "share of it": 0.5,
    "colour": "g",
    "days": ["tu", "mo"],
    "sure": True,
    "apiKey": f"sk-{MARK}",
}


def form() -> Form:
    whole = read(SCHEMA)
    return Form(whole.fields, whole.title, whole.description, whole.left_out, "Where to?")


def answered(**instead: str) -> str:
    text = WRITTEN
    for old, new in (ANSWERS | instead).items():
        text = text.replace(old, new)
    return text


def test_what_is_written() -> None:
    text, line = written(form())
    assert text == WRITTEN
    assert text.split("\n")[line] == 'target = ""'


def test_what_is_read() -> None:
    found = filled(form(), answered())
    assert (found.content, found.problems) == (CONTENT, ())
    assert list(found.content) == list(CONTENT)


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
    ],
)
def test_what_editors_do_to_a_text_changes_nothing(changed: Any) -> None:
    assert filled(form(), changed(answered())).content == CONTENT
    assert is_text_of(WRITTEN, changed(WRITTEN))
    assert not is_text_of(WRITTEN, changed(answered()))


def test_what_was_never_filled_in_is_named_with_its_line() -> None:
    rows = WRITTEN.split("\n")
    found = filled(form(), WRITTEN)
    assert [(rows[p.line], p.message, p.field) for p in found.problems] == [
        ('target = ""', "Target must be filled in", "target"),
        ('count = ""', "How many must be filled in: a whole number", "count"),
        ('colour = ""', "colour must be filled in", "colour"),
        ("days = []", "days must have at least 1 choice", "days"),
        ('sure = ""', "sure must be filled in: true or false", "sure"),
    ]


@pytest.mark.parametrize(
    ("instead", "row", "message"),
    [
        ({'target = ""': "target = x"}, "target = x", None),
        ({'target = ""': f"target = '{MARK}"}, f"target = '{MARK}", None),
        ({'count = ""': MARK}, MARK, None),
        ({'count = ""': 'count = "3"'}, 'count = "3"', "How many must be a whole number"),
        (
            {'count = ""': "# count = 3"},
            "# count = 3",
            "How many must be filled in: a whole number",
        ),
        ({'count = ""': ""}, "# Where to?", "How many must be filled in: a whole number"),
        (
            {'sure = ""': f"sure = true\n{MARK}.a = 3"},
            f"{MARK}.a = 3",
            "This line is no field of the form",
        ),
        ({'sure = ""': f"sure = true\n[{MARK}]"}, f"[{MARK}]", "This line is no field of the form"),
        ({'sure = ""': "sure = 1"}, "sure = 1", "sure must be true or false"),
        ({'sure = ""': "sure = {a = 1}"}, "sure = {a = 1}", "sure must be true or false"),
        ({'target = ""': "target = 12:00:00"}, "target = 12:00:00", "Target must be a text"),
    ],
)
def test_what_is_wrong_stands_on_its_line(
    instead: dict[str, str], row: str, message: str | None
) -> None:
    text = answered(**instead)
    found = filled(form(), text)
    (problem,) = (p for p in found.problems if p.field is None or "sk" not in p.message)
    cannot = 'This line cannot be read: texts stand in "quotes", lists in [ ], one value a line'
    assert (text.split("\n")[problem.line], problem.message) == (row, message or cannot)
    assert MARK not in problem.message


def test_what_ends_too_soon_is_told_at_the_end() -> None:
    text = 'a = "b"\nb = [\n'
    (problem,) = filled(form(), text).problems
    assert problem.line == 1
    assert filled(Form(), "[" * 100_000).problems != ()
    assert filled(Form(), "a = " + "[" * 100_000).problems != ()
    assert filled(Form(), "a = " + "9" * 10_000).problems != ()


def test_a_key_that_cannot_be_read_is_passed_over() -> None:
    one = Form((Field("a", "string", "a", required=True),))
    text = '# "\\q" = 1\na = ""'
    assert filled(one, text).problems == (Problem(1, "a must be filled in", "a"),)


@pytest.mark.parametrize(
    ("field", "line", "content"),
    [
        # An empty text is what was asked for.
        (Field("a", "string", "a", required=True, default=""), 'a = ""', {"a": ""}),
        (Field("a", "string", "a"), 'a = ""', {"a": ""}),
        (Field("a", "string", "a", format="date"), "a = 2026-05-01", {"a": "2026-05-01"}),
        (
            Field("a", "string", "a", format="date-time"),
            "a = 2026-05-01 12:30:00+02:00",
            {"a": "2026-05-01T12:30:00+02:00"},
        ),
        (Field("a", "string", "a"), "a = '''\nx\r\ny'''", {"a": "x\ny"}),
        (Field("a", "number", "a"), "a = 1_000", {"a": 1000}),
    ],
)
def test_values_of_toml(field: Field, line: str, content: dict[str, Any]) -> None:
    assert filled(Form((field,)), line) == filled(Form((field,)), f"{line}\n")
    assert filled(Form((field,)), line).content == content


def test_an_empty_choice_can_be_chosen() -> None:
    one = read({"properties": {"a": {"type": "string", "enum": ["", "b"]}}, "required": ["a"]})
    assert filled(one, 'a = ""').content == {"a": ""}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63 - 1)
DEFAULTS = {
    "string": TEXT | st.none(),
    "number": NUMBERS,
    "boolean": st.booleans(),
    "array": st.lists(TEXT, max_size=2),
}


@st.composite
def any_field(draw: st.DrawFn) -> Field:
    kind: Any = draw(st.sampled_from(sorted(DEFAULTS)))
    about, default = draw(st.none() | TEXT), draw(DEFAULTS[kind])
    return Field(draw(TEXT), kind, draw(TEXT), about, draw(st.booleans()), default)


FIELDS = any_field()


@given(st.lists(FIELDS, max_size=4, unique_by=lambda field: field.name), TEXT, TEXT)
def test_any_form_gives_a_document_with_its_defaults(
    fields: list[Field], title: str, message: str
) -> None:
    any_form = Form(tuple(fields), title, message, message=message)
    text, line = written(any_form)
    values = tomllib.loads(text)
    defaults = {f.name: f.default for f in fields if f.default is not None}
    assert {name: values[name] for name in defaults} == defaults
    assert set(values) - set(defaults) <= {f.name for f in fields if f.required}
    assert line < len(text.split("\n"))


@given(st.text() | st.text("abc=\"[]#\n\r.0123 '", max_size=30))
def test_any_text_gives_values_or_problems(text: str) -> None:
    found = filled(Form((Field("a", "string", "A"),)), text)
    assert set(found.content) <= {"a"}
    assert all(0 <= p.line <= text.count("\n") + text.count("\r") for p in found.problems)


@pytest.mark.parametrize(
    ("path", "private"),
    [
        ("/ws/.acp/form-abc-q1.toml", True),
        ("C:\\ws\\.acp\\form-q1.toml", True),
        ("/ws/.acp/form-q1.toml.bak", False),
        ("/ws/form-q1.toml", False),
        ("/ws/.acp/x/form-q1.toml", False),
        ("/ws/.acp/demo-1-s1.md", False),
    ],
)
def test_which_files_are_forms(path: str, private: bool) -> None:
    assert is_form_file(path) == private


# --- in words --------------------------------------------------------------------------------


def test_what_a_form_is_about_never_tells_values() -> None:
    title, rest = described(form(), "otherwise")
    assert title == "Where to?"
    assert rest.split("\n") == [
        *("Deployment", "Tell me where.", "", "And when."),
        *("- Target", "- mail (optional)", "- How many", "- share of it (optional)", "- colour"),
        *("- days", "- sure", "- apiKey (optional)", "- code (optional)"),
        "acpls does not know how to ask for shape, and leaves it out.",
        "apiKey: Careful: this seems to ask for a secret. The agent gets what you write here.",
    ]


def test_what_a_simple_form_is_about() -> None:
    yes = {"type": "boolean", "title": "Sure?", "description": "It is live"}
    assert described(read({"properties": {"a": yes}}), "otherwise") == (
        "otherwise",
        "Sure?\nIt is live",
    )
    choices = [{"const": "y", "description": "Yes"}, {"const": "n"}]
    few = {"type": "string", "title": "Sure?", "oneOf": choices}
    whole = read({"title": "Sure?", "properties": {"a": few}})
    assert described(whole, "otherwise") == ("Sure?", "y: Yes")
    assert described(Form(), "otherwise") == ("otherwise", "")
