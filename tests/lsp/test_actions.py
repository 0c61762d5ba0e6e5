"""Code actions: questions, verdicts, turns, prompts."""

from __future__ import annotations

from typing import Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.asks import Selected
from acpls.session.content import Choosable
from editor_stage import AGENT, NATIVE, Stage, announcing, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
BASE = "".join(f"{number}\n" for number in range(12))
TARGET = BASE.replace("2\n", "two\n", 1).replace("5\n", "five\n", 1).replace("8\n", "", 1)
ASK = "Ask the agent about this"


def hunks(it: Stage) -> list[str]:
    """Three hunks, in lines 3 and 6 and 9 of the open document."""
    it.session()
    it.editor.open(URI, TARGET)
    return it.reviewed("/p/a.py", BASE, TARGET)


async def test_a_quiet_document_has_one_action() -> None:
    async with stage() as it:
        (action,) = it.editor.actions(URI, 1, 2, 3, 4)
        span = {"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}
        assert action == {
            "title": ASK,
            "kind": "refactor.acpls",
            "command": {
                "title": ASK,
                "command": "acpls.session.ask",
                "arguments": [{"uri": URI, "range": span}],
            },
        }
        (action,) = it.editor.actions(URI, 1, 2)
        assert action["command"]["arguments"] == [{"uri": URI}]


async def test_all_actions_in_their_order() -> None:
    async with stage() as it:
        hunks(it)
        it.reviewed("/p/b.py", "", "new\n")
        it.prompts()
        it.question(1, "One?")
        it.question(2, "Two?")
        uri = it.conversation()
        assert it.editor.titles(URI, 2, 0) == [
            "Show what is asked: One?",
            "Allow: One?",
            "Always allow: One?",
            "Reject: One?",
            "Always allow (kept for this workspace): One?",
            "Always allow (kept everywhere): One?",
            "Show what is asked: Two?",
            "Allow: Two?",
            "Always allow: Two?",
            "Reject: Two?",
            "Always allow (kept for this workspace): Two?",
            "Always allow (kept everywhere): Two?",
            "Keep this change",
            "Reject this change",
            "Keep all 3 changes in this file",
            "Reject all 3 changes in this file",
            "Stop demo",
            "Keep all 4 changes in all files",
            "Reject all 4 changes in all files",
            "Hold changes until I decide",
            ASK,
        ]
        assert it.editor.titles(uri, only=["quickfix"])[12:] == [
            "Send what is written under the last heading",
            "Stop demo",
            "Keep all 4 changes in all files",
            "Reject all 4 changes in all files",
        ]


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (None, {"quickfix", "refactor.acpls"}),
        (["quickfix"], {"quickfix"}),
        (["refactor"], {"refactor.acpls"}),
        (["refactor.acpls"], {"refactor.acpls"}),
        (["refactor.acpls.more"], set()),
        (["refactor.extract"], set()),
        (["source"], set()),
        (["source", "quickfix"], {"quickfix"}),
        ([""], {"quickfix", "refactor.acpls"}),
        (["quick"], set()),
        ([], set()),
    ],
)
async def test_only_filters_by_kind(only: list[str] | None, kinds: set[str]) -> None:
    async with stage() as it:
        hunks(it)
        assert {action["kind"] for action in it.editor.actions(URI, 2, 0, only=only)} == kinds


async def run(it: Stage, title: str, uri: str = URI, *where: int) -> Any:
    """Run the command of a code action as an editor would; its request is answered later."""
    (action,) = [a for a in it.editor.actions(uri, *where) if a["title"] == title]
    command = dict(action["command"])
    assert command.pop("title") == title
    return it.editor.ask("workspace/executeCommand", command)


async def test_the_command_of_an_answer_settles_its_own_question_p10() -> None:
    async with stage() as it:
        it.session()
        it.question(1, "One?")
        it.question(2, "Two?")
        stale = it.editor.actions(URI)
        await run(it, "Reject: Two?")
        await run(it, "Always allow: One?")
        answers = [(a.request, a.answer) for a in it.of(ef.SendAnswer)]
        assert answers == [(2, Selected("no")), (1, Selected("always"))]
        it.editor.reads()
        command = stale[1]["command"]
        error = it.editor.command_error(command["command"], *command["arguments"])
        assert "settled already" in error["message"]


async def test_titles_are_short_lines_that_differ() -> None:
    options = (
        Choosable("a", "Yes", "allow_once"),
        Choosable("b", "Yes", "reject_once"),
        Choosable("c", "", "other"),
    )
    async with stage() as it:
        it.session()
        for number in range(2):
            it.question(number, "Run\n\tsomething " + "long " * 50, options)
        titles = it.editor.titles(URI)
        assert titles[1].startswith("Yes (a): Run ⏎ something long long")
        assert titles[2].startswith("Yes (b): Run ⏎ something")
        assert titles[3].startswith("c: Run ⏎ something")
        assert titles[6].endswith("… (2)")
        assert titles[4].startswith("Show what is asked: Run")
        assert len(titles) == len(set(titles)) == 9
        assert max(map(len, titles)) == 80
        actions = it.editor.actions(URI)
        chosen = [action["command"]["arguments"][0].get("option") for action in actions[:8]]
        assert chosen == [None, "a", "b", "c", None, "a", "b", "c"]


async def test_the_first_action_of_a_question_decides_nothing() -> None:
    async with stage() as it:
        it.session()
        it.question()
        await run(it, "Show what is asked: Edit a.py")
        assert it.state.questions.pending()
        assert [read.path for read in it.of(ef.ReadFile)] == ["/p/.acp/demo-launch-s1.md"]


@pytest.mark.parametrize(
    ("where", "here"),
    [
        ((0, 0), []),
        ((2, 0), ["this change"]),
        ((2, 3), ["this change"]),
        ((3, 0), []),
        ((8, 0), ["this change"]),
        ((0, 0, 2, 0), ["this change"]),
        ((2, 0, 5, 1), ["the change in line 3", "the change in line 6"]),
        ((0, 0, 99, 0), [f"the change in line {line}" for line in (3, 6, 9)]),
    ],
)
async def test_the_hunks_at_the_cursor(where: tuple[int, ...], here: list[str]) -> None:
    async with stage() as it:
        keys = hunks(it)
        actions = it.editor.actions(URI, *where)
        verdicts = [a for a in actions if "hunk" in a["command"]["arguments"][0]]
        assert [a["title"] for a in verdicts] == [
            f"{verb} {which}" for which in here for verb in ("Keep", "Reject")
        ]
        assert {a["command"]["arguments"][0]["hunk"] for a in verdicts} <= set(keys)


async def test_a_menu_has_no_entry_for_each_of_hundreds_of_hunks() -> None:
    async with stage() as it:
        it.session()
        base = "".join(f"{number}\n" for number in range(200))
        target = "".join(f"{number}{'x' * (number % 2)}\n" for number in range(200))
        it.editor.open(URI, target)
        assert len(it.reviewed("/p/a.py", base, target)) == 100
        titles = it.editor.titles(URI, 0, 0, 200, 0)
        assert len(titles) == 2 * 10 + 2 + 2
        assert titles[-3] == "Reject all 100 changes in this file"


async def test_the_changes_of_other_files_are_offered_everywhere() -> None:
    async with stage() as it:
        it.session()
        it.reviewed("/p/b.py", "", "new\n")
        assert it.editor.titles(URI)[:2] == [
            "Keep the change in all files",
            "Reject the change in all files",
        ]
        await run(it, "Keep the change in all files")
        assert [read.path for read in it.of(ef.ReadFile)] == ["/p/b.py"]


async def test_send_sends_what_is_written_in_the_conversation() -> None:
    async with stage() as it:
        it.session()
        uri = it.conversation()
        buffer = it.state.buffers.get(uri)
        assert buffer is not None
        line = buffer.text.split("\n").index(next(x for x in buffer.text.split("\n") if "You" in x))
        place = {"line": line + 1, "character": 0}
        it.editor.change(uri, 2, {"range": {"start": place, "end": place}, "text": "do this\n"})
        number = await run(it, "Send what is written under the last heading", uri)
        assert it.editor.answered(number)["result"]["turn"] == "t1"
        assert not [title for title in it.editor.titles(URI) if title.startswith("Send")]


async def test_every_busy_session_can_be_stopped_and_waited_for_no_longer() -> None:
    async with stage() as it:
        it.session("other")
        it.told(up.TurnChanged("running"), "other")
        it.session()
        it.prompts()
        assert it.editor.titles(URI, only=["quickfix"]) == ["Stop demo, s1", "Stop demo, s2"]
        await run(it, "Stop demo, s2")
        assert it.state.sessions["s2"].stopping
        assert it.editor.titles(URI, only=["quickfix"]) == [
            "Stop demo, s1",
            "Stop demo, s2",
            "Wait no longer for demo, s2 to stop",
        ]
        await run(it, "Wait no longer for demo, s2 to stop")
        assert it.editor.titles(URI, only=["quickfix"]) == ["Stop demo"]
        assert not it.state.sessions["s2"].busy


async def test_a_question_without_options_is_still_shown() -> None:
    async with stage(announcing()) as it:
        it.session()
        it.emit(ev.QuestionAsked(AGENT, 1, NATIVE, "Well?", ()))
        assert it.editor.titles(URI)[:2] == ["Show what is asked: Well?", ASK]


async def test_a_question_about_no_session_is_offered_everywhere_a03() -> None:
    async with stage(claiming(window={"showDocument": {"support": True}})) as it:
        it.session()
        it.link()
        actions = it.editor.actions(URI)[:4]
        assert [action["title"] for action in actions] == [
            "Show what is asked: Log in to Demo",
            "Open the page: Log in to Demo",
            "I have opened the page myself: Log in to Demo",
            "Do not open it: Log in to Demo",
        ]
        show = actions[0]["command"]
        assert (show["command"], show["arguments"]) == ("acpls.question.show", [{"question": "q1"}])
        it.editor.ask("workspace/executeCommand", show)
        assert [read.path for read in it.of(ef.ReadFile)] == ["/p/.acp/demo-launch-s1.md"]
        assert it.state.questions.pending()
