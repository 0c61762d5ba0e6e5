"""What sessions are opened with, and agents that see other paths or take their time."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, hunks_told, seat

from acpls.testing.editor import CommandFailed, Later

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

HELLO: Json = {"turns": [[{"say": "Hello. "}]]}
SECRET = "t0ken-of-mine"


def offering(*words: str, **more: Any) -> Json:
    return {"initialize": {"offers": list(words)}, **HELLO, **more}


def warnings(at: Seat, word: str) -> list[str]:
    """What was written to the editor's log about something."""
    return [line for line in at.log if word in line]


# --- MCP servers -----------------------------------------------------------------------


@both_versions
async def test_mcp_servers_in_the_shape_of_the_version(tmp_path: Path, version: int) -> None:
    """Programs are found on PATH; what cannot be used is left out, each with one warning."""
    servers: Json = {
        "files": {"command": "sh", "args": ["-c", "cat"], "env": {"A": "1"}},
        "bare": {"command": "cat"},
        "gone": {"command": "no-such-program-at-all"},
        "web": {"url": "https://example.org/mcp", "headers": {"Authorization": SECRET}},
        "old": {"url": "https://example.org/sse", "type": "sse"},
        "off": {"command": "sh", "enabled": False},
    }
    script = offering("stdio", "http")
    settings = {"mcpServers": servers}
    async with seat(tmp_path, script, version, settings=settings) as at:
        for _ in range(2):
            assert (await at.command("acpls.session.new"))["live"] is True
        first, second = at.heard_by(method="session/new")
        assert first["mcpServers"] == second["mcpServers"]
        given = {s["name"]: s for s in first["mcpServers"]}
        assert list(given) == ["files", "bare", "web"]
        files = {
            "name": "files",
            "command": shutil.which("sh"),
            "args": ["-c", "cat"],
            "env": [{"name": "A", "value": "1"}],
        }
        bare: Json = {"name": "bare", "command": shutil.which("cat")}
        web = {
            "type": "http",
            "name": "web",
            "url": "https://example.org/mcp",
            "headers": [{"name": "Authorization", "value": SECRET}],
        }
        if version == 1:
            bare |= {"args": [], "env": []}
        else:
            files["type"] = bare["type"] = "stdio"
        assert given == {"files": files, "bare": bare, "web": web}
        assert len(warnings(at, "no-such-program-at-all")) == 1
        assert len(warnings(at, "over sse")) == 1
        assert warnings(at, "off") == []
        assert SECRET not in str(at.tap.heard)
        log = await at.command("acpls.agent.log")
        assert SECRET not in log["text"]
        assert at.popups == []


@both_versions
async def test_an_agent_that_connects_to_no_servers(tmp_path: Path, version: int) -> None:
    """A transport that is not advertised is left out; one agent's servers are laid over all's."""
    settings = {"mcpServers": {"web": {"url": "https://example.org/mcp"}}}
    entry = {"mcpServers": {"own": {"command": "cat"}}}
    async with seat(tmp_path, HELLO, version, settings=settings, entry=entry) as at:
        await at.command("acpls.session.new")
        (opened,) = at.heard_by(method="session/new")
        # Every agent of ACP 1 takes servers over stdio; in ACP 2 it has to say so.
        names = [s["name"] for s in opened["mcpServers"]]
        assert names == (["own"] if version == 1 else [])
        assert len(warnings(at, "the MCP server web")) == 1
        assert len(warnings(at, "the MCP server own")) == version - 1


# --- folders, words, options -----------------------------------------------------------


@both_versions
@pytest.mark.parametrize("takes", [True, False])
async def test_all_workspace_folders_are_given(
    tmp_path: Path, version: int, *, takes: bool
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    script = offering(*(["directories"] if takes else []))
    async with seat(tmp_path, script, version, other_roots=[other]) as at:
        await at.command("acpls.session.new")
        await at.command("acpls.session.new", {"cwd": str(other)})
        first, second = at.heard_by(method="session/new")
        assert (first["cwd"], second["cwd"]) == (str(at.project), str(other))
        if takes:
            assert first["additionalDirectories"] == [str(other)]
            assert second["additionalDirectories"] == [str(at.project)]
        else:
            assert "additionalDirectories" not in {**first, **second}
            assert len(warnings(at, f"the additional folder {other}")) == 1


@both_versions
@pytest.mark.parametrize(
    ("offers", "prompt", "sent"),
    [
        (["system_prompt"], "Be brief.", "append"),
        (["system_prompt", "override"], {"mode": "override", "text": "Be brief."}, "override"),
        (["system_prompt"], {"mode": "override", "text": "Be brief."}, None),
        ([], "Be brief.", None),
    ],
)
async def test_a_system_prompt_where_it_is_taken(
    tmp_path: Path, version: int, offers: list[str], prompt: Any, sent: str | None
) -> None:
    entry = {"systemPrompt": prompt}
    async with seat(tmp_path, offering(*offers), version, entry=entry) as at:
        await at.command("acpls.session.new")
        (opened,) = at.heard_by(method="session/new")
        if sent is None:
            assert "systemPrompt" not in opened
            assert len(warnings(at, "the system prompt")) == 1
        else:
            content = [{"type": "text", "text": "Be brief."}]
            assert opened["systemPrompt"] == {"mode": sent, "content": content}
            assert warnings(at, "system prompt") == []


@both_versions
async def test_the_options_of_the_settings_are_set_before_the_first_prompt(
    tmp_path: Path, version: int
) -> None:
    """By id and by category; what is so already is left alone, what is not there is told."""
    session = {
        "options": [
            {"id": "m1", "category": "model", "value": "fast", "choices": ["fast", "slow"]},
            {"id": "web", "value": True},
            {"id": "quiet", "value": True},
        ],
        "modes": {
            "current": "ask",
            "available": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
        },
    }
    options = {"model": "slow", "web": False, "quiet": True, "mode": "code", "nope": "x"}
    script = {"session": session, **HELLO}
    async with seat(tmp_path, script, version, entry={"options": options}) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        methods = [m["method"] for m in at.heard_by() if "method" in m and "id" in m]
        after = methods[methods.index("session/new") + 1 :]
        assert after[-1] == "session/prompt"
        assert len(after) == 4
        values = {o["option"]: o["value"] for o in (await at.get())["options"]}
        assert values == {"m1": "slow", "web": False, "quiet": True, "mode": "code"}
        assert len(warnings(at, "'nope'")) == 1
        assert at.popups == []


# --- copies and titles -----------------------------------------------------------------


@both_versions
async def test_copies_titles_and_lists(tmp_path: Path, version: int) -> None:
    kept = {"kept_in": str(tmp_path / "sessions")}
    script = offering("fork", "title", session=kept)
    async with seat(tmp_path, script, version) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        await at.command("acpls.session.rename", {"title": "  Mine "})
        assert (await at.get())["title"] == "Mine"
        copy = await at.command("acpls.session.fork")
        assert (copy["session"], copy["nativeId"]) == ("s2", "session-2")
        await at.command("acpls.session.prompt", {"session": "s2", "text": "more"})
        await at.idle("s2", stop="end_turn")
        listed = await at.command("acpls.session.list", {"agent": "fake"})
        known = {s["nativeId"]: (s.get("title"), s.get("session")) for s in listed["sessions"]}
        assert known == {"session": ("Mine", "s1"), "session-2": ("Mine", "s2")}


@both_versions
async def test_words_that_nobody_knows_are_kept(tmp_path: Path, version: int) -> None:
    """Unknown notifications, of a session or of none, end nothing and are not lost."""
    notes: list[Any] = [
        {"notify": "_vendor/quota", "params": {"sessionId": "session", "left": 3}},
        {"notify": "_vendor/weather", "params": {"secret": SECRET}},
        {"notify": "session/dreams", "params": None},
    ]
    async with seat(tmp_path, {"turns": [[*notes, {"say": "Hello. "}]]}, version) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        entries = (await at.get())["entries"]
        payloads = [e["payload"] for e in entries if e["type"] == "other"]
        left = {"sessionId": "session", "left": 3}
        assert payloads == [{"method": "_vendor/quota", "params": left}]
        log = (await at.command("acpls.agent.log"))["text"]
        assert "_vendor/weather" in log
        assert "session/dreams" in log
        assert SECRET not in log


# --- other paths -----------------------------------------------------------------------

OLD, NEW = "one\ntwo\nthree\n", "one\n2\nthree\n"


@both_versions
async def test_an_agent_that_sees_other_paths(tmp_path: Path, version: int) -> None:
    """Its folder, what it changes, and what it is given have its names; all else has ours."""
    project = tmp_path / "project"
    local = str(project / "a.txt")
    edit: list[Any] = [
        {
            "tool": "t1",
            "title": "Edit a.txt",
            "kind": "edit",
            "status": "in_progress",
            "locations": [["a.txt", 2]],
        },
        {"write": local, "text": NEW, "via": "disk"},
        {
            "tool": "t1",
            "status": "completed",
            "content": [{"diff": {"path": "a.txt", "old": OLD, "new": NEW}}],
        },
        {"say": "In {cwd}."},
    ]
    servers = {"x": {"command": "tool"}}
    entry: Json = {"pathMap": {str(project): "/remote/place"}, "mcpServers": servers}
    script = offering("stdio", turns=[edit])
    async with seat(tmp_path, script, version, entry=entry) as at:
        uri = at.open(at.file("a.txt", OLD))
        given = {"text": "go", "context": [{"uri": uri}]}
        await at.command("acpls.session.prompt", given)
        (hunk,) = await hunks_told(at, uri, 1)
        assert (hunk["baseText"], hunk["newText"]) == ("two\n", "2\n")
        await at.until(lambda: at.said() == "In /remote/place.")
        (opened,) = at.heard_by(method="session/new")
        assert opened["cwd"] == "/remote/place"
        # What is a program there only the agent knows.
        assert [s["command"] for s in opened["mcpServers"]] == ["tool"]
        (prompt,) = at.heard_by(method="session/prompt")
        sent = str(prompt["prompt"])
        assert "file:///remote/place/a.txt" in sent
        assert str(project) not in sent
        await at.until(lambda: at.seen("acp/place/changed"))
        assert {place["uri"] for place in at.seen("acp/place/changed")} == {uri}
        entry = await at.get()
        assert entry["cwd"] == str(project)
        call = next(e for e in entry["entries"] if e["type"] == "toolCall")
        assert call["locations"][0]["uri"] == uri
        (diff,) = [c for c in call["content"] if c["type"] == "diff"]
        assert diff["changes"][0]["uri"] == uri
        assert (await at.command("acpls.review.reject"))["left"] == []
        await hunks_told(at, uri, 0)
        at.save(uri)
        assert (project / "a.txt").read_text() == OLD


async def test_files_and_terminals_under_other_paths(tmp_path: Path) -> None:
    """In ACP 1 the agent reads, writes and runs things here by its own names."""
    project = tmp_path / "project"
    turn: list[Any] = [
        {"read": "b.txt", "via": "client", "into": "b"},
        {"write": "sub/c.txt", "via": "client", "text": "{b}!"},
        {"terminal": ["pwd"], "into": "pwd"},
        {"read": "/remote/other/x", "via": "client", "failed": [{"say": "Not there. "}]},
        {"say": "{pwd}"},
    ]
    entry = {"pathMap": {str(project): "/remote/place"}}
    async with seat(tmp_path, {"turns": [turn]}, 1, entry=entry) as at:
        uri = at.open(at.file("b.txt", "disk"))
        at.replace(uri, 0, 4, "buffer")
        at.file("sub/keep", "")
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        assert at.said() == f"Not there. {project.resolve()}\n"
        assert (project / "sub/c.txt").read_text() == "buffer!"
        (told,) = await at.command("acpls.review.list")
        assert at.path_of(told["uri"]) == project / "sub/c.txt"


@both_versions
async def test_a_question_and_a_list_under_other_paths(tmp_path: Path, version: int) -> None:
    """The preview is of the file here; sessions that the agent lists are in folders here."""
    project = tmp_path / "project"
    call: Json = {
        "tool": "t1",
        "title": "Edit a.txt",
        "kind": "edit",
        "content": [{"diff": {"path": "a.txt", "old": OLD, "new": NEW}}],
    }
    script = {"turns": [[{"ask": "Sure?", "call": call}]]}
    entry = {"pathMap": {str(project): "/remote/place"}}
    async with seat(tmp_path, script, version, entry=entry, ignore=TOLD) as at:
        answer = Later()
        at.answer["acp/question/ask"] = lambda _: answer
        path = at.file("a.txt", OLD)
        await at.command("acpls.session.prompt", {"text": "go"})
        asked = await at.next("acp/question/ask")
        (preview,) = asked["preview"]
        assert at.path_of(preview["uri"]) == path
        assert "+2\n" in preview["patch"]
        answer.set({"option": "reject_once"})
        await at.idle(stop="end_turn")
        listed = await at.command("acpls.session.list", {"agent": "fake"})
        assert [s["cwd"] for s in listed["sessions"]] == [str(project)]


# --- one session, early words, slow starts ---------------------------------------------


@both_versions
async def test_s10_a_prompt_opens_one_session(tmp_path: Path, version: int) -> None:
    """S10: two at once share it, and all that was streamed is there."""
    script = {"turns": [[{"say": "One. ", "pieces": 5}], [{"say": "Two. ", "pieces": 5}]]}
    async with seat(tmp_path, script, version) as at:
        calls = [
            at.begin(
                "workspace/executeCommand",
                {"command": "acpls.session.prompt", "arguments": [{"text": text}]},
            )
            for text in ("one", "two")
        ]
        calls.append(
            at.begin("workspace/executeCommand", {"command": "acpls.session.openConversation"})
        )
        taken = [await call.result() for call in calls]
        assert [t["session"] for t in taken[:2]] == ["s1", "s1"]
        await at.until(lambda: at.said() == "One. Two. ")
        assert len(at.heard_by(method="session/new")) == 1
        sent = [p["prompt"][0]["text"] for p in at.heard_by(method="session/prompt")]
        assert sent == ["one", "two"]
        listed = await at.command("acpls.session.list")
        assert [s["session"] for s in listed["sessions"]] == ["s1"]
        await at.next("window/showDocument")


@both_versions
async def test_s18_what_comes_before_the_reply_of_two_sessions(
    tmp_path: Path, version: int
) -> None:
    """S18: each session gets its own, also when both are being opened."""
    early = [{"session_title": "In {cwd}"}, {"say": "Early. "}, {"usage": [1, 2]}]
    async with seat(tmp_path, {"session": {"before": early}, **HELLO}, version) as at:
        folders = [at.project / name for name in ("a", "b")]
        for folder in folders:
            folder.mkdir()
        calls = [
            at.begin(
                "workspace/executeCommand",
                {"command": "acpls.session.new", "arguments": [{"cwd": str(folder)}]},
            )
            for folder in folders
        ]
        opened: list[Json] = [await call.result() for call in calls]
        assert [o["title"] for o in opened] == [f"In {folder}" for folder in folders]
        for key in ("s1", "s2"):
            await at.until(lambda key=key: at.said(key) == "Early. ")  # type: ignore[misc]  # bound now
            assert (await at.get(key))["usage"] == {"used": 1, "size": 2}


@both_versions
async def test_x21_the_editor_can_be_used_while_an_agent_starts(
    tmp_path: Path, version: int
) -> None:
    """X21: everything answers, progress is shown, and what is asked meanwhile goes out later."""
    gate = tmp_path / "gate"
    script = {"start": [{"gate": str(gate)}], **HELLO}
    async with seat(tmp_path, script, version) as at:
        taken = await at.command("acpls.session.prompt", {"text": "go"})
        assert taken["queued"] is True
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.new"})

        def begun() -> list[Any]:
            values = [v[0] for v in at.progress.values()]
            return [v for v in values if v.get("title") == "Starting fake"]

        await at.until(begun)
        await at.until(lambda: "waiting for its answer" in str(at.progress))
        uri = at.open(at.file("a.txt", OLD))
        talk = await at.command("acpls.session.openConversation", {"session": "s1"})
        await at.next("window/showDocument")
        assert "go" in at.text(talk["uri"]) or (await at.get("s1"))["queue"]
        where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        assert await at.request("textDocument/hover", where) is None
        status = await at.command("acpls.status")
        assert status["sessions"]
        (entry,) = await at.command("acpls.agent.list")
        assert entry["state"] == "starting"
        assert not waiting.answered
        # Whoever gives up waiting breaks nothing.
        waiting.cancel()
        with pytest.raises(CommandFailed) as given_up:
            await waiting.result()
        assert given_up.value.code == -32800
        gate.touch()
        await at.until(lambda: at.said() == "Hello. ")
        await at.until(lambda: {v[-1]["kind"] for v in at.progress.values()} == {"end"})
        assert (await at.get("s2"))["live"] is True
        assert at.popups == []
        await at.until(lambda: "Hello." in at.text(talk["uri"]))
        at.close(talk["uri"])
        await at.command("acpls.status")


@both_versions
async def test_x21_an_agent_is_stopped_before_it_is_ready(tmp_path: Path, version: int) -> None:
    """X21: a slow start can be given up, and the next one works."""
    script = {"start": [{"gate": str(tmp_path / "never")}], **HELLO}
    async with seat(tmp_path, script, version) as at:
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.new"})
        await at.next("acp/agent/changed", lambda p: "message" in p and "waiting" in p["message"])
        at.play("fake", HELLO)
        await at.command("acpls.agent.restart")
        assert (await waiting.result())["live"] is True
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: at.said() == "Hello. ")
        assert len(at.heard_by(method="session/new")) == 1
        assert at.popups == []
