"""ACP 2: the state of a session, and what it tells of others."""

from __future__ import annotations

import pytest

from acpls.client.dialect import Misfit
from acpls.client.v2 import DialectV2
from acpls.session import updates as up
from acpls.session.content import Text
from talk import tell

TEXT = {"type": "text", "text": "t"}


@pytest.fixture
def dialect() -> DialectV2:
    return DialectV2("a")


class TestState:
    @pytest.mark.parametrize("state", ["running", "requires_action", "unknown", "dreaming"])
    def test_busy(self, dialect: DialectV2, state: str) -> None:
        told = tell(dialect, "state_update", state=state, background=[], stopReason="error")
        assert told == [up.TurnChanged(state, background=())]

    def test_what_runs_besides_the_turn(self, dialect: DialectV2) -> None:
        work = [
            {"type": "terminal", "terminalId": "x"},
            {"type": "tool_call", "toolCallId": "t"},
            {"type": "subagent", "sessionId": "child"},
            {"type": "daemon", "pid": 7},
        ]
        (told,) = tell(dialect, "state_update", state="idle", background=work)
        assert told == up.TurnChanged(
            "idle",
            background=(
                up.Background("terminal", "x"),
                up.Background("tool_call", "t"),
                up.Background("subagent", "child"),
                up.Background("daemon"),
            ),
        )

    @pytest.mark.parametrize("work", [None, 3, [3], [{"type": "terminal"}], [{"terminalId": "x"}]])
    def test_broken_background_is_not_reported(self, dialect: DialectV2, work: object) -> None:
        told = tell(dialect, "state_update", state="running", background=work)
        assert told == [up.TurnChanged("running")]

    def test_idle(self, dialect: DialectV2) -> None:
        assert tell(dialect, "state_update", state="idle") == [up.TurnChanged("idle")]
        told = tell(dialect, "state_update", state="idle", stopReason="end_turn", error=None)
        assert told == [up.TurnChanged("idle", "end_turn")]
        error = {"code": 1, "message": "no\nmodel"}
        told = tell(dialect, "state_update", state="idle", stopReason="error", error=error)
        assert told == [up.TurnChanged("idle", "error", "no model", error_code=1)]

    def test_a_state_is_demanded(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match="state_update: state"):
            tell(dialect, "state_update")


class TestOtherSessions:
    def test_a_subagent(self, dialect: DialectV2) -> None:
        told = tell(
            dialect,
            "subagent_update",
            sessionId="child",
            title="T",
            description="d",
            state={"state": "running", "background": []},
            cwd="/w/sub",
            additionalDirectories=["/x"],
            _meta={},
        )
        assert told == [
            up.SubagentPatched("child", "T", "d", "running", "/w/sub", meta={}),
        ]
        nothing = dict.fromkeys(["title", "description", "state", "cwd", "_meta"])
        told = tell(dialect, "subagent_update", sessionId="child", **nothing)
        assert told == [up.SubagentPatched("child", None, None, None, None, meta=None)]
        told = tell(dialect, "subagent_update", sessionId="child", title=3, state={"state": ""})
        assert told == [up.SubagentPatched("child")]
        with pytest.raises(Misfit, match="subagent_update: cwd"):
            tell(dialect, "subagent_update", sessionId="child", cwd=3)

    def test_a_message_between_sessions(self, dialect: DialectV2) -> None:
        told = tell(
            dialect,
            "session_message",
            messageId="m",
            senderSessionId="s",
            recipientSessionId="child",
            content=[TEXT],
            _meta={"a": 1},
        )
        assert told == [up.SessionMessageSet("m", "s", "child", (Text("t"),), {"a": 1})]
        told = tell(dialect, "session_message", messageId="m", senderSessionId=None, content=None)
        assert told == [up.SessionMessageSet("m", None, content=None)]
        told = tell(dialect, "session_message_chunk", messageId="m", content=TEXT)
        assert told == [up.SessionMessageGrew("m", Text("t"))]
