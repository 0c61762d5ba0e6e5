"""The same conversation in both versions makes the same session."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import pytest

from acp_schema import check, definitions
from acpls.client.dialect import Call
from acpls.client.v1 import DialectV1
from acpls.client.v2 import DialectV2
from acpls.events import QuestionAsked, Replied, SessionTold
from acpls.session import updates as up
from acpls.session.asks import NewSession, Opening, Prompt, Selected, SessionOpened
from acpls.session.content import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.client.dialect import Dialect
    from acpls.events import AgentEvent

HELLO = {"type": "text", "text": "Hello"}
AGAIN = {"type": "text", "text": " again"}
HI = Prompt("s", (Text("hi"),))
ENTRY = {"content": "step", "priority": "medium", "status": "in_progress"}
OPTION: dict[str, Any] = {
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask"}],
}
COMMAND = {"name": "go", "description": "d"}
USAGE = {"used": 1, "size": 2}
COST = {"amount": 1.5, "currency": "USD"}
COMPACTED = {"summary": [HELLO], "error": None, "_meta": {"tokens": 7}}
CHOICE = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
CALL = {
    "toolCallId": "t",
    "title": "Run",
    "kind": "execute",
    "status": "pending",
    "locations": [{"path": "/w/a", "line": 2}],
    "rawInput": {"command": "ls"},
    "content": [{"type": "content", "content": HELLO}],
}
OUTPUT = base64.b64encode(b"out").decode()
# How agents of version 1 tell of terminals that they run themselves.
MADE = {"terminal_info": {"terminal_id": "x", "cwd": "/w"}}
PRINTED = {
    "terminal_output": {"terminal_id": "x", "data": "out"},
    "terminal_exit": {"terminal_id": "x", "exit_code": 1},
}

# One row for each kind of event: what is said, and how the versions say it, as pairs of
# the tag and the fields; a row may take more than one message.
Said = list[tuple[str, dict[str, Any]]]
ROWS: list[tuple[str, Said, Said]] = [
    (
        "a message grows",
        [
            ("agent_thought_chunk", {"content": HELLO}),
            ("agent_message_chunk", {"content": HELLO}),
            ("agent_message_chunk", {"content": AGAIN}),
        ],
        [
            ("agent_thought_chunk", {"messageId": "1", "content": HELLO}),
            ("agent_message_chunk", {"messageId": "2", "content": HELLO}),
            ("agent_message_chunk", {"messageId": "2", "content": AGAIN}),
        ],
    ),
    ("a tool call begins", [("tool_call", CALL)], [("tool_call_update", CALL)]),
    (
        "a tool call changes",
        [("tool_call_update", {"toolCallId": "t", "status": "completed", "title": None})],
        [("tool_call_update", {"toolCallId": "t", "status": "completed"})],
    ),
    (
        "a plan is set",
        [("plan", {"entries": [ENTRY]})],
        [("plan_update", {"plan": {"type": "items", "planId": "plan", "entries": [ENTRY]}})],
    ),
    (
        "options are set",
        [("config_option_update", {"configOptions": [{**OPTION, "id": "mode"}]})],
        [("config_option_update", {"configOptions": [{**OPTION, "configId": "mode"}]})],
    ),
    (
        "commands are set",
        [
            (
                "available_commands_update",
                {"availableCommands": [{**COMMAND, "input": {"hint": "h"}}]},
            )
        ],
        [
            (
                "available_commands_update",
                {
                    "availableCommands": [
                        {**COMMAND, "type": "command", "input": {"type": "text", "hint": "h"}}
                    ]
                },
            )
        ],
    ),
    (
        "the session has a title",
        [("session_info_update", {"title": "T", "updatedAt": "2026-01-01T00:00:00Z"})],
        [("session_info_update", {"title": "T", "updatedAt": "2026-01-01T00:00:00Z"})],
    ),
    (
        "it costs",
        [
            ("usage_update", {"used": 1, "size": 2, "cost": COST}),
            ("usage_update", {"used": 2, "size": 2}),
        ],
        [
            ("usage_update", {"used": 1, "size": 2, "cost": COST}),
            ("usage_update", {"used": 2, "size": 2}),
        ],
    ),
    (
        "a notice",
        [("notice", {"severity": "info", "title": "T"})],
        [("notice", {"severity": "info", "title": "T"})],
    ),
    (
        "a terminal of the agent's own",
        [
            ("tool_call_update", {"toolCallId": "t", "_meta": MADE}),
            ("tool_call_update", {"toolCallId": "t", "_meta": PRINTED}),
        ],
        [
            ("terminal_update", {"terminalId": "x", "cwd": "/w"}),
            ("tool_call_update", {"toolCallId": "t", "_meta": MADE}),
            ("terminal_output_chunk", {"terminalId": "x", "data": OUTPUT}),
            ("terminal_update", {"terminalId": "x", "exitStatus": {"exitCode": 1}}),
            ("tool_call_update", {"toolCallId": "t", "_meta": PRINTED}),
        ],
    ),
    (
        "the memory is compacted",
        [
            ("compaction_update", {"compactionId": "c", "status": "in_progress"}),
            ("compaction_summary_chunk", {"compactionId": "c", "content": HELLO}),
            ("compaction_update", {"compactionId": "c", "status": "completed", **COMPACTED}),
        ],
        [
            ("compaction_update", {"compactionId": "c", "status": "in_progress"}),
            ("compaction_summary_chunk", {"compactionId": "c", "content": HELLO}),
            ("compaction_update", {"compactionId": "c", "status": "completed", **COMPACTED}),
        ],
    ),
    (
        "metadata",
        [
            ("tool_call_update", {"toolCallId": "t", "_meta": {"x": {"y": 1}}}),
            ("session_info_update", {"_meta": {"x": None}}),
        ],
        [
            ("tool_call_update", {"toolCallId": "t", "_meta": {"x": {"y": 1}}}),
            ("session_info_update", {"_meta": {"x": None}}),
        ],
    ),
    (
        "something new",
        [("dream", {"of": ["sheep"]})],
        [("dream", {"of": ["sheep"]})],
    ),
]


def updates(events: Iterable[AgentEvent]) -> list[up.Update]:
    return [x.update for x in events if isinstance(x, SessionTold)]


def without_ids(told: Iterable[up.Update]) -> list[up.Update]:
    """The same with message ids replaced by their order."""
    order: dict[str, str] = {}
    found: list[up.Update] = []
    for it in told:
        if isinstance(it, up.MessageGrew | up.MessageSet):
            found.append(replace(it, message=order.setdefault(it.message, str(len(order)))))
        else:
            found.append(it)
    return found


def hear(dialect: Dialect, said: Said) -> list[up.Update]:
    told: list[up.Update] = []
    for kind, fields in said:
        update = {"sessionUpdate": kind, **fields}
        told += updates(dialect.told("session/update", {"sessionId": "s", "update": update}))
    return told


@pytest.mark.parametrize(("first", "second"), [x[1:] for x in ROWS], ids=[x[0] for x in ROWS])
def test_both_versions_tell_the_same(first: Said, second: Said) -> None:
    told = without_ids(hear(DialectV1("a"), first))
    assert told
    assert told == without_ids(hear(DialectV2("a"), second))


def test_there_is_a_row_for_everything_that_both_can_tell() -> None:
    told = {type(x) for _, said, _ in ROWS for x in hear(DialectV1("a"), said)}
    elsewhere = {
        # Below, and in test_opening.
        up.TurnChanged,
        up.ReplayEnded,
        # Version 1 has no such thing ...
        up.MessageSet,
        up.ToolCallGrew,
        up.SubagentPatched,
        up.SessionMessageSet,
        up.SessionMessageGrew,
        # ... and version 2 has no modes.
        up.OptionChanged,
    }
    assert told.isdisjoint(elsewhere)
    assert told | elsewhere == set(get_args(up.Update))


@pytest.mark.parametrize("row", ROWS[:-1], ids=[x[0] for x in ROWS[:-1]])
def test_the_examples_are_proper_messages(row: tuple[str, Said, Said]) -> None:
    names = {1: "SessionNotification", 2: "UpdateSessionNotification"}
    for version, said in ((1, row[1]), (2, row[2])):
        assert names[version] in definitions(version)
        for kind, fields in said:
            params = {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}}
            check(version, names[version], params)


def turn_in_v1() -> list[AgentEvent]:
    dialect = DialectV1("a")
    prompt = dialect.say(HI)
    assert isinstance(prompt, Call)
    asked = dialect.asked(
        0,
        "session/request_permission",
        {"sessionId": "s", "toolCall": CALL, "options": [CHOICE]},
    )
    result = {"sessionId": "s", "configOptions": [{**OPTION, "id": "mode"}]}
    return [
        *dialect.replied(1, NewSession(Opening("/w")), result),
        *prompt.events,
        *asked.events,
        *dialect.answer(0, Selected("y")).events,
        *dialect.replied(2, HI, {"stopReason": "end_turn"}),
    ]


def turn_in_v2() -> list[AgentEvent]:
    dialect = DialectV2("a")

    def state(word: str, **more: Any) -> tuple[AgentEvent, ...]:
        update = {"sessionUpdate": "state_update", "state": word, **more}
        return dialect.told("session/update", {"sessionId": "s", "update": update})

    asked = dialect.asked(
        0,
        "session/request_permission",
        {
            "sessionId": "s",
            "title": "Run",
            "subject": {"type": "tool_call", "toolCall": CALL},
            "options": [CHOICE],
        },
    )
    result = {"sessionId": "s", "configOptions": [{**OPTION, "configId": "mode"}]}
    return [
        *dialect.replied(1, NewSession(Opening("/w")), result),
        *dialect.replied(2, HI, {"messageId": "m"}),
        *state("running"),
        *asked.events,
        *state("requires_action"),
        *dialect.answer(0, Selected("y")).events,
        *state("running"),
        *state("idle", stopReason="end_turn"),
    ]


def test_a_turn_with_a_question_is_the_same() -> None:
    first, second = turn_in_v1(), turn_in_v2()
    *before, end = updates(first)
    # That nothing goes on after a turn is all that version 1 says more.
    assert end == up.TurnChanged("idle", "end_turn", final=True)
    assert [*before, replace(end, final=False)] == updates(second)
    assert [x.state for x in updates(first) if isinstance(x, up.TurnChanged)] == [
        "running",
        "requires_action",
        "running",
        "idle",
    ]
    questions = [[x for x in events if isinstance(x, QuestionAsked)] for events in (first, second)]
    assert questions[0] == questions[1]
    assert len(questions[0]) == 1
    opened = [
        [x.reply for x in events if isinstance(x, Replied) and isinstance(x.reply, SessionOpened)]
        for events in (first, second)
    ]
    assert opened[0] == opened[1]
    assert opened[0][0].options
