"""The published schemas taken apart: every form that a value of a definition can have.

A definition refers to others, adds fields to them and branches. A ``Form`` is one way
through all of that: a kind of JSON value, and for an object its fields and its tags.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, TypeAlias

from acp_schema import definitions

Json: TypeAlias = dict[str, Any]

ON_ERROR: Final = "x-deserialize-default-on-error"
ON_NULL: Final = "x-deserialize-default-on-null"
SKIPS: Final = "x-deserialize-skip-invalid-items"
MARKS: Final = (ON_ERROR, ON_NULL, SKIPS)

ANY: Final = "any"
META: Final = "_meta"

# The word of a tag that stands for every word that the schema does not name.
UNKNOWN: Final = None


@dataclass(frozen=True)
class Form:
    """One way in which a value can fit a schema.

    ``names``: the definitions that it is put together of, those with fields of their own;
    ``last``: the innermost definition. ``tags``: words that fields must have; ``limits``:
    what the schema says of other values.
    """

    kind: str
    limits: Json = field(default_factory=dict)
    fields: dict[str, Json] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    tags: dict[str, str | None] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    last: str = ""

    @property
    def label(self) -> str:
        """What the tables call this form."""
        name = "+".join(self.names) or self.last
        return name + "*" * (UNKNOWN in self.tags.values())

    @property
    def read(self) -> dict[str, Json]:
        """The fields proper: without tags, and without what anybody may add."""
        return {
            name: it
            for name, it in self.fields.items()
            if name != META and not (name in self.tags and _is_tag(it))
        }


@cache
def forms_of(version: int, name: str) -> tuple[Form, ...]:
    """The forms of a definition."""
    it = definitions(version)[name]
    own = {key: x for key, x in it.get("properties", {}).items() if not _is_tag(x)}
    inline = {
        key
        for branch in it.get("anyOf", it.get("oneOf", ()))
        for key, x in branch.get("properties", {}).items()
        if not _is_tag(x)
    }
    counts = bool((set(own) | inline) - {META})
    return tuple(
        replace(x, names=(name, *x.names) if counts else x.names, last=x.last or name)
        for x in forms(version, it)
    )


def forms(version: int, schema: Json | bool) -> tuple[Form, ...]:
    """The forms of any schema."""
    if isinstance(schema, bool):
        return (Form(ANY),)
    found = _own(schema)
    parts = [forms(version, x) for x in schema.get("allOf", ())]
    if "$ref" in schema:
        parts.append(forms_of(version, schema["$ref"].rpartition("/")[2]))
    branches = [schema[key] for key in ("anyOf", "oneOf") if key in schema]
    parts += [tuple(y for x in branch for y in forms(version, x)) for branch in branches]
    for part in parts:
        found = tuple(both for x in found for y in part if (both := _joined(x, y)) is not None)
    return found


def marks(schema: Json | bool) -> frozenset[str]:
    """The marks of leniency that a field bears."""
    if isinstance(schema, bool):
        return frozenset()
    inner = frozenset[str]().union(*(marks(x) for x in schema.get("allOf", ())))
    return inner | {x for x in MARKS if schema.get(x)}


def children(version: int, schema: Json | bool) -> tuple[Form, ...]:
    """The objects that a field holds, be it in a list."""
    found: list[Form] = []
    for it in forms(version, schema):
        if it.kind == "object":
            found.append(it)
        elif it.kind == "array":
            found += children(version, it.limits.get("items", True))
    return tuple(found)


def methods(version: int, side: str) -> dict[str, tuple[str, str | None]]:
    """What ``side`` can be asked or told: by method the names of parameters and result."""
    of = [
        (it["x-method"], name)
        for name, it in definitions(version).items()
        if it.get("x-side") == side
    ]
    results = {method: name for method, name in of if name.endswith("Response")}
    return {
        method: (name, results.get(method)) for method, name in of if not name.endswith("Response")
    }


# --- details -----------------------------------------------------------------------------


def _own(schema: Json) -> tuple[Form, ...]:
    """The forms by what stands in the schema itself, not in what it refers to."""
    kinds = schema.get("type", "object" if "properties" in schema else ANY)
    kinds = [kinds] if isinstance(kinds, str) else kinds
    limits = {
        key: it
        for key, it in schema.items()
        if key
        in {
            "const", "enum", "minimum", "maximum", "minLength", "minItems", "items",
            "contentEncoding", "additionalProperties",
        }
    }  # fmt: skip
    fields: dict[str, Json] = schema.get("properties", {})
    tags: dict[str, str | None] = {k: x["const"] for k, x in fields.items() if "const" in x}
    for no in schema.get("not", {}).get("anyOf", ()):
        tags |= dict.fromkeys(no["properties"], UNKNOWN)
    required = frozenset(schema.get("required", ()))
    return tuple(
        Form(kind, limits, fields, required, tags) if kind == "object" else Form(kind, limits)
        for kind in kinds
    )


def _joined(one: Form, other: Form) -> Form | None:
    """A form that is both, if there can be one."""
    if one.kind == ANY:
        kind = other.kind
    elif other.kind in {ANY, one.kind}:
        kind = one.kind
    else:
        return None
    fields = dict(one.fields)
    for name, it in other.fields.items():
        fields[name] = it if fields.get(name, it) == it else _both(fields[name], it)
    return Form(
        kind,
        one.limits | other.limits,
        fields,
        one.required | other.required,
        one.tags | other.tags,
        one.names + other.names,
        other.last or one.last,
    )


def _both(one: Json, other: Json) -> Json:
    return {"allOf": [one, other]}


def _is_tag(schema: Json) -> bool:
    """Whether the field is nothing but the word that tells the kind of an object."""
    if "const" in schema:
        return True
    if "allOf" in schema:
        return all(_is_tag(x) for x in schema["allOf"])
    return schema == {"type": "string"}
