"""What nearly fits the schema is borne where the schema says so, and else refused in words.

Messages are made after the published schemas, then broken in one place. Nothing but a
``Misfit`` ever comes of it, and not even that where the fault is to be overlooked.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_forms import ON_NULL, Form, forms_of, marks
from schema_making import NEW_WORD, PATHS, TURNS, Made, Most, Place, made
from schema_talk import (
    FEW,
    REQUESTS,
    RESULTS,
    UPDATES,
    answered,
    at,
    fits,
    means_something,
    messages,
    notified,
    replied,
)

from acpls.client.dialect import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

JUNK: Final[tuple[Any, ...]] = ([7], {"junk": 7}, 7.5, "junk", True, -(2**40))


@st.composite
def faults(draw: st.DrawFn, version: int, it: Made, keep: frozenset[str]) -> tuple[Any, bool]:
    """A value with one fault, and whether the fault is to be overlooked.

    ``keep``: fields at the top that are not touched.
    """
    value = [copy.deepcopy(it.value)]
    kinds = ["extra", "meta", "bad meta"]
    places = [x for x in it.places if x.path[0] not in keep]
    if places:
        kinds += ["drop", "null", "junk"]
    tags = [
        (path, key) for path, form in it.objects for key in form.tags if path or key not in keep
    ]
    if tags:
        kinds.append("tag")
    match draw(st.sampled_from(kinds)):
        case "extra":
            path, _ = draw(st.sampled_from(it.objects))
            at(value, path)["zz extra"] = draw(st.sampled_from(JUNK))
            return value[0], True
        case "meta":
            path, _ = draw(st.sampled_from(it.objects))
            at(value, path)["_meta"] = draw(st.sampled_from([None, {}, {"k": {"n": 1}}]))
            return value[0], True
        case "bad meta":
            path, _ = draw(st.sampled_from(it.objects))
            at(value, path)["_meta"] = draw(st.sampled_from([7, "x", [], True]))
            return value[0], True
        case "tag":
            path, key = draw(st.sampled_from(tags))
            at(value, path)[key] = NEW_WORD
            return value[0], True
        case kind:
            place = draw(st.sampled_from(places))
            return broken(version, value, place, kind, draw(st.sampled_from(JUNK)))


def broken(version: int, value: list[Any], place: Place, kind: str, junk: Any) -> tuple[Any, bool]:
    inside = at(value, place.path[:-1])
    last = place.path[-1]
    if kind == "drop":
        del inside[last]
        borne = place.sheltered or not place.required or isinstance(last, int)
    elif kind == "null":
        inside[last] = None
        allowed = fits(version, place.schema, None) or ON_NULL in marks(place.schema)
        borne = place.sheltered or place.forgiven or allowed
    else:
        inside[last] = junk
        # That a path is absolute is said in the prose only.
        allowed = fits(version, place.schema, junk) and not (last in PATHS and junk == "junk")
        borne = place.sheltered or place.forgiven or allowed
    return value[0], borne


@st.composite
def broken_messages(
    draw: st.DrawFn, version: int, of: list[Form], keep: frozenset[str] = frozenset()
) -> tuple[Any, bool]:
    return draw(faults(version, draw(messages(version, of)), keep))


@pytest.mark.parametrize(("version", "kind", "of"), UPDATES)
def test_a_broken_update(version: int, kind: str, of: list[Form]) -> None:
    @FEW
    @given(broken_messages(version, of, frozenset({"sessionUpdate"})))
    def check(it: tuple[Any, bool]) -> None:
        value, borne = it
        try:
            assert notified(version, value)
        except Misfit:
            assert not borne

    check()


@pytest.mark.parametrize(("version", "method", "name"), REQUESTS)
def test_a_broken_request(version: int, method: str, name: str) -> None:
    @FEW
    @given(broken_messages(version, list(forms_of(version, name))))
    def check(it: tuple[Any, bool]) -> None:
        value, borne = it
        try:
            asked = answered(version, method, value)
        except Misfit:
            assert not borne
        else:
            assert means_something(asked)

    check()


@pytest.mark.parametrize(("version", "method", "name"), RESULTS)
def test_a_broken_result(version: int, method: str, name: str) -> None:
    @FEW
    @given(broken_messages(version, list(forms_of(version, name)), frozenset({"protocolVersion"})))
    def check(it: tuple[Any, bool]) -> None:
        value, borne = it
        if method == "initialize":
            value["protocolVersion"] = version
        try:
            assert replied(version, method, value)
        except Misfit:
            assert not borne

    check()


def at_every_place(version: int, of: Iterable[Form]) -> Iterator[tuple[Any, bool]]:
    """Large values with every fault there can be at each of their places."""
    tried = set()
    for it in (made(version, form, Most(turn)) for form in of for turn in TURNS):
        for place in it.places:
            known = (place.path, json.dumps(place.schema))
            if known not in tried:
                tried.add(known)
                for kind, junk in (("drop", 0), ("null", 0), *(("junk", x) for x in JUNK)):
                    yield broken(version, [copy.deepcopy(it.value)], place, kind, junk)


@pytest.mark.parametrize(("version", "kind", "of"), UPDATES)
def test_an_update_broken_at_every_place(version: int, kind: str, of: list[Form]) -> None:
    for value, borne in at_every_place(version, of):
        if value.get("sessionUpdate") == kind:
            try:
                assert notified(version, value)
            except Misfit:
                assert not borne, value


@pytest.mark.parametrize(("version", "method", "name"), REQUESTS)
def test_a_request_broken_at_every_place(version: int, method: str, name: str) -> None:
    for value, borne in at_every_place(version, forms_of(version, name)):
        try:
            assert means_something(answered(version, method, value))
        except Misfit:
            assert not borne, value


@pytest.mark.parametrize(("version", "method", "name"), RESULTS)
def test_a_result_broken_at_every_place(version: int, method: str, name: str) -> None:
    for value, borne in at_every_place(version, forms_of(version, name)):
        if method == "initialize":
            value["protocolVersion"] = version
        try:
            assert replied(version, method, value)
        except Misfit:
            assert not borne, value
