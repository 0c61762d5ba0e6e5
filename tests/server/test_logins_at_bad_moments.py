"""Logins that something else comes between: ends, restarts, closings, other settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from login_stage import (
    LOG_IN,
    TERMINALS,
    TTY,
    TURNS,
    WEB,
    becomes,
    begin_session,
    by_hand,
    by_page,
    exit_code,
    methods_heard,
    state_of,
    users_words,
    wants_login,
)
from server_stage import TOLD, both_versions, seat

from acpls.testing.agent import command
from acpls.testing.editor import CommandFailed, Later

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio


@both_versions
async def test_a_restart_during_a_login(tmp_path: Path, version: int) -> None:
    """The new process is asked anew; the waiting command gets its one answer from it."""
    gated = {**WEB, "steps": ["wait_cancel"]}
    script = wants_login(tmp_path, gated)
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        await at.next("acp/question/ask")
        await at.until(lambda: LOG_IN[version] in methods_heard(at))
        at.play("fake", wants_login(tmp_path))
        await at.command("acpls.agent.restart")
        asked = await at.next("acp/question/ask")
        answers[asked["question"]].set({"option": "method:web"})
        assert (await waiting.result())["session"] == "s1"
        assert await state_of(at) == "ready"
        assert at.popups == []


@both_versions
async def test_the_agent_dies_while_it_is_logged_in_to(tmp_path: Path, version: int) -> None:
    script = by_page(tmp_path, {"late": "session/new"}, {"die": 5})
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        page = await at.next("acp/question/ask", lambda q: "url" in q)
        second = begin_session(at)
        for call in (waiting, second):
            with pytest.raises(CommandFailed, match="exit code 5"):
                await call.result()
        await at.next("acp/question/ask", lambda q: q["question"] == "q1")
        await at.until(lambda: answers[page["question"]].cancelled)
        assert await at.command("acpls.question.list") == []
        assert await state_of(at) == "ended"
        assert len(at.popups) <= 1
        for _ in at.popups:
            await at.popup()


async def test_two_agents_want_a_login_at_once(tmp_path: Path) -> None:
    agents: dict[str, tuple[Json, int | str]] = {}
    for name, version in (("one", 1), ("two", 2)):
        folder = tmp_path / name
        folder.mkdir()
        agents[name] = (wants_login(folder), version)
    async with seat(tmp_path, agents=agents, ignore=TOLD) as at:
        answers = by_hand(at)
        calls = {name: begin_session(at, name) for name in agents}
        asked = [await at.next("acp/question/ask") for _ in agents]
        by_agent = {q["agent"]: q["question"] for q in asked}
        assert set(by_agent) == set(agents)
        answers[by_agent["two"]].set({"option": "method:web"})
        opened = await calls["two"].result()
        assert opened["agent"] == "two"
        assert await state_of(at, "one") == "needsLogin"
        assert not calls["one"].answered
        answers[by_agent["one"]].set({"option": "method:web"})
        assert (await calls["one"].result())["agent"] == "one"


@both_versions
async def test_several_commands_wait_for_one_login(tmp_path: Path, version: int) -> None:
    """One question for all of them, and each gets its own answer."""
    async with seat(tmp_path, wants_login(tmp_path), version, ignore=TOLD) as at:
        answers = by_hand(at)
        calls = [begin_session(at) for _ in range(3)]
        await at.next("acp/question/ask")
        await at.until(lambda: methods_heard(at) == ["session/new"] * 3)
        answers["q1"].set({"option": "method:web"})
        opened = [(await call.result())["session"] for call in calls]
        assert opened == ["s1", "s2", "s3"]
        first, *again = methods_heard(at)[3:]
        assert first == LOG_IN[version]
        # What the agent has heard and not answered yet may go through without being asked again.
        assert again in [["session/new"] * count for count in (1, 2, 3)]
        assert len(at.seen("acp/question/ask")) == 1


@both_versions
async def test_a_session_is_closed_while_it_waits_for_a_login(tmp_path: Path, version: int) -> None:
    """What waits for the closed session is answered, and the login is for the others."""
    script = wants_login(tmp_path, needed_for=("session/prompt",))
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        opened = [(await at.command("acpls.session.new"))["session"] for _ in range(2)]
        assert opened == ["s1", "s2"]
        await at.command("acpls.session.prompt", {"session": "s1", "text": "one"})
        await at.next("acp/question/ask")
        await at.command("acpls.session.prompt", {"session": "s2", "text": "two"})
        await at.command("acpls.session.close", {"session": "s1"})
        asked = [q for q in await at.command("acpls.question.list") if q["state"] == "open"]
        assert len(asked) == 1
        answers[asked[0]["question"]].set({"option": "method:web"})
        await at.until(lambda: at.said("s2") == "Hello. ")
        sent = [p["prompt"][0]["text"] for p in at.heard_by(method="session/prompt")]
        assert sent == ["one", "two"]
        assert (await at.get("s1"))["live"] is False


@both_versions
async def test_a_session_is_closed_before_the_login_opens_it(tmp_path: Path, version: int) -> None:
    async with seat(tmp_path, wants_login(tmp_path), version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        await at.command("acpls.session.close", {"session": "s1"})
        answers[asked["question"]].set({"option": "method:web"})
        with pytest.raises(CommandFailed):
            await waiting.result()
        await at.until(lambda: LOG_IN[version] in methods_heard(at))
        assert (await at.command("acpls.session.new"))["session"] == "s2"
        listed = await at.command("acpls.session.list")
        assert [s["live"] for s in listed["sessions"]] == [False, True]
        assert at.popups == []


@both_versions
async def test_prompts_that_come_during_a_login(tmp_path: Path, version: int) -> None:
    """They wait, in order, and go out once when it is done."""
    gate = tmp_path / "gate"
    slow = {**WEB, "steps": [{"gate": str(gate)}]}
    script = wants_login(tmp_path, slow, needed_for=("session/prompt",))
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        by_hand(at)["q1"].set({"option": "method:web"})
        await at.command("acpls.session.prompt", {"text": "one"})
        await becomes(at, "loggingIn")
        for text in ("two", "three"):
            await at.command("acpls.session.prompt", {"text": text})
        await at.until(lambda: LOG_IN[version] in methods_heard(at))
        gate.touch()
        await at.until(lambda: at.said() == "Hello. " * 3)
        assert users_words(await at.get()) == ["one", "two", "three"]
        sent = [p["prompt"][0]["text"] for p in at.heard_by(method="session/prompt")]
        assert sent == ["one", "one", "two", "three"]
        await at.next("acp/question/ask")


@both_versions
async def test_a_prompt_is_cancelled_while_it_waits_for_a_login(
    tmp_path: Path, version: int
) -> None:
    script = wants_login(tmp_path, needed_for=("session/prompt",))
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        await at.command("acpls.session.prompt", {"text": "one"})
        await at.next("acp/question/ask")
        await at.command("acpls.session.cancel")
        await at.command("acpls.session.endTurn")
        answers["q1"].set({"option": "method:web"})
        await becomes(at, "ready")
        # The end of the abandoned turn is told as well, unless the next one began at once.
        while (await at.idle())["stopReason"] != "end_turn":
            pass
        assert at.said(role="user") == "one"
        assert at.popups == []


@both_versions
async def test_the_settings_lose_the_agent_while_it_wants_a_login(
    tmp_path: Path, version: int
) -> None:
    """What waits is answered, and nobody waits for an agent that is none of ours any more."""
    script = wants_login(tmp_path)
    argv = command(script, tmp_path, protocol=version, log=tmp_path / "gone.jsonl")
    agents: dict[str, tuple[Json, int | str]] = {"other": ({"turns": TURNS}, version)}
    async with seat(tmp_path, agents=agents, ignore=TOLD) as at:
        answers = by_hand(at)

        async def configure(settings: Json) -> None:
            seen = len(at.seen("workspace/configuration"))
            at.settings = {"acpls": settings}
            at.notify("workspace/didChangeConfiguration", {"settings": None})
            await at.until(lambda: len(at.seen("workspace/configuration")) > seen)
            await at.command("acpls.status")

        await configure({"agents": {"gone": {"command": argv[0], "args": argv[1:]}}})
        for way in ("again", "method:web"):
            waiting = begin_session(at, "gone")
            asked = await at.next("acp/question/ask")
            await configure({})
            answers[asked["question"]].set({"option": way})
            if way == "again":
                with pytest.raises(CommandFailed) as failed:
                    await waiting.result()
                assert "gone" in failed.value.message
                await configure({"agents": {"gone": {"command": argv[0], "args": argv[1:]}}})
            else:
                # It runs still, and the way to log in needs nothing of the settings.
                assert (await waiting.result())["live"] is True
        assert (await at.command("acpls.session.new", {"agent": "other"}))["live"] is True
        for _ in at.popups:
            await at.popup()


@both_versions
@pytest.mark.parametrize("way", ["dies", "stop"])
async def test_the_agent_ends_while_the_user_thinks(tmp_path: Path, version: int, way: str) -> None:
    """The question goes away with it; after a start the same is asked again."""
    script = wants_login(tmp_path)
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        await at.next("acp/question/ask")
        if way == "stop":
            await at.command("acpls.agent.stop")
        else:
            (agent,) = [p for p in at.family() if "acpls.testing.agent" in " ".join(p.cmdline())]
            agent.kill()
        with pytest.raises(CommandFailed):
            await waiting.result()
        await at.until(lambda: answers["q1"].cancelled)
        assert await at.command("acpls.question.list") == []
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        answers[asked["question"]].set({"option": "method:web"})
        assert (await waiting.result())["live"] is True
        assert at.popups == []


async def test_a_program_that_was_given_up_ends_well_after_all(tmp_path: Path) -> None:
    """Whoever gives up waiting and then logs in all the same is logged in."""
    script = wants_login(tmp_path, TTY)
    async with seat(tmp_path, script, 2, ignore=TOLD, capabilities=TERMINALS) as at:
        answers = by_hand(at)
        ended = Later(heeds_cancel=False)
        at.answer["acp/terminal/run"] = lambda _: ended
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:tty"})
        await at.next("acp/question/ask")
        run = await at.next("acp/terminal/run")
        await at.command("acpls.agent.cancelLogin")
        asked = await at.next("acp/question/ask")
        assert "cancelled" in asked["description"]
        ended.set({"exitCode": await exit_code(run)})
        assert (await waiting.result())["live"] is True
        await at.until(lambda: answers["q2"].cancelled)
        assert at.popups == []


@both_versions
async def test_a_login_that_runs_out_again_and_again(tmp_path: Path, version: int) -> None:
    """With a method in the settings each is renewed without a word."""
    script = wants_login(tmp_path, needed_for=("session/prompt",))
    async with seat(tmp_path, script, version, entry={"authMethod": "web"}, ignore=TOLD) as at:
        for count in range(1, 4):
            await at.command("acpls.session.prompt", {"text": f"{count} "})
            await at.until(lambda count=count: at.said() == "Hello. " * count)  # type: ignore[misc]  # bound now
            (tmp_path / "logged-in").unlink()
            await at.command("acpls.agent.restart")
        assert methods_heard(at).count(LOG_IN[version]) == 3
        assert at.said(role="user") == "1 2 3 "
        assert at.seen("acp/question/ask") == []
        assert at.popups == []


@both_versions
async def test_a_list_and_an_option_wait_too(tmp_path: Path, version: int) -> None:
    """Whatever is refused waits, not only sessions and prompts."""
    needed = ("session/list", "session/set_config_option")
    options = {"options": [{"id": "fast", "value": False}]}
    script = wants_login(tmp_path, needed_for=needed, session=options)
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        await at.command("acpls.session.new")
        calls = [
            at.begin("workspace/executeCommand", {"command": name, "arguments": [argument]})
            for name, argument in (
                ("acpls.session.list", {"agent": "fake"}),
                ("acpls.session.setOption", {"option": "fast", "value": True}),
            )
        ]
        await at.next("acp/question/ask")
        answers["q1"].set({"option": "method:web"})
        listed, option = [await call.result() for call in calls]
        assert [s["session"] for s in listed["sessions"]] == ["s1"]
        assert option["options"][0]["value"] is True
        assert at.popups == []


@both_versions
async def test_nobody_waits_any_more_for_the_session(tmp_path: Path, version: int) -> None:
    """A cancelled command is answered at once; the login that it led to still works."""
    async with seat(tmp_path, wants_login(tmp_path), version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        await at.next("acp/question/ask")
        waiting.cancel()
        with pytest.raises(CommandFailed) as given_up:
            await waiting.result()
        assert given_up.value.code == -32800
        answers["q1"].set({"option": "method:web"})
        await becomes(at, "ready")
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        assert at.said() == "Hello. "
        assert at.popups == []


async def test_the_server_ends_while_a_login_is_waited_for(tmp_path: Path) -> None:
    script = by_page(tmp_path, "wait_cancel")
    async with seat(tmp_path, script, 2, ignore={*TOLD, "acp/question/ask"}) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        page = await at.next("acp/question/ask", lambda q: "url" in q)
        waiting.cancel()
        with pytest.raises(CommandFailed):
            await waiting.result()
        answers[page["question"]].set({"dismissed": True})
        assert at.popups == []
