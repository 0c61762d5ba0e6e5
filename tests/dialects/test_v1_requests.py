"""ACP 1: permission, files and terminals, which the agent asks us for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_schema import check_result
from acpls.client.dialect import (
    Asked,
    CreateTerminal,
    Misfit,
    TerminalCall,
    TerminalCreated,
    TerminalExited,
    TerminalOutput,
)
from acpls.client.v1 import DialectV1
from acpls.events import (
    FileReadAsked,
    FileWriteAsked,
    QuestionAsked,
    RequestWithdrawn,
)
from acpls.session import updates as up
from acpls.session.asks import (
    Cancelled,
    Done,
    Failure,
    FileText,
    NewSession,
    Opening,
    Prompt,
    Selected,
)
from acpls.session.content import (
    AboutToolCall,
    Choosable,
    Exit,
    Text,
)
from talk import call, open_session, parts

if TYPE_CHECKING:
    from acpls.events import AgentEvent

HI = Prompt("s", (Text("hi"),))
PERMISSION = {
    "sessionId": "s",
    "toolCall": {"toolCallId": "t", "title": "Edit"},
    "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
}


@pytest.fixture
def dialect() -> DialectV1:
    return DialectV1("a")


class TestPermission:
    def ask(self, dialect: DialectV1, request: int | str | None = 0) -> tuple[AgentEvent, ...]:
        return dialect.asked(request, "session/request_permission", PERMISSION).events

    def test_the_tool_call_comes_before_the_question(self, dialect: DialectV1) -> None:
        *told, question = self.ask(dialect)
        assert parts(told) == [
            up.ToolCallPatched("t", title="Edit"),
            up.TurnChanged("requires_action"),
        ]
        assert question == QuestionAsked(
            "a",
            0,
            "s",
            "Edit",
            (Choosable("yes", "Yes", "allow_once"),),
            None,
            AboutToolCall("t"),
            call=up.ToolCallPatched("t", title="Edit"),
        )

    def test_it_may_have_no_title(self, dialect: DialectV1) -> None:
        params = {**PERMISSION, "toolCall": {"toolCallId": "t", "title": None}}
        question = dialect.asked("x", "session/request_permission", params).events[-1]
        assert isinstance(question, QuestionAsked)
        assert question.title is None

    def test_the_turn_goes_on_after_the_last_answer(self, dialect: DialectV1) -> None:
        """P05, P08."""
        call(dialect, HI)
        self.ask(dialect, 0)
        self.ask(dialect, "0")
        first = dialect.answer("0", Selected("yes"))
        check_result(1, "session/request_permission", first.result)
        assert first.result == {"outcome": {"outcome": "selected", "optionId": "yes"}}
        assert first.events == ()
        second = dialect.answer(0, Cancelled())
        check_result(1, "session/request_permission", second.result)
        assert second.result == {"outcome": {"outcome": "cancelled"}}
        assert parts(second.events) == [up.TurnChanged("running")]

    def test_an_answer_after_the_turn_changes_nothing(self, dialect: DialectV1) -> None:
        call(dialect, HI)
        self.ask(dialect)
        dialect.replied(1, HI, {"stopReason": "cancelled"})
        assert dialect.answer(0, Cancelled()).events == ()

    def test_a_question_outside_of_a_turn_leaves_the_session_idle(self, dialect: DialectV1) -> None:
        self.ask(dialect)
        assert parts(dialect.answer(0, Selected("yes")).events) == [up.TurnChanged("idle")]

    def test_it_can_fail(self, dialect: DialectV1) -> None:
        self.ask(dialect, None)
        failure = Failure(-32603, "no")
        assert dialect.answer(None, failure).failure == failure

    def test_it_is_answered_once(self, dialect: DialectV1) -> None:
        self.ask(dialect)
        dialect.answer(0, Cancelled())
        with pytest.raises(KeyError):
            dialect.answer(0, Cancelled())

    def test_an_id_in_use_does_not_fit(self, dialect: DialectV1) -> None:
        self.ask(dialect)
        with pytest.raises(Misfit, match="id 0 is still in use"):
            self.ask(dialect)

    def test_broken_options_do_not_fit(self, dialect: DialectV1) -> None:
        params = {**PERMISSION, "options": [{"optionId": ""}]}
        with pytest.raises(Misfit, match="optionId"):
            dialect.asked(0, "session/request_permission", params)
        with pytest.raises(KeyError):
            dialect.answer(0, Cancelled())

    def test_withdrawing(self, dialect: DialectV1) -> None:
        self.ask(dialect)
        withdrawn = (RequestWithdrawn("a", 0),)
        assert dialect.told("$/cancel_request", {"requestId": 0}) == withdrawn
        assert dialect.told("$/cancel_request", {"requestId": "0"}) == ()
        dialect.answer(0, Cancelled())
        assert dialect.told("$/cancel_request", {"requestId": 0}) == ()
        for params in (None, {}, {"requestId": False}, {"requestId": [0]}):
            with pytest.raises(Misfit):
                dialect.told("$/cancel_request", params)


class TestFiles:
    def test_reading(self, dialect: DialectV1) -> None:
        params = {"sessionId": "s", "path": "/a", "line": 3, "limit": 5}
        asked = dialect.asked(0, "fs/read_text_file", params)
        assert asked == Asked((FileReadAsked("a", 0, "s", "/a", 3, 5),))
        response = dialect.answer(0, FileText("text\r\n"))
        assert response.result == {"content": "text\r\n"}
        check_result(1, "fs/read_text_file", response.result)

    def test_the_line_before_the_first_is_none(self, dialect: DialectV1) -> None:
        params = {"sessionId": "s", "path": "/a", "line": 0, "limit": None}
        (event,) = dialect.asked(0, "fs/read_text_file", params).events
        assert event == FileReadAsked("a", 0, "s", "/a", None, None)

    def test_writing(self, dialect: DialectV1) -> None:
        open_session(dialect)
        params = {"sessionId": "s", "path": "b", "content": "x\n"}
        asked = dialect.asked(0, "fs/write_text_file", params)
        assert asked == Asked((FileWriteAsked("a", 0, "s", "/w/b", "x\n"),))
        response = dialect.answer(0, Done())
        assert response.result == {}
        check_result(1, "fs/write_text_file", response.result)

    def test_a_relative_path_needs_a_folder(self, dialect: DialectV1) -> None:
        with pytest.raises(Misfit, match="path: must be absolute"):
            dialect.asked(0, "fs/read_text_file", {"sessionId": "s", "path": "b"})

    def test_a_withdrawn_request_is_refused(self, dialect: DialectV1) -> None:
        dialect.asked(0, "fs/read_text_file", {"sessionId": "s", "path": "/b"})
        response = dialect.answer(0, Cancelled())
        assert response.failure is not None
        assert response.failure.code == -32800

    def test_answers_of_another_kind_are_our_mistake(self, dialect: DialectV1) -> None:
        dialect.asked(0, "fs/read_text_file", {"sessionId": "s", "path": "/b"})
        with pytest.raises(TypeError):
            dialect.answer(0, NewSession(Opening("/w")))  # type: ignore[arg-type]  # the point of it


class TestTerminals:
    def test_create(self, dialect: DialectV1) -> None:
        open_session(dialect)
        params = {
            "sessionId": "s",
            "command": "make",
            "args": ["all"],
            "env": [{"name": "A", "value": "1"}],
            "cwd": "sub",
            "outputByteLimit": 100,
        }
        asked = dialect.asked(0, "terminal/create", params)
        wanted = CreateTerminal("s", "make", ("all",), (("A", "1"),), "/w/sub", 100)
        assert asked == Asked(terminal=wanted)
        response = dialect.answer(0, TerminalCreated("x"))
        check_result(1, "terminal/create", response.result)
        assert response.result == {"terminalId": "x"}

    def test_it_runs_in_the_session_s_folder(self, dialect: DialectV1) -> None:
        params = {"sessionId": "s", "command": "make", "args": None, "env": None, "cwd": None}
        assert dialect.asked(0, "terminal/create", params).terminal == CreateTerminal("s", "make")
        open_session(dialect)
        asked = dialect.asked(1, "terminal/create", params)
        assert asked.terminal == CreateTerminal("s", "make", cwd="/w")

    @pytest.mark.parametrize("name", ["output", "wait_for_exit", "kill", "release"])
    def test_operations(self, dialect: DialectV1, name: str) -> None:
        asked = dialect.asked(0, f"terminal/{name}", {"sessionId": "s", "terminalId": "x"})
        assert asked == Asked(terminal=TerminalCall(name, "s", "x"))

    @pytest.mark.parametrize(
        ("name", "answer", "result"),
        [
            ("kill", Done(), {}),
            ("release", Done(), {}),
            ("output", TerminalOutput("o"), {"output": "o", "truncated": False}),
            (
                "output",
                TerminalOutput("o", True, Exit(3)),
                {"output": "o", "truncated": True, "exitStatus": {"exitCode": 3, "signal": None}},
            ),
            ("wait_for_exit", TerminalExited(Exit(-9)), {"exitCode": None, "signal": None}),
            (
                "wait_for_exit",
                TerminalExited(Exit(None, "SIGKILL")),
                {"exitCode": None, "signal": "SIGKILL"},
            ),
        ],
    )
    def test_answers(self, dialect: DialectV1, name: str, answer: Any, result: Any) -> None:
        dialect.asked(0, f"terminal/{name}", {"sessionId": "s", "terminalId": "x"})
        response = dialect.answer(0, answer)
        assert response.result == result
        assert response.events == ()
        check_result(1, f"terminal/{name}", result)


def test_unknown_requests_are_refused(dialect: DialectV1) -> None:
    for method in ("elicitation/sing", "craft/drainMidTurnQueue", "_x\ny", ""):
        asked = dialect.asked(0, method, {})
        assert asked.failure is not None
        assert asked.failure.code == -32601
        assert "\n" not in asked.failure.message
