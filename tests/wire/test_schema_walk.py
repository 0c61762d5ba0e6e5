"""Every field of both schemas that a client reads has its place in our models, and no other.

A newer schema therefore shows here what is new in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import Tag, ValidationError
from schema_forms import ON_ERROR, ON_NULL, SKIPS, UNKNOWN, Form, Json, children, forms_of, marks
from schema_making import Least, Most, made, value_of
from schema_reading import (
    FORMS,
    MODULES,
    READ,
    SERVED,
    VERSIONS,
    WALKED,
    kept_whole,
    model_of,
    module_of,
    names,
    needs_model,
    unread,
)
from schema_tables import (
    DROPPED,
    KEPT_WHOLE,
    MODELS,
    MORE_OPENLY,
    NO_MODEL,
    NOT_IN_THE_SCHEMA,
    NOT_READ,
    OUTSIDE,
    PATCHES,
)

from acp_schema import DATA, definitions
from acpls.client import v1_updates, v2_updates
from acpls.wire.fields import OTHER, Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

JUNK: Final[tuple[Any, ...]] = ("junk", 7, 1.5, True, [7], {"junk": 7}, -(2**40))

reading = pytest.mark.parametrize(
    ("version", "form", "shape"),
    [pytest.param(version, it, shape, id=f"v{version}-{it.label}") for version, it, shape in READ],
)


# --- names -------------------------------------------------------------------------------


def test_every_object_that_we_read_has_a_model() -> None:
    missing = [
        f"v{version} {it.label}: {sorted(it.read)}"
        for version, it in FORMS
        if needs_model(version, it) and model_of(version, it) is None
    ]
    assert not missing, "\n".join(missing)


@reading
def test_every_field_is_read_or_left_for_a_reason(
    version: int, form: Form, shape: type[Model]
) -> None:
    wanted = {name for name in form.read if not unread(version, form, name)}
    assert not wanted - set(names(shape)), f"{shape.__name__} does not read these"


@reading
def test_what_is_said_to_be_left_is_left(version: int, form: Form, shape: type[Model]) -> None:
    said = {name for name in form.read if unread(version, form, name)}
    assert not said & set(names(shape)), f"{shape.__name__} reads these"


@pytest.mark.parametrize("version", VERSIONS)
def test_no_field_is_made_up(version: int) -> None:
    made_up = [
        f"{shape.__name__}.{name}"
        for shape, of in SERVED[version].items()
        for name in names(shape)
        if not any(name in it.fields for it in of)
        and (module_of(shape), shape.__name__, name) not in NOT_IN_THE_SCHEMA
        # Shared by both versions, and known to the other one.
        and not any(name in it.fields for it in SERVED[3 - version].get(shape, ()))
    ]
    assert not made_up


def test_every_model_reads_something_of_a_schema() -> None:
    used = {shape for version in VERSIONS for shape in SERVED[version]}
    for module in MODULES.values():
        for it in vars(module).values():
            if isinstance(it, type) and issubclass(it, Model) and it not in used:
                is_base = any(issubclass(x, it) for x in used)
                assert is_base or it.__name__ in OUTSIDE, f"{it.__module__}.{it.__name__}"


def test_the_tables_say_nothing_that_is_not_so() -> None:
    labels = {(version, it.label) for version, it in FORMS}
    fields = {(version, it.label, name) for version, it in FORMS for name in it.read}
    known = labels | {(0, label) for _, label in labels}
    everywhere = fields | {(0, label, name) for _, label, name in fields}
    everywhere |= {(0, "*", name) for _, _, name in fields}
    assert not set(NOT_READ) - everywhere
    assert not set(KEPT_WHOLE) - everywhere
    assert not set(MODELS) - known
    assert not set(NO_MODEL) - labels
    assert not set(PATCHES) - labels
    assert not {x for x in NOT_IN_THE_SCHEMA if not has_field(*x)}
    assert not {x for x in MORE_OPENLY if not has_field(*x)}
    assert not {x for x in OUTSIDE if not any(hasattr(m, x) for m in MODULES.values())}


def has_field(module: str, shape: str, name: str) -> bool:
    found = getattr(MODULES[module], shape, None)
    return found is not None and name in names(found)


# --- what each field takes -----------------------------------------------------------------


def fits(version: int, schema: Json | bool, value: object) -> bool:
    whole = {"allOf": [schema], "$defs": definitions(version)}
    return bool(Draft202012Validator(whole).is_valid(value))


def takes(shape: type[Model], value: Json) -> bool:
    try:
        shape.model_validate(value)
    except ValidationError:
        return False
    return True


def openly(shape: type[Model], name: str) -> bool:
    return (module_of(shape), shape.__name__, name) in MORE_OPENLY


def smallest(version: int, form: Form) -> Json:
    value: Json = made(version, form, Least()).value
    return value


@reading
def test_what_is_demanded_is_demanded(version: int, form: Form, shape: type[Model]) -> None:
    base = smallest(version, form)
    assert takes(shape, base), "the smallest value that the schema allows"
    everywhere = frozenset.intersection(*(x.required for x in SERVED[version][shape]))
    for name in set(form.read) & set(names(shape)):
        value = {key: it for key, it in base.items() if key != name}
        if name not in form.required:
            assert takes(shape, value), f"{name} may be absent"
        elif name in everywhere and not openly(shape, name):
            assert not takes(shape, value), f"{name} must be there"


@reading
def test_leniency_is_as_marked(version: int, form: Form, shape: type[Model]) -> None:
    base = smallest(version, form)
    for name in set(form.read) & set(names(shape)):
        schema = form.fields[name]
        of = marks(schema)
        allowed = fits(version, schema, None) or bool(of & {ON_ERROR, ON_NULL})
        if allowed or not openly(shape, name):
            assert takes(shape, base | {name: None}) == allowed, f"{name}: null"
        for junk in JUNK:
            if fits(version, schema, junk) or is_near(version, schema, junk):
                continue
            if isinstance(junk, dict) and kept_whole(version, form, name):
                continue
            allowed = ON_ERROR in of or (SKIPS in of and isinstance(junk, list))
            if allowed or not openly(shape, name):
                assert takes(shape, base | {name: junk}) == allowed, f"{name}: {junk!r}"


def is_near(version: int, schema: Json, junk: object) -> bool:
    """Whether it is a word that the schema does not list, which is taken as one to come."""
    least = value_of(version, schema, Least())
    return isinstance(junk, str) and isinstance(least, str) and fits(version, schema, least)


@reading
def test_broken_items_are_skipped_where_marked(
    version: int, form: Form, shape: type[Model]
) -> None:
    base = smallest(version, form)
    for name, own in names(shape).items():
        schema = form.read.get(name)
        if schema is None or kept_whole(version, form, name):
            continue
        good = value_of(version, schema, Most())
        if not isinstance(good, list) or not good:
            continue
        value = base | {name: [*good, 7j]}
        if SKIPS in marks(schema):
            assert len(getattr(shape.model_validate(value), own)) == len(good), name
        elif ON_ERROR not in marks(schema) and not openly(shape, name):
            assert not takes(shape, value), name


@reading
def test_what_is_read_is_kept(version: int, form: Form, shape: type[Model]) -> None:
    base = smallest(version, form)
    without = shape.model_validate(base)
    for name, own in names(shape).items():
        if name not in form.read:
            continue
        given = value_of(version, form.fields[name], Most())
        it = getattr(shape.model_validate(base | {name: given}), own)
        if given is not None and (name not in base or base[name] != given):
            assert it != getattr(without, own), name
        if kept_whole(version, form, name):
            assert it == given, name


@reading
def test_a_patch_has_three_states(version: int, form: Form, shape: type[Model]) -> None:
    base = smallest(version, form)
    without = shape.model_validate(base)
    for name, own in names(shape).items():
        if (version, form.label) not in PATCHES or name not in form.read or name in base:
            continue
        cleared = shape.model_validate(base | {name: None})
        assert getattr(cleared, own) is None, f"{name}: null"
        assert getattr(without, own) is not None, f"{name}: absent"


# --- kinds -------------------------------------------------------------------------------


@reading
def test_every_kind_of_object_is_told_from_the_others(
    version: int, form: Form, shape: type[Model]
) -> None:
    base = smallest(version, form)
    for name, schema in form.read.items():
        if name not in names(shape) or kept_whole(version, form, name):
            continue
        in_a_list = isinstance(value_of(version, schema, Most()), list)
        for child in children(version, schema):
            inner = made(version, child, Most()).value
            it = shape.model_validate(base | {name: [inner] if in_a_list else inner})
            at = getattr(it, names(shape)[name])
            value = at[0] if in_a_list else at
            wanted = model_of(version, child) if needs_model(version, child) else None
            if (version, child.label) in DROPPED:
                assert value is None, name
            elif wanted is None:
                assert value == inner, f"{name} of the kind {child.label} is kept as it came"
            else:
                assert isinstance(value, wanted), f"{name} of the kind {child.label}"


@reading
def test_no_kind_is_made_up(version: int, form: Form, shape: type[Model]) -> None:
    for name, own in names(shape).items():
        inside = children(version, form.fields.get(name, True))
        words = {word for child in inside for word in child.tags.values()}
        if words:
            tags = {x.tag for x in parts(shape.model_fields[own].annotation) if isinstance(x, Tag)}
            assert tags - words <= {OTHER}, name


def parts(annotation: Any) -> Iterator[Any]:
    """All types and marks inside an annotation."""
    yield annotation
    for part in get_args(annotation):
        yield from parts(part)


@pytest.mark.parametrize(("version", "readers"), [(1, v1_updates.READERS), (2, v2_updates.READERS)])
def test_updates_that_are_read_are_those_of_the_schema(
    version: int, readers: Mapping[str, object]
) -> None:
    kinds = {it.tags["sessionUpdate"] for it in forms_of(version, "SessionUpdate")}
    assert set(readers) == kinds - {UNKNOWN}


def test_the_walk_gets_everywhere() -> None:
    """The schemas as they were read last; other numbers mean that there is news."""
    assert {version: len(WALKED[version]) for version in VERSIONS} == {1: 90, 2: 123}


def test_the_copies_are_small() -> None:
    sizes = [it.stat().st_size for it in DATA.glob("acp-schema-*.json")]
    assert len(sizes) == 3
    assert max(sizes) < 200_000
