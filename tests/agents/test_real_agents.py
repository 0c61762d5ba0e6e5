"""Real agents through the real server: prompt, stream, question, edit, verdict, cancel, end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from agents_real import (
    CLAUDE_1,
    CLAUDE_2,
    FAST_AGENT,
    PILC,
    WITHIN,
    RealAgent,
    playing,
    running,
    text_of,
    until,
)
from model_server import Say, Use

from acpls.testing.pages import to_uri

if TYPE_CHECKING:
    from pathlib import Path

    from model_server import Script

pytestmark = [pytest.mark.agents, pytest.mark.anyio, pytest.mark.timeout(120)]

TEXT = '''"""Greets people."""

import sys


def greet(name):
    return "Hello, " + name


def main():
    print(greet(sys.argv[1]))


if __name__ == "__main__":
    main()
'''
OLD, NEW = '"Hello, " + name', 'f"Grüße 🎉, {name}!"'
OLD_2, NEW_2 = "print(greet(sys.argv[1]))", "print(greet(sys.argv[1:]))"
# It writes, since claude does not ask about commands that only look.
COMMAND = "echo begun > log && sleep 987"
UNSAVED = "# Still to do: tests.\n"


def _each_of(*agents: RealAgent) -> pytest.MarkDecorator:
    """Run a test with each of these agents that is installed."""
    return pytest.mark.parametrize(
        "agent",
        [
            pytest.param(
                agent,
                id=f"{agent.name}-v{agent.protocol}",
                marks=pytest.mark.needs(agent.package, found=agent.command),
            )
            for agent in agents
        ],
    )


EVERY_AGENT = _each_of(CLAUDE_1, CLAUDE_2, PILC)
# pilc says that it has edited, but neither shows what it changed nor where.
AGENTS_WITH_DIFFS = _each_of(CLAUDE_1, CLAUDE_2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file that the agents work on."""
    path = tmp_path / "project" / "hello.py"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    return path


def edit(file: Path, old: str, new: str) -> Use:
    return Use("edit", {"path": str(file), "old": old, "new": new})


@EVERY_AGENT
async def test_an_agent_streams_asks_and_edits(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """P05: the agent gets the id of the option as it gave it."""
    script: Script = {
        "Please greet better": [
            [Say("First I read the file, all of it. ", 0.05), Use("read", {"path": str(file)})],
            [Say("Now I edit it. "), edit(file, OLD, NEW)],
            [Say("It is done.")],
        ]
    }
    async with playing(agent, tmp_path, script) as stage:
        stage.editor.open(file)
        await stage.prompt("Please greet better.")

        asked = await stage.question()
        (known,) = await stage.editor.command("acpls.agent.list")
        assert (known["state"], known["protocolVersion"]) == ("ready", agent.protocol)
        assert stage.pieces() > 1
        assert "First I read the file" in await stage.told()
        assert text_of(file) == TEXT
        settled = await stage.answer(asked, agent.allow)
        assert (settled["by"], settled["option"]) == ("editor", agent.allow)
        assert await stage.end_of_turn() == "end_turn"

        assert "First I read the file, all of it. " in await stage.told()
        assert (await stage.told()).endswith("It is done.")
        assert await stage.tool_calls() == {"read": "completed", "edit": "completed"}
        assert text_of(file) == TEXT.replace(OLD, NEW)


@AGENTS_WITH_DIFFS
async def test_one_edit_is_kept_beside_unsaved_text_and_another_rejected(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """D07: both are on the disk already; the document takes the one that the user wants."""
    script: Script = {
        "Please greet better": [
            [Use("read", {"path": str(file)})],
            [edit(file, OLD, NEW)],
            [edit(file, OLD_2, NEW_2)],
            [Say("Both are done.")],
        ]
    }
    async with playing(agent, tmp_path, script) as stage:
        editor = stage.editor
        uri = editor.open(file)
        editor.type(uri, len(TEXT), UNSAVED)
        await stage.prompt("Please greet better.")
        asked = await stage.question()
        (shown,) = asked["preview"]
        assert shown["uri"] == uri
        assert f"-    return {OLD}\n+    return {NEW}\n" in shown["patch"]
        await stage.answer(asked, agent.allow)
        await stage.answer(await stage.question(), agent.allow)
        assert await stage.end_of_turn() == "end_turn"
        changed = TEXT.replace(OLD, NEW).replace(OLD_2, NEW_2)
        assert text_of(file) == changed
        assert editor.text(uri) == TEXT + UNSAVED

        first, second = await stage.hunks(uri)
        assert first["baseText"] == f"    return {OLD}\n"
        assert first["newText"] == f"    return {NEW}\n"
        assert first["range"]["start"] == {"line": 6, "character": 0}
        assert second["baseText"] == f"    {OLD_2}\n"
        assert second["newText"] == f"    {NEW_2}\n"
        assert not first["applied"]

        kept = await editor.command("acpls.review.keep", {"hunk": first["hunk"]})
        assert kept == {"hunks": 1, "left": []}
        assert editor.text(uri) == TEXT.replace(OLD, NEW) + UNSAVED
        rejected = await editor.command("acpls.review.reject", {"hunk": second["hunk"]})
        assert rejected == {"hunks": 1, "left": []}
        assert await stage.hunks(uri) == []
        assert editor.text(uri) == TEXT.replace(OLD, NEW) + UNSAVED
        assert editor.modified(uri)
        assert text_of(file) == TEXT.replace(OLD, NEW)


@EVERY_AGENT
async def test_a_refused_permission_leaves_the_file_as_it_was(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    script: Script = {
        "Please greet better": [
            [Use("read", {"path": str(file)})],
            [Say("Now I edit it. "), edit(file, OLD, NEW)],
            [Say("As you wish.")],
        ]
    }
    async with playing(agent, tmp_path, script) as stage:
        uri = stage.editor.open(file)
        await stage.prompt("Please greet better.")
        await stage.answer(await stage.question(), agent.reject)
        assert await stage.end_of_turn() == "end_turn"

        assert (await stage.told()).endswith("As you wish.")
        assert (await stage.tool_calls())["edit"] == "failed"
        assert text_of(file) == TEXT
        assert stage.editor.text(uri) == TEXT
        assert await stage.hunks(uri) == []


@EVERY_AGENT
async def test_a_long_turn_is_cancelled_and_the_next_one_works(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    script: Script = {
        "Talk at length": [[Say("and so on, " * 2000, 0.02)]],
        "Talk briefly": [[Say("That is all.")]],
    }
    async with playing(agent, tmp_path, script) as stage:
        await stage.prompt("Talk at length.")
        while stage.pieces() < 5:
            await stage.editor.next("acp/session/changed", within=WITHIN)
        await stage.editor.command("acpls.session.cancel")
        assert await stage.end_of_turn() == "cancelled"

        await stage.prompt("Talk briefly.")
        assert await stage.end_of_turn() == "end_turn"
        assert (await stage.told()).endswith("That is all.")


@EVERY_AGENT
async def test_nothing_is_left_of_an_agent_whose_command_runs_when_the_editor_quits(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """X01: the command is in a session of its own, where a signal to the group misses it."""
    script: Script = {"Run it": [[Use("shell", {"command": COMMAND})], [Say("It ran.")]]}
    async with playing(agent, tmp_path, script) as stage:
        await stage.prompt("Run it.")
        await stage.answer(await stage.question(), agent.allow)
        assert await until(lambda: "sleep 987" in running(stage.mark))


class Killed(Exception):  # noqa: N818  it is what the test does
    """The server is gone, and cannot be left as it should."""


@EVERY_AGENT
async def test_nothing_is_left_of_an_agent_whose_command_runs_when_the_server_is_killed(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """X01: also when the server has no time to end them."""
    script: Script = {"Run it": [[Use("shell", {"command": COMMAND})], [Say("It ran.")]]}

    async def scene() -> None:
        async with playing(agent, tmp_path, script) as stage:
            await stage.prompt("Run it.")
            await stage.answer(await stage.question(), agent.allow)
            assert await until(lambda: "sleep 987" in running(stage.mark))
            stage.kill_server()
            assert await until(lambda: not running(stage.mark), within=15), running(stage.mark)
            raise Killed

    with pytest.raises(Killed):
        await scene()


# --- files through the editor: fast-agent, whose model inside runs the tool that it is told ---

NEEDS_FAST_AGENT = pytest.mark.needs(FAST_AGENT.package, found=FAST_AGENT.command)


def call_tool(name: str, **arguments: str) -> str:
    return f"***CALL_TOOL {name} {json.dumps(arguments)}"


@NEEDS_FAST_AGENT
async def test_an_agent_reads_and_writes_through_a_document_with_unsaved_text(
    tmp_path: Path, file: Path
) -> None:
    async with playing(FAST_AGENT, tmp_path, {}) as stage:
        editor = stage.editor
        uri = editor.open(file)
        editor.type(uri, len(TEXT), UNSAVED)

        await stage.prompt(call_tool("read_text_file", path=str(file)))
        await stage.answer(await stage.question(), FAST_AGENT.allow)
        assert await stage.end_of_turn() == "end_turn"
        assert (await stage.told()).endswith(TEXT + UNSAVED)

        written = TEXT.replace(OLD, NEW) + UNSAVED
        await stage.prompt(call_tool("write_text_file", path=str(file), content=written))
        await stage.answer(await stage.question(), FAST_AGENT.allow)
        assert await stage.end_of_turn() == "end_turn"
        assert text_of(file) == written
        assert editor.text(uri) == TEXT + UNSAVED
        hunk = (await stage.hunks(uri))[0]
        assert hunk["baseText"] == f"    return {OLD}\n"
        assert hunk["newText"] == f"    return {NEW}\n"
        await editor.command("acpls.review.keep", {"hunk": hunk["hunk"]})
        assert editor.text(uri) == written


@NEEDS_FAST_AGENT
async def test_unsaved_text_that_an_agent_read_and_wrote_back_stays_the_users(
    tmp_path: Path, file: Path
) -> None:
    """Rejecting all that the agent did must not take away what the user typed."""
    async with playing(FAST_AGENT, tmp_path, {}) as stage:
        editor = stage.editor
        uri = editor.open(file)
        editor.type(uri, len(TEXT), UNSAVED)
        written = TEXT.replace(OLD, NEW) + UNSAVED
        await stage.prompt(call_tool("write_text_file", path=str(file), content=written))
        await stage.answer(await stage.question(), FAST_AGENT.allow)
        assert await stage.end_of_turn() == "end_turn"

        assert [hunk["newText"] for hunk in await stage.hunks(uri)] == [f"    return {NEW}\n"]
        await editor.command("acpls.review.reject", {"all": True})
        assert editor.text(uri) == TEXT + UNSAVED


@NEEDS_FAST_AGENT
async def test_an_agent_makes_a_file_that_was_not_there(tmp_path: Path, file: Path) -> None:
    new = file.with_name("notes") / "new.md"
    async with playing(FAST_AGENT, tmp_path, {}) as stage:
        await stage.prompt(call_tool("write_text_file", path=str(new), content="# Notes ✓\n"))
        await stage.answer(await stage.question(), FAST_AGENT.allow)
        assert await stage.end_of_turn() == "end_turn"
        assert "Successfully wrote" in await stage.told()
        assert text_of(new) == "# Notes ✓\n"
        (change,) = await stage.editor.command("acpls.review.list")
        assert change["uri"] == to_uri(new)
        assert change["operation"] == "add"
        assert [hunk["newText"] for hunk in change["hunks"]] == ["# Notes ✓\n"]
        await stage.editor.command("acpls.review.reject", {"all": True})
        assert not new.exists()
