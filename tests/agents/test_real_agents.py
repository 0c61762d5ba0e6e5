"""Real agents through the real server: prompt, stream, question, edit, verdict, cancel, end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from agents_known import (
    CLAUDE_1,
    CLAUDE_2,
    DUAL_1,
    DUAL_2,
    FAST_AGENT,
    GEMINI,
    OPENCODE,
    PILC,
    TANTRA,
    RealAgent,
)
from agents_real import (
    NEW,
    OLD,
    TEXT,
    UNSAVED,
    WITHIN,
    edit,
    playing,
    project,
    running,
    text_of,
    until,
)
from model_script import Say, Use

if TYPE_CHECKING:
    from pathlib import Path

    from model_script import Script

pytestmark = [pytest.mark.agents, pytest.mark.anyio, pytest.mark.timeout(120)]

OLD_2, NEW_2 = "print(greet(sys.argv[1]))", "print(greet(sys.argv[1:]))"
# It writes, since claude does not ask about commands that only look.
COMMAND = "echo begun > log && sleep 987"


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


EVERY_AGENT = _each_of(CLAUDE_1, CLAUDE_2, OPENCODE, GEMINI, PILC, DUAL_1, DUAL_2, TANTRA)
# pilc and tantra say that they have edited, but show neither what they changed nor where; and
# gemini reads and writes through the editor, see test_agents_through_editor.py.
AGENTS_WITH_DIFFS = _each_of(CLAUDE_1, CLAUDE_2, OPENCODE, DUAL_1, DUAL_2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file that the agents work on."""
    return project(tmp_path)


@_each_of(CLAUDE_2, OPENCODE, GEMINI, PILC, DUAL_2, TANTRA, FAST_AGENT)
async def test_the_newest_common_version_is_agreed(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """fast-agent answers 2 when it is asked for 2, and speaks 1 nevertheless."""
    async with playing(replace(agent, protocol="auto"), tmp_path, {}) as stage:
        await stage.editor.command("acpls.agent.start", within=WITHIN)
        while (known := await stage.editor.command("acpls.agent.list"))[0]["state"] == "starting":
            await stage.editor.next("acp/agent/changed", within=WITHIN)
        assert known[0]["protocolVersion"] == agent.protocol
        assert known[0]["state"] == "ready"


@EVERY_AGENT
async def test_an_agent_streams_asks_and_edits(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """P05: the agent gets the id of the option as it gave it."""
    script: Script = {
        "Please greet better": [
            [Say("First I read the file, all of it. ", 0.2), Use("read", {"path": str(file)})],
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
        kinds = ("read", "edit") if agent.tells_kinds else ("other", "other")
        assert await stage.tool_calls() == [(kind, "completed") for kind in kinds]
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

        first, second = await stage.hunks(uri, 2)
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

        last = "As you wish." if agent.goes_on else "Now I edit it. "
        assert (await stage.told()).endswith(last)
        (_, read), (_, refused) = await stage.tool_calls()
        assert read == "completed"
        assert refused == "failed" if agent.tells_refusals else refused != "completed"
        assert text_of(file) == TEXT
        assert stage.editor.text(uri) == TEXT
        assert await stage.hunks(uri) == []


@EVERY_AGENT
async def test_a_turn_is_cancelled_with_a_question_open_and_the_next_one_works(
    agent: RealAgent, tmp_path: Path, file: Path
) -> None:
    """Some hang until their question is answered, and some withdraw it by themselves."""
    script: Script = {
        "Please greet better": [
            [Use("read", {"path": str(file)})],
            [Say("Now I edit it. "), edit(file, OLD, NEW)],
            [Say("As you wish.")],
        ],
        "Talk briefly": [[Say("That is all.")]],
    }
    async with playing(agent, tmp_path, script) as stage:
        uri = stage.editor.open(file)
        await stage.prompt("Please greet better.")
        asked = await stage.question()
        await stage.editor.command("acpls.session.cancel")
        settled = await stage.editor.next("acp/question/settled", within=WITHIN)
        assert settled["question"] == asked["question"]
        assert settled["by"] in {"cancel", "agent"}
        assert "option" not in settled
        assert await stage.end_of_turn() == "cancelled"
        assert await stage.editor.command("acpls.question.list") == []
        assert text_of(file) == TEXT
        assert await stage.hunks(uri) == []

        await stage.prompt("Talk briefly.")
        assert await stage.end_of_turn() == "end_turn"
        assert (await stage.told()).endswith("That is all.")
        assert text_of(file) == TEXT


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
