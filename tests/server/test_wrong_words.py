"""Wrong arguments and wrong settings: each is said once, in words, with the field at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import seat

from acpls.testing.editor import PLAIN, CommandFailed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

WRONG: list[tuple[str, Any, str]] = [
    ("acpls.agent.start", {"agent": 7}, "agent"),
    ("acpls.agent.start", {"agent": "nobody"}, "agent"),
    ("acpls.agent.select", {}, "agent"),
    ("acpls.agent.log", {"lines": 0}, "lines"),
    ("acpls.agent.log", {"lines": "many"}, "lines"),
    ("acpls.session.new", {"cwd": "not/absolute"}, "cwd"),
    ("acpls.session.new", {"agent": "nobody"}, "agent"),
    ("acpls.session.new", {"agnet": "fake"}, "agnet"),
    ("acpls.session.get", {"session": "s99"}, "session"),
    ("acpls.session.get", {"session": 1}, "session"),
    ("acpls.session.prompt", {"session": "s99", "text": "x"}, "session"),
    ("acpls.session.prompt", {"text": 5}, "text"),
    ("acpls.session.prompt", {"text": "x", "context": [{"range": None}]}, "context.0.uri"),
    ("acpls.session.prompt", {"blocks": [{"type": "scent"}]}, "blocks"),
    (
        "acpls.session.prompt",
        {
            "text": "x",
            "context": [
                {
                    "uri": "file:///a",
                    "range": {
                        "start": {"line": -1, "character": 0},
                        "end": {"line": 0, "character": 0},
                    },
                }
            ],
        },
        "context.0.range.start.line",
    ),
    ("acpls.session.cancel", {"session": "s99"}, "session"),
    ("acpls.session.send", {"uri": "file:///nowhere.md"}, "uri"),
    ("acpls.session.setOption", {"option": "o"}, "value"),
    ("acpls.question.answer", {"question": "q99", "option": "x"}, "question"),
    ("acpls.question.show", {"question": "q99"}, "question"),
    ("acpls.question.answer", {"action": "allow"}, "action"),
    ("acpls.review.keep", {"hunk": "h99"}, "hunk"),
    ("acpls.review.reject", {"hunk": ["h1"]}, "hunk"),
    ("acpls.review.diff", {}, "uri"),
    ("acpls.review.diff", {"uri": "file:///nowhere"}, "uri"),
    ("acpls.output.read", {"offset": -1}, "offset"),
    ("acpls.follow.set", {"on": "yes"}, "on"),
    ("acpls.status", {"verbose": True}, "verbose"),
]


async def test_wrong_arguments_name_the_field(tmp_path: Path) -> None:
    async with seat(tmp_path) as at:
        await at.command("acpls.session.new")
        for name, argument, field in WRONG:
            with pytest.raises(CommandFailed) as wrong:
                await at.command(name, argument)
            told = (name, wrong.value.code, (wrong.value.data or {}).get("field"))
            assert told == (name, -32602, field), wrong.value
            assert wrong.value.message
        # What is no object at all, and one argument too many.
        several: list[list[Any]] = [["text"], [5], [[]], [{}, {}]]
        for arguments in several:
            with pytest.raises(CommandFailed) as wrong:
                await at.request(
                    "workspace/executeCommand",
                    {"command": "acpls.status", "arguments": arguments},
                )
            assert wrong.value.code == -32602
        assert (await at.command("acpls.status"))["sessions"][0]["session"] == "s1"
        assert at.popups == []


async def test_what_is_asked_of_nobody(tmp_path: Path) -> None:
    """Unknown commands and methods, and requests that LSP itself gives a wrong shape."""
    async with seat(tmp_path, warns=True) as at:
        for method, params in (
            ("workspace/executeCommand", {"command": "acpls.make.coffee"}),
            ("workspace/executeCommand", {"command": 7}),
            ("workspace/executeCommand", {}),
            ("textDocument/hover", {"textDocument": "a.py"}),
            ("textDocument/codeAction", {}),
            ("acp/make/coffee", {}),
        ):
            with pytest.raises(CommandFailed) as wrong:
                await at.request(method, params)
            assert wrong.value.code in {-32600, -32601, -32602}, (method, wrong.value)
        at.notify("textDocument/didChange", {"textDocument": {}})
        at.notify("acp/focus/changed", {"typing": "often"})
        at.notify("$/setTrace", {"value": "verbose"})
        assert (await at.command("acpls.status"))["sessions"] == []


async def test_each_wrong_setting_is_one_warning(tmp_path: Path) -> None:
    settings = {
        "folow": {"on": True},
        "follow": {"idelSeconds": 3, "on": "yes"},
        "questions.dialogs": 7,
        "session": {"cancelSeconds": -1},
        "agents": {"broken": {"args": ["x"]}, "shouty": {"command": "a", "cmd": "b"}},
        "defaultAgent": "nobody",
    }
    expected = [
        "folow",
        "follow.idelSeconds",
        "follow.on",
        "questions.dialogs",
        "session.cancelSeconds",
        "agents.broken",
        "agents.shouty.cmd",
        "defaultAgent",
    ]
    # The editor gives the same settings twice, as many do.
    async with seat(tmp_path, settings=settings, capabilities=PLAIN) as at:
        at.settings["acpls"] = settings
        at.notify("workspace/didChangeConfiguration", {"settings": None})
        await at.until(lambda: len(at.seen("workspace/configuration")) >= 1)
        status = await at.command("acpls.status")
        assert len(status["problems"]) == len(expected)
        warnings = [p for p in at.seen("window/logMessage") if p["type"] == 2]
        for name in expected:
            about = [w["message"] for w in warnings if name in w["message"]]
            assert len(about) == 1, (name, about)
        (near,) = [w["message"] for w in warnings if '"folow"' in w["message"]]
        assert '"follow"' in near
        assert at.popups == []
        # What is wrong is left out, and the default shows through.
        assert status["follow"] is False
        assert [agent["agent"] for agent in status["agents"]] == ["shouty"]
