"""Sessions whose agent ended: opened again under the same key, with nothing said twice."""

from __future__ import annotations

import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, hunks_told, seat

from acpls.testing.editor import CommandFailed, Later

if TYPE_CHECKING:
    from pathlib import Path

    from psutil import Process
    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

SERVERS: Json = {"docs": {"command": "sh", "args": ["-c", "cat"]}}
KILL: Json = {"kill": int(signal.SIGKILL)}


def lasting(folder: Path, *turns: list[Any], session: Json | None = None, **more: Any) -> Json:
    """A script whose sessions outlive its process."""
    kept = {"kept_in": str(folder / "sessions"), **(session or {})}
    return {"session": kept, "turns": list(turns), **more}


def methods_heard(at: Seat) -> list[str]:
    return [m["method"] for m in at.heard_by() if "method" in m]


def since_start(at: Seat) -> list[str]:
    """What the newest process was asked, after its versions were found out."""
    methods = methods_heard(at)
    last = len(methods) - 1 - methods[::-1].index("initialize")
    return methods[last + 1 :]


def texts(entry: Json) -> list[tuple[str, str]]:
    """The messages of a session: role and text."""
    return [
        (e["role"], "".join(b["text"] for b in e["content"]))
        for e in entry["entries"]
        if e["type"] == "message"
    ]


def notices(entry: Json) -> list[Json]:
    return [e for e in entry["entries"] if e["type"] == "notice"]


async def lost(at: Seat) -> str:
    """The agent ended: the one message that says so."""
    message = await at.popup()
    assert (await at.get())["state"] == "lost"
    return message


def agents_of(at: Seat) -> list[Process]:
    """The processes of agents that run."""
    return [p for p in at.family() if "acpls.testing.agent" in " ".join(p.cmdline())]


RETURNS = [
    pytest.param(1, {}, "session/resume", id="1-resumed"),
    pytest.param(2, {}, "session/resume", id="2-resumed"),
    *(
        pytest.param(1, {"replay": replay}, "session/load", id=f"1-loaded-{replay}")
        for replay in ("before", "after", "both")
    ),
]
NO_RESUME: Json = {"agentCapabilities": {"sessionCapabilities": {"resume": None}}}


@pytest.mark.parametrize(("version", "session", "method"), RETURNS)
async def test_x20_s19_a_killed_agent_opens_the_same_session_again(
    tmp_path: Path, version: int, session: Json, method: str
) -> None:
    """X20, S19: by its id, with what it was opened with before, and nothing stands there twice."""
    override = NO_RESUME if method == "session/load" else {}
    first = [{"say": "Half a "}, {"tool": "t1", "title": "Look", "status": "in_progress"}, KILL]
    script = lasting(tmp_path, [{"say": "Whole. "}], first, session=session)
    script["initialize"] = {"override": override, "offers": ["stdio"]}
    async with seat(tmp_path, script, version, settings={"mcpServers": SERVERS}, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await at.idle(stop="end_turn")
        await at.command("acpls.session.prompt", {"text": "two"})
        assert await lost(at) == "fake was ended by SIGKILL"
        before = await at.get()

        at.play("fake", {**script, "turns": [[{"say": "Back. "}]]})
        taken = await at.command("acpls.session.prompt", {"text": "three"})
        assert taken["session"] == "s1"
        await at.until(lambda: at.said().endswith("Back. "))
        assert since_start(at) == [method, "session/prompt"]
        (opened,) = at.heard_by(method="session/new")
        (again,) = at.heard_by(method=method)
        assert again == {"sessionId": "session", **opened}
        assert opened["cwd"] == str(at.project)
        assert opened["mcpServers"][0]["command"].startswith("/")
        entry = await at.get()
        assert (entry["live"], entry["nativeId"]) == (True, "session")
        users = [text for role, text in texts(entry) if role == "user"]
        assert users == ["one", "two", "three"]
        assert at.said() == "Whole. Half a Back. "
        assert notices(entry) == []
        calls = [e for e in entry["entries"] if e["type"] == "toolCall"]
        assert [c["status"] for c in calls] in (["failed"], ["ended"])
        # All that stood there stands there still, in the same order.
        assert entry["entries"][: len(before["entries"])] == before["entries"]
        assert len(at.popups) == 1


@both_versions
async def test_s19_a_restart_while_a_turn_runs(tmp_path: Path, version: int) -> None:
    """S19: the turn is over, and what was queued is sent to the new process, once."""
    script = lasting(tmp_path, [{"say": "At length. "}, "wait_cancel"])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await at.until(lambda: at.said() == "At length. ")
        queued = await at.command("acpls.session.prompt", {"text": "two"})
        assert queued["queued"] is True
        at.play("fake", {**script, "turns": [[{"say": "Anew. "}]]})
        entry = await at.command("acpls.agent.restart")
        assert entry["state"] == "starting"
        await at.until(lambda: at.said() == "At length. Anew. ")
        assert since_start(at) == ["session/resume", "session/prompt"]
        assert [role for role, _ in texts(await at.get())] == ["user", "agent"] * 2
        assert at.popups == []


@both_versions
async def test_s19_an_agent_that_forgot_goes_on_with_a_new_session(
    tmp_path: Path, version: int
) -> None:
    """S19: a notice says at which place it begins to know nothing; the prompt goes out."""
    async with seat(tmp_path, {"turns": [[{"say": "One. "}, KILL]]}, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", {"session": {"id": "other"}, "turns": [[{"say": "Two. "}]]})
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "One. Two. ")
        entry = await at.get()
        assert (entry["session"], entry["nativeId"]) == ("s1", "other")
        (notice,) = notices(entry)
        assert "goes on with a new one" in notice["title"]
        kinds = [e["type"] for e in entry["entries"]]
        assert kinds == ["message", "message", "notice", "message", "message"]
        assert since_start(at) == ["session/resume", "session/new", "session/prompt"]
        assert len(at.popups) == 1


@both_versions
async def test_s19_an_agent_that_cannot_reopen_anything(tmp_path: Path, version: int) -> None:
    """S19: it is not even asked, and the session goes on as a new one."""
    none = {"loadSession": False, "sessionCapabilities": {"resume": None}}
    override = {"agentCapabilities": none} if version == 1 else {}
    initialize = {"override": override, "manners": ["no_resume"]}
    script = {"initialize": initialize, "turns": [[{"say": "One. "}, KILL]]}
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", {**script, "turns": [[{"say": "Two. "}]]})
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "One. Two. ")
        assert len(notices(await at.get())) == 1
        tried = [] if version == 1 else ["session/resume"]
        counted = Counter(since_start(at))
        assert counted["session/new"] == counted["session/prompt"] == 1
        assert counted["session/load"] == 0
        assert counted["session/resume"] <= 2 * len(tried)
        assert len(at.popups) == 1


async def test_s19_an_agent_that_says_it_resumes_and_can_only_load(tmp_path: Path) -> None:
    """S19: -32601 to what it advertised; it is asked to load instead, now and later."""
    script = lasting(tmp_path, [{"say": "One. "}, KILL])
    script["initialize"] = {"manners": ["no_resume"]}
    async with seat(tmp_path, script, 1, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", {**script, "turns": [[{"say": "Two. "}]]})
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "One. Two. ")
        assert since_start(at) == ["session/resume", "session/load", "session/prompt"]
        entry = await at.get()
        assert [t for _, t in texts(entry)] == ["one", "One. ", "two", "Two. "]
        assert notices(entry) == []


async def test_an_agent_that_loads_whatever_it_is_asked_for(tmp_path: Path) -> None:
    """Its word is taken; what counts is that the session goes on."""
    override = NO_RESUME
    initialize = {"override": override, "manners": ["load_anything"]}
    script = {"initialize": initialize, "turns": [[{"say": "One. "}, KILL]]}
    async with seat(tmp_path, script, 1, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", {**script, "turns": [[{"say": "Two. "}]]})
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "One. Two. ")
        assert since_start(at) == ["session/load", "session/prompt"]


@both_versions
async def test_x20_by_command_before_any_prompt(tmp_path: Path, version: int) -> None:
    """X20: resuming is a command; where nothing is lost it changes nothing."""
    script = lasting(tmp_path, [KILL])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", lasting(tmp_path, [{"say": "Two. "}]))
        entry = await at.command("acpls.session.resume")
        assert (entry["session"], entry["nativeId"], entry["state"]) == ("s1", "session", "idle")
        assert await at.command("acpls.session.resume") == entry
        assert since_start(at) == ["session/resume"]
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "Two. ")


@both_versions
async def test_an_agent_that_dies_at_every_start(tmp_path: Path, version: int) -> None:
    """Told once for each thing that the user wanted; nothing is started by itself."""
    script = lasting(tmp_path, [KILL])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", {"start": [{"stderr": "no licence\n"}, {"die": 7}]})
        with pytest.raises(CommandFailed, match="exit code 7: no licence"):
            await at.command("acpls.session.resume")
        await at.until(lambda: _ends(at) == 2)
        assert (await at.get())["state"] == "lost"
        assert len(at.popups) == 1

        await at.command("acpls.session.prompt", {"text": "two"})
        assert await at.popup() == "fake ended with exit code 7: no licence"
        assert _ends(at) == 3
        entry = await at.get()
        assert (entry["state"], entry["nativeId"]) == ("lost", "session")
        assert notices(entry) == []

        # It starts again, and all that waited goes out once, in order.
        at.play("fake", lasting(tmp_path, [{"say": "Three. "}], [{"say": "Four. "}]))
        await at.command("acpls.session.prompt", {"text": "three"})
        await at.until(lambda: at.said() == "Three. Four. ")
        assert [t for r, t in texts(await at.get()) if r == "user"] == ["one", "two", "three"]
        assert len(at.popups) == 2


def _ends(at: Seat) -> int:
    return len([p for p in at.seen("acp/agent/changed") if p["state"] == "ended"])


@both_versions
async def test_the_agent_dies_while_it_opens_the_session_again(
    tmp_path: Path, version: int
) -> None:
    script = lasting(tmp_path, [{"say": "One. "}, KILL])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", lasting(tmp_path, session={"again": [{"die": 9}]}))
        await at.command("acpls.session.prompt", {"text": "two"})
        assert await at.popup() == "fake ended with exit code 9"
        entry = await at.get()
        assert (entry["state"], notices(entry)) == ("lost", [])
        assert [q["content"][0]["text"] for q in entry["queue"]] == ["two"]
        at.play("fake", lasting(tmp_path, [{"say": "Two. "}]))
        await at.command("acpls.agent.restart")
        await at.until(lambda: at.said() == "One. Two. ")
        assert len(at.popups) == 2


@both_versions
async def test_a_restart_while_a_session_is_opened_again(tmp_path: Path, version: int) -> None:
    """The command that waits is answered once, by the process that is there at the end."""
    script = lasting(tmp_path, [{"say": "One. "}, KILL])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", lasting(tmp_path, session={"again": [{"gate": str(tmp_path / "gate")}]}))
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.resume"})
        await at.until(lambda: at.heard_by(method="session/resume"))
        at.play("fake", lasting(tmp_path, [{"say": "Two. "}]))
        await at.command("acpls.agent.restart")
        assert (await waiting.result())["state"] == "idle"
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "One. Two. ")
        entry = await at.get()
        assert (entry["nativeId"], notices(entry)) == ("session", [])
        assert len(at.popups) == 1


@both_versions
async def test_three_restarts_at_once(tmp_path: Path, version: int) -> None:
    """Each kills the one before it; one process and one session are left, and they work."""
    script = lasting(tmp_path, [{"say": "Hello. "}])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await at.idle(stop="end_turn")
        params = {"command": "acpls.agent.restart"}
        calls = [at.begin("workspace/executeCommand", params) for _ in range(3)]
        for call in calls:
            assert (await call.result())["state"] == "starting"
        await at.command("acpls.session.prompt", {"text": "two"})
        await at.until(lambda: at.said() == "Hello. Hello. ")
        entry = await at.get()
        assert (entry["nativeId"], notices(entry)) == ("session", [])
        sent = [p["prompt"][0]["text"] for p in at.heard_by(method="session/prompt")]
        assert sent == ["one", "two"]
        assert at.popups == []
        assert len(agents_of(at)) == 1


@both_versions
async def test_several_sessions_come_back_and_closed_ones_do_not(
    tmp_path: Path, version: int
) -> None:
    script = lasting(tmp_path, [{"say": "Hello. "}])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        for _ in range(3):
            await at.command("acpls.session.new")
        await at.command("acpls.session.close", {"session": "s2"})
        await at.command("acpls.agent.restart")
        for key in ("s1", "s3"):
            await at.command("acpls.session.prompt", {"session": key, "text": key})
            await at.idle(key, stop="end_turn")
        assert sorted(p["sessionId"] for p in at.heard_by(method="session/resume")) == [
            *("session", "session-3")
        ]
        assert (await at.get("s2"))["state"] == "lost"
        with pytest.raises(CommandFailed, match="was closed"):
            await at.command("acpls.session.resume", {"session": "s2"})


@both_versions
async def test_a_lost_session_is_closed_while_it_comes_back(tmp_path: Path, version: int) -> None:
    script = lasting(tmp_path, [{"say": "One. "}, KILL])
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        gate = tmp_path / "gate"
        at.play("fake", lasting(tmp_path, session={"again": [{"gate": str(gate)}]}))
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.resume"})
        await at.until(lambda: at.heard_by(method="session/resume"))
        await at.command("acpls.session.close")
        gate.touch()
        with pytest.raises(CommandFailed, match="closed before it was open"):
            await waiting.result()
        # The agent is told, so that it keeps nothing open for nobody.
        await at.until(lambda: at.heard_by(method="session/close"))
        assert (await at.get("s1"))["live"] is False


@both_versions
async def test_questions_and_hunks_of_a_killed_agent(tmp_path: Path, version: int) -> None:
    """Its question is withdrawn; what it changed stays under review, after the session is back."""
    edit = [
        {"tool": "t1", "title": "Edit", "kind": "edit", "status": "in_progress"},
        {"write": "a.txt", "text": "two\n", "via": "disk"},
        {
            "tool": "t1",
            "status": "completed",
            "content": [{"diff": {"path": "a.txt", "old": "one\n", "new": "two\n"}}],
        },
        {"ask": "Go on?", "wait": False},
    ]
    script = lasting(tmp_path, edit)
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        uri = at.open(at.file("a.txt", "one\n"))
        answer = Later()
        at.answer["acp/question/ask"] = lambda _: answer
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/question/ask")
        await hunks_told(at, uri, 1)
        (agent,) = agents_of(at)
        agent.kill()
        assert await lost(at) == "fake was ended by SIGKILL"
        await at.until(lambda: answer.cancelled)
        at.play("fake", lasting(tmp_path, [{"say": "Back. "}]))
        await at.command("acpls.session.prompt", {"text": "more"})
        await at.until(lambda: at.said() == "Back. ")
        assert (await at.command("acpls.review.keep"))["left"] == []
        await hunks_told(at, uri, 0)
        assert await at.command("acpls.question.list") == []
        assert len(at.popups) == 1


@both_versions
async def test_starts_and_stops_in_quick_succession(tmp_path: Path, version: int) -> None:
    """What a process still says while it is stopped is not taken for the next one's words."""
    async with seat(tmp_path, lasting(tmp_path, [{"say": "Hello. "}]), version, ignore=TOLD) as at:
        names = ["start", "stop", "start", "restart", "stop", "stop", "restart", "start"]
        calls = [
            at.begin("workspace/executeCommand", {"command": f"acpls.agent.{name}"})
            for name in names
        ]
        states = [(await call.result())["state"] for call in calls]
        assert states == ["stopped" if name == "stop" else "starting" for name in names]
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        assert at.said() == "Hello. "
        assert len(agents_of(at)) == 1
        # Its end is noticed as well.
        (agent,) = agents_of(at)
        agent.kill()
        assert await lost(at) == "fake was ended by SIGKILL"


@both_versions
async def test_an_agent_that_gives_an_old_id_to_another_session(
    tmp_path: Path, version: int
) -> None:
    """It counts from the beginning in each process; each session hears what is its own."""
    async with seat(tmp_path, {"turns": [[KILL]]}, version, ignore=TOLD) as at:
        await at.command("acpls.session.prompt", {"text": "one"})
        await lost(at)
        at.play("fake", {"turns": [[{"say": "In {cwd}"}]]})
        folder = at.project / "other"
        folder.mkdir()
        waiting = at.begin("workspace/executeCommand", {"command": "acpls.session.resume"})
        opened = await at.command("acpls.session.new", {"cwd": str(folder)})
        assert opened["nativeId"] == "session"
        with pytest.raises(CommandFailed, match="Session not found"):
            await waiting.result()
        await at.until(lambda: [c for c in at.changes("s1", "notice") if c["title"]])
        for key in ("s2", "s1"):
            await at.command("acpls.session.prompt", {"session": key, "text": "go"})
        await at.until(lambda: at.said("s2") == f"In {folder}")
        await at.until(lambda: at.said("s1") == f"In {at.project}")
        assert len(at.popups) == 1
