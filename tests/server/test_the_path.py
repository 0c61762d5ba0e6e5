"""The path: prompt, stream, question, answer, edit, verdict, cancel, end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, hunks_told, open_conversation, seat

from acpls.testing.editor import PLAIN, Later

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
CHANGED = CODE.replace("return 1", "return 10").replace("return 2", "return 20")
MINE = "# unsaved\n"

EDITS: list[Any] = [
    {"think": "Ten times as much."},
    {"say": "I change both numbers.", "pieces": 4},
    {"plan": ["Change them", {"content": "Say so", "priority": "high", "status": "pending"}]},
    {
        "tool": "t1",
        "title": "Edit a.py",
        "kind": "edit",
        "status": "pending",
        "locations": [["a.py", 2]],
        "content": [{"diff": {"path": "a.py", "old": CODE, "new": CHANGED}}],
    },
    {
        "ask": "Edit a.py?",
        "call": {"tool": "t1", "title": "Edit a.py", "kind": "edit"},
        "then": {
            "allow_once": [
                {"write": "a.py", "text": CHANGED, "via": "disk"},
                {"tool": "t1", "status": "completed"},
            ],
            "reject_once": [{"tool": "t1", "status": "failed"}],
        },
    },
    {"say": " Done."},
    {"end": "end_turn"},
]
AT_LENGTH: list[Any] = [{"say": "This takes long."}, "wait_cancel"]


@both_versions
async def test_a_client_that_draws_everything_itself(tmp_path: Path, version: int) -> None:
    async with seat(tmp_path, {"turns": [EDITS, AT_LENGTH]}, version, ignore=TOLD) as at:
        path = at.file("a.py", CODE)
        uri = at.open(path)
        at.type(uri, 0, MINE)
        answer = Later()
        at.answer["acp/question/ask"] = lambda _: answer

        # The prompt is taken at once; the turn goes on by itself.
        taken = await at.command("acpls.session.prompt", {"text": "Ten times as much"})
        assert taken["session"] == "s1"

        # The question shows what would be changed, with all options by name.
        asked = await at.next("acp/question/ask")
        assert asked["title"] in {"Edit a.py?", "Edit a.py"}
        assert [o["option"] for o in asked["options"]] == ["allow_once", "reject_once"]
        assert [o["name"] for o in asked["options"]] == ["Allow once", "Reject once"]
        assert "+    return 10\n" in asked["preview"][0]["patch"]
        assert [q["question"] for q in await at.command("acpls.question.list")] == ["q1"]
        answer.set({"option": "allow_once"})
        settled = await at.next("acp/question/settled")
        assert settled == {"question": "q1", "by": "editor", "option": "allow_once"}

        # What was streamed is told in order and whole, and so are plan and tool call.
        await at.idle(stop="end_turn")
        assert at.said() == "I change both numbers. Done."
        assert at.said(role="thought") == "Ten times as much."
        assert at.said(role="user") == "Ten times as much"
        plan = at.changes("s1", "plan")[-1]
        assert [e["content"] for e in plan["entries"]] == ["Change them", "Say so"]
        call = at.changes("s1", "toolCall")[-1]
        assert (call["toolCall"], call["status"]) == ("t1", "completed")
        place = await at.next("acp/place/changed", lambda p: p["reason"] == "edit")
        assert (place["uri"], place["range"]["start"]["line"]) == (uri, 1)
        assert place["move"] is False

        # The edit is under review; the unsaved document was not touched.
        hunks = await hunks_told(at, uri, 2)
        assert at.text(uri) == MINE + CODE
        assert path.read_text() == CHANGED
        assert [h["applied"] for h in hunks] == [False, False]

        # One is kept, one is rejected: by the document, which is not saved.
        kept = await at.command("acpls.review.keep", {"hunk": hunks[0]["hunk"]})
        assert kept == {"hunks": 1, "left": []}
        rejected = await at.command("acpls.review.reject", {"hunk": hunks[1]["hunk"]})
        assert rejected == {"hunks": 1, "left": []}
        assert at.text(uri) == MINE + CODE.replace("return 1", "return 10")
        assert at.modified(uri)
        assert path.read_text() == CODE.replace("return 1", "return 10")
        assert await hunks_told(at, uri, 0) == []

        # A long turn is stopped.
        await at.command("acpls.session.prompt", {"text": "At length"})
        await at.until(lambda: "This takes long." in at.said())
        await at.command("acpls.session.cancel")
        await at.idle(stop="cancelled")
        whole = await at.get()
        assert (whole["state"], whole["stopReason"]) == ("idle", "cancelled")


@both_versions
async def test_a_client_that_knows_nothing_but_lsp(tmp_path: Path, version: int) -> None:
    script = {"turns": [EDITS, AT_LENGTH]}
    async with seat(tmp_path, script, version, capabilities=PLAIN) as at:
        path = at.file("a.py", CODE)
        uri = at.open(path)
        at.type(uri, 0, MINE)

        # The conversation is a document, and what is written in it is sent from it.
        talk = await open_conversation(at)
        write(at, talk, "Ten times as much")
        await at.command(*(await action(at, talk, "Send")))

        # The answer streams in above the heading; the turn shows as progress.
        await at.until(lambda: "I change both numbers." in at.text(talk))
        await at.until(lambda: turn_progress(at, "begin"))

        # The question is a warning in the conversation, and code actions everywhere.
        (warning,) = await at.until(lambda: at.diagnostics(talk))
        line = at.text(talk).splitlines()[warning["range"]["start"]["line"]]
        assert "Edit a.py" in line
        await at.until(lambda: "Edit a.py" in at.text(talk))
        first, *_ = await actions(at, uri)
        assert first["command"]["command"] == "acpls.question.show"
        assert (await at.popup()).startswith("Waiting for you: Edit a.py")
        await at.command(*(await action(at, uri, "Allow once")))
        await at.until(lambda: " Done." in at.text(talk))
        await at.until(lambda: turn_progress(at, "end"))
        assert at.diagnostics(talk) == []

        # The hunks are diagnostics, hovers and code actions in the file itself.
        first_hunk, second_hunk = await at.until(
            lambda: d if len(d := at.diagnostics(uri)) == 2 else None
        )
        assert first_hunk["severity"] == second_hunk["severity"] == 3
        hover = await at.request(
            "textDocument/hover",
            {"textDocument": {"uri": uri}, "position": first_hunk["range"]["start"]},
        )
        assert "-    return 1\n+    return 10\n" in hover["contents"]["value"]
        await at.command(*(await action(at, uri, "Keep this", first_hunk["range"])))
        (second_hunk,) = await at.until(lambda: d if len(d := at.diagnostics(uri)) == 1 else None)
        await at.command(*(await action(at, uri, "Reject this", second_hunk["range"])))
        await at.until(lambda: not at.diagnostics(uri))
        assert at.text(uri) == MINE + CODE.replace("return 1", "return 10")
        assert at.modified(uri)

        # The sent text now stands above, once, and a long turn is stopped in the progress view.
        assert at.text(talk).count("Ten times as much\n") == 1
        write(at, talk, "At length")
        await at.command("acpls.session.send", {"uri": talk})
        await at.until(lambda: "This takes long." in at.text(talk))
        token = await at.until(
            lambda: next((t for t in turn_progress(at, "begin") if not ended(at, t)), None)
        )
        at.notify("window/workDoneProgress/cancel", {"token": token})
        await at.until(lambda: ended(at, token))
        assert (await at.get())["stopReason"] == "cancelled"


def write(at: Seat, talk: str, text: str) -> None:
    """The user writes under the last heading."""
    at.type(talk, at.below_heading(talk), text)


async def actions(at: Seat, uri: str, span: Json | None = None) -> list[Json]:
    nowhere = {"line": 0, "character": 0}
    params = {
        "textDocument": {"uri": uri},
        "range": span or {"start": nowhere, "end": nowhere},
        "context": {"diagnostics": []},
    }
    found: list[Json] = await at.request("textDocument/codeAction", params)
    return found


async def action(at: Seat, uri: str, title: str, span: Json | None = None) -> tuple[str, Json]:
    """The command of the code action whose title begins so, and its argument."""
    found = [a for a in await actions(at, uri, span) if a["title"].startswith(title)]
    assert found, [a["title"] for a in await actions(at, uri, span)]
    run = found[0]["command"]
    return run["command"], run["arguments"][0]


def turn_progress(at: Seat, kind: str) -> list[str | int]:
    return [
        token
        for token, values in at.progress.items()
        if "turn" in str(token) and any(v["kind"] == kind for v in values)
    ]


def ended(at: Seat, token: str | int) -> bool:
    return any(value["kind"] == "end" for value in at.progress[token])


async def test_two_sessions_of_one_agent_at_once(tmp_path: Path) -> None:
    both: list[Any] = [{"say": "in {cwd}: "}, {"late": "session/cancel"}, {"say": "on"}]
    script = {"cancel": "ignore", "turns": [[*both, {"say": " and on"}]]}
    async with seat(tmp_path, script, 1) as at:
        left, right = at.project / "left", at.project / "right"
        left.mkdir()
        right.mkdir()
        one = await at.command("acpls.session.new", {"cwd": str(left), "title": "Left"})
        two = await at.command("acpls.session.new", {"cwd": str(right)})
        assert (one["session"], two["session"]) == ("s1", "s2")
        assert (one["cwd"], two["cwd"]) == (str(left), str(right))
        assert one["nativeId"] != two["nativeId"]

        # The one used last is the current one; the others are named.
        await at.command("acpls.session.prompt", {"session": "s1", "text": "go"})
        await at.command("acpls.session.prompt", {"session": "s2", "text": "go"})
        await at.until(lambda: f"in {left}: " == at.said("s1"))
        await at.until(lambda: f"in {right}: " == at.said("s2"))
        assert {s["state"] for s in (await at.command("acpls.session.list"))["sessions"]} == {
            "running"
        }
        await at.command("acpls.session.cancel")
        await at.idle("s2")
        assert at.said("s2") == f"in {right}: on and on"
        await at.idle("s1")
        assert at.said("s1") == f"in {left}: on and on"


async def test_two_agents_at_once_that_speak_different_versions(tmp_path: Path) -> None:
    asks: list[Any] = [
        {"say": "May I? "},
        {"ask": "Go on?", "then": {"allow_once": [{"say": "Thanks."}]}},
    ]
    agents = {"old": ({"turns": [asks]}, 1), "new": ({"turns": [asks]}, 2)}
    async with seat(tmp_path, agents=agents, ignore=TOLD) as at:
        answers = {"s1": Later(), "s2": Later()}
        at.answer["acp/question/ask"] = lambda question: answers[question["session"]]
        old = await at.command("acpls.session.new", {"agent": "old"})
        new = await at.command("acpls.session.new", {"agent": "new"})
        assert (old["agent"], new["agent"]) == ("old", "new")
        listed = await at.command("acpls.agent.list")
        assert [a["protocolVersion"] for a in listed] == [1, 2]
        for session in ("s1", "s2"):
            await at.command("acpls.session.prompt", {"session": session, "text": "go"})
            assert (await at.next("acp/question/ask"))["session"] == session

        # Answered in the other order, each goes to the agent that asked, under the same id 0.
        answers["s2"].set({"option": "allow_once"})
        await at.idle("s2", "end_turn")
        assert at.said("s1") == "May I? "
        answers["s1"].set({"option": "reject_once"})
        await at.idle("s1", "end_turn")
        assert (at.said("s1"), at.said("s2")) == ("May I? ", "May I? Thanks.")
        for name, option in (("old", "reject_once"), ("new", "allow_once")):
            outcome = {"outcome": "selected", "optionId": option}
            assert at.answers_to(name) == [
                {"jsonrpc": "2.0", "id": 0, "result": {"outcome": outcome}}
            ]

        # One of them ends; the other does not notice.
        await at.command("acpls.agent.stop", {"agent": "old"})
        await at.until(lambda: [s for s in at.changes("s1", "state") if s["state"] == "lost"])
        answers["s2"] = Later()
        await at.command("acpls.session.prompt", {"session": "s2", "text": "again"})
        await at.next("acp/question/ask")
        await at.command("acpls.session.cancel", {"session": "s2"})
        await at.idle("s2", "cancelled")
