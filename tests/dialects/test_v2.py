"""ACP 2: what is asked of an agent, and what it asks of us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acp_schema import check, check_call, check_result
from acpls.client.dialect import Asked, Call, ClientInfo, Misfit
from acpls.client.v2 import DialectV2
from acpls.events import AskFailed, QuestionAsked, Replied, RequestWithdrawn
from acpls.session import updates as up
from acpls.session.asks import (
    AgentFacts,
    AuthMethod,
    Cancel,
    Cancelled,
    CloseSession,
    Done,
    Failure,
    FileText,
    NewSession,
    Opening,
    OptionsReplied,
    Prompt,
    PromptTaken,
    Selected,
    SessionOpened,
    SetOption,
)
from acpls.session.content import (
    AboutCommand,
    AboutToolCall,
    Choice,
    Choosable,
    Command,
    Option,
    OtherContent,
    ResourceLink,
    Text,
)
from talk import call, open_session, parts, refused

if TYPE_CHECKING:
    from acpls.events import AgentEvent

HI = Prompt("s", (Text("hi"),))
INFO = {"name": "n", "version": "2"}
THINKING = {
    "configId": "think",
    "name": "Thinking",
    "type": "select",
    "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}],
}
THINKING_OPTION = Option("think", "Thinking", "select", "low", (Choice("low", "Low"),))
PERMISSION: dict[str, Any] = {
    "sessionId": "s",
    "title": "May I?",
    "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
}


@pytest.fixture
def dialect() -> DialectV2:
    return DialectV2("a")


class TestInitialize:
    def test_it_says_who_we_are(self, dialect: DialectV2) -> None:
        said = dialect.initialize(ClientInfo("acpls", "1.0"))
        check_call(2, said.method, said.params)
        check(2, "Implementation", said.params["info"])
        assert said.params["protocolVersion"] == 2
        check(2, "ClientCapabilities", said.params["capabilities"])
        check(2, "ElicitationCapabilities", said.params["capabilities"]["elicitation"])
        assert said.params["capabilities"] == {
            "auth": {"terminal": {}},
            "elicitation": {"url": {}},
        }

    def test_facts(self, dialect: DialectV2) -> None:
        result = {
            "protocolVersion": 2,
            "info": INFO,
            "capabilities": {"session": {"prompt": {"embeddedContext": {}}}},
            "authMethods": [{"methodId": "key", "name": "Key", "type": "odd"}, {"id": "old"}],
        }
        assert dialect.facts(result) == AgentFacts(
            "n",
            "2",
            2,
            embedded_context=True,
            can_close=True,
            can_list=True,
            can_resume=True,
            can_replay=True,
            can_log_out=True,
            withdraws_questions=True,
            auth_methods=(AuthMethod("key", "Key", "odd"),),
        )

    @pytest.mark.parametrize(
        ("result", "name", "can_close"),
        [
            ({"info": INFO}, "n", False),
            ({"info": INFO, "capabilities": {"session": None}}, "n", False),
            ({"capabilities": {"session": {}}}, "a", True),
            ({"capabilities": {"session": {"prompt": {"embeddedContext": None}}}}, "a", True),
        ],
    )
    def test_little_is_demanded(
        self, dialect: DialectV2, result: dict[str, Any], name: str, can_close: bool
    ) -> None:
        facts = dialect.facts({"protocolVersion": 2, **result})
        assert (facts.name, facts.can_close) == (name, can_close)
        assert not facts.embedded_context

    @pytest.mark.parametrize(
        "result",
        [
            None,
            {},
            {"protocolVersion": 1, "info": INFO},
            # Agents that repeat the number and know nothing of version 2.
            {"protocolVersion": 2},
            {"protocolVersion": 2, "agentCapabilities": {}, "agentInfo": INFO},
        ],
    )
    def test_another_version_does_not_fit(self, dialect: DialectV2, result: object) -> None:
        with pytest.raises(Misfit, match="initialize"):
            dialect.facts(result)


class TestAsks:
    def test_new_session(self, dialect: DialectV2) -> None:
        """S11."""
        said = call(dialect, NewSession(Opening("/w")))
        assert said == Call("session/new", {"cwd": "/w", "mcpServers": []})
        assert refused(dialect, NewSession(Opening("w"))).code == -32602

    def test_prompt(self, dialect: DialectV2) -> None:
        said = call(dialect, Prompt("s", (Text("hi"), ResourceLink("file:///a", "a"))))
        assert said.params["prompt"] == [
            {"type": "text", "text": "hi"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
        ]
        assert refused(dialect, Prompt("s", ())).code == -32602
        reply = Replied("a", 7, PromptTaken("m"))
        assert dialect.replied(7, HI, {"messageId": "m"}) == (reply,)
        with pytest.raises(Misfit, match="session/prompt: messageId"):
            dialect.replied(7, HI, {"messageId": None})

    def test_failures_are_told_as_they_are(self, dialect: DialectV2) -> None:
        failure = Failure(-32603, "no")
        assert dialect.failed(7, HI, failure) == (AskFailed("a", 7, failure),)

    def test_cancel(self, dialect: DialectV2) -> None:
        assert call(dialect, Cancel("s")) == Call(
            "session/cancel", {"sessionId": "s"}, expects_reply=False
        )
        assert dialect.replied(1, Cancel("s"), None) == ()

    def test_options(self, dialect: DialectV2) -> None:
        ask = SetOption("s", "mode", "code")
        said = call(dialect, ask)
        of = {"sessionId": "s", "configId": "mode"}
        assert said == Call("session/set_config_option", {**of, "type": "id", "value": "code"})
        switch = call(dialect, SetOption("s", "mode", True)).params
        assert switch == {**of, "type": "boolean", "value": True}
        reply = OptionsReplied((THINKING_OPTION,))
        assert dialect.replied(3, ask, {"configOptions": [THINKING, {}]}) == (
            Replied("a", 3, reply),
        )
        with pytest.raises(Misfit, match="configOptions"):
            dialect.replied(3, ask, {})

    def test_close(self, dialect: DialectV2) -> None:
        assert refused(dialect, CloseSession("s")).code == -32601
        dialect.facts({"protocolVersion": 2, "capabilities": {"session": {}}})
        assert call(dialect, CloseSession("s")).params == {"sessionId": "s"}
        assert dialect.replied(4, CloseSession("s"), {}) == (Replied("a", 4, Done()),)

    def test_an_open_session(self, dialect: DialectV2) -> None:
        assert open_session(dialect) == SessionOpened("s", None, None)
        command = {"type": "command", "name": "go", "description": "d"}
        opened = open_session(dialect, configOptions=[THINKING], availableCommands=[command])
        assert opened == SessionOpened("s", (THINKING_OPTION,), (Command("go", "d"),))


class TestPermission:
    def ask(self, dialect: DialectV2, **fields: Any) -> tuple[AgentEvent, ...]:
        return dialect.asked(0, "session/request_permission", {**PERMISSION, **fields}).events

    def question(self, **fields: Any) -> QuestionAsked:
        choices = (Choosable("yes", "Yes", "allow_once"),)
        return QuestionAsked("a", 0, "s", "May I?", choices, **fields)

    def test_the_tool_call_comes_before_the_question(self, dialect: DialectV2) -> None:
        subject = {"type": "tool_call", "toolCall": {"toolCallId": "t", "kind": None}}
        *told, question = self.ask(dialect, subject=subject, description="d")
        assert parts(told) == [up.ToolCallPatched("t", kind=None)]
        own = up.ToolCallPatched("t", kind=None)
        assert question == self.question(description="d", subject=AboutToolCall("t"), call=own)

    def test_a_command(self, dialect: DialectV2) -> None:
        subject = {"type": "command", "command": "rm x", "cwd": "/w", "toolCallId": "t"}
        subject["terminalId"] = "x"
        about = AboutCommand("rm x", "/w", "t", "x")
        assert self.ask(dialect, subject=subject) == (self.question(subject=about),)

    @pytest.mark.parametrize("subject", [{"type": "moon"}, None])
    def test_anything_else(self, dialect: DialectV2, subject: Any) -> None:
        about = None if subject is None else OtherContent(subject)
        assert self.ask(dialect, subject=subject) == (self.question(subject=about),)

    def test_a_broken_subject_does_not_fit(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match="subject"):
            self.ask(dialect, subject={"type": "tool_call"})

    def test_answers(self, dialect: DialectV2) -> None:
        self.ask(dialect)
        chosen = dialect.answer(0, Selected("yes"))
        check_result(2, "session/request_permission", chosen.result)
        assert chosen.result == {"outcome": {"outcome": "selected", "optionId": "yes"}}
        assert chosen.events == ()
        self.ask(dialect)
        cancelled = dialect.answer(0, Cancelled())
        check_result(2, "session/request_permission", cancelled.result)
        self.ask(dialect)
        with pytest.raises(TypeError):
            dialect.answer(0, FileText("x"))
        with pytest.raises(KeyError):
            dialect.answer(0, Cancelled())

    def test_withdrawing(self, dialect: DialectV2) -> None:
        self.ask(dialect)
        assert dialect.told("$/cancel_request", {"requestId": 1}) == ()
        withdrawn = (RequestWithdrawn("a", 0),)
        assert dialect.told("$/cancel_request", {"requestId": 0}) == withdrawn

    @pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "elicitation/sing"])
    def test_nothing_else_can_be_asked(self, dialect: DialectV2, method: str) -> None:
        asked = dialect.asked(0, method, {"sessionId": "s", "path": "/a"})
        assert asked == Asked(failure=Failure(-32601, f"Method not found: {method}"))
