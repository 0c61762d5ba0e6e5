"""ACP 1: golden updates in, words of the neutral model out."""

from __future__ import annotations

from typing import Any

import pytest

from acpls.client.dialect import (
    Misfit,
)
from acpls.client.v1 import DialectV1
from acpls.events import Notified, SessionTold
from acpls.session import updates as up
from acpls.session.asks import (
    NewSession,
    Opening,
    Prompt,
)
from acpls.session.content import (
    UNSET,
    Command,
    Exit,
    Fragment,
    Location,
    OtherBlock,
    OtherContent,
    PlanEntry,
    TerminalRef,
    Text,
    Usage,
)
from talk import call, open_session, tell

HI = Prompt("s", (Text("hi"),))
TEXT = {"type": "text", "text": "t"}
ENTRY = {"content": "step", "priority": "high", "status": "pending"}


@pytest.fixture
def dialect() -> DialectV1:
    return DialectV1("a")


class TestMessages:
    def test_ids_are_kept(self, dialect: DialectV1) -> None:
        for kind, role in [
            ("user_message_chunk", "user"),
            ("agent_message_chunk", "agent"),
            ("agent_thought_chunk", "thought"),
        ]:
            (grew,) = tell(dialect, kind, content=TEXT, messageId="m")
            assert isinstance(grew, up.MessageGrew)
            assert (grew.message, grew.role, grew.block) == ("m", role, Text("t"))

    def test_ids_are_made_where_there_are_none(self, dialect: DialectV1) -> None:
        """S01."""

        def chunk(kind: str = "agent_message_chunk", **more: Any) -> str:
            (grew,) = tell(dialect, kind, content=TEXT, **more)
            assert isinstance(grew, up.MessageGrew)
            return grew.message

        first = chunk()
        assert chunk(messageId="") == first
        thought = chunk("agent_thought_chunk")
        second = chunk()
        tell(dialect, "tool_call", toolCallId="t", title="T")
        third = chunk()
        tell(dialect, "tool_call_update", toolCallId="t", status="completed")
        assert chunk() == third
        tell(dialect, "plan", entries=[])
        fourth = chunk()
        call(dialect, HI)
        fifth = chunk()
        dialect.replied(1, HI, {"stopReason": "end_turn"})
        sixth = chunk()
        assert chunk(messageId="own") == "own"
        seventh = chunk()
        made = [first, thought, second, third, fourth, fifth, sixth, seventh]
        assert len(set(made)) == len(made)

    def test_chunks_without_text_begin_no_message(self, dialect: DialectV1) -> None:
        empty = {"type": "text", "text": ""}
        assert tell(dialect, "agent_message_chunk", content=empty) == [up.InfoPatched()]
        assert len(tell(dialect, "agent_message_chunk", content=empty, messageId="m")) == 1

    def test_the_echo_of_a_prompt_is_dropped(self, dialect: DialectV1) -> None:
        assert len(tell(dialect, "user_message_chunk", content=TEXT)) == 1
        call(dialect, HI)
        assert tell(dialect, "user_message_chunk", content=TEXT, messageId="m") == []
        tell(dialect, "agent_message_chunk", content=TEXT)
        assert len(tell(dialect, "user_message_chunk", content=TEXT)) == 1

    @pytest.mark.parametrize(
        ("kind", "fields"),
        [
            ("plan", {"entries": []}),
            ("tool_call", {"toolCallId": "t", "title": "T"}),
            ("agent_thought_chunk", {"content": TEXT}),
        ],
    )
    def test_no_echo_comes_after_the_agent_began(
        self, dialect: DialectV1, kind: str, fields: dict[str, Any]
    ) -> None:
        call(dialect, HI)
        tell(dialect, kind, **fields)
        assert len(tell(dialect, "user_message_chunk", content=TEXT)) == 1

    def test_a_bare_string_is_text(self, dialect: DialectV1) -> None:
        said = {"sessionUpdate": "agent_message_chunk", "content": "plain"}
        (event,) = dialect.told("session/update", {"sessionId": "s", "update": said})
        grew = up.MessageGrew("made-1", "agent", Text("plain"))
        assert event == SessionTold("a", "s", grew, said)
        assert tell(dialect, "agent_message_chunk", content="") == [up.InfoPatched()]

    def test_unknown_blocks_are_kept(self, dialect: DialectV1) -> None:
        odd = {"type": "hologram"}
        (grew,) = tell(dialect, "agent_message_chunk", content=odd, messageId="m")
        assert grew == up.MessageGrew("m", "agent", OtherBlock(odd))


class TestToolCalls:
    def test_null_means_unchanged(self, dialect: DialectV1) -> None:
        nothing = dict.fromkeys(
            ["title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"]
        )
        (patch,) = tell(dialect, "tool_call_update", toolCallId="t", **nothing)
        assert patch == up.ToolCallPatched("t")

    def test_all_of_it(self, dialect: DialectV1) -> None:
        open_session(dialect)
        (patch,) = tell(
            dialect,
            "tool_call",
            toolCallId="t",
            title="Edit",
            name="edit",
            kind="odd kind",
            status="pending",
            locations=[{"path": "/a", "line": 3}, {"path": "./b/../c", "line": 0}, {}],
            rawInput={},
            rawOutput="out",
            content=[
                {"type": "content", "content": TEXT},
                {"type": "diff", "path": "d", "oldText": None, "newText": "new"},
                {"type": "diff", "path": "/e", "oldText": "", "newText": "new"},
                {"type": "terminal", "terminalId": "term"},
                {"type": "odd"},
                {"type": "diff", "path": "/broken"},
            ],
        )
        assert patch == up.ToolCallPatched(
            "t",
            "Edit",
            "edit",
            "odd kind",
            "pending",
            (
                Text("t"),
                Fragment("/w/d", None, "new"),
                Fragment("/e", "", "new"),
                TerminalRef("term"),
                OtherContent({"type": "odd"}),
            ),
            (Location("/a", 3), Location("/w/c", None)),
            {},
            "out",
        )

    def test_empty_lists_clear(self, dialect: DialectV1) -> None:
        (patch,) = tell(dialect, "tool_call_update", toolCallId="t", content=[], locations=[])
        assert patch == up.ToolCallPatched("t", content=(), locations=())

    def test_paths_stay_relative_without_a_folder(self, dialect: DialectV1) -> None:
        (patch,) = tell(dialect, "tool_call_update", toolCallId="t", locations=[{"path": "b"}])
        assert patch == up.ToolCallPatched("t", locations=(Location("b"),))

    def test_paths_of_windows(self, dialect: DialectV1) -> None:
        dialect.replied(1, NewSession(Opening("C:\\w")), {"sessionId": "s"})
        at = [{"path": "b/c"}, {"path": "D:/x"}, {"path": "\\\\host\\share"}]
        (patch,) = tell(dialect, "tool_call_update", toolCallId="t", locations=at)
        assert patch == up.ToolCallPatched(
            "t",
            locations=(Location("C:\\w\\b\\c"), Location("D:/x"), Location("\\\\host\\share")),
        )

    def test_a_new_tool_call_needs_a_title(self, dialect: DialectV1) -> None:
        with pytest.raises(Misfit, match="tool_call: title"):
            tell(dialect, "tool_call", toolCallId="t")

    def test_terminals_inside_meta(self, dialect: DialectV1) -> None:
        told = tell(
            dialect,
            "tool_call_update",
            toolCallId="t",
            _meta={
                "terminal_info": {"terminal_id": "x", "cwd": "/w"},
                "terminal_output": {"terminal_id": "x", "data": "é"},
                "terminal_exit": {"terminal_id": "x", "exit_code": 3, "signal": None},
            },
        )
        (*terminal, call) = told
        assert terminal == [
            up.TerminalPatched("x", cwd="/w"),
            up.TerminalGrew("x", "é".encode()),
            up.TerminalPatched("x", exit=Exit(3)),
        ]
        assert isinstance(call, up.ToolCallPatched)
        assert isinstance(call.meta, dict)
        assert call.meta["terminal_output"] == {"terminal_id": "x", "data": "é"}

    def test_terminals_inside_meta_as_others_write_them(self, dialect: DialectV1) -> None:
        meta: dict[str, Any] = {"terminal_info": {"terminal_id": "x"}}
        told = tell(dialect, "tool_call", toolCallId="t", title="T", _meta=meta)
        assert told[0] == up.TerminalPatched("x", cwd=UNSET)
        meta = {"terminal_output_delta": {"terminal_id": "x", "data": "a"}}
        assert tell(dialect, "tool_call_update", toolCallId="t", _meta=meta) == [
            up.TerminalGrew("x", b"a"),
            up.ToolCallPatched("t", meta=meta),
        ]

    @pytest.mark.parametrize("meta", [{"terminal_info": 3}, {"terminal_exit": {}}, {"own": [1]}])
    def test_other_meta_is_only_kept(self, dialect: DialectV1, meta: up.Meta) -> None:
        told = tell(dialect, "tool_call_update", toolCallId="t", _meta=meta)
        assert told == [up.ToolCallPatched("t", meta=meta)]

    @pytest.mark.parametrize("meta", [None, 3, []])
    def test_null_and_broken_meta_change_nothing(self, dialect: DialectV1, meta: object) -> None:
        told = tell(dialect, "tool_call_update", toolCallId="t", _meta=meta)
        assert told == [up.ToolCallPatched("t")]


class TestTheRest:
    def test_plan(self, dialect: DialectV1) -> None:
        assert tell(dialect, "plan", entries=[ENTRY, {}]) == [
            up.PlanSet("plan", (PlanEntry("step", "high", "pending"),))
        ]

    def test_commands(self, dialect: DialectV1) -> None:
        offered = [
            {"name": "memory show", "description": "d"},
            {"name": "go", "description": "d", "input": {"hint": "where"}},
            {"name": "null", "description": "d", "input": None},
            {"name": "broken"},
        ]
        assert tell(dialect, "available_commands_update", availableCommands=offered) == [
            up.CommandsSet(
                (Command("memory show", "d"), Command("go", "d", "where"), Command("null", "d"))
            )
        ]

    def test_info(self, dialect: DialectV1) -> None:
        told = tell(dialect, "session_info_update", title="T", updatedAt=None)
        assert told == [up.InfoPatched("T", None)]
        assert tell(dialect, "session_info_update") == [up.InfoPatched()]
        told = tell(dialect, "session_info_update", _meta={"a": None})
        assert told == [up.InfoPatched(meta={"a": None})]
        assert tell(dialect, "session_info_update", _meta=None) == [up.InfoPatched()]

    def test_usage_keeps_the_cost(self, dialect: DialectV1) -> None:
        cost = {"amount": 0.5, "currency": "USD"}
        assert tell(dialect, "usage_update", used=1, size=9, cost=cost) == [
            up.UsageSet(Usage(1, 9, (0.5, "USD")))
        ]
        assert tell(dialect, "usage_update", used=2, size=9) == [
            up.UsageSet(Usage(2, 9, (0.5, "USD")))
        ]
        assert tell(dialect, "usage_update", used=2, size=9, cost=None) == [
            up.UsageSet(Usage(2, 9))
        ]

    def test_notice(self, dialect: DialectV1) -> None:
        told = tell(dialect, "notice", severity="warning", title="T", description="d")
        assert told == [up.NoticeGiven("warning", "T", "d")]

    @pytest.mark.parametrize(
        "kind", ["message_from_mars", "plan_update", "plan_removed", "subagent_update", ""]
    )
    def test_unknown_kinds_are_kept_as_they_came(self, dialect: DialectV1, kind: str) -> None:
        told = tell(dialect, kind, x=1)
        assert told == [up.Other({"sessionUpdate": kind, "x": 1})]

    def test_unknown_notifications_are_handed_on(self, dialect: DialectV1) -> None:
        params = {"sessionId": "s", "category": "rate"}
        told = dialect.told("_session/retrying", params)
        assert told == (Notified("a", "_session/retrying", params, "s"),)
        assert dialect.told("nonsense", None) == (Notified("a", "nonsense", None),)
        assert dialect.told("odd", {"sessionId": ""}) == (Notified("a", "odd", {"sessionId": ""}),)
        assert dialect.told("odd", [1]) == (Notified("a", "odd", [1]),)

    @pytest.mark.parametrize(
        "params",
        [
            None,
            [],
            {},
            {"sessionId": "s"},
            {"sessionId": "", "update": {"sessionUpdate": "plan"}},
            {"sessionId": 3, "update": {"sessionUpdate": "plan"}},
            {"sessionId": "s", "update": {}},
            {"sessionId": "s", "update": {"sessionUpdate": ["plan"]}},
        ],
    )
    def test_an_update_must_say_what_it_is(self, dialect: DialectV1, params: object) -> None:
        with pytest.raises(Misfit, match="sessionId"):
            dialect.told("session/update", params)

    def test_a_known_kind_must_fit(self, dialect: DialectV1) -> None:
        with pytest.raises(Misfit, match="usage_update: used: Field required"):
            tell(dialect, "usage_update", size=1)
        with pytest.raises(Misfit, match="tool_call_update: toolCallId"):
            tell(dialect, "tool_call_update", toolCallId="")
