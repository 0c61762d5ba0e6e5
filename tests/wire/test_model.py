"""Strict about what is demanded, lenient where the schema says so, open to the unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from acpls.wire import fields, model, v1, v1_initialize, v2
from acpls.wire.fields import MISSING, one_line, problem

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


def said(shape: type[fields.Model], value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        shape.model_validate(value)
    return problem(caught.value)


class TestThreeStates:
    def test_left_out_null_and_value_are_three_things(self) -> None:
        it = v2.ToolCallUpdate.model_validate(
            {"toolCallId": "t", "title": None, "status": "completed"}
        )
        assert (it.name, it.title, it.status) == (MISSING, None, "completed")

    def test_the_word_that_marks_missing_is_a_word_like_any_other(self) -> None:
        it = v2.ToolCallUpdate.model_validate({"toolCallId": "t", "title": "missing"})
        assert it.title == "missing"

    def test_a_broken_field_counts_as_left_out(self) -> None:
        it = v2.ToolCallUpdate.model_validate(
            {"toolCallId": "t", "title": 5, "content": {}, "rawInput": 7}
        )
        assert (it.title, it.content, it.raw_input) == (MISSING, MISSING, 7)


class TestLeniency:
    def test_broken_items_are_left_out(self) -> None:
        entry = {"content": "a", "priority": "high", "status": "pending"}
        plan = v1.Plan.model_validate({"entries": [entry, {"content": "b"}, 3]})
        assert [x.content for x in plan.entries] == ["a"]

    def test_a_broken_list_counts_as_empty_but_a_missing_one_is_an_error(self) -> None:
        assert v1.Plan.model_validate({"entries": "none"}).entries == []
        assert said(v1.Plan, {}) == "entries: Field required"

    def test_version_2_is_stricter_about_lists(self) -> None:
        assert said(v2.PlanItems, {"planId": "p", "entries": "x"}).startswith("entries: ")

    def test_an_impossible_line_counts_as_none(self) -> None:
        for line in (0, -1, "7", 1.5, None):
            it = model.ToolCallLocation.model_validate({"path": "/a", "line": line})
            assert it.line is None

    def test_nothing_is_converted(self) -> None:
        assert said(model.PlanEntry, {"content": 1, "priority": "low", "status": "x"})
        assert said(model.UsageUpdate, {"used": "1", "size": 2})
        assert said(model.UsageUpdate, {"used": True, "size": 2})

    def test_a_whole_number_is_a_cost(self) -> None:
        assert model.Cost.model_validate({"amount": 1, "currency": "USD"}).amount == 1


class TestKinds:
    block: TypeAdapter[Any] = TypeAdapter(model.ContentBlock)

    def test_unknown_kinds_are_kept_as_they_came(self) -> None:
        odd = {"type": "hologram", "x": [1]}
        assert self.block.validate_python(odd) == odd

    def test_known_kinds_must_fit(self) -> None:
        with pytest.raises(ValidationError, match="text"):
            self.block.validate_python({"type": "text", "text": 3})

    @pytest.mark.parametrize("value", [{}, {"type": 3}, {"type": []}, "text", None, []])
    def test_without_a_kind_it_is_broken(self, value: object) -> None:
        with pytest.raises(ValidationError):
            self.block.validate_python(value)

    def test_resources_are_told_apart_by_what_they_hold(self) -> None:
        text = {"type": "resource", "resource": {"uri": "u", "text": "t"}}
        blob = {"type": "resource", "resource": {"uri": "u", "blob": "b"}}
        assert self.block.validate_python(text).resource.text == "t"
        assert self.block.validate_python(blob).resource.blob == "b"
        with pytest.raises(ValidationError):
            self.block.validate_python({"type": "resource", "resource": "u"})


class TestProblems:
    def test_it_says_what_and_where(self) -> None:
        value = {"messageId": "m", "content": {"type": "text"}}
        assert said(v2.ContentChunk, value) == "content.text.text: Field required"

    def test_of_many_it_tells_the_first(self) -> None:
        assert said(v2.ContentChunk, {}) == "messageId: Field required (and 1 more)"

    def test_at_the_top_there_is_no_where(self) -> None:
        assert said(v2.ContentChunk, None).startswith("Input should be")

    def test_names_from_outside_stay_in_the_line(self) -> None:
        long = v1_initialize.SessionCapabilities.model_validate({"close": {1: 2}})
        assert long.close is None
        assert one_line("a\x1b[2J\r\nb\u2028c") == "a [2J b c"
        assert len(one_line("x" * 1000)) == fields.LONGEST_PROBLEM

    @settings(max_examples=100, deadline=None)
    @given(JSON)
    def test_junk_is_a_validation_error_and_nothing_else(self, value: object) -> None:
        for shape in (v1.ToolCall, v2.ToolCallUpdate, v2.RequestPermissionRequest):
            assert said(shape, value).isprintable()
