"""Answers in menus and dialogs: bounded, told apart, and none of them an unlucky key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import progress
from acpls.session import updates as up
from acpls.session.asks import AgentFacts, Cancelled
from acpls.session.content import AboutCommand, Choosable
from editor_stage import AGENT, NATIVE, YES_NO, Stage, announcing, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
WITHDRAWS = AgentFacts("Demo", "1", 2, withdraws_questions=True)
HUNDREDS = tuple(Choosable(f"o{n}", f"Option {n}", "allow_once") for n in range(300))
DIALOGS = {
    **claiming(window={"showMessage": {}}),
    "initializationOptions": {"questions": {"dialogs": True}},
}
PROGRESS = claiming(window={"workDoneProgress": True})


async def test_a_menu_is_bounded_and_the_rest_is_reached_from_it() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(URI, "x")
        for number in range(200):
            it.question(number, f"Number {number}?", HUNDREDS if number == 0 else YES_NO)
        actions = it.editor.actions(URI)
        titles = [action["title"] for action in actions]
        assert len(titles) == len(set(titles)) < 80
        assert titles[0] == "Show what is asked: Number 0?"
        assert titles[21] == "Show 280 more answers: Number 0?"
        assert titles[22] == "Show what is asked: Number 1?"
        (rest,) = [action for action in actions if action["title"].startswith("Show the other")]
        assert rest["title"] == "Show the other 190 questions"
        assert rest["command"]["arguments"] == [{"question": "q11"}]


async def test_one_question_more_than_the_menu_holds() -> None:
    async with stage() as it:
        it.session()
        for number in range(11):
            it.question(number)
        assert "Show the other question" in it.editor.titles(URI)


async def test_a_dialog_is_bounded_too() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        command = "\n".join(f"echo {n}" for n in range(500)) + "\nrm -r /"
        it.question(1, "t" * 100_000, HUNDREDS, AboutCommand(command, "/p"))
        asked = (await it.editor.next("window/showMessageRequest"))["params"]
        lines = asked["message"].split("\n")
        assert len(asked["actions"]) == 21
        assert len(lines) < 25
        assert max(map(len, lines)) <= 200
        assert "    rm -r /" in lines


async def test_dismiss_is_offered_where_the_agent_withdraws_by_itself() -> None:
    async with stage() as it:
        it.session()
        it.emit(ev.AgentReady(AGENT, replace(WITHDRAWS, withdraws_questions=False)))
        it.question(1, "One?")
        it.emit(ev.AgentReady(AGENT, WITHDRAWS))
        it.question(2, "Two?")
        (dismiss,) = [a for a in it.editor.actions(URI) if a["title"].startswith("Dismiss")]
        assert dismiss["title"] == "Dismiss: Two?"
        it.editor.ask("workspace/executeCommand", dismiss["command"])
        assert it.answers() == [Cancelled()]


async def test_what_is_hidden_in_a_command_is_seen_in_its_title() -> None:
    async with stage() as it:
        it.session()
        command = f"ls{' ' * 200}\n{'true; ' * 100}rm -r / \u202e#"
        it.question(1, "", subject=AboutCommand(command, "/p"))
        title = it.editor.titles(URI)[1]
        assert title.startswith("Allow: Run ls ⏎ true;")
        assert title.endswith("rm -r / \\u202e#")
        assert len(title) == 80


async def test_an_editor_that_does_not_show_a_question_gets_a_dialog_p01() -> None:
    params = announcing("questions", window={"showMessage": {}})
    params["initializationOptions"] = {"questions": {"dialogs": True}}
    async with stage(params) as it:
        it.session()
        it.question(1, "Really?")
        await it.editor.next("acp/question/ask")
        (due,) = [after for after in it.of(ef.After) if after.seconds == 3.0]
        it.emit(ev.TimePassed(due.token))
        dialog = await it.editor.next("window/showMessageRequest")
        (told,) = it.editor.reads("window/showMessage")
        assert told["message"] == "Waiting for you: Really?"
        it.editor.reply(dialog, {"title": "Reject"})
        await it.until(lambda: bool(it.answers()))
        # The other way to answer is taken away.
        await it.editor.next("$/cancelRequest")
        assert not it.state.questions.pending()


# --- waiting for the user --------------------------------------------------------------


def messages(it: Stage) -> list[str]:
    told = [params["value"] for params in it.editor.reads("$/progress")]
    return [value.get("message", "") for value in told if value["kind"] != "end"]


async def taken(it: Stage) -> None:
    """The editor takes all progress that is begun."""
    it.views.flush()
    await it.settle()
    for message in list(it.editor.inbox):
        if message.get("method") == "window/workDoneProgress/create":
            it.editor.inbox.remove(message)
            it.editor.reply(message)
    await it.settle()


async def test_a_turn_says_what_it_waits_for_p01() -> None:
    async with stage(PROGRESS) as it:
        it.session()
        it.prompts()
        it.says("Working.")
        await taken(it)
        it.editor.reads()
        it.question(1, "Delete it?")
        it.question(2, "And this?")
        it.views.flush()
        assert messages(it) == ["Waiting for you: Delete it? (and 1 more)"]
        it.editor.command("acpls.question.answer", {"option": "no"})
        it.views.flush()
        assert messages(it) == ["Waiting for you: And this?"]
        it.editor.command("acpls.question.answer", {"option": "no"})
        it.views.flush()
        assert messages(it) == ["Working."]


async def test_questions_about_no_turn_have_a_progress_of_their_own_p01() -> None:
    async with stage(PROGRESS) as it:
        it.session()
        await taken(it)
        it.editor.reads()
        it.question(1, "In between?")
        it.link()
        await taken(it)
        assert messages(it) == ["Waiting for you: In between? (and 1 more)"]
        it.editor.command("acpls.question.answer", {"option": "no"})
        it.editor.command("acpls.question.answer", {"option": "decline"})
        it.views.flush()
        ended: list[dict[str, Any]] = [p["value"] for p in it.editor.reads("$/progress")]
        assert ended == [{"kind": "end", "message": "answered"}]
        it.question(3, "x" * 1000)
        await taken(it)
        (message,) = messages(it)
        assert len(message) == progress.LINE_LIMIT


async def test_an_editor_without_progress_is_not_asked_for_any() -> None:
    async with stage() as it:
        it.session()
        it.emit(ev.SessionTold(AGENT, NATIVE, up.TurnChanged("idle")))
        it.question()
        it.views.flush()
        await it.settle()
        assert "window/workDoneProgress/create" not in it.editor.methods()
