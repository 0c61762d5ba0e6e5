"""Whatever fits the schema is understood, and nothing of it is lost."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_forms import Form, forms_of, methods
from schema_making import NEW_WORD, TURNS, Least, Made, Most, made
from schema_tables import PATCHES
from schema_talk import (
    FEW,
    REQUESTS,
    RESULTS,
    UPDATES,
    VERSIONS,
    answered,
    dialect,
    fits,
    means_something,
    messages,
    notified,
    replied,
)

from acpls.client.dialect import Call, Misfit
from acpls.events import Replied, RequestWithdrawn, SessionTold
from acpls.session import asks, updates
from acpls.session.content import UNSET, Text

# --- what fits ---------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "kind", "of"), UPDATES)
def test_the_maker_makes_what_the_schema_allows(version: int, kind: str, of: list[Form]) -> None:
    for form in of:
        for chooser in (Least(), *map(Most, TURNS)):
            value = made(version, form, chooser).value
            assert fits(version, {"$ref": "#/$defs/SessionUpdate"}, value)


@pytest.mark.parametrize(("version", "kind", "of"), UPDATES)
def test_every_update_is_told_and_nothing_of_it_is_lost(
    version: int, kind: str, of: list[Form]
) -> None:
    @FEW
    @given(messages(version, of))
    def check(it: Made) -> None:
        kept = copy.deepcopy(it.value)
        told = [x for x in notified(version, it.value) if isinstance(x, SessionTold)]
        assert told
        assert all(x.session == "s" for x in told)
        assert {id(x.raw) for x in told} == {id(it.value)}
        assert it.value == kept
        other = [x.update for x in told if isinstance(x.update, updates.Other)]
        if other:
            assert kind in {"unknown", "plan_update"}
            assert other[0].payload == kept

    check()


@pytest.mark.parametrize(("version", "method", "name"), REQUESTS)
def test_every_request_is_taken(version: int, method: str, name: str) -> None:
    @FEW
    @given(messages(version, list(forms_of(version, name))))
    def check(it: Made) -> None:
        asked = answered(version, method, it.value)
        assert means_something(asked)
        if asked.result is not None:
            assert method == "elicitation/create"
            assert it.value["mode"].startswith(NEW_WORD)
            assert asked.result == {"action": "decline"}

    check()


@pytest.mark.parametrize(("version", "method", "name"), RESULTS)
def test_every_result_is_understood(version: int, method: str, name: str) -> None:
    @FEW
    @given(messages(version, list(forms_of(version, name))))
    def check(it: Made) -> None:
        if method == "initialize":
            it.value["protocolVersion"] = version
        kept = copy.deepcopy(it.value)
        known = replied(version, method, it.value)
        assert it.value == kept
        (reply,) = [x for x in known if isinstance(x, Replied | asks.AgentFacts)]
        if isinstance(reply, asks.AgentFacts):
            assert reply.protocol == version
        else:
            assert isinstance(reply.reply, asks.Reply)

    check()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_asked_for_may_be_withdrawn_or_be_over(version: int) -> None:
    it = dialect(version)
    ask, link = forms_of(version, "RequestPermissionRequest")[0], "elicitation/complete"
    it.asked(0, "session/request_permission", made(version, ask, Least()).value)
    assert it.told("$/cancel_request", {"requestId": 0}) == (RequestWithdrawn("a", 0),)
    (form,) = forms_of(version, "CompleteElicitationNotification")
    assert it.told(link, made(version, form, Most()).value)


def any_messages(version: int) -> st.SearchStrategy[list[tuple[str, Made]]]:
    """Some updates and requests, each with its method."""
    of = [("session/update", list(forms_of(version, "SessionUpdate")))]
    of += [
        (method, list(forms_of(version, name)))
        for method, (name, result) in methods(version, "client").items()
        if result is not None
    ]
    one = st.sampled_from(of).flatmap(
        lambda it: st.tuples(st.just(it[0]), messages(version, it[1]))
    )
    return st.lists(one, max_size=6)


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_are_understood_in_any_order(version: int) -> None:
    """Within one session, during a turn and after it."""

    @given(any_messages(version), st.integers(0, 6))
    def check(these: list[tuple[str, Made]], end: int) -> None:
        it = dialect(version)
        prompt = asks.Prompt("s", (Text("t"),))
        assert isinstance(it.say(prompt), Call)
        for number, (method, message) in enumerate(these):
            if number == end and version == 1:
                it.replied(1, prompt, {"stopReason": "end_turn"})
            if method == "session/update":
                params = {"sessionId": "s", "update": message.value}
                raw = {id(x.raw) for x in it.told(method, params) if isinstance(x, SessionTold)}
                # Only a prompt that is repeated by the agent may go without a word.
                assert raw == {id(message.value)} or (not raw and version == 1)
            else:
                asked = it.asked(number, method, message.value | {"sessionId": "s"})
                assert means_something(asked)
                if not asked.result:
                    response = it.answer(number, asks.Cancelled())
                    assert (response.result is None) != (response.failure is None)

    check()


# --- what its sender adds --------------------------------------------------------------------


@pytest.mark.parametrize("role", ["user", "agent"])
def test_an_empty_chunk_is_there_for_what_its_sender_adds(role: str) -> None:
    """Version 1 has no other place for it. It begins no message, and nobody may lose it."""
    update = {
        "sessionUpdate": f"{role}_message_chunk",
        "content": {"type": "text", "text": ""},
        "_meta": {"k": 1},
    }
    (told,) = notified(1, update)
    assert isinstance(told, SessionTold)
    assert told.raw is update
    assert not isinstance(told.update, updates.MessageGrew)


@pytest.mark.parametrize(
    "form",
    [x for x in forms_of(2, "SessionUpdate") if (2, x.label) in PATCHES],
    ids=lambda x: x.label,
)
def test_version_2_patches_what_its_sender_adds_to_a_thing(form: Form) -> None:
    least = made(2, form, Least()).value

    def meta(**more: object) -> list[object]:
        told = notified(2, least | more)
        return [x.update.meta for x in told if isinstance(x, SessionTold)]  # type: ignore[union-attr]  # of patches

    assert meta() == [UNSET]
    assert meta(_meta=7) == [UNSET]
    assert meta(_meta=None) == [None]
    assert meta(_meta={}) == [{}]
    assert meta(_meta={"k": {"n": 1}, "gone": None}) == [{"k": {"n": 1}, "gone": None}]


def test_output_that_is_no_base64_is_overlooked_where_the_schema_forgives() -> None:
    update = {"sessionUpdate": "terminal_update", "terminalId": "t", "output": {"data": "***"}}
    (told,) = notified(2, update)
    assert isinstance(told, SessionTold)
    assert isinstance(told.update, updates.TerminalPatched)
    assert told.update.output is UNSET
    with pytest.raises(Misfit, match="base64"):
        notified(2, {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "***"})
