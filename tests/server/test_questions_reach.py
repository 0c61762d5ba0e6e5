"""Questions reach the user and the answers reach the agents, in any editor (P01, P02, P03, P05,
P07, P09, P16, P19).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from server_stage import TOLD, both_versions, outcomes, seat

from acpls.testing.editor import FULL, PLAIN, CommandFailed, Later

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

EDITORS = pytest.mark.parametrize("capabilities", [PLAIN, FULL], ids=["plain", "questions"])
OPENS: Json = {**PLAIN, "window": {**PLAIN["window"], "showDocument": {"support": True}}}
NOWHERE = {"line": 0, "character": 0}


def selected(option: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option}}


CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}


async def actions(at: Seat, uri: str) -> list[Json]:
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": NOWHERE, "end": NOWHERE},
        "context": {"diagnostics": []},
    }
    found: list[Json] = await at.request("textDocument/codeAction", params)
    return found


async def choose(at: Seat, uri: str, title: str) -> None:
    """Runs the code action with this title, as the user would."""
    offered = await actions(at, uri)
    (action,) = [a for a in offered if a["title"] == title]
    await at.command(action["command"]["command"], action["command"]["arguments"][0])


def waits_for(at: Seat, text: str) -> bool:
    """Whether some progress says that the user is waited for."""
    told = [value.get("message", "") for values in at.progress.values() for value in values]
    return any(message.startswith("Waiting for you: ") and text in message for message in told)


def never_answers(at: Seat) -> list[Later]:
    """Lets the editor leave all questions open; what it does not answer."""
    questions: list[Later] = []

    def put(_: Json) -> Later:
        questions.append(Later())
        return questions[-1]

    at.answer["acp/question/ask"] = put
    return questions


async def taken_away(at: Seat, questions: list[Later]) -> None:
    """Waits until the server waits for none of these any more."""
    await at.until(lambda: all(question.cancelled for question in questions))


async def open_questions(at: Seat, count: int) -> list[Json]:
    """The open questions, when there are so many."""
    found: list[Json] = await at.asked(
        "acpls.question.list", None, lambda questions: len(questions) == count
    )
    return found


@both_versions
@EDITORS
async def test_p01_p19_a_question_can_be_seen_and_answered_without_dialogs(
    tmp_path: Path, version: int, capabilities: Json
) -> None:
    """P01, P19: the editor draws nothing by itself, whatever it announced."""
    ask = {
        "ask": "bash",
        "call": {"tool": "t", "title": "bash", "raw_input": {"command": "make\nrm -r /"}},
        "then": {"allow_once": [{"say": "Made."}]},
    }
    async with seat(
        tmp_path,
        {"turns": [[ask]]},
        version,
        capabilities=capabilities,
        ignore=TOLD | {"acp/question/ask"},
    ) as at:
        at.confirms = False
        unanswered = never_answers(at)
        uri = at.open_text("file:///elsewhere.txt", "x")
        await at.command("acpls.session.prompt", {"text": "go"})
        title = "bash: make ⏎ rm -r /"
        assert await at.popup() == f"Waiting for you: {title}"
        await at.until(lambda: waits_for(at, title))
        (session,) = (await at.command("acpls.status"))["sessions"]
        assert session["questions"] == ["q1"]
        await choose(at, uri, f"Allow once: {title}")
        await at.until(lambda: outcomes(at))
        assert outcomes(at) == {0: selected("allow_once")}
        await taken_away(at, unanswered)


async def test_p02_all_questions_are_found_in_one_place(tmp_path: Path) -> None:
    """P02: the oldest is shown by one command, on its line, however far up it is."""
    asks: list[Any] = [
        {"ask": "First?", "id": "a", "wait": False},
        {"say": "Meanwhile.\n" * 50},
        {"ask": "Second?", "id": "b"},
    ]
    async with seat(
        tmp_path,
        {"turns": [asks]},
        2,
        capabilities=OPENS,
        ignore=TOLD | {"window/showMessage", "window/showDocument"},
    ) as at:
        talk = (await at.command("acpls.session.openConversation"))["uri"]
        await at.until(lambda: talk in at.pages)
        await at.command("acpls.session.prompt", {"text": "go"})
        listed = await open_questions(at, 2)
        assert [q["title"] for q in listed] == ["First?", "Second?"]
        at.shown.clear()
        await at.command("acpls.question.show")
        shown = (await at.until(lambda: at.shown))[0]
        line = shown["selection"]["start"]["line"]
        await at.until(lambda: at.text(talk).splitlines()[line] == "> **First?**")
        for option in ("reject_once", "allow_once"):
            await at.command("acpls.question.answer", {"option": option})
        await at.until(lambda: len(outcomes(at)) == 2)
        assert list(outcomes(at).values()) == [selected("reject_once"), selected("allow_once")]


@both_versions
async def test_p03_what_was_never_announced_is_asked_all_the_same(
    tmp_path: Path, version: int
) -> None:
    """P03: a tool call that nobody was told of, and, in version 2, a session too."""
    subagent = {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Helper"}
    call = {"toolCallId": "c", "title": "edit", "rawInput": {"path": "a.py", "content": "x"}}
    options = [{"optionId": "ok", "name": "Fine", "kind": "allow_once"}]
    of_child = {
        "sessionId": "child",
        "title": "edit",
        "subject": {"type": "tool_call", "toolCall": call},
        "options": options,
    }
    steps: list[Any] = [{"ask": "edit", "call": {"tool": "new", "title": "edit", "kind": "edit"}}]
    if version == 2:
        steps = [
            {"update": subagent},
            {"request": "session/request_permission", "params": of_child, "into": "got"},
            {"say": "{got}"},
            *steps,
        ]
    async with seat(tmp_path, {"turns": [steps]}, version, ignore=TOLD) as at:
        answers = {"q1": Later(), "q2": Later()}
        at.answer["acp/question/ask"] = lambda asked: answers[asked["question"]]
        await at.command("acpls.session.prompt", {"text": "go"})
        asked = await at.next("acp/question/ask")
        if version == 2:
            assert (asked["title"], asked["session"]) == ("edit: a.py", "s1")
            assert (asked["subagent"], asked["source"]) == ("child", "subagent Helper")
            answers["q1"].set({"option": "ok"})
            await at.until(lambda: "selected" in at.said())
            asked = await at.next("acp/question/ask")
        assert asked["title"] == "edit"
        assert "says nothing" in asked["text"]
        answers[asked["question"]].set({"option": "allow_once"})
        await at.idle(stop="end_turn")
        assert list(outcomes(at).values())[-1] == selected("allow_once")


@EDITORS
async def test_p07_p09_p16_sessions_do_not_wait_for_each_other(
    tmp_path: Path, capabilities: Json
) -> None:
    """P07, P09, P16: two sessions of one connection ask; nothing is answered by waiting."""
    ask = {"ask": "Sure?", "then": {"allow_once": [{"say": "Thanks."}]}}
    async with seat(
        tmp_path,
        {"turns": [[ask]]},
        1,
        capabilities=capabilities,
        ignore=TOLD | {"acp/question/ask", "window/showMessage"},
    ) as at:
        unanswered = never_answers(at)
        for name in ("One", "Two"):
            await at.command("acpls.session.new", {"title": name})
            await at.command("acpls.session.prompt", {"text": "go"})
        first, second = await open_questions(at, 2)
        assert (first["source"], second["source"]) == ("One", "Two")
        await at.command("acpls.question.answer", {"question": "q2", "option": "allow_once"})
        await at.until(lambda: outcomes(at))
        assert outcomes(at) == {1: selected("allow_once")}
        assert [q["question"] for q in await open_questions(at, 1)] == ["q1"]
        await at.command("acpls.question.answer", {"option": "reject_once"})
        await at.until(lambda: len(outcomes(at)) == 2)
        await taken_away(at, unanswered)


@both_versions
async def test_an_agent_that_waits_for_its_answer_before_it_stops(
    tmp_path: Path, version: int
) -> None:
    """Some agents take no notice of a cancel while their question is open."""
    ask = {"ask": "Sure?", "cancelled": [{"end": "cancelled"}]}
    script: Json = {"turns": [[ask]], "cancel": "ignore"}
    async with seat(
        tmp_path,
        script,
        version,
        settings={"session": {"cancelSeconds": 1}},
        ignore=TOLD | {"window/showMessage"},
    ) as at:
        unanswered = never_answers(at)
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/question/ask")
        await at.command("acpls.session.cancel")
        await at.idle(stop="cancelled")
        assert outcomes(at) == {0: CANCELLED}
        await taken_away(at, unanswered)


async def test_dismissing_tells_an_agent_that_there_will_be_no_answer(tmp_path: Path) -> None:
    ask = {"ask": "Sure?", "cancelled": [{"say": "Then not."}]}
    async with seat(tmp_path, {"turns": [[ask]]}, 2, ignore=TOLD) as at:
        unanswered = never_answers(at)
        uri = at.open_text("file:///elsewhere.txt", "x")
        await at.command("acpls.session.prompt", {"text": "go"})
        assert (await at.next("acp/question/ask"))["dismiss"]
        await choose(at, uri, "Dismiss: Sure?")
        await at.idle(stop="end_turn")
        assert (at.said(), outcomes(at)) == ("Then not.", {0: CANCELLED})
        await taken_away(at, unanswered)


async def test_only_agents_that_withdraw_by_themselves_can_be_left_without_answer(
    tmp_path: Path,
) -> None:
    async with seat(tmp_path, {"turns": [[{"ask": "Sure?"}]]}, 1, ignore=TOLD) as at:
        unanswered = never_answers(at)
        uri = at.open_text("file:///elsewhere.txt", "x")
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/question/ask")
        titles = [action["title"] for action in await actions(at, uri)]
        assert titles[:3] == [
            "Show what is asked: Sure?",
            "Allow once: Sure?",
            "Reject once: Sure?",
        ]
        assert not [title for title in titles if title.startswith("Dismiss")]
        with pytest.raises(CommandFailed) as refused:
            await at.command("acpls.question.answer", {"action": "dismiss"})
        assert refused.value.data["field"] == "action"
        await at.command("acpls.question.answer", {"option": "reject_once"})
        await at.idle(stop="end_turn")
        assert outcomes(at) == {0: selected("reject_once")}
        await taken_away(at, unanswered)


async def test_p01_an_editor_that_confirms_is_not_disturbed(tmp_path: Path) -> None:
    ask = {"ask": "Sure?", "then": {"allow_once": [{"say": "Thanks."}]}}
    async with seat(tmp_path, {"turns": [[ask]]}, 2, ignore=TOLD) as at:
        shown = Later()
        at.answer["acp/question/ask"] = lambda _: shown
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/question/ask")
        # The server has read the confirmation when it answers what was sent after it.
        await at.command("acpls.status")
        shown.set({"option": "allow_once"})
        await at.idle(stop="end_turn")
        assert at.popups == []
