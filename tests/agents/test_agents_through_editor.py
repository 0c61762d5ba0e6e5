"""Real agents that read and write through the editor: what the user typed is seen and kept.

fast-agent has a model inside that runs the tool that the prompt names; gemini asks ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from agents_known import FAST_AGENT, GEMINI
from agents_real import NEW, OLD, TEXT, UNSAVED, edit, playing, project, text_of
from model_script import Say, Use

from acpls.testing.pages import to_uri

if TYPE_CHECKING:
    from pathlib import Path

    from model_script import Script

pytestmark = [pytest.mark.agents, pytest.mark.anyio, pytest.mark.timeout(120)]

NEEDS_FAST_AGENT = pytest.mark.needs(FAST_AGENT.package, found=FAST_AGENT.command)
NEEDS_GEMINI = pytest.mark.needs(GEMINI.package, found=GEMINI.command)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file that the agents work on."""
    return project(tmp_path)


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
        hunk = (await stage.hunks(uri, 1))[0]
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

        assert [hunk["newText"] for hunk in await stage.hunks(uri, 1)] == [f"    return {NEW}\n"]
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


@NEEDS_GEMINI
async def test_gemini_edits_a_document_with_unsaved_text(tmp_path: Path, file: Path) -> None:
    script: Script = {
        "Please greet better": [
            [Use("read", {"path": str(file)})],
            [edit(file, OLD, NEW)],
            [Say("It is done.")],
        ]
    }
    async with playing(GEMINI, tmp_path, script) as stage:
        editor = stage.editor
        uri = editor.open(file)
        editor.type(uri, len(TEXT), UNSAVED)
        await stage.prompt("Please greet better.")
        await stage.answer(await stage.question(), GEMINI.allow)
        assert await stage.end_of_turn() == "end_turn"
        assert text_of(file) == TEXT.replace(OLD, NEW) + UNSAVED
        assert editor.text(uri) == TEXT + UNSAVED

        (hunk,) = await stage.hunks(uri, 1)
        assert hunk["baseText"] == f"    return {OLD}\n"
        assert hunk["newText"] == f"    return {NEW}\n"
        await editor.command("acpls.review.keep", {"hunk": hunk["hunk"]})
        assert editor.text(uri) == TEXT.replace(OLD, NEW) + UNSAVED


@NEEDS_GEMINI
async def test_what_gemini_edits_is_shown_before_and_can_be_rejected_after(
    tmp_path: Path, file: Path
) -> None:
    script: Script = {"Please greet better": [[edit(file, OLD, NEW)], [Say("It is done.")]]}
    async with playing(GEMINI, tmp_path, script) as stage:
        uri = stage.editor.open(file)
        await stage.prompt("Please greet better.")
        asked = await stage.question()
        (shown,) = asked["preview"]
        assert shown["uri"] == uri
        assert f"-    return {OLD}\n+    return {NEW}\n" in shown["patch"]
        await stage.answer(asked, GEMINI.allow)
        assert await stage.end_of_turn() == "end_turn"
        assert text_of(file) == TEXT.replace(OLD, NEW)

        assert [hunk["newText"] for hunk in await stage.hunks(uri, 1)] == [f"    return {NEW}\n"]
        await stage.editor.command("acpls.review.reject", {"all": True})
        assert await stage.hunks(uri) == []
        assert text_of(file) == TEXT


@NEEDS_FAST_AGENT
async def test_an_agent_is_told_that_a_file_is_not_there(tmp_path: Path, file: Path) -> None:
    """D35, D36: in the usual words, and never by an empty text."""
    missing = file.with_name("missing.md")
    async with playing(FAST_AGENT, tmp_path, {}) as stage:
        await stage.prompt(call_tool("read_text_file", path=str(missing)))
        await stage.answer(await stage.question(), FAST_AGENT.allow)
        assert await stage.end_of_turn() == "end_turn"
        said = await stage.told()
        assert f"Resource not found: {missing}: no such file" in said
        assert not missing.exists()


@NEEDS_GEMINI
async def test_gemini_makes_a_file_that_was_not_there(tmp_path: Path, file: Path) -> None:
    """D35, D36: it reads the file first, and takes any error for the end of the matter."""
    new = file.with_name("notes") / "new.md"
    script: Script = {
        "Take notes": [
            [Use("write", {"path": str(new), "text": "# Notes ✓\n"})],
            [Say("They are taken.")],
        ]
    }
    async with playing(GEMINI, tmp_path, script) as stage:
        await stage.prompt("Take notes.")
        await stage.answer(await stage.question(), GEMINI.allow)
        assert await stage.end_of_turn() == "end_turn"
        assert text_of(new) == "# Notes ✓\n"
        (change,) = await stage.editor.command("acpls.review.list")
        assert change["uri"] == to_uri(new)
        assert change["operation"] == "add"
        assert [hunk["newText"] for hunk in change["hunks"]] == ["# Notes ✓\n"]
        await stage.editor.command("acpls.review.reject", {"all": True})
        assert not new.exists()
