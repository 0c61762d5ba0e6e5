"""Agents that misbehave: one clear message, the session marked, everything else goes on."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
from server_stage import both_versions, seat

from acpls.testing.editor import CommandFailed

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

Json = dict[str, Any]

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024
DONE: list[Any] = [{"say": "Done."}, {"end": "end_turn"}]
LAST_WORDS = "first line\nfatal: the model has left\n    at run (agent.js:7)\n"


async def alive(at: Seat) -> None:
    """The server still answers, requests and commands."""
    uri = "file:///alive.txt"
    if uri not in at.pages:
        at.open_text(uri, "x")
    nowhere = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    assert await at.request("textDocument/hover", nowhere) is None
    status = await at.command("acpls.status")
    assert status["version"]


async def goes_on(at: Seat) -> None:
    """The turn ends as if nothing had been, and nobody was bothered."""
    await at.idle(stop="end_turn")
    assert at.said().endswith("Done.")
    assert at.popups == []
    assert (await at.get())["live"] is True


async def is_over(at: Seat, session: str = "s1") -> str:
    """One message to the user, the session lost, the server alive; that message."""
    message = await at.popup()
    await at.until(lambda: [c for c in at.changes(session, "state") if c["state"] == "lost"])
    ended = [p for p in at.seen("acp/agent/changed") if p["state"] == "ended"]
    assert len(ended) == 1
    entry = await at.get(session)
    assert (entry["state"], entry["live"]) == ("lost", False)
    await alive(at)
    assert len(at.popups) == 1, at.popups
    return message


async def starts_again(at: Seat, script: Json) -> None:
    """The agent is restarted with another script, and works in a new session."""
    at.play("fake", script)
    entry = await at.command("acpls.agent.restart")
    assert entry["state"] in {"starting", "ready"}
    fresh = await at.command("acpls.session.new")
    assert fresh["live"] is True
    await at.command("acpls.session.prompt", {"text": "Again"})
    await at.idle(fresh["session"], "end_turn")
    assert at.said(fresh["session"]) == "Done."
    assert len(at.popups) == 1, at.popups


async def log_of(at: Seat, agent: str = "fake") -> str:
    told = await at.command("acpls.agent.log", {"agent": agent})
    return str(told["text"])


# --- what is survived --------------------------------------------------------------------

PROGRESS = "progress 50 %\rprogress 100 %\n"

LOOK_ALIKES: list[Any] = [1, 0, None, True, "done", [], [1, 2], {}, {"level": "info", "id": 4}]
# All ids that we can have used so far, in objects that are no replies.
for _number in range(12):
    LOOK_ALIKES += [
        {"id": _number, "result": {"stopReason": "refusal", "messageId": "m"}},
        {"jsonrpc": "1.0", "id": _number, "result": {"stopReason": "refusal"}},
        {"jsonrpc": 2.0, "id": str(_number), "error": {"code": 1, "message": "no"}},
    ]
# Replies in the right form, to requests that were never made.
LOOK_ALIKES += [
    {"jsonrpc": "2.0", "id": 4711, "result": {"stopReason": "refusal"}},
    {"jsonrpc": "2.0", "id": "1", "error": {"code": 1, "message": "no"}},
]

WRONG_SHAPES: list[Json] = [
    {"method": "session/update"},
    {"method": "session/update", "params": []},
    {"method": "session/update", "params": {"sessionId": 7, "update": {}}},
    {"method": "session/update", "params": {"sessionId": "session"}},
    {"method": "session/update", "params": {"sessionId": "session", "update": "x"}},
    {"method": "session/request_permission", "id": 99, "params": {"sessionId": "session"}},
    {"method": "session/update", "params": {"sessionId": "session", "update": {"content": 1}}},
]
BROKEN = '{"jsonrpc": "2.0", "method": "session/upd\n{"jsonrpc": "2.0",,}\n'

NOVEL = {"sessionUpdate": "moon_phase", "phase": "full", "deep": {"er": [1]}}
HOLOGRAM = {"type": "hologram", "angle": 7}
UNKNOWN_KINDS: list[Any] = [
    {"update": NOVEL},
    {"update": {"_meta": {"only": "meta"}, "sessionUpdate": "session_info_update"}},
    {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "never announced"}},
    {"tool": "odd", "title": "Odd", "kind": "dream", "status": "asleep"},
    {
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "messageId": "hologram",
            "content": HOLOGRAM,
        }
    },
    {"notify": "_vendor/status", "params": {"a": 1}},
    {"notify": "craft/hello"},
    {"request": "craft/drainMidTurnQueue", "params": {}, "into": "answer"},
]


def raw(messages: list[Any]) -> Json:
    return {"raw": "".join(json.dumps(message) + "\n" for message in messages)}


@both_versions
async def test_x06_x09_nonsense_is_logged_and_skipped(tmp_path: Path, version: int) -> None:
    """X06, X09: noise, look-alikes, broken JSON, unknown kinds, and each turn ends well."""
    script = {
        "start": [{"raw": "Migrating 3 tables...\n\n\x1b[32mok\x1b[0m\n"}],
        "turns": [
            [{"say": "1 "}, {"raw": PROGRESS}, *DONE],
            [{"say": "2 "}, raw(LOOK_ALIKES), *DONE],
            [
                {"say": "3 "},
                {"raw": BROKEN},
                raw([{"jsonrpc": "2.0", **message} for message in WRONG_SHAPES]),
                *DONE,
            ],
            [{"say": "4 "}, *UNKNOWN_KINDS, *DONE],
        ],
    }
    async with seat(tmp_path, script, version) as at:
        # X06: lines that are no messages, before the handshake and in the middle of a turn.
        await at.command("acpls.session.prompt", {"text": "noise"})
        await goes_on(at)
        log = await log_of(at)
        assert "Migrating 3 tables..." in log
        assert "progress 100 %" in log

        # X09: numbers, lists, objects with our ids; none of them is taken for a reply.
        await at.command("acpls.session.prompt", {"text": "look-alikes"})
        await goes_on(at)
        assert "4711" in await log_of(at)

        # Broken JSON, and messages of the wrong shape; a request is refused.
        await at.command("acpls.session.prompt", {"text": "wrong shapes"})
        await goes_on(at)
        (refusal,) = [answer for answer in at.answers_to() if answer["id"] == 99]
        assert refusal["error"]["code"] == -32602
        assert '"session/upd' in await log_of(at)

        # Unknown kinds arrive as they are; an unknown request is refused at once.
        await at.command("acpls.session.prompt", {"text": "unknown kinds"})
        await goes_on(at)
        entries = (await at.get())["entries"]
        assert NOVEL in [e["payload"] for e in entries if e["type"] == "other"]
        (odd,) = [e for e in entries if e.get("toolCall") == "odd"]
        assert odd["kind"] == "dream"
        assert HOLOGRAM in [b for e in entries for b in e.get("content", [])]
        assert at.answers_to()[-1]["error"]["code"] == -32601
        assert at.said().replace("Done.", "") == "1 2 3 4 "


async def test_a_line_of_5_mib_and_a_flood_of_errors(tmp_path: Path) -> None:
    script = {
        "turns": [
            [
                {"big_line": 5 * MIB},
                {"flood_stderr": 2 * MIB},
                {"stderr": "the flood is over\n"},
                *DONE,
            ]
        ]
    }
    async with seat(tmp_path, script, 2) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await goes_on(at)
        assert 5 * MIB - 500 < len(at.said()) < 5 * MIB
        assert set(at.said()) == set("xDone.")
        log = await log_of(at)
        assert log.endswith("the flood is over")
        assert len(log) < MIB
        await alive(at)


@both_versions
async def test_an_agent_that_stops_too_late(tmp_path: Path, version: int) -> None:
    """A stop that is not confirmed is shown, with a way out; what comes late finds its place."""
    turn: list[Any] = [
        {"say": "I go on and on"},
        {"late": "session/cancel"},
        {"late": "session/set_config_option"},
        {"say": " to the end."},
        {"end": "end_turn"},
    ]
    session = {"options": [{"id": "fast", "value": False}]}
    script = {"cancel": "ignore", "session": session, "turns": [turn, DONE]}
    async with seat(tmp_path, script, version, settings={"session": {"cancelSeconds": 0.2}}) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.until(lambda: at.said() == "I go on and on")
        await at.command("acpls.session.cancel")
        assert "acpls.session.endTurn" in await at.popup()
        await at.command("acpls.session.endTurn")
        await at.idle(stop="cancelled")

        # Only now the agent says the rest, and then takes the next prompt.
        await at.command("acpls.session.setOption", {"option": "fast", "value": True})
        await at.until(lambda: at.said() == "I go on and on to the end.")
        await at.command("acpls.session.prompt", {"text": "more"})
        await at.until(lambda: "Done." in at.said())
        assert len(at.popups) == 1


# --- what ends the agent -------------------------------------------------------------------


@both_versions
async def test_an_agent_that_dies_in_the_middle_of_a_turn(tmp_path: Path, version: int) -> None:
    turn: list[Any] = [{"say": "Let me see"}, {"stderr": LAST_WORDS}, {"die": 3}]
    async with seat(tmp_path, {"turns": [turn]}, version) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        message = await is_over(at)
        assert message == "fake ended with exit code 3: fatal: the model has left"
        assert at.said() == "Let me see"
        log = await log_of(at)
        assert LAST_WORDS.strip() in log
        (changed,) = [p for p in at.seen("acp/agent/changed") if p["state"] == "ended"]
        assert changed["exitCode"] == 3
        await starts_again(at, {"turns": [DONE]})


async def test_last_words_that_are_long(tmp_path: Path) -> None:
    """One short line for the user; the whole is in the log."""
    words = "Error: " + " ".join(f"reason-{n}" for n in range(40))
    turn: list[Any] = [{"stderr": f"{words}\n"}, {"die": 1}]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        message = await is_over(at)
        assert message.startswith("fake ended with exit code 1: Error: reason-0")
        assert words in await log_of(at)


async def test_an_agent_that_is_killed(tmp_path: Path) -> None:
    turn: list[Any] = [{"say": "Let me see"}, {"kill": int(signal.SIGKILL)}]
    async with seat(tmp_path, {"turns": [turn]}, 1) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        assert await is_over(at) == "fake was ended by SIGKILL"


async def test_an_agent_that_closes_its_output(tmp_path: Path) -> None:
    turn: list[Any] = [{"stderr": "out of paper\n"}, "close_stdout", {"sleep": "forever"}]
    async with seat(tmp_path, {"ignore": ["eof"], "turns": [turn]}, 2) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        assert await is_over(at) == "fake closed its output: out of paper"


async def test_a_line_beyond_the_limit(tmp_path: Path) -> None:
    turn: list[Any] = [{"say": "Now a long one"}, {"big_line": 100_000}, {"say": "never read"}]
    async with seat(tmp_path, {"turns": [turn]}, 2, entry={"maxLineBytes": 65536}) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        message = await is_over(at)
        assert "limit" in message
        assert at.said() == "Now a long one"
        await starts_again(at, {"turns": [DONE]})


async def test_an_agent_that_dies_before_it_says_anything(tmp_path: Path) -> None:
    """The command that needed it fails in words, and nothing pops up beside that."""
    script = {"start": [{"stderr": "no licence\n"}, {"die": 7}]}
    async with seat(tmp_path, script) as at:
        with pytest.raises(CommandFailed) as failed:
            await at.command("acpls.session.new")
        assert failed.value.message == "fake ended with exit code 7: no licence"
        await at.next("acp/agent/changed", lambda p: p["state"] == "ended")
        await alive(at)
        assert at.popups == []

        # A prompt was answered before, so its user is told.
        await at.command("acpls.session.prompt", {"text": "Anybody?"})
        assert await at.popup() == "fake ended with exit code 7: no licence"
        assert (await at.get("s2"))["state"] == "lost"
        assert len(at.popups) == 1


async def test_programs_that_are_no_agents(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\necho 'usage: tool FILE' >&2\nexit 64\n")
    program.chmod(0o755)
    entries = {"ghost": {"command": "no-such-program"}, "tool": {"command": str(program)}}
    async with seat(tmp_path, settings={"agents": entries}) as at:
        with pytest.raises(CommandFailed) as failed:
            await at.command("acpls.session.new", {"agent": "ghost"})
        message = failed.value.message
        assert message.startswith("ghost could not be started: the program 'no-such-program'")
        changed = await at.next("acp/agent/changed", lambda p: p["state"] == "ended")
        assert changed["agent"] == "ghost"
        await at.command("acpls.session.prompt", {"text": "Anybody?"})
        assert (await at.popup()).startswith("ghost could not be started")

        with pytest.raises(CommandFailed) as failed:
            await at.command("acpls.session.new", {"agent": "tool"})
        assert failed.value.message == "tool ended with exit code 64: usage: tool FILE"
        await alive(at)
        assert len(at.popups) == 1


async def test_an_agent_that_never_answers_initialize_can_be_stopped(tmp_path: Path) -> None:
    """Its time limit is long; nobody has to wait for it."""
    async with seat(tmp_path, {"initialize": {"manners": ["hang"]}}) as at:
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.new"})
        await at.until(lambda: at.heard_by(method="initialize"))
        await at.next("acp/agent/changed", lambda p: p["state"] == "starting" and "message" in p)
        assert not waiting.answered
        await alive(at)
        await at.command("acpls.agent.stop")
        with pytest.raises(CommandFailed, match="fake was ended"):
            await waiting.result()
        assert at.popups == []

        # Nor for its answer: the command can be given up, and the server goes on.
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.new"})
        await at.until(lambda: len(at.heard_by(method="initialize")) == 2)
        waiting.cancel()
        with pytest.raises(CommandFailed) as given_up:
            await waiting.result()
        assert given_up.value.code == -32800
        await alive(at)


@both_versions
async def test_a_failed_turn_is_told_and_the_session_lives(tmp_path: Path, version: int) -> None:
    fault = {"code": 500, "message": "Overloaded\nretry later", "data": ["a", {"b": 1}]}
    async with seat(tmp_path, {"turns": [[{"fail": fault}], DONE]}, version) as at:
        await at.command("acpls.session.prompt", {"text": "go"})
        assert "Overloaded" in await at.popup()
        change = await at.idle()
        assert "Overloaded" in str(change["error"])
        await at.command("acpls.session.prompt", {"text": "again"})
        await at.until(lambda: at.said() == "Done.")
        assert len(at.popups) == 1
