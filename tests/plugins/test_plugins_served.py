"""A plugin in the real server: its agent answers, and it watches the session."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acpls.testing.agent import command
from acpls.testing.editor import FULL, IGNORED, FakeEditor

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

PLUGIN = """
import json, os
from acpls.session.updates import MessageGrew

def agents():
    return {"plugged": json.loads(os.environ["PLUGGED"])}

def watch(session, event):
    if isinstance(event.update, MessageGrew):
        with open(os.environ["WATCHED"], "a") as file:
            print(json.dumps([session, event.agent, event.update.block.text]), file=file)
"""


def ended(told: Any) -> bool:
    return any("stopReason" in change for change in told["changes"])


async def test_a_plugin_adds_an_agent_and_watches_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "watching.py").write_text(PLUGIN)
    facts = tmp_path / "watching-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: watching\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[acpls.plugins]\nw = watching\n")
    script = {"turns": [[{"say": "One. "}, {"say": "Two."}, {"end": "end_turn"}]]}
    program, *args = command(script, tmp_path)
    monkeypatch.setenv("PLUGGED", json.dumps({"command": program, "args": args}))
    monkeypatch.setenv("WATCHED", str(tmp_path / "watched"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    server = [sys.executable, "-m", "acpls", "serve"]
    project = tmp_path / "project"
    project.mkdir()
    async with FakeEditor(server, root=project, capabilities=FULL, ignore=IGNORED) as editor:
        entry = await editor.command("acpls.session.new")
        assert entry["agent"] == "plugged"
        await editor.command("acpls.session.prompt", {"text": "go"})
        await editor.next("acp/session/changed", ended)
    watched = [json.loads(line) for line in (tmp_path / "watched").read_text().splitlines()]
    assert watched == [[entry["session"], "plugged", text] for text in ("One. ", "Two.")]
