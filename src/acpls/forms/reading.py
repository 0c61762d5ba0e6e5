"""Reads the restricted JSON Schema of a form (``requestedSchema``).

Invariant: whatever the agent sent gives a form or ``Unreadable``, and nothing unknown is ever
shown as something that is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from acpls.forms.checking import problem_with
from acpls.forms.fields import Choice, Field, Form, Unreadable, is_text, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from acpls.forms.fields import Kind

_KINDS: Final[Mapping[str, Kind]] = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "array",
}
FIELDS_LIMIT: Final = 200
# Each may take its time to match, while everything else waits.
PATTERNS_LIMIT: Final = 20
# Whatever is beyond cannot be compared with a fraction.
_LIMITS_LIMIT: Final = 1e300
_LIMITS: Final = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}


def read(schema: Mapping[str, Any]) -> Form:
    """The form that a schema describes. Raises ``Unreadable``."""
    if schema.get("type", "object") != "object":
        raise Unreadable("its schema is of no object")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise Unreadable("its properties are no object")
    required = schema.get("required")
    required = [] if required is None else required
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise Unreadable("what it requires is no list of names")
    for name in required:
        if name not in properties:
            raise Unreadable(f"it requires {_called(name)} and does not say what that is")
    if len(properties) > FIELDS_LIMIT:
        raise Unreadable(f"it has more than {FIELDS_LIMIT} fields")
    fields: list[Field] = []
    left_out: list[str] = []
    for name, shape in properties.items():
        enforces = sum(field.pattern is not None for field in fields) < PATTERNS_LIMIT
        found = _field(name, shape, required=name in required, enforces=enforces)
        if found is not None:
            fields.append(found)
        elif name in required:
            raise Unreadable(f"{_called(name)} is of a kind that acpls does not know")
        else:
            left_out.append(_called(name))
    title, description = (_words(schema.get(key)) for key in ("title", "description"))
    return Form(tuple(fields), title, description, tuple(left_out), schema=schema)


def _field(name: str, shape: object, *, required: bool, enforces: bool) -> Field | None:
    """The field of a property; ``None`` for one of a kind that we do not know."""
    if not isinstance(shape, dict) or not isinstance(shape.get("type"), str):
        raise Unreadable(f"{_called(name)} does not say what it is")
    kind = _KINDS.get(shape["type"])
    if kind is None or not is_text(name):
        return None
    low = high = None
    if kind in _LIMITS:
        low, high = (_limit(name, kind, shape, key) for key in _LIMITS[kind])
    choices = None
    if kind == "string":
        choices = _choices(name, shape, "oneOf", "enum")
    elif kind == "array":
        items = shape.get("items")
        if not isinstance(items, dict):
            raise Unreadable(f"{_called(name)} does not say what can be chosen")
        # With a type they are plain texts, without one they have titles.
        choices = _choices(name, items, *(["enum"] if "type" in items else ["anyOf"]))
        if choices is None or items.get("type", "string") != "string":
            return None
    is_free = kind == "string"
    field = Field(
        name,
        kind,
        one_line(_text(shape.get("title"))) or _called(name),
        _words(shape.get("description")),
        required,
        choices=choices,
        low=low,
        high=high,
        pattern=_string(name, shape, "pattern") if is_free else None,
        format=_string(name, shape, "format") if is_free else None,
        enforced=enforces,
    )
    return replace(field, default=_default(field, shape.get("default")))


def _default(field: Field, value: Any) -> Any:
    """The default; one that does not fit is none, as it could not be sent."""
    return None if value is None or problem_with(field, value) is not None else value


def _limit(name: str, kind: Kind, shape: Mapping[str, Any], key: str) -> float | None:
    value = shape.get(key)
    if value is None:
        return None
    counts = kind in {"string", "array"}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_sound = is_number and abs(value) < _LIMITS_LIMIT
    if not is_sound or (counts and (value < 0 or value % 1)):
        raise Unreadable(f"{_called(name)} has a {key} that is none")
    return value  # type: ignore[no-any-return]  # seen to be a number


def _string(name: str, shape: Mapping[str, Any], key: str) -> str | None:
    value = shape.get(key)
    if value is not None and not is_text(value):
        raise Unreadable(f"{_called(name)} has a {key} that is none")
    return value


def _choices(name: str, shape: Mapping[str, Any], *keys: str) -> tuple[Choice, ...] | None:
    """What can be chosen, by the first of these keys that is there; ``None``: anything."""
    found = next((shape[key] for key in keys if shape.get(key) is not None), None)
    if found is None:
        return None
    choices = list(_each(name, found))
    if not choices:
        raise Unreadable(f"{_called(name)} offers nothing to choose")
    unique: dict[str, Choice] = {}
    for choice in choices:
        unique.setdefault(choice.value, choice)
    return tuple(unique.values())


def _each(name: str, found: object) -> Iterator[Choice]:
    for item in found if isinstance(found, list) else [None]:
        titled = item if isinstance(item, dict) else {"const": item}
        value = titled.get("const")
        if not is_text(value):
            raise Unreadable(f"{_called(name)} has choices that are none")
        assert isinstance(value, str)
        title = one_line(_text(titled.get("title")))
        yield Choice(value, title or one_line(value) or '""', _words(titled.get("description")))


def _words(value: object) -> str | None:
    return _text(value) or None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _called(name: str) -> str:
    return one_line(name) or '""'
