"""Forms of agents, with the real server: as documents of a plain editor, and drawn by a client."""

from __future__ import annotations

import contextlib
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import server_stage
from server_stage import TOLD, Seat, both_versions, open_conversation, outcomes, seat

from acpls.testing.editor import FULL, PLAIN, CommandFailed, Later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

MARK = "hunter2-in-no-log"
PAGE = "https://example.org/log-in?code=" + "0123456789abcdef" * 30
SCHEMA: Json = {
    "type": "object",
    "title": "Account",
    "properties": {
        "user": {"type": "string", "title": "User", "minLength": 2},
        "password": {"type": "string", "title": "Password", "pattern": "^[^ ]+$"},
        "days": {"type": "integer", "minimum": 1, "default": 30},
    },
    "required": ["user", "password"],
}
ANSWERS: Json = {
    "accepted": [{"say": " Thanks."}],
    "declined": [{"say": " Never mind."}],
    "cancelled": [{"say": " Cancelled."}],
}
ASKS: list[Any] = [{"say": "Well..."}, {"form": SCHEMA, "message": "Log in to the shop", **ANSWERS}]
DRAWS: Json = {
    **FULL,
    "experimental": {"acp": {**FULL["experimental"]["acp"], "forms": True}},
}
CONTENT = {"user": "ann", "password": MARK, "days": 30}


async def actions(at: Seat, uri: str) -> list[Json]:
    nowhere = {"line": 0, "character": 0}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": nowhere, "end": nowhere},
        "context": {"diagnostics": []},
    }
    found: list[Json] = await at.request("textDocument/codeAction", params)
    return found


async def run(at: Seat, uri: str, title: str) -> Any:
    """Run the code action with this title."""
    (found,) = [a for a in await actions(at, uri) if a["title"] == title]
    command = found["command"]
    return await at.command(command["command"], command["arguments"][0])


async def talking(at: Seat) -> str:
    """The user prompts from the conversation document; its URI, when the form waits."""
    talk = await open_conversation(at)
    at.type(talk, at.below_heading(talk), "Please do")
    await at.command("acpls.session.send")
    await at.until(lambda: any(d["severity"] == 2 for d in at.diagnostics(talk)))
    return talk


async def form_document(at: Seat, uri: str) -> str:
    """Open the form's document, as the user of a plain editor would; its URI."""
    told = await run(at, uri, "Fill in the form: Log in to the shop")
    path = at.path_of(told["uri"])
    assert await at.popup() == f"Open .acp/{path.name} to fill in the form"
    return at.open(path)


def fill(at: Seat, uri: str, old: str, new: str) -> None:
    start = at.text(uri).index(old)
    at.replace(uri, start, start + len(old), new)


def kept(folder: Path) -> Iterator[bytes]:
    """All that is in a folder, unpacked where it is packed."""
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            yield data
            with contextlib.suppress(zlib.error):
                yield zlib.decompress(data)


@both_versions
async def test_a_plain_editor_fills_in_a_form_as_a_document_and_nothing_of_it_is_kept(
    tmp_path: Path, version: int
) -> None:
    async with seat(tmp_path, {"turns": [ASKS]}, version, capabilities=PLAIN, ignore=TOLD) as at:
        talk = await talking(at)
        assert await at.popup() == "Waiting for you: Log in to the shop"
        row = next(d for d in at.diagnostics(talk) if d["severity"] == 2)["range"]["start"]["line"]
        assert "Log in to the shop" in at.text(talk).splitlines()[row]
        uri = await form_document(at, talk)
        path = at.path_of(uri)
        assert path.stat().st_mode & 0o077 == 0
        assert (path.parent / ".gitignore").read_text() == "*\n"
        assert "Careful: this seems to ask for a secret" in at.text(uri)
        titles = [a["title"] for a in await actions(at, uri)]
        assert titles[:2] == ["Send the form", "Decline the form"]

        with pytest.raises(CommandFailed) as failed:
            await run(at, uri, "Send the form")
        assert failed.value.data["field"] == "content.user"
        await at.until(lambda: len(at.diagnostics(uri)) == 2)
        fill(at, uri, 'user = ""', 'user = "ann"')
        await at.until(lambda: len(at.diagnostics(uri)) == 1)
        fill(at, uri, 'password = ""', f'password = "{MARK}"')
        await at.until(lambda: at.diagnostics(uri) == [])
        # Some save whatever they have typed, and it is looked at then.
        at.save(uri)
        assert await at.command("acpls.session.fetch") == {}
        (listed,) = await at.command("acpls.question.list")
        assert MARK not in str(listed)

        assert await run(at, uri, "Send the form") == {}
        await at.until(lambda: "Thanks." in at.text(talk))
        assert outcomes(at) == {0: {"action": "accept", "content": CONTENT}}
        await at.until(lambda: not path.exists())
        assert await at.command("acpls.question.list") == []
        assert MARK not in at.text(talk)
        logs = str(await at.command("acpls.agent.log"))
    assert MARK not in logs
    assert MARK not in at.stderr.decode()
    assert MARK not in str(at.tap.heard)
    assert not [
        data
        for folder in (Path(os.environ["XDG_STATE_HOME"]), at.project)
        for data in kept(folder)
        if MARK.encode() in data
    ]


@both_versions
async def test_a_client_that_draws_forms_is_asked_for_the_values(
    tmp_path: Path, version: int
) -> None:
    async with seat(tmp_path, {"turns": [ASKS]}, version, capabilities=DRAWS, ignore=TOLD) as at:
        drawn = Later()
        at.answer["acp/form/ask"] = lambda _: drawn
        await at.command("acpls.session.prompt", {"text": "go"})
        asked = await at.next("acp/form/ask")
        assert asked == {
            "question": "q1",
            "session": "s1",
            "agent": "fake",
            "message": "Log in to the shop",
            "mode": "form",
            "schema": SCHEMA,
            "secrets": ["password"],
        }
        drawn.set({"action": "accept", "content": {"user": "a", "password": MARK}})
        assert await at.popup() == "User must have at least 2 characters"
        with pytest.raises(CommandFailed) as failed:
            await at.command(
                "acpls.question.answer",
                {"action": "accept", "content": {"user": "ann", "password": "a b"}},
            )
        assert failed.value.data["field"] == "content.password"
        assert outcomes(at) == {}
        content = {"user": "ann", "password": MARK}
        answer = {"question": "q1", "action": "accept", "content": content}
        assert await at.command("acpls.question.answer", answer) == {}
        await at.idle(stop="end_turn")
        assert at.said() == "Well... Thanks."
        assert outcomes(at) == {0: {"action": "accept", "content": content}}
        with pytest.raises(CommandFailed, match="settled already, by editor"):
            await at.command("acpls.question.answer", answer)
    assert MARK not in at.stderr.decode() + str(at.tap.heard)


@both_versions
async def test_a_drawn_form_is_answered_at_once(tmp_path: Path, version: int) -> None:
    async with seat(tmp_path, {"turns": [ASKS]}, version, capabilities=DRAWS, ignore=TOLD) as at:
        at.answer["acp/form/ask"] = lambda _: {"action": "decline"}
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/form/ask")
        await at.idle(stop="end_turn")
        assert at.said() == "Well... Never mind."
        assert outcomes(at) == {0: {"action": "decline"}}


@both_versions
async def test_a_page_goes_to_a_client_that_draws_forms_in_full(
    tmp_path: Path, version: int
) -> None:
    visit = {"visit": PAGE, "message": "Log in here", "accepted": [{"say": "Visited."}]}
    async with seat(tmp_path, {"turns": [[visit]]}, version, capabilities=DRAWS, ignore=TOLD) as at:
        at.answer["acp/form/ask"] = lambda _: {"action": "accept"}
        await at.command("acpls.session.prompt", {"text": "go"})
        asked = await at.next("acp/form/ask")
        assert (asked["mode"], asked["url"], asked["message"]) == ("url", PAGE, "Log in here")
        assert "schema" not in asked
        await at.idle(stop="end_turn")
        assert outcomes(at) == {0: {"action": "accept"}}
        # It opens the page itself, when the user agreed.
        assert at.seen("window/showDocument") == []


@both_versions
async def test_a_cancelled_turn_takes_its_form_and_leaves_what_was_typed(
    tmp_path: Path, version: int
) -> None:
    async with seat(tmp_path, {"turns": [ASKS]}, version, capabilities=PLAIN, ignore=TOLD) as at:
        talk = await talking(at)
        await at.popup()
        uri = await form_document(at, talk)
        fill(at, uri, 'user = ""', 'user = "typed"')
        await at.command("acpls.session.cancel")
        assert (await at.popup()).startswith("A form is not waited for any more")
        await at.until(lambda: not at.path_of(uri).exists())
        await at.until(lambda: "ended early" in at.text(talk))
        assert outcomes(at) == {0: {"action": "cancel"}}
        assert 'user = "typed"' in at.text(uri)
        assert not [a for a in await actions(at, uri) if "form" in a["title"].casefold()]
        assert at.diagnostics(uri) == []


@both_versions
async def test_a_login_may_ask_for_a_form(tmp_path: Path, version: int) -> None:
    steps = [
        {
            "form": SCHEMA,
            "message": "Log in to the shop",
            "declined": [{"fail": {"code": 1, "message": "no"}}],
        }
    ]
    method = {"id": "shop", "name": "Shop", "steps": steps}
    script: Json = {"initialize": {"login": {"methods": [method], "needed_for": ["session/new"]}}}
    async with seat(tmp_path, script, version, capabilities=PLAIN, ignore=TOLD) as at:
        await at.command("acpls.agent.start")
        await at.asked("acpls.agent.list", None, lambda agents: agents[0]["state"] == "ready")
        login = at.begin(
            "workspace/executeCommand",
            {"command": "acpls.agent.login", "arguments": [{"methodId": "shop"}]},
        )
        assert await at.popup() == "Waiting for you: Log in to the shop"
        (listed,) = await at.command("acpls.question.list")
        assert "session" not in listed
        answer = {"action": "accept", "content": {"user": "ann", "password": MARK}}
        await at.command("acpls.question.answer", answer)
        assert (await login.result())["state"] == "ready"
        assert [o["action"] for o in outcomes(at).values()] == ["accept"]


async def test_not_even_the_log_for_us_has_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_stage, "SERVER", [*server_stage.SERVER, "--log-level", "debug"])
    at = Seat(tmp_path, {"fake": ({"turns": [ASKS]}, 2)}, capabilities=DRAWS, ignore=TOLD)
    async with at:
        at.answer["acp/form/ask"] = lambda _: {"action": "accept", "content": [MARK]}
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/form/ask")
        await at.popup()
        for content in (MARK, {"user": "ann", "password": [MARK]}, {"user": [MARK]}):
            answer: Json = {"action": "accept", "content": content}
            with pytest.raises(CommandFailed) as failed:
                await at.command("acpls.question.answer", answer)
            assert MARK not in f"{failed.value.message}{failed.value.data}"
        answer = {"action": "accept", "content": CONTENT}
        await at.command("acpls.question.answer", answer)
        await at.idle(stop="end_turn")
    assert "DEBUG" in at.stderr.decode()
    assert MARK not in at.stderr.decode() + str(at.tap.heard)


async def test_no_file_is_left_when_the_server_ends(tmp_path: Path) -> None:
    async with seat(tmp_path, {"turns": [ASKS]}, 2, capabilities=PLAIN, ignore=TOLD) as at:
        talk = await talking(at)
        await at.popup()
        path = at.path_of(await form_document(at, talk))
        assert path.exists()
    assert not path.exists()
