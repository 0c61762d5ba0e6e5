"""Agents that want a login: what they refused waits for it, and goes on by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from login_stage import (
    ANSWER,
    KEY,
    LOG_IN,
    LOG_OUT,
    PAGE,
    TERMINALS,
    TTY,
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

from acpls.testing.editor import PLAIN, CommandFailed, Later

if TYPE_CHECKING:
    from pathlib import Path

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio


# --- a session is refused --------------------------------------------------------------


@both_versions
async def test_a01_a02_a_refused_session_waits_for_the_login(tmp_path: Path, version: int) -> None:
    """A01, A02: the methods are offered, and after the login the same command is answered."""
    async with seat(tmp_path, wants_login(tmp_path), version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        assert asked["agent"] == "fake"
        assert asked["title"] == "Scripted agent needs a login"
        assert "Authentication required" in asked["description"]
        assert WEB["description"] in asked["description"]
        assert [o["option"] for o in asked["options"]] == ["method:web", "again", "later"]
        assert asked["options"][0]["name"] == "In the browser"
        (entry,) = await at.command("acpls.agent.list")
        assert (entry["state"], entry["authMethods"][0]["id"]) == ("needsLogin", "web")
        assert not waiting.answered

        answers["q1"].set({"option": "method:web"})
        session = await waiting.result()
        assert (session["state"], session["live"]) == ("idle", True)
        assert methods_heard(at) == ["session/new", LOG_IN[version], "session/new"]
        assert await state_of(at) == "ready"
        assert at.popups == []
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.idle(stop="end_turn")
        assert await at.command("acpls.question.list") == []


@both_versions
async def test_a02_a_plain_client_logs_in_by_a_code_action(tmp_path: Path, version: int) -> None:
    script = wants_login(tmp_path)
    async with seat(tmp_path, script, version, capabilities=PLAIN) as at:
        uri = at.open_text("file:///elsewhere.txt", "x")
        waiting = begin_session(at)
        nowhere = {"line": 0, "character": 0}
        where: Json = {"textDocument": {"uri": uri}, "range": {"start": nowhere, "end": nowhere}}

        said = await at.popup()
        assert said == "Waiting for you: Scripted agent needs a login"
        where["context"] = {"diagnostics": []}
        actions = await at.request("textDocument/codeAction", where)
        offered = [a for a in actions if a["command"]["command"] == ANSWER]
        assert len(offered) == 3
        web = offered[0]["command"]
        assert offered[0]["title"].startswith("In the browser")
        run = {"command": ANSWER, "arguments": web["arguments"]}
        await at.request("workspace/executeCommand", run)
        assert (await waiting.result())["live"] is True
        assert methods_heard(at) == ["session/new", LOG_IN[version], "session/new"]


@both_versions
async def test_a06_not_now_fails_what_waits_and_a_command_asks_again(
    tmp_path: Path, version: int
) -> None:
    """A06: that nobody is logged in is shown as a state, and logging in is a command."""
    async with seat(tmp_path, wants_login(tmp_path), version, ignore=TOLD) as at:
        answers = by_hand(at)
        answers["q1"].set({"option": "later"})
        waiting = begin_session(at)
        await at.next("acp/question/ask")
        with pytest.raises(CommandFailed) as failed:
            await waiting.result()
        assert failed.value.message.startswith("Scripted agent needs a login")
        assert await state_of(at) == "needsLogin"

        entry = await at.command("acpls.agent.login")
        assert entry["state"] == "needsLogin"
        answers["q2"].set({"option": "method:web"})
        await at.next("acp/question/ask")
        await becomes(at, "ready")
        assert (await at.command("acpls.session.new"))["live"] is True
        assert at.popups == []


@both_versions
async def test_a06_a_login_by_method_and_logging_out(tmp_path: Path, version: int) -> None:
    """A06: login and logout are commands, without a question."""
    script = wants_login(tmp_path, initialize={"offers": ["logout"]})
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        await at.command("acpls.agent.start")
        await becomes(at, "ready")
        with pytest.raises(CommandFailed) as wrong:
            await at.command("acpls.agent.login", {"methodId": "wob"})
        assert wrong.value.data["field"] == "methodId"
        entry = await at.command("acpls.agent.login", {"methodId": "web"})
        assert entry["state"] == "ready"
        assert (await at.command("acpls.session.new"))["live"] is True

        entry = await at.command("acpls.agent.logout")
        assert entry["state"] == "needsLogin"
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        answers[asked["question"]].set({"option": "method:web"})
        assert (await waiting.result())["live"] is True
        expected = [LOG_IN[version], "session/new", LOG_OUT[version], "session/new"]
        assert methods_heard(at) == [*expected, LOG_IN[version], "session/new"]


# --- a prompt is refused ---------------------------------------------------------------


@both_versions
async def test_a01_a_refused_prompt_goes_out_by_itself(tmp_path: Path, version: int) -> None:
    """A01: nothing is to be typed again, and nothing stands there twice."""
    script = wants_login(tmp_path, needed_for=("session/prompt",))
    script["turns"] = [[{"say": "First. "}], [{"say": "Second. "}], [{"say": "Third. "}]]
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        await at.command("acpls.session.prompt", {"text": "one"})
        await at.next("acp/question/ask")
        # What is typed meanwhile waits behind it.
        for text in ("two", "three"):
            taken = await at.command("acpls.session.prompt", {"text": text})
            assert taken["queued"] is True
        talk = (await at.command("acpls.session.openConversation"))["uri"]
        await at.next("window/showDocument")
        answers["q1"].set({"option": "method:web"})
        await at.until(lambda: at.said() == "First. Second. Third. ")
        assert at.said(role="user") == "onetwothree"
        entry = await at.get()
        assert users_words(entry) == ["one", "two", "three"]
        assert entry["queue"] == []
        sent = [p["prompt"][0]["text"] for p in at.heard_by(method="session/prompt")]
        assert sent == ["one", "one", "two", "three"]
        await at.until(lambda: "Third." in at.text(talk))
        assert [at.text(talk).count(f"\n{w}\n") for w in ("one", "two", "three")] == [1, 1, 1]
        assert at.popups == []
        at.close(talk)
        await at.command("acpls.status")


@both_versions
async def test_a01_a_session_that_may_not_be_resumed_before_the_login(
    tmp_path: Path, version: int
) -> None:
    """A01, S19: the agent ends, comes back, and wants a login before the session."""
    needed = ("session/resume", "session/load")
    kept = {"kept_in": str(tmp_path / "sessions")}
    script = wants_login(tmp_path, needed_for=needed, session=kept)
    script["turns"] = [[{"say": "Before. "}, {"die": 4}]]
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        await at.command("acpls.session.prompt", {"text": "one"})
        await at.popup()
        at.play("fake", {**script, "turns": [[{"say": "After. "}]]})
        await at.command("acpls.session.prompt", {"text": "two"})
        asked = await at.next("acp/question/ask")
        assert await state_of(at) == "needsLogin"
        answers[asked["question"]].set({"option": "method:web"})
        await at.until(lambda: at.said() == "Before. After. ")
        assert users_words(await at.get()) == ["one", "two"]
        assert methods_heard(at)[-4:] == [
            *("session/resume", LOG_IN[version], "session/resume", "session/prompt")
        ]


# --- in a terminal ---------------------------------------------------------------------


@both_versions
async def test_a02_the_editor_runs_the_program_of_a_login(tmp_path: Path, version: int) -> None:
    """A02: its failure is told with the question; after its success the agent starts anew."""
    script = wants_login(tmp_path, {**TTY, "id": "bad", "fails": 3}, TTY)
    async with seat(tmp_path, script, version, ignore=TOLD, capabilities=TERMINALS) as at:
        answers = by_hand(at)
        ended = Later()
        at.answer["acp/terminal/run"] = lambda _: ended
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        assert [o["name"] for o in asked["options"]][:2] == [
            "In a terminal (method:bad)",
            "In a terminal (method:tty)",
        ]
        answers["q1"].set({"option": "method:bad"})
        run = await at.next("acp/terminal/run")
        assert await state_of(at) == "loggingIn"
        assert run["env"] == {"MODE": "tty"}
        assert run["title"] == "Log in to Scripted agent"
        ended.set({"exitCode": await exit_code(run)})
        asked = await at.next("acp/question/ask")
        assert "exit code 3" in asked["description"]
        assert not waiting.answered

        ended = Later()
        answers["q2"].set({"option": "method:tty"})
        run = await at.next("acp/terminal/run")
        ended.set({"exitCode": await exit_code(run)})
        assert (await waiting.result())["live"] is True
        assert methods_heard(at) == ["session/new", "session/new"]
        assert at.popups == []


async def test_a_terminal_that_the_editor_cannot_open(tmp_path: Path) -> None:
    async with seat(
        tmp_path, wants_login(tmp_path, TTY), 1, ignore=TOLD, capabilities=TERMINALS
    ) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        await at.next("acp/question/ask")
        # It announced terminals, and answers -32601.
        answers["q1"].set({"option": "method:tty"})
        await at.next("acp/terminal/run")
        asked = await at.next("acp/question/ask", lambda q: q["question"] == "q2")
        assert "could not run" in asked["description"]
        answers["q2"].set({"option": "later"})
        with pytest.raises(CommandFailed):
            await waiting.result()


@both_versions
async def test_a02_a_line_to_copy_where_the_editor_runs_nothing(
    tmp_path: Path, version: int
) -> None:
    """A02: the question has the line for any terminal, and the choice is that it was run."""
    script = wants_login(tmp_path, TTY)
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        line = asked["description"].rpartition("run this in a terminal: ")[2]
        assert asked["options"][0]["name"] == f"In a terminal: I have run {line}"
        run = await at.command("acpls.agent.login", {"methodId": "tty"})
        assert run["args"][-2:] == ["--login", "tty"]
        # Only this editor's settings have the agent, so ``acpls login`` would not know it.
        assert (await anyio.run_process(["sh", "-c", line])).returncode == 0
        answers["q1"].set({"option": "method:tty"})
        assert (await waiting.result())["live"] is True
        assert methods_heard(at) == ["session/new", "session/new"]


async def test_a_login_elsewhere_and_try_again(tmp_path: Path) -> None:
    """Too early, it is asked again; and nothing is opened twice."""
    async with seat(tmp_path, wants_login(tmp_path, TTY), 2, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "again"})
        await at.next("acp/question/ask")
        asked = await at.next("acp/question/ask")
        assert asked["question"] == "q2"
        (tmp_path / "logged-in").touch()
        answers["q2"].set({"option": "again"})
        assert (await waiting.result())["session"] == "s1"
        assert methods_heard(at) == ["session/new"] * 3


# --- by variables ----------------------------------------------------------------------


@both_versions
async def test_a02_a_variable_is_set_in_the_settings(tmp_path: Path, version: int) -> None:
    async with seat(tmp_path, wants_login(tmp_path, KEY), version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        assert "set SCRIPTED_KEY in agents.fake.env" in asked["description"]
        secret = "s3cr3t-value"
        at.settings = {"acpls": {"agents": {"fake": {"env": {"SCRIPTED_KEY": secret}}}}}
        at.notify("workspace/didChangeConfiguration", {"settings": None})
        await at.command("acpls.status")
        await at.until(lambda: len(at.seen("workspace/configuration")) == 2)
        await at.command("acpls.status")
        answers["q1"].set({"option": "method:key"})
        assert (await waiting.result())["live"] is True
        assert secret not in str(at.tap.heard)


# --- by a page -------------------------------------------------------------------------


@both_versions
async def test_a03_a_page_is_shown_in_full_and_opened_when_the_user_says_so(
    tmp_path: Path, version: int
) -> None:
    """A03: nothing opens by itself, the whole address can be copied, and the wait is seen."""
    gate = tmp_path / "visited"
    script = by_page(tmp_path, {"gate": str(gate)}, {"complete": "l1"})
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        await at.next("acp/question/ask", lambda q: q["question"] == "q1")
        page = await at.next("acp/question/ask", lambda q: "url" in q)
        assert page["url"] == PAGE
        assert PAGE in page["description"]
        assert page["title"] == "Log in here"
        assert await state_of(at) == "loggingIn"
        progress = [v for told in at.progress.values() for v in told]
        assert {"Logging in to fake"} <= {v.get("title") for v in progress}
        assert at.shown == []
        answers[page["question"]].set({"option": "open"})
        shown = await at.next("window/showDocument")
        assert (shown["uri"], shown["external"]) == (PAGE, True)
        assert not waiting.answered
        gate.touch()
        assert (await waiting.result())["live"] is True
        assert [p["uri"] for p in at.shown] == [PAGE]


async def test_a03_a_page_that_was_visited_elsewhere(tmp_path: Path) -> None:
    """A03: the agent's word that it is done answers the question."""
    gate = tmp_path / "visited"
    script = by_page(tmp_path, {"gate": str(gate)}, {"complete": "l1"})
    async with seat(tmp_path, script, 1, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        page = await at.next("acp/question/ask", lambda q: "url" in q)
        gate.touch()
        assert (await waiting.result())["live"] is True
        assert answers[page["question"]].cancelled
        assert at.shown == []
        assert at.answers_to()[-1]["result"] == {"action": "accept"}
        await at.next("acp/question/ask")


@both_versions
async def test_a03_a_declined_page_leads_back_to_the_methods(tmp_path: Path, version: int) -> None:
    async with seat(tmp_path, by_page(tmp_path), version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        page = await at.next("acp/question/ask", lambda q: "url" in q)
        answers[page["question"]].set({"option": "decline"})
        asked = await at.next("acp/question/ask", lambda q: q["question"] == "q3")
        assert "The user would not" in asked["description"]
        answers["q3"].set({"option": "later"})
        with pytest.raises(CommandFailed):
            await waiting.result()
        assert at.shown == []
        await at.next("acp/question/ask")


@both_versions
async def test_a03_the_wait_for_a_login_can_be_given_up(tmp_path: Path, version: int) -> None:
    """A03: cancelling the progress withdraws the login, and the user may choose again."""
    script = by_page(tmp_path, "wait_cancel")
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        answers["q1"].set({"option": "method:web"})
        page = await at.next("acp/question/ask", lambda q: "url" in q)

        def cancellable() -> list[Any]:
            return [
                token
                for token, values in at.progress.items()
                if values[0].get("cancellable") and values[-1]["kind"] != "end"
            ]

        (token,) = await at.until(cancellable)
        at.notify("window/workDoneProgress/cancel", {"token": token})
        asked = await at.next("acp/question/ask", lambda q: q["question"] == "q3")
        assert "cancelled" in asked["description"]
        assert answers[page["question"]].cancelled
        assert await state_of(at) == "needsLogin"
        await at.until(lambda: "$/cancel_request" in methods_heard(at))
        await at.until(lambda: at.progress[token][-1]["kind"] == "end")
        answers["q3"].set({"option": "later"})
        with pytest.raises(CommandFailed):
            await waiting.result()
        assert at.popups == []
        await at.next("acp/question/ask")


# --- without a question ----------------------------------------------------------------


@both_versions
async def test_the_method_of_the_settings_is_tried_first(tmp_path: Path, version: int) -> None:
    """A02: nobody is asked who said before how to log in."""
    entry = {"authMethod": "web"}
    script = wants_login(tmp_path, TTY, WEB)
    async with seat(tmp_path, script, version, entry=entry, ignore=TOLD) as at:
        assert (await at.command("acpls.session.new"))["live"] is True
        assert at.seen("acp/question/ask") == []
        assert methods_heard(at) == ["session/new", LOG_IN[version], "session/new"]


@both_versions
async def test_a_method_of_the_settings_that_fails_is_tried_once(
    tmp_path: Path, version: int
) -> None:
    failing = {**WEB, "steps": [{"fail": {"code": -32603, "message": "The account is closed"}}]}
    script = wants_login(tmp_path, failing)
    async with seat(tmp_path, script, version, entry={"authMethod": "web"}, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        assert "The account is closed" in asked["description"]
        # It fails again, and the user is asked again.
        answers["q1"].set({"option": "method:web"})
        asked = await at.next("acp/question/ask")
        assert "The account is closed" in asked["description"]
        answers["q2"].set({"option": "later"})
        with pytest.raises(CommandFailed):
            await waiting.result()
        assert methods_heard(at) == ["session/new", LOG_IN[version], LOG_IN[version]]


async def test_an_agent_that_takes_a_login_and_still_refuses(tmp_path: Path) -> None:
    """A login that changes nothing leads back to the question; nothing goes round by itself."""
    before = [{"fail": {"code": -32000, "message": "Not enough"}}]
    script = wants_login(tmp_path, session={"before": before})
    async with seat(tmp_path, script, 2, entry={"authMethod": "web"}, ignore=TOLD) as at:
        answers = by_hand(at)
        waiting = begin_session(at)
        asked = await at.next("acp/question/ask")
        assert "Not enough" in asked["description"]
        answers["q1"].set({"option": "later"})
        with pytest.raises(CommandFailed):
            await waiting.result()
        assert methods_heard(at) == ["session/new", "auth/login", "session/new"]
