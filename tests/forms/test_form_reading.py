"""What agents send as the schema of a form, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.demo import survey
from acpls.forms import (
    Choice,
    Field,
    Form,
    Unreadable,
    answers_of,
    filled,
    fitted,
    is_simple,
    read,
    written,
)
from acpls.forms.words import described


def one(shape: object, *, required: bool = False) -> Form:
    schema = {"type": "object", "properties": {"x": shape}}
    return read({**schema, "required": ["x"]} if required else schema)


def field(**shape: Any) -> Field:
    (found,) = one(shape).fields
    return found


TITLED = [{"const": "r", "title": "Red", "description": "like blood"}, {"const": "g"}]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ({"type": "string"}, Field("x", "string", "x")),
        (
            {"type": "string", "minLength": 1, "maxLength": 2.0, "pattern": "a", "format": "date"},
            Field("x", "string", "x", low=1, high=2, pattern="a", format="date"),
        ),
        (
            {"type": "string", "title": " A\n b", "description": "c\nd"},
            Field("x", "string", "A b", "c\nd"),
        ),
        (
            {"type": "string", "enum": ["a", "b", "a"], "default": "b"},
            Field("x", "string", "x", choices=(Choice("a", "a"), Choice("b", "b")), default="b"),
        ),
        (
            {"type": "string", "oneOf": TITLED, "enum": ["z"]},
            Field("x", "string", "x", choices=(Choice("r", "Red", "like blood"), Choice("g", "g"))),
        ),
        ({"type": "string", "enum": [""]}, Field("x", "string", "x", choices=(Choice("", '""'),))),
        (
            {"type": "number", "minimum": -1.5, "maximum": 2, "default": 0.5},
            Field("x", "number", "x", low=-1.5, high=2, default=0.5),
        ),
        ({"type": "integer", "minimum": None}, Field("x", "integer", "x")),
        ({"type": "boolean", "default": False}, Field("x", "boolean", "x", default=False)),
        (
            {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "minItems": 1,
                "maxItems": 2,
                "default": ["a"],
            },
            Field(
                *("x", "array", "x"),
                choices=(Choice("a", "a"), Choice("b", "b")),
                low=1,
                high=2,
                default=["a"],
            ),
        ),
        (
            {"type": "array", "items": {"anyOf": TITLED}},
            Field("x", "array", "x", choices=(Choice("r", "Red", "like blood"), Choice("g", "g"))),
        ),
        ({"type": "string", "format": "colour"}, Field("x", "string", "x", format="colour")),
        # What has no right default has none, and neither is a title that is none.
        ({"type": "string", "default": 3, "title": 4}, Field("x", "string", "x")),
        ({"type": "string", "maxLength": 1, "default": "ab"}, Field("x", "string", "x", high=1)),
        ({"type": "number", "pattern": "a", "format": "date"}, Field("x", "number", "x")),
    ],
)
def test_each_kind_of_field(shape: dict[str, Any], wanted: Field) -> None:
    assert one(shape).fields == (wanted,)


def test_the_order_the_title_and_what_is_required() -> None:
    schema = {
        "type": "object",
        "title": "Survey",
        "description": "About you",
        "properties": {name: {"type": "string"} for name in "zab"},
        "required": ["b", "z"],
    }
    form = read(schema)
    assert [(f.name, f.required) for f in form.fields] == [("z", True), ("a", False), ("b", True)]
    assert (form.title, form.description, form.schema) == ("Survey", "About you", schema)


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": {}, "required": None}])
def test_a_form_without_fields(schema: dict[str, Any]) -> None:
    assert read(schema).fields == ()


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "object"},
        {"type": "_money"},
        {"type": "array", "items": {}},
        {"type": "array", "items": {"type": "number", "enum": [1]}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"enum": ["a"]}},
    ],
)
def test_an_unknown_kind_is_left_out_or_declined(shape: dict[str, Any]) -> None:
    if shape.get("items", {}).get("type") == "number":
        with pytest.raises(Unreadable, match="x has choices that are none"):
            one(shape)
        return
    form = one(shape)
    assert (form.fields, form.left_out) == ((), ("x",))
    with pytest.raises(Unreadable, match="x is of a kind that acpls does not know"):
        one(shape, required=True)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "its schema is of no object"),
        ({"properties": []}, "its properties are no object"),
        ({"required": "x"}, "what it requires is no list of names"),
        ({"properties": {key: {} for key in map(str, range(201))}}, "it has more than 200 fields"),
        ({"required": [1]}, "what it requires is no list of names"),
        ({"required": ["x\ny"]}, "it requires x y and does not say what that is"),
        ({"properties": {"x": 3}}, "x does not say what it is"),
        ({"properties": {"": {"type": 3}}}, '"" does not say what it is'),
    ],
)
def test_what_is_no_form(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(schema)


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "string", "minLength": -1},
        {"type": "string", "minLength": 1.5},
        {"type": "string", "maxLength": "3"},
        {"type": "string", "maxLength": True},
        {"type": "string", "pattern": 3},
        {"type": "string", "pattern": "\ud800"},
        {"type": "string", "format": ["date"]},
        {"type": "string", "enum": []},
        {"type": "string", "enum": "ab"},
        {"type": "string", "enum": [1]},
        {"type": "string", "oneOf": [{"title": "A"}]},
        {"type": "string", "enum": ["\udfff"]},
        {"type": "number", "minimum": float("inf")},
        {"type": "number", "maximum": float("nan")},
        {"type": "integer", "maximum": 10**400},
        {"type": "array"},
        {"type": "array", "items": 3},
        {"type": "array", "items": {"anyOf": []}},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": -1},
    ],
)
def test_what_is_wrong_with_a_field_is_said(shape: dict[str, Any]) -> None:
    with pytest.raises(Unreadable, match=r"^x "):
        one(shape)


def test_only_so_many_patterns_are_enforced() -> None:
    shape = {"type": "string", "pattern": "^a$", "default": "b"}
    form = read({"properties": dict.fromkeys(map(str, range(25)), shape)})
    assert [f.enforced for f in form.fields] == [True] * 20 + [False] * 5
    # What is not enforced is no reason to pass over a default.
    assert [f.default for f in form.fields] == [None] * 20 + ["b"] * 5
    assert written(form)[0].count("acpls does not check it") == 5
    _, unfit = fitted(form, dict.fromkeys(map(str, range(25)), "b"))
    assert len(unfit) == 20


def test_a_name_that_cannot_be_written_down_is_left_out() -> None:
    assert read({"properties": {"\ud800": {"type": "string"}}}).left_out == ('""',)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
NAMES = ("title", "description", "default", "pattern", "format", "minLength", "minimum")
SHAPES = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "integer", "boolean", "array", "odd"])},
    optional=dict.fromkeys(NAMES, JSON)
    | {"enum": st.lists(st.text(max_size=3)) | JSON, "items": JSON, "oneOf": JSON},
)


@given(
    st.fixed_dictionaries(
        {"properties": st.dictionaries(st.text(max_size=4), SHAPES | JSON, max_size=3)},
        optional={"type": st.just("object") | JSON, "required": st.lists(st.text()) | JSON},
    )
)
def test_whatever_is_sent_gives_a_form_or_a_reason(schema: dict[str, Any]) -> None:
    try:
        form = read(schema)
    except Unreadable as reason:
        form, why = Form(), str(reason)
    else:
        why = ""
    assert why.isprintable()
    assert {f.name for f in form.fields} <= {*schema["properties"]}
    assert written(form)[0].encode()
    assert described(form, "otherwise")[0].isprintable()


def test_the_form_of_the_demo_agent_has_every_kind_of_field() -> None:
    form = read(survey.SCHEMA)
    assert {f.kind for f in form.fields} == {"string", "integer", "number", "boolean", "array"}
    assert (form.left_out, form.secrets) == ((), ())
    text, _ = written(form)
    text = text.replace('name = ""', 'name = "Ann"').replace('tea = ""', 'tea = "assam"')
    assert filled(form, text).content == {
        "name": "Ann",
        "tea": "assam",
        "cups": 2,
        "milk": False,
        "days": ["monday"],
    }


# --- secrets ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "secret"),
    [
        ("x", {"format": "password"}, True),
        *((name, {}, True) for name in ("password", "apiKey", "API_KEY", "api-key", "secret")),
        *((name, {}, True) for name in ("accessToken", "userPassword", "pin", "private key")),
        ("x", {"title": "Your passphrase"}, True),
        *((name, {}, False) for name in ("name", "spin", "tokenizer", "keyboard", "pinned")),
    ],
)
def test_what_asks_for_a_secret(name: str, shape: dict[str, Any], secret: bool) -> None:
    form = read({"properties": {name: {"type": "string", **shape}}})
    assert [f.is_secret for f in form.fields] == [secret]
    assert ("Careful" in written(form)[0]) == secret
    assert ("Careful" in described(form, "")[1]) == secret


def test_a_number_of_tokens_is_no_secret() -> None:
    assert read({"properties": {"tokens": {"type": "integer"}}}).secrets == ()


# --- forms without a document ------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "simple"),
    [
        ({}, True),
        ({"x": {"type": "boolean"}}, True),
        ({"x": {"type": "string", "enum": ["a"]}}, True),
        ({"x": {"type": "string", "enum": [str(n) for n in range(13)]}}, False),
        ({"x": {"type": "string"}}, False),
        ({"x": {"type": "array", "items": {"anyOf": TITLED}}}, False),
        ({"x": {"type": "boolean"}, "y": {"type": "boolean"}}, False),
    ],
)
def test_which_forms_are_simple(properties: dict[str, Any], simple: bool) -> None:
    assert is_simple(read({"properties": properties})) == simple


def answers(form: Form) -> dict[str, dict[str, Any]]:
    return {option.name: values for option, values in answers_of(form)}


def test_the_answers_to_a_simple_form() -> None:
    assert answers(read({})) == {"Accept": {}}
    yes_no = {"Yes": {"x": True}, "No": {"x": False}}
    assert answers(one({"type": "boolean"}, required=True)) == yes_no
    assert answers(one({"type": "boolean"})) == {**yes_no, "Leave it open": {}}
    few = one({"type": "string", "oneOf": TITLED, "minLength": 1, "pattern": "r"}, required=True)
    assert answers(few) == {"Red": {"x": "r"}}
    ids = [option.option for option, _ in answers_of(one({"type": "boolean"}))]
    assert ids == ["choice-1", "choice-2", "choice-3"]
