"""Whatever JSON an agent sends, a dialect makes events of it or says that it does not fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acpls.client.dialect import Misfit
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.events import SessionTold
from acpls.session.asks import (
    CloseSession,
    ForkSession,
    ListSessions,
    LogIn,
    NewSession,
    Opening,
    Prompt,
    ResumeSession,
    SetOption,
)
from acpls.session.content import Text
from spoil import spoiled

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = {"type": "text", "text": "t"}
CHOICE = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
VALUE = {"value": "low", "name": "Low"}
OPTION = {"name": "O", "type": "select", "currentValue": "low", "options": [VALUE]}
META = {"terminal_output": {"terminal_id": "x", "data": "d"}}
HUNK = "--- /w/a\n+++ /w/a\n@@ -1,1 +1,1 @@\n-old\n+new\n"

DIFF_1 = {"type": "diff", "path": "/a", "oldText": None, "newText": "x"}
CALL_1 = {"toolCallId": "t", "title": "T", "content": [DIFF_1], "_meta": META}
UPDATES_1: list[Any] = [
    {"sessionUpdate": "user_message_chunk", "content": TEXT},
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "resource", "resource": {"uri": "u", "text": "t"}},
    },
    {"sessionUpdate": "tool_call", "locations": [{"path": "/a", "line": 1}], **CALL_1},
    {"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "low", "status": "s"}]},
    {"sessionUpdate": "config_option_update", "configOptions": [{"id": "o", **OPTION}]},
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "n", "description": "d", "input": {"hint": "h"}}],
    },
    {"sessionUpdate": "current_mode_update", "currentModeId": "m"},
    {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 1, "currency": "X"}},
    {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "s", "summary": [TEXT]},
    {"sessionUpdate": "session_info_update", "title": "T", "_meta": {"k": None}},
]
RUN = {"sessionId": "s", "command": "c", "env": [{"name": "n", "value": "v"}], "cwd": "/w"}
REQUESTS_1: list[Any] = [
    {
        "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": CALL_1, "options": [CHOICE]},
    },
    {"method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/p", "line": 1}},
    {"method": "fs/write_text_file", "params": {"sessionId": "s", "path": "/p", "content": ""}},
    {"method": "terminal/create", "params": RUN},
    {"method": "terminal/kill", "params": {"sessionId": "s", "terminalId": "x"}},
    {
        "method": "elicitation/create",
        "params": {
            "sessionId": "s",
            "message": "m",
            "mode": "form",
            "requestedSchema": {"type": "object", "properties": {}},
        },
    },
    {
        "method": "elicitation/create",
        "params": {
            "requestId": 1,
            "message": "m",
            "mode": "url",
            "url": "https://h",
            "elicitationId": "e",
        },
    },
]
RESULTS_1: list[Any] = [
    {
        "sessionId": "s",
        "stopReason": "end_turn",
        "modes": {"currentModeId": "m", "availableModes": [{"id": "m", "name": "M"}]},
        "models": {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "M"}]},
        "configOptions": [{"id": "o", **OPTION}],
    },
    {
        "protocolVersion": 1,
        "agentInfo": {"name": "n", "version": "1"},
        "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"list": {}}},
        "authMethods": [
            {"id": "m", "name": "M", "_meta": {"terminal-auth": {"command": "c", "args": ["a"]}}},
            {"id": "m", "name": "M", "type": "env_var", "vars": [{"name": "KEY"}]},
            {"id": "m", "name": "M", "type": "terminal", "args": ["a"], "env": {"A": "1"}},
        ],
    },
    {"sessions": [{"sessionId": "s", "cwd": "/w", "title": "T"}], "nextCursor": "c"},
]

DIFF_2 = {
    "type": "diff",
    "changes": [{"operation": "move", "oldPath": "/a", "path": "/b"}],
    "patch": {"format": "git_patch", "text": HUNK},
}
UPDATES_2: list[Any] = [
    {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT},
    {"sessionUpdate": "agent_message", "messageId": "m", "content": [TEXT]},
    {"sessionUpdate": "state_update", "state": "idle", "error": {"code": 1, "message": "m"}},
    {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [DIFF_2]},
    {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": DIFF_2},
    {"sessionUpdate": "terminal_update", "terminalId": "x", "output": {"data": "w6k="}},
    {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "w6k="},
    {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}},
    {"sessionUpdate": "config_option_update", "configOptions": [{"configId": "o", **OPTION}]},
    {
        "sessionUpdate": "state_update",
        "state": "running",
        "background": [{"type": "terminal", "terminalId": "x"}],
    },
    {
        "sessionUpdate": "subagent_update",
        "sessionId": "c",
        "state": {"state": "idle"},
        "capabilities": {"cancel": {}},
    },
    {"sessionUpdate": "session_message", "messageId": "m", "content": [TEXT]},
    {"sessionUpdate": "terminal_update", "terminalId": "x", "size": {"cols": 80, "rows": 24}},
]
REQUESTS_2: list[Any] = [
    {
        "method": "session/request_permission",
        "params": {"sessionId": "s", "title": "T", "options": [CHOICE], "subject": subject},
    }
    for subject in (
        {"type": "tool_call", "toolCall": {"toolCallId": "t", "content": [DIFF_2]}},
        {"type": "command", "command": "c", "cwd": "/w", "toolCallId": "t"},
    )
]
RESULTS_2: list[Any] = [
    {"sessionId": "s", "messageId": "m", "configOptions": [{"configId": "o", **OPTION}]},
    {"protocolVersion": 2, "info": {"name": "n", "version": "1"}, "capabilities": {"session": {}}},
]
ASKS = st.sampled_from(
    [
        NewSession(Opening("/w")),
        ResumeSession("s", Opening("/w"), replay=True),
        ForkSession("s", Opening("/w")),
        ListSessions(),
        LogIn("m"),
        Prompt("s", (Text("hi"),)),
        SetOption("s", "o", "v"),
        SetOption("s", "o", True),
        CloseSession("s"),
    ]
)


def fits(attempt: Callable[[], object]) -> bool:
    """Whether the attempt went well. It may fail with one line of a ``Misfit`` only."""
    try:
        assert attempt()
    except Misfit as misfit:
        assert str(misfit).isprintable()  # noqa: PT017  other exceptions have to come out of here
        return False
    return True


def hears(dialect: DialectV1 | DialectV2, params: Any) -> bool:
    # An empty chunk is no message, so that no events is an answer too.
    return fits(lambda: isinstance(dialect.told("session/update", params), tuple))


def test_the_unspoiled_fits() -> None:
    assert all(hears(DialectV1("a"), {"sessionId": "s", "update": x}) for x in UPDATES_1)
    assert all(hears(DialectV2("a"), {"sessionId": "s", "update": x}) for x in UPDATES_2)
    told = DialectV2("a").told("session/update", {"sessionId": "s", "update": UPDATES_2[0]})
    assert isinstance(told[0], SessionTold)


@settings(max_examples=100, deadline=None)
@given(spoiled([{"sessionId": "s", "update": x} for x in UPDATES_1]))
def test_updates_in_v1(params: Any) -> None:
    assert hears(DialectV1("a"), params) in {True, False}


@settings(max_examples=100, deadline=None)
@given(spoiled([{"sessionId": "s", "update": x} for x in UPDATES_2]))
def test_updates_in_v2(params: Any) -> None:
    assert hears(DialectV2("a"), params) in {True, False}


@settings(max_examples=100, deadline=None)
@given(spoiled(REQUESTS_1 + REQUESTS_2))
def test_requests(message: Any) -> None:
    it = message if isinstance(message, dict) else {}
    method = it.get("method")
    for dialect in (DialectV1("a"), DialectV2("a")):

        def ask(dialect: DialectV1 | DialectV2 = dialect) -> bool:
            asked = dialect.asked(0, method if isinstance(method, str) else "", it.get("params"))
            return bool(asked.events or asked.terminal or asked.failure)

        assert fits(ask) in {True, False}


@settings(max_examples=100, deadline=None)
@given(spoiled(RESULTS_1 + RESULTS_2), ASKS)
def test_results(result: Any, ask: Any) -> None:
    for dialect in (DialectV1("a"), DialectV2("a")):
        assert fits(partial(dialect.facts, result)) in {True, False}
        assert fits(partial(dialect.replied, 1, ask, result)) in {True, False}
