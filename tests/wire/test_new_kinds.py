"""A kind that the schema does not name is kept, whole or by its word, wherever it stands."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest
from schema_forms import Form, forms_of, methods
from schema_making import NEW_WORD, TURNS, Most, made
from schema_talk import REQUESTS, RESULTS, UPDATES, VERSIONS, answered, at, notified, replied

from acp_schema import definitions
from acpls.events import SessionTold
from acpls.session import updates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def parts(value: object) -> Iterator[object]:
    """A value and all that is in it; raw messages are not looked into."""
    yield value
    if is_dataclass(value) and not isinstance(value, type):
        for it in fields(value):
            if it.name != "raw":
                yield from parts(getattr(value, it.name))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from parts(inner)


# Kinds that there is no use for, and that only the raw message tells; who asks in a way that
# we do not know is told that the user would not answer.
LEFT_OUT: Final = {"AvailableCommand", "AvailableCommandInput", "CreateElicitationRequest"}
# Objects that are kept whole when their kind is unknown.
KEPT: Final = {"ContentBlock", "ToolCallContent", "RequestPermissionSubject"}


def unions(version: int) -> dict[str, str]:
    """By definition of a variant, the union that it stands in."""
    found: dict[str, str] = {}
    for name in definitions(version):
        for it in forms_of(version, name):
            if len(it.tags) == 1 and it.last != name:
                found.setdefault(it.last, name)
    return found


@dataclass(frozen=True)
class New:
    """A value in which one object is of a new kind."""

    union: str
    key: str
    object: Any
    value: Any


def with_new_kinds(version: int, of: Iterable[Form]) -> Iterator[New]:
    """Large values, each with one new kind, at every place where there are kinds."""
    by_variant = unions(version)
    for it in (made(version, form, Most(turn)) for form in of for turn in TURNS):
        for path, inner in it.objects:
            for key in set(inner.tags) - {"sessionUpdate"}:
                value = [copy.deepcopy(it.value)]
                new = at(value, path)
                new |= {key: NEW_WORD, "more": {"n": [1]}}
                yield New(by_variant.get(inner.last, inner.last), key, new, value[0])


def check(new: New, known: object) -> None:
    """Fail unless what is known of a value has the new thing in it."""
    if new.union in KEPT:
        assert any(x == new.object for x in parts(known)), new
    elif new.union not in LEFT_OUT:
        assert NEW_WORD in list(parts(known)), new


@pytest.mark.parametrize(("version", "kind", "of"), UPDATES)
def test_new_kinds_in_updates_are_kept(version: int, kind: str, of: list[Form]) -> None:
    for new in with_new_kinds(version, of):
        told = notified(version, new.value)
        assert told
        # How the turn of a subagent goes is told by its own session.
        if kind != "subagent_update" or new.key == "state":
            check(new, told)


@pytest.mark.parametrize(("version", "method", "name"), REQUESTS + RESULTS)
def test_new_kinds_elsewhere_are_kept(version: int, method: str, name: str) -> None:
    take = answered if method in methods(version, "client") else replied
    for new in with_new_kinds(version, forms_of(version, name)):
        if method == "initialize":
            new.value["protocolVersion"] = version
        check(new, take(version, method, new.value))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_kind_of_update_is_passed_on_as_it_came(version: int) -> None:
    update = {"sessionUpdate": "_mine", "content": 7, "_meta": {"k": 1}}
    assert notified(version, update) == (SessionTold("a", "s", updates.Other(update), raw=update),)
