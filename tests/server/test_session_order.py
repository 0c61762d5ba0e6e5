"""Sessions are opened the way strict agents want it, and hear what is said too early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import both_versions, seat

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@both_versions
async def test_s11_s18_a_session_is_opened_for_strict_and_hasty_agents(
    tmp_path: Path, version: int
) -> None:
    """S11: the list of MCP servers is always there; the agent would refuse else. S18: commands
    and a title come before the reply, and news of a session that nobody opened.
    """
    stranger = {
        "sessionId": "a stranger",
        "update": {"sessionUpdate": "session_info_update", "title": "Not mine"},
    }
    early: list[Any] = [
        {"session_title": "Early bird"},
        {"notify": "session/update", "params": stranger},
        {"say": "Hello before you."},
        {"usage": [10, 100]},
    ]
    commands = [{"name": "plan", "description": "Plan first"}]
    script = {
        "session": {"before": [*early, {"commands": commands}]},
        "turns": [[{"notify": "session/update", "params": stranger}, {"say": "Hi."}]],
    }
    async with seat(tmp_path, script, version) as at:
        entry = await at.command("acpls.session.new")
        assert (entry["live"], entry["title"]) == (True, "Early bird")
        (params,) = at.heard_by(method="session/new")
        assert params["cwd"] == str(at.project)
        if version == 1:
            assert params["mcpServers"] == []
        whole = await at.get()
        assert [c["name"] for c in whole["commands"]] == ["plan"]
        assert whole["usage"]["used"] == 10
        await at.until(lambda: at.said() == "Hello before you.")
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: "Hi." in at.said())
        listed = (await at.command("acpls.session.list"))["sessions"]
        assert [s["title"] for s in listed] == ["Early bird"]
        assert at.popups == []


@both_versions
async def test_prompts_wait_for_each_other(tmp_path: Path, version: int) -> None:
    """One prompt at a time a session: some agents end the first when a second comes."""
    first: list[Any] = [{"say": "one "}, {"late": "session/set_config_option"}]
    session = {"options": [{"id": "fast", "value": False}]}
    script = {"session": session, "turns": [first, [{"say": "two"}]]}
    async with seat(tmp_path, script, version) as at:
        await at.command("acpls.session.prompt", {"text": "first"})
        second = await at.command("acpls.session.prompt", {"text": "second"})
        assert second["queued"] is True
        await at.until(lambda: at.said() == "one ")
        assert len(at.heard_by(method="session/prompt")) == 1
        await at.command("acpls.session.setOption", {"option": "fast", "value": True})
        await at.until(lambda: at.said() == "one two")
        prompts = [p["prompt"][0]["text"] for p in at.heard_by(method="session/prompt")]
        assert prompts == ["first", "second"]
