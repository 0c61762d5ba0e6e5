"""ACP 2: golden updates in, words of the neutral model out."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from acpls.client.dialect import Misfit
from acpls.client.v2 import DialectV2
from acpls.events import Notified, SessionTold
from acpls.session import updates as up
from acpls.session.asks import (
    Prompt,
)
from acpls.session.content import (
    Choice,
    Command,
    Exit,
    FileChange,
    Location,
    Option,
    OtherContent,
    Patch,
    PlanEntry,
    SessionRef,
    TerminalRef,
    Text,
    Usage,
)
from talk import call, open_session, tell

HI = Prompt("s", (Text("hi"),))
TEXT = {"type": "text", "text": "t"}
THINKING = {
    "configId": "think",
    "name": "Thinking",
    "type": "select",
    "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}],
}
GIT_PATCH = """\
diff --git /w/a /w/a
--- /w/a
+++ /w/a
@@ -1,1 +1,1 @@
-old
+new
"""


@pytest.fixture
def dialect() -> DialectV2:
    return DialectV2("a")


class TestMessages:
    @pytest.mark.parametrize(
        ("stem", "role"),
        [("user_message", "user"), ("agent_message", "agent"), ("agent_thought", "thought")],
    )
    def test_they_grow_and_are_set(self, dialect: DialectV2, stem: str, role: Any) -> None:
        assert tell(dialect, f"{stem}_chunk", messageId="m", content=TEXT) == [
            up.MessageGrew("m", role, Text("t"))
        ]
        assert tell(dialect, stem, messageId="m", content=[TEXT, 3]) == [
            up.MessageSet("m", role, (Text("t"),))
        ]
        assert tell(dialect, stem, messageId="m", content=None) == [up.MessageSet("m", role, None)]
        assert tell(dialect, stem, messageId="m") == [up.MessageSet("m", role)]

    def test_an_id_is_demanded(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match="agent_message_chunk: messageId"):
            tell(dialect, "agent_message_chunk", messageId="", content=TEXT)

    def test_the_echo_of_a_prompt_is_a_message(self, dialect: DialectV2) -> None:
        call(dialect, HI)
        assert tell(dialect, "user_message_chunk", messageId="m", content=TEXT)


class TestToolCalls:
    def test_null_clears_and_absence_keeps(self, dialect: DialectV2) -> None:
        nothing = dict.fromkeys(
            ["title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"]
        )
        (patch,) = tell(dialect, "tool_call_update", toolCallId="t", **nothing)
        assert patch == up.ToolCallPatched(
            "t", None, None, None, None, None, None, raw_input=None, raw_output=None
        )
        assert tell(dialect, "tool_call_update", toolCallId="t") == [up.ToolCallPatched("t")]

    def test_all_of_it(self, dialect: DialectV2) -> None:
        open_session(dialect)
        (patch,) = tell(
            dialect,
            "tool_call_update",
            toolCallId="t",
            title="T",
            name="n",
            kind="edit",
            status="paused",
            locations=[{"path": "/a", "line": 3}, {"path": "b"}],
            rawInput=[1],
            rawOutput=False,
            content=[
                {"type": "content", "content": TEXT},
                {"type": "terminal", "terminalId": "x"},
                {"type": "session", "sessionId": "child"},
                {"type": "session", "sessionId": 3},
                {"type": "odd"},
            ],
            capabilities={"cancel": {}},
            _meta={"own": 1},
        )
        assert patch == up.ToolCallPatched(
            "t",
            "T",
            "n",
            "edit",
            "paused",
            (
                Text("t"),
                TerminalRef("x"),
                SessionRef("child"),
                OtherContent({"type": "odd"}),
            ),
            (Location("/a", 3), Location("/w/b")),
            [1],
            False,
            can_cancel=True,
            meta={"own": 1},
        )

    @pytest.mark.parametrize(
        ("capabilities", "can_cancel"),
        [({"cancel": {}}, True), ({}, False), (None, False), ({"cancel": True}, False)],
    )
    def test_whether_it_can_be_stopped(
        self, dialect: DialectV2, capabilities: object, can_cancel: bool
    ) -> None:
        told = tell(dialect, "tool_call_update", toolCallId="t", capabilities=capabilities)
        assert told == [up.ToolCallPatched("t", can_cancel=can_cancel)]
        told = tell(dialect, "terminal_update", terminalId="x", capabilities=capabilities)
        assert told == [up.TerminalPatched("x", can_cancel=can_cancel)]
        told = tell(dialect, "subagent_update", sessionId="c", capabilities=capabilities)
        assert told == [up.SubagentPatched("c", can_cancel=can_cancel)]

    def test_broken_capabilities_say_nothing(self, dialect: DialectV2) -> None:
        told = tell(dialect, "tool_call_update", toolCallId="t", capabilities=3)
        assert told == [up.ToolCallPatched("t")]

    def grown(self, dialect: DialectV2, **item: Any) -> Any:
        (grew,) = tell(dialect, "tool_call_content_chunk", toolCallId="t", content=item)
        assert isinstance(grew, up.ToolCallGrew)
        return grew.item

    def test_one_item(self, dialect: DialectV2) -> None:
        assert self.grown(dialect, type="content", content=TEXT) == Text("t")

    def test_changes(self, dialect: DialectV2) -> None:
        open_session(dialect)
        changes = [
            {"operation": "add", "path": "/a", "fileType": "text"},
            {"operation": "delete", "path": "b"},
            {"operation": "modify", "path": "/c", "fileType": 3},
            {"operation": "move", "oldPath": "d", "path": "/e"},
            {"operation": "copy", "oldPath": "/f", "path": "/g"},
            {"operation": "move", "path": "/broken"},
            {"operation": "chmod", "path": "/h", "oldPath": ""},
            {"operation": "wipe"},
        ]
        assert self.grown(dialect, type="diff", changes=changes) == Patch(
            (
                FileChange("add", "/a", None, "text"),
                FileChange("delete", "/w/b"),
                FileChange("modify", "/c"),
                FileChange("move", "/e", "/w/d"),
                FileChange("copy", "/g", "/f"),
                FileChange("chmod", "/h"),
                FileChange("wipe", None),
            )
        )

    def test_a_git_patch_is_read(self, dialect: DialectV2) -> None:
        changes = [{"operation": "modify", "path": "/w/a"}]
        patch = {"format": "git_patch", "text": GIT_PATCH}
        item = self.grown(dialect, type="diff", changes=changes, patch=patch)
        assert item.changes == (FileChange("modify", "/w/a"),)
        assert item.problems == ()
        (file,) = item.files
        assert (file.old_path, file.new_path) == ("/w/a", "/w/a")
        (hunk,) = file.hunks
        assert hunk.lines == (("-", "old"), ("+", "new"))

    def test_another_patch_is_a_problem(self, dialect: DialectV2) -> None:
        patch = {"format": "ed\nscript", "text": "1d"}
        item = self.grown(dialect, type="diff", changes=[], patch=patch)
        assert item == Patch((), (), ("cannot read patches of the format ed script",))

    def test_a_broken_patch_counts_as_none(self, dialect: DialectV2) -> None:
        assert self.grown(dialect, type="diff", changes=[], patch={"format": 1}) == Patch(())

    def test_a_single_broken_item_does_not_fit(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match=r"tool_call_content_chunk: content\.diff\.changes"):
            self.grown(dialect, type="diff")


class TestTerminals:
    def test_updates(self, dialect: DialectV2) -> None:
        told = tell(
            dialect,
            "terminal_update",
            terminalId="x",
            command="make",
            cwd="/w",
            output={"data": base64.b64encode(b"\xff\x00").decode()},
            exitStatus={"exitCode": -3, "signal": None},
        )
        assert told == [up.TerminalPatched("x", "make", "/w", b"\xff\x00", Exit(-3))]
        nothing = dict.fromkeys(["command", "cwd", "output", "exitStatus", "size", "_meta"])
        told = tell(dialect, "terminal_update", terminalId="x", **nothing)
        assert told == [up.TerminalPatched("x", None, None, None, None, None, meta=None)]
        told = tell(dialect, "terminal_update", terminalId="x", size={"cols": 80, "rows": 24})
        assert told == [up.TerminalPatched("x", size=(80, 24))]
        told = tell(dialect, "terminal_update", terminalId="x", size={"cols": 0, "rows": 24})
        assert told == [up.TerminalPatched("x")]
        assert tell(dialect, "terminal_update", terminalId="x") == [up.TerminalPatched("x")]
        told = tell(dialect, "terminal_update", terminalId="x", exitStatus={})
        assert told == [up.TerminalPatched("x", exit=Exit())]

    def test_output_grows_by_bytes(self, dialect: DialectV2) -> None:
        # The first byte of a character that the next chunk completes.
        told = tell(dialect, "terminal_output_chunk", terminalId="x", data="w6k=")
        assert told == [up.TerminalGrew("x", b"\xc3\xa9")]
        assert tell(dialect, "terminal_output_chunk", terminalId="x", data="ww==") == [
            up.TerminalGrew("x", b"\xc3")
        ]

    @pytest.mark.parametrize("data", ["w6k", "w6k=\n", "é", "$$$$"])
    def test_bad_base64_does_not_fit(self, dialect: DialectV2, data: str) -> None:
        with pytest.raises(Misfit, match="terminal_output_chunk: data"):
            tell(dialect, "terminal_output_chunk", terminalId="x", data=data)
        told = tell(dialect, "terminal_update", terminalId="x", output={"data": data})
        assert told == [up.TerminalPatched("x")]


class TestTheRest:
    def test_metadata_is_a_patch(self, dialect: DialectV2) -> None:
        meta: dict[str, Any] = {"kept": {"a": 1}, "gone": None}
        told = tell(dialect, "agent_message", messageId="m", _meta=meta)
        assert told == [up.MessageSet("m", "agent", meta=meta)]
        told = tell(dialect, "agent_message", messageId="m", _meta=None)
        assert told == [up.MessageSet("m", "agent", meta=None)]
        told = tell(dialect, "agent_message", messageId="m", _meta=3)
        assert told == [up.MessageSet("m", "agent")]
        told = tell(dialect, "session_info_update", _meta={"codex": {}})
        assert told == [up.InfoPatched(meta={"codex": {}})]

    def test_plans(self, dialect: DialectV2) -> None:
        entry = {"content": "step", "priority": "high", "status": "cancelled"}
        plan = {"type": "items", "planId": "p", "entries": [entry, {}]}
        assert tell(dialect, "plan_update", plan=plan) == [
            up.PlanSet("p", (PlanEntry("step", "high", "cancelled"),))
        ]
        (other,) = tell(dialect, "plan_update", plan={"type": "markdown", "planId": "p"})
        assert isinstance(other, up.Other)
        with pytest.raises(Misfit, match="plan_update: plan"):
            tell(dialect, "plan_update", plan={"type": "items", "planId": "", "entries": []})

    def test_commands(self, dialect: DialectV2) -> None:
        offered = [
            {
                "type": "command",
                "name": "go",
                "description": "d",
                "input": {"type": "text", "hint": "h"},
            },
            {"type": "command", "name": "stop", "description": "d", "input": {"type": "odd"}},
            {"type": "macro", "name": "m", "description": "d"},
            {"name": "no kind", "description": "d"},
        ]
        assert tell(dialect, "available_commands_update", availableCommands=offered) == [
            up.CommandsSet((Command("go", "d", "h"), Command("stop", "d")))
        ]

    def test_options(self, dialect: DialectV2) -> None:
        grouped = {
            **THINKING,
            "category": "model",
            "options": [{"groupId": "g", "name": "G", "options": [{"value": "v", "name": "V"}]}],
        }
        switch = {"configId": "b", "name": "B", "type": "boolean", "currentValue": True}
        other = {"configId": "o", "name": "O", "type": "slider", "currentValue": 1}
        told = tell(dialect, "config_option_update", configOptions=[grouped, switch, other, {}])
        choices = (Choice("v", "V", group="G"),)
        assert told == [
            up.OptionsSet(
                (
                    Option("think", "Thinking", "select", "low", choices, "model"),
                    Option("b", "B", "boolean", True),
                    Option("o", "O", "slider", None),
                )
            )
        ]

    def test_info_usage_notice_and_replay(self, dialect: DialectV2) -> None:
        assert tell(dialect, "session_info_update", title=None) == [up.InfoPatched(None)]
        cost = {"amount": 2, "currency": "credits"}
        known = up.UsageSet(Usage(1, 9, (2, "credits")))
        assert tell(dialect, "usage_update", used=1, size=9, cost=cost) == [known]
        assert tell(dialect, "usage_update", used=1, size=9) == [known]
        assert tell(dialect, "usage_update", used=1, size=9, cost=None) == [
            up.UsageSet(Usage(1, 9))
        ]
        assert tell(dialect, "notice", severity="odd", title="T", description=4) == [
            up.NoticeGiven("odd", "T")
        ]
        assert tell(dialect, "replay_complete") == [up.ReplayEnded()]

    @pytest.mark.parametrize(
        "kind", ["tool_call", "plan", "plan_removed", "prompt_suggestions_update", ""]
    )
    def test_unknown_kinds_are_kept_as_they_came(self, dialect: DialectV2, kind: str) -> None:
        assert tell(dialect, kind, x=1) == [up.Other({"sessionUpdate": kind, "x": 1})]

    def test_unknown_notifications_are_handed_on(self, dialect: DialectV2) -> None:
        params: dict[str, Any] = {"authStatus": {}}
        told = dialect.told("_auth/status_update", params)
        assert told == (Notified("a", "_auth/status_update", params),)

    def test_updates_are_told_with_what_they_were_made_from(self, dialect: DialectV2) -> None:
        for said in (
            {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": TEXT, "x": 1},
            {"sessionUpdate": "dream", "of": ["sheep"]},
        ):
            (event,) = dialect.told("session/update", {"sessionId": "s", "update": said})
            assert isinstance(event, SessionTold)
            assert event.raw is said

    def test_an_update_must_say_what_it_is(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match="sessionId"):
            dialect.told("session/update", {"update": {}})
