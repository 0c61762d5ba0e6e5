"""ACP 1: what is asked of an agent, and how its turns go."""

from __future__ import annotations

from typing import Any

import pytest

from acp_schema import check, check_call
from acpls.client.dialect import (
    Call,
    ClientInfo,
    Misfit,
)
from acpls.client.v1 import CAPABILITIES, DialectV1
from acpls.events import (
    AskFailed,
    Replied,
)
from acpls.session import updates as up
from acpls.session.asks import (
    AgentFacts,
    AuthMethod,
    Cancel,
    CloseSession,
    Done,
    Failure,
    NewSession,
    Opening,
    Prompt,
    PromptTaken,
    SessionOpened,
)
from acpls.session.content import (
    Choice,
    Media,
    Option,
    OtherBlock,
    Resource,
    ResourceLink,
    Text,
)
from talk import call, open_session, parts, refused, tell

HI = Prompt("s", (Text("hi"),))
MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODE = Option(
    "mode", "Mode", "select", "ask", (Choice("ask", "Ask"), Choice("code", "Code")), "mode"
)


@pytest.fixture
def dialect() -> DialectV1:
    return DialectV1("a")


class TestInitialize:
    def test_it_offers_what_we_serve(self, dialect: DialectV1) -> None:
        said = dialect.initialize(ClientInfo("acpls", "1.0"))
        assert said.method == "initialize"
        check_call(1, said.method, said.params)
        check(1, "ClientCapabilities", said.params["clientCapabilities"])
        offered = said.params["clientCapabilities"]
        check(1, "ClientSessionCapabilities", offered["session"])
        check(1, "FileSystemCapabilities", offered["fs"])
        check(1, "AuthCapabilities", offered["auth"])
        check(1, "ElicitationCapabilities", offered["elicitation"])
        assert said.params["protocolVersion"] == 1
        assert said.params["clientInfo"]["name"] == "acpls"
        assert CAPABILITIES["fs"] == {"readTextFile": True, "writeTextFile": True}

    def test_facts(self, dialect: DialectV1) -> None:
        result = {
            "protocolVersion": 1,
            "agentInfo": {"name": "n", "version": "2"},
            "agentCapabilities": {
                "promptCapabilities": {"embeddedContext": True},
                "sessionCapabilities": {"close": {}},
            },
            "authMethods": [{"id": "key", "name": "Key"}, {"name": "broken"}],
        }
        assert dialect.facts(result) == AgentFacts(
            "n",
            "2",
            1,
            embedded_context=True,
            can_close=True,
            mcp=frozenset({"stdio"}),
            auth_methods=(AuthMethod("key", "Key"),),
        )

    def test_little_is_demanded(self, dialect: DialectV1) -> None:
        least = AgentFacts("a", "", 1, mcp=frozenset({"stdio"}))
        assert dialect.facts({"protocolVersion": 1}) == least

    @pytest.mark.parametrize("result", [None, {}, {"protocolVersion": 2}, {"protocolVersion": "1"}])
    def test_another_version_does_not_fit(self, dialect: DialectV1, result: object) -> None:
        with pytest.raises(Misfit, match="initialize"):
            dialect.facts(result)


class TestSessions:
    def test_servers_are_always_sent(self, dialect: DialectV1) -> None:
        """S11."""
        said = call(dialect, NewSession(Opening("/w")))
        assert said == Call("session/new", {"cwd": "/w", "mcpServers": []})

    def test_a_relative_folder_is_refused(self, dialect: DialectV1) -> None:
        assert refused(dialect, NewSession(Opening("w"))).code == -32602

    def test_closing_needs_an_agent_that_can(self, dialect: DialectV1) -> None:
        assert refused(dialect, CloseSession("s")).code == -32601
        able: dict[str, Any] = {"sessionCapabilities": {"close": {}}}
        dialect.facts({"protocolVersion": 1, "agentCapabilities": able})
        assert call(dialect, CloseSession("s")).params == {"sessionId": "s"}
        assert dialect.replied(4, CloseSession("s"), None) == (Replied("a", 4, Done()),)

    def test_an_open_session_without_more(self, dialect: DialectV1) -> None:
        assert open_session(dialect) == SessionOpened("s", None, None)

    def test_updates_before_the_reply_are_passed_on(self, dialect: DialectV1) -> None:
        """S18."""
        assert tell(dialect, "available_commands_update", availableCommands=[])
        assert open_session(dialect, modes=MODES).options == (MODE,)

    def test_a_reply_without_an_id_does_not_fit(self, dialect: DialectV1) -> None:
        with pytest.raises(Misfit, match="session/new: sessionId"):
            open_session(dialect, sessionId="")


class TestTurns:
    def test_a_prompt_runs_until_its_result(self, dialect: DialectV1) -> None:
        said = call(dialect, HI)
        assert said.params == {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}
        assert parts(said.events) == [up.TurnChanged("running")]
        *told, reply = dialect.replied(7, HI, {"stopReason": "end_turn"})
        assert parts(told) == [up.TurnChanged("idle", "end_turn", final=True)]
        assert reply == Replied("a", 7, PromptTaken(None))

    def test_an_error_ends_it_too(self, dialect: DialectV1) -> None:
        call(dialect, HI)
        failure = Failure(500, "no model")
        *told, failed = dialect.failed(7, HI, failure)
        assert parts(told) == [up.TurnChanged("idle", "error", error="no model", final=True)]
        assert failed == AskFailed("a", 7, failure)

    def test_other_asks_fail_without_a_turn(self, dialect: DialectV1) -> None:
        failure = Failure(1, "no")
        assert dialect.failed(2, NewSession(Opening("/w")), failure) == (
            AskFailed("a", 2, failure),
        )

    def test_a_result_without_a_reason_does_not_fit(self, dialect: DialectV1) -> None:
        with pytest.raises(Misfit, match="session/prompt: stopReason"):
            dialect.replied(7, HI, {})

    def test_an_empty_prompt_is_refused(self, dialect: DialectV1) -> None:
        assert refused(dialect, Prompt("s", ())).code == -32602

    def test_cancel_is_a_notification(self, dialect: DialectV1) -> None:
        assert call(dialect, Cancel("s")) == Call(
            "session/cancel", {"sessionId": "s"}, expects_reply=False
        )
        assert dialect.replied(1, Cancel("s"), None) == ()

    def test_every_kind_of_block_can_be_sent(self, dialect: DialectV1) -> None:
        blocks = (
            Media("image", "AA==", "image/png", "file:///p"),
            Media("audio", "AA==", "audio/wav"),
            ResourceLink("file:///x", "x", "X", "text/plain", "d", 7),
            Resource("file:///x", text="t"),
            Resource("file:///x", blob="AA==", mime_type="a/b"),
            OtherBlock({"type": "text", "text": "raw"}),
        )
        prompt = call(dialect, Prompt("s", blocks)).params["prompt"]
        assert [x["type"] for x in prompt] == [
            "image",
            "audio",
            "resource_link",
            "resource",
            "resource",
            "text",
        ]
        # What is sent is read back as the same.
        dialect.replied(1, HI, {"stopReason": "end_turn"})
        back = [tell(dialect, "agent_message_chunk", content=x, messageId="m") for x in prompt]
        assert [x for (x,) in back] == [
            up.MessageGrew("m", "agent", x) for x in (*blocks[:-1], Text("raw"))
        ]
