"""Questions that are more than a choice; they are the same in both versions."""

from __future__ import annotations

from typing import Any

import pytest

from acp_schema import check_result
from acpls.client.dialect import Asked, Misfit
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.events import FormAsked, LinkAsked, LinkDone, RequestWithdrawn
from acpls.session.asks import Accepted, Cancelled, Declined, Failure, FileText, Selected

Either = DialectV1 | DialectV2

CREATE = "elicitation/create"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string", "x": 1}}}
FORM = {"mode": "form", "message": "Who?", "requestedSchema": SCHEMA}
LINK = {"mode": "url", "message": "Log in", "url": "https://h/login", "elicitationId": "e"}
PERMISSION: dict[str, Any] = {
    "sessionId": "s",
    "title": "May I?",
    "toolCall": {"toolCallId": "t"},
    "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
}


@pytest.fixture(params=[DialectV1, DialectV2], ids=["1", "2"])
def dialect(request: pytest.FixtureRequest) -> Either:
    made: Either = request.param("a")
    return made


class TestAsked:
    def test_a_form(self, dialect: Either) -> None:
        params = {**FORM, "sessionId": "s", "toolCallId": "t"}
        form = FormAsked("a", 0, "s", "Who?", SCHEMA, "t")
        assert dialect.asked(0, CREATE, params) == Asked((form,))

    def test_a_link(self, dialect: Either) -> None:
        """A03."""
        params = {**LINK, "sessionId": "s", "toolCallId": 3}
        link = LinkAsked("a", "q", "s", "Log in", "https://h/login", "e")
        assert dialect.asked("q", CREATE, params) == Asked((link,))

    @pytest.mark.parametrize("of", [1, "one", None])
    def test_about_a_request_of_ours(self, dialect: Either, of: object) -> None:
        params = {**LINK, "requestId": of}
        (event,) = dialect.asked(0, CREATE, params).events
        assert event == LinkAsked("a", 0, None, "Log in", "https://h/login", "e")

    def test_an_unknown_mode_is_declined_at_once(self, dialect: Either) -> None:
        params = {"mode": "voice", "message": "Speak", "sessionId": "s"}
        asked = dialect.asked(0, CREATE, params)
        assert asked == Asked(result={"action": "decline"})
        check_result(dialect.version, CREATE, asked.result)
        # So the id is free again.
        assert dialect.asked(0, CREATE, {**LINK, "sessionId": "s"}).events

    @pytest.mark.parametrize(
        "params",
        [
            None,
            {},
            {**FORM, "sessionId": ""},
            FORM,
            LINK,
            {**FORM, "sessionId": "s", "requestedSchema": 3},
            {**LINK, "sessionId": "s", "elicitationId": ""},
            {**LINK, "sessionId": "s", "mode": None},
            {**LINK, "sessionId": "s", "mode": ["url"]},
            {"mode": "voice", "message": "Speak"},
            {"mode": "voice", "sessionId": "s"},
        ],
    )
    def test_what_does_not_fit(self, dialect: Either, params: object) -> None:
        with pytest.raises(Misfit):
            dialect.asked(0, CREATE, params)

    def test_an_id_in_use_does_not_fit(self, dialect: Either) -> None:
        dialect.asked(0, CREATE, {**LINK, "sessionId": "s"})
        with pytest.raises(Misfit, match="still in use"):
            dialect.asked(0, CREATE, {**LINK, "sessionId": "s"})


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "result"),
        [
            (Accepted({"name": "N"}), {"action": "accept", "content": {"name": "N"}}),
            (Accepted({}), {"action": "accept", "content": {}}),
            (Accepted(), {"action": "accept"}),
            (Declined(), {"action": "decline"}),
            (Cancelled(), {"action": "cancel"}),
        ],
    )
    @pytest.mark.parametrize("params", [FORM, LINK], ids=["form", "url"])
    def test_they_are_actions(
        self, dialect: Either, params: dict[str, Any], answer: Any, result: object
    ) -> None:
        dialect.asked(0, CREATE, {**params, "sessionId": "s"})
        response = dialect.answer(0, answer)
        assert response.result == result
        assert response.events == ()
        check_result(dialect.version, CREATE, response.result)

    def test_it_can_fail(self, dialect: Either) -> None:
        dialect.asked(0, CREATE, {**LINK, "sessionId": "s"})
        failure = Failure(-32603, "no")
        assert dialect.answer(0, failure).failure == failure

    def test_an_option_is_no_answer_to_it(self, dialect: Either) -> None:
        dialect.asked(0, CREATE, {**LINK, "sessionId": "s"})
        with pytest.raises(TypeError):
            dialect.answer(0, Selected("yes"))

    def test_it_can_be_withdrawn(self, dialect: Either) -> None:
        dialect.asked(0, CREATE, {**LINK, "requestId": 1})
        withdrawn = dialect.told("$/cancel_request", {"requestId": 0})
        assert withdrawn == (RequestWithdrawn("a", 0),)
        assert dialect.answer(0, Cancelled()).result == {"action": "cancel"}

    @pytest.mark.parametrize("answer", [Cancelled(), Declined()])
    def test_a_withdrawn_permission_is_cancelled_never_an_error(
        self, dialect: Either, answer: Any
    ) -> None:
        """P08."""
        dialect.asked(0, "session/request_permission", PERMISSION)
        dialect.told("$/cancel_request", {"requestId": 0})
        response = dialect.answer(0, answer)
        assert response.failure is None
        assert response.result == {"outcome": {"outcome": "cancelled"}}

    def test_values_are_no_answer_to_a_permission(self, dialect: Either) -> None:
        dialect.asked(0, "session/request_permission", PERMISSION)
        with pytest.raises(TypeError):
            dialect.answer(0, Accepted())
        dialect.asked(0, CREATE, {**LINK, "sessionId": "s"})
        if dialect.version == 2:
            with pytest.raises(TypeError):
                dialect.answer(0, FileText("x"))


class TestDone:
    def test_a_link_was_followed(self, dialect: Either) -> None:
        told = dialect.told("elicitation/complete", {"elicitationId": "e"})
        assert told == (LinkDone("a", "e"),)

    @pytest.mark.parametrize("params", [None, {}, {"elicitationId": ""}])
    def test_it_must_say_which(self, dialect: Either, params: object) -> None:
        with pytest.raises(Misfit, match=r"elicitationId|Input"):
            dialect.told("elicitation/complete", params)
