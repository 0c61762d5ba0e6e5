"""ACP 2: golden updates in, words of the neutral model out."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from acpls.client.dialect import Misfit
from acpls.client.v2 import DialectV2
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


class TestState:
    @pytest.mark.parametrize("state", ["running", "requires_action", "unknown", "dreaming"])
    def test_busy(self, dialect: DialectV2, state: str) -> None:
        told = tell(dialect, "state_update", state=state, background=[], stopReason="error")
        assert told == [up.TurnChanged(state)]

    def test_idle(self, dialect: DialectV2) -> None:
        assert tell(dialect, "state_update", state="idle") == [up.TurnChanged("idle")]
        told = tell(dialect, "state_update", state="idle", stopReason="end_turn", error=None)
        assert told == [up.TurnChanged("idle", "end_turn")]
        error = {"code": 1, "message": "no\nmodel"}
        told = tell(dialect, "state_update", state="idle", stopReason="error", error=error)
        assert told == [up.TurnChanged("idle", "error", "no model")]

    def test_a_state_is_demanded(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match="state_update: state"):
            tell(dialect, "state_update")


class TestToolCalls:
    def test_null_clears_and_absence_keeps(self, dialect: DialectV2) -> None:
        nothing = dict.fromkeys(
            ["title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"]
        )
        (patch,) = tell(dialect, "tool_call_update", toolCallId="t", **nothing)
        assert patch == up.ToolCallPatched("t", *[None] * 8)
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
            ],
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
                OtherContent({"type": "session", "sessionId": "child"}),
            ),
            (Location("/a", 3), Location("/w/b")),
            [1],
            False,
        )

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
        nothing = dict.fromkeys(["command", "cwd", "output", "exitStatus"])
        told = tell(dialect, "terminal_update", terminalId="x", **nothing)
        assert told == [up.TerminalPatched("x", None, None, None, None)]
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
        with pytest.raises(Misfit, match="terminal_update: data"):
            tell(dialect, "terminal_update", terminalId="x", output={"data": data})


class TestTheRest:
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
        "kind", ["tool_call", "plan", "subagent_update", "compaction_update", "session_message", ""]
    )
    def test_unknown_kinds_are_kept_as_they_came(self, dialect: DialectV2, kind: str) -> None:
        assert tell(dialect, kind, x=1) == [up.Other({"sessionUpdate": kind, "x": 1})]

    def test_unknown_notifications_are_passed_over(self, dialect: DialectV2) -> None:
        assert dialect.told("_auth/status_update", {"authStatus": {}}) == ()

    def test_an_update_must_say_what_it_is(self, dialect: DialectV2) -> None:
        with pytest.raises(Misfit, match="sessionId"):
            dialect.told("session/update", {"update": {}})
