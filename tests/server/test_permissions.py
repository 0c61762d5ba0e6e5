"""Questions of agents: each is put once, answered once, and by the answer drawn for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from server_stage import TOLD, both_versions, open_conversation, outcomes, seat

from acpls.testing.editor import FULL, PLAIN, CommandFailed, Error, Later

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json

pytestmark = pytest.mark.anyio

DIALOGS: Json = {"questions": {"dialogs": True}}
# A client with dialogs and without questions of ours.
TALKATIVE: Json = {**FULL, "experimental": {}}
TWO_AT_ONCE: list[Any] = [
    {
        "ask": title,
        "id": title,
        "call": {"tool": "same", "title": title},
        "wait": False,
        "then": {key: [{"say": f"[{title} {key}]"}] for key in ("allow_once", "reject_once")},
        "cancelled": [{"say": f"[{title} cancelled]"}],
    }
    for title in ("first", "second")
]


def selected(option: str) -> Json:
    return {"outcome": {"outcome": "selected", "optionId": option}}


@pytest.mark.parametrize(("version", "ids"), [(1, "numbers"), (2, "words")])
async def test_p05_p08_the_answer_is_the_offered_id_under_the_request_that_asked(
    tmp_path: Path, version: int, ids: str
) -> None:
    """P05, P08: two requests with one tool call id, the ids of requests from 0, or words."""
    script = {"ids": ids, "turns": [[*TWO_AT_ONCE, {"end": "end_turn"}]]}
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        answers: dict[str, Later] = {"q1": Later(), "q2": Later()}
        at.answer["acp/question/ask"] = lambda asked: answers[asked["question"]]
        await at.command("acpls.session.prompt", {"text": "go"})
        one = await at.next("acp/question/ask")
        two = await at.next("acp/question/ask")
        assert (one["question"], two["question"]) == ("q1", "q2")

        # The second is answered first, and the other way round.
        answers["q2"].set({"option": "reject_once"})
        await at.until(lambda: "second" in at.said())
        answers["q1"].set({"option": "allow_once"})
        await at.idle(stop="end_turn")
        assert at.said() == "[second reject_once][first allow_once]"
        assert list(outcomes(at).values()) == [selected("reject_once"), selected("allow_once")]
        if ids == "numbers":
            assert list(outcomes(at)) == [1, 0]


NO = " Nö, thanks 👎\t"


async def test_p11_every_option_is_offered_in_order_and_nothing_is_picked(tmp_path: Path) -> None:
    """P05, P11: custom kinds keep their names, odd ids come back as they were, and a refusal
    is an option of the agent's and no cancel.
    """
    options = [
        {"id": "maybe", "name": "Maybe, on Sundays", "kind": "_maybe"},
        {"id": NO, "name": "No, thank you", "kind": "reject_once"},
        {"id": "never", "name": "Never", "kind": "reject_always"},
        {"id": "yes", "name": "Go on", "kind": "allow_once"},
    ]
    ask = {
        "ask": "Delete the moon?",
        "options": options,
        "then": {NO: [{"say": "I leave it."}]},
        "cancelled": [{"say": "cancelled"}],
    }
    script = {"turns": [[ask, {"say": " Still here."}]]}
    async with seat(tmp_path, script, 2, ignore=TOLD) as at:
        answer = Later()
        at.answer["acp/question/ask"] = lambda _: answer
        uri = at.open_text("file:///elsewhere.txt", "x")
        await at.command("acpls.session.prompt", {"text": "go"})
        asked = await at.next("acp/question/ask")
        assert [(o["option"], o["name"]) for o in asked["options"]] == [
            (o["id"], o["name"]) for o in options
        ]
        assert asked["options"][0]["kind"] == "_maybe"
        # The code actions too offer all of them, after one that decides nothing.
        nowhere = {"line": 0, "character": 0}
        offered = await at.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": uri},
                "range": {"start": nowhere, "end": nowhere},
                "context": {"diagnostics": []},
            },
        )
        titles = [a["title"].partition(":")[0] for a in offered][: len(options) + 1]
        assert titles == ["Show what is asked", *(o["name"] for o in options)]
        answer.set({"option": NO})
        await at.idle(stop="end_turn")
        assert at.said() == "I leave it. Still here."
        assert list(outcomes(at).values()) == [selected(NO)]


NO_ANSWERS: list[Any] = [
    {"dismissed": True},
    None,
    {"option": "allow_everything"},
    {"option": 7},
    "allow_once",
    Error(-32603, "The window was closed"),
]


async def test_a_dismissed_question_stays_open(tmp_path: Path) -> None:
    """No answer is never a refusal; the question is answered by a command later, once."""
    ask = {"ask": "Sure?", "then": {"allow_once": [{"say": "Thanks. "}]}}
    script = {"turns": [[ask] * len(NO_ANSWERS)]}
    async with seat(tmp_path, script, 1, ignore=TOLD) as at:
        silence = iter(NO_ANSWERS)
        at.answer["acp/question/ask"] = lambda _: next(silence)
        await at.command("acpls.session.prompt", {"text": "go"})
        for _ in NO_ANSWERS:
            asked = await at.next("acp/question/ask")
            # The server has read the answer when it answers what was sent after it.
            (question,) = await at.command("acpls.question.list")
            assert (question["question"], question["state"]) == (asked["question"], "open")
            with pytest.raises(CommandFailed) as wrong:
                await at.command("acpls.question.answer", {"option": "maybe"})
            assert (wrong.value.code, wrong.value.data["field"]) == (-32602, "option")
            await at.command("acpls.question.answer", {"option": "allow_once"})
        await at.idle(stop="end_turn")
        assert at.said() == "Thanks. " * len(NO_ANSWERS)

        # A second answer is told who gave the first one.
        with pytest.raises(CommandFailed, match="settled already, by editor") as late:
            await at.command("acpls.question.answer", {"question": "q1", "option": "reject_once"})
        assert (late.value.code, late.value.data["field"]) == (-32602, "question")
        assert list(outcomes(at).values()) == [selected("allow_once")] * len(NO_ANSWERS)


async def test_p10_a_late_answer_counts_for_nothing(tmp_path: Path) -> None:
    """P10: answered by a command meanwhile, the dialog's answer comes too late."""
    ask = {
        "ask": "Sure?",
        "then": {"reject_once": [{"say": "No."}], "allow_once": [{"say": "Yes!"}]},
    }
    script = {"turns": [[ask, {"late": "session/cancel"}]], "cancel": "ignore"}
    async with seat(tmp_path, script, 2, ignore=TOLD) as at:
        slow = Later(heeds_cancel=False)
        at.answer["acp/question/ask"] = lambda _: slow
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/question/ask")
        await at.command("acpls.question.answer", {"option": "reject_once"})
        settled = await at.next("acp/question/settled")
        assert settled == {"question": "q1", "by": "editor", "option": "reject_once"}
        await at.until(lambda: slow.cancelled)
        slow.set({"option": "allow_once"})
        await at.until(lambda: at.said() == "No.")
        # The server has read the late answer when it answers what was sent after it.
        await at.command("acpls.status")
        await at.command("acpls.session.cancel")
        await at.idle()
        assert at.said() == "No."
        assert list(outcomes(at).values()) == [selected("reject_once")]


async def test_p07_p10_dialogs_come_one_at_a_time(tmp_path: Path) -> None:
    """P07, P10: the second dialog waits for the first, and a click answers what was drawn."""
    script = {"turns": [TWO_AT_ONCE]}
    async with seat(
        tmp_path,
        script,
        1,
        capabilities=TALKATIVE,
        settings=DIALOGS,
        ignore=TOLD | {"window/showDocument"},
    ) as at:
        dialogs: list[Later] = []

        def show(_params: Json) -> Later:
            dialogs.append(Later())
            return dialogs[-1]

        at.answer["window/showMessageRequest"] = show
        await at.command("acpls.session.prompt", {"text": "go"})
        first = await at.next("window/showMessageRequest")
        titles = [action["title"] for action in first["actions"]]
        # An option that allows is never the one that stands first.
        assert titles[1:] == ["Allow once", "Reject once"]
        assert await both_are_open(at) == ["q1", "q2"]
        assert len(dialogs) == 1
        dialogs[0].set({"title": "Reject once"})
        await at.next("window/showMessageRequest")
        assert len(dialogs) == 2
        dialogs[1].set({"title": "Allow once"})
        await at.until(lambda: len(outcomes(at)) == 2)
        assert outcomes(at) == {0: selected("reject_once"), 1: selected("allow_once")}


async def both_are_open(at: Seat) -> list[str]:
    """The keys of the open questions, when there are two."""
    # This client is told of no question but the one in the dialog.
    while len(questions := await at.command("acpls.question.list")) < 2:  # noqa: ASYNC110  no event tells
        await anyio.sleep(0.01)
    return [question["question"] for question in questions]


async def test_p10_a_click_on_a_question_that_was_withdrawn(tmp_path: Path) -> None:
    """P10: the second dialog is there already when the click on the first one arrives."""
    script: Json = {
        "turns": [
            [
                TWO_AT_ONCE[0],
                {"ask": "wait", "id": "wait", "then": {"allow_once": [{"withdraw": "first"}]}},
                TWO_AT_ONCE[1],
            ]
        ]
    }
    async with seat(
        tmp_path,
        script,
        2,
        capabilities=TALKATIVE,
        settings=DIALOGS,
        ignore=TOLD,
    ) as at:
        dialogs: list[Later] = []

        def show(_params: Json) -> Later:
            dialogs.append(Later(heeds_cancel=False))
            return dialogs[-1]

        at.answer["window/showMessageRequest"] = show
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("window/showMessageRequest")
        assert await both_are_open(at) == ["q1", "q2"]
        await at.command("acpls.question.answer", {"question": "q2", "option": "allow_once"})
        await at.next("window/showMessageRequest")
        assert dialogs[0].cancelled
        dialogs[0].set({"title": "Allow once"})
        (left,) = await at.command("acpls.question.list")
        assert (left["question"], left["title"]) == ("q3", "second")
        dialogs[1].set({"title": "Reject once"})
        await at.until(lambda: len(outcomes(at)) == 3)
        assert outcomes(at)[2] == selected("reject_once")
        assert selected("allow_once") != outcomes(at)[0]


async def test_a_question_that_the_agent_withdraws_goes_away(tmp_path: Path) -> None:
    asks: list[Any] = [
        {"ask": "Sure?", "id": "a", "wait": False, "cancelled": [{"say": "cancelled"}]},
        {"ask": "And this?", "id": "b", "then": {"allow_once": [{"withdraw": "a"}]}},
        {"say": "Never mind."},
    ]
    async with seat(tmp_path, {"turns": [asks]}, 1, ignore=TOLD) as at:
        answers: dict[str, Later] = {"q1": Later(), "q2": Later()}
        at.answer["acp/question/ask"] = lambda asked: answers[asked["question"]]
        await at.command("acpls.session.prompt", {"text": "go"})
        for _ in answers:
            await at.next("acp/question/ask")
        answers["q2"].set({"option": "allow_once"})
        settled = await at.next("acp/question/settled", lambda s: s["question"] == "q1")
        assert settled == {"question": "q1", "by": "agent"}
        await at.until(lambda: answers["q1"].cancelled)
        await at.idle(stop="end_turn")
        assert "Never mind." in at.said()
        assert await at.command("acpls.question.list") == []
        # Whoever withdraws still gets one answer, and it allows nothing.
        assert set(outcomes(at)) == {0, 1}
        assert outcomes(at)[0] != selected("allow_once")
        with pytest.raises(CommandFailed, match="settled already, by agent"):
            await at.command("acpls.question.answer", {"question": "q1", "option": "allow_once"})


@both_versions
async def test_a_stopped_turn_settles_its_questions(tmp_path: Path, version: int) -> None:
    """Version 1: cancel goes first, then ``cancelled``. Version 2: the agent withdraws."""
    ask = {"ask": "Sure?", "cancelled": [{"say": "told"}], "failed": [{"say": "failed"}]}
    script = {"turns": [[{"say": "Hm. "}, ask, {"say": "never said"}]]}
    async with seat(tmp_path, script, version, ignore=TOLD) as at:
        shown = Later()
        at.answer["acp/question/ask"] = lambda _: shown
        await at.command("acpls.session.prompt", {"text": "go"})
        await at.next("acp/question/ask")
        await at.command("acpls.session.cancel")
        settled = await at.next("acp/question/settled")
        assert settled["by"] in ({"cancel"} if version == 1 else {"cancel", "agent"})
        await at.idle(stop="cancelled")
        assert shown.cancelled
        assert "never said" not in at.said()

        # The order on the wire is what the agent relies on.
        words = [m.get("method", "answer") for m in at.heard_by()]
        assert words.count("answer") == words.count("session/cancel") == 1
        assert words.index("session/cancel") < words.index("answer")
        if version == 1:
            assert outcomes(at) == {0: {"outcome": {"outcome": "cancelled"}}}
        with pytest.raises(CommandFailed, match="settled already"):
            await at.command("acpls.question.answer", {"question": "q1", "option": "allow_once"})


async def test_a_question_whose_agent_died_cannot_be_answered(tmp_path: Path) -> None:
    """P05: an answer that can reach nobody is an error, not a yes into the void."""
    asks: list[Any] = [
        {"ask": "Sure?", "wait": False},
        {"ask": "Die?", "then": {"allow_once": [{"die": 3}]}},
    ]
    async with seat(tmp_path, {"turns": [asks]}, 2, ignore=TOLD) as at:
        answers: dict[str, Later] = {"q1": Later(), "q2": Later()}
        at.answer["acp/question/ask"] = lambda asked: answers[asked["question"]]
        await at.command("acpls.session.prompt", {"text": "go"})
        for _ in answers:
            await at.next("acp/question/ask")
        answers["q2"].set({"option": "allow_once"})
        await at.popup()
        settled = await at.next("acp/question/settled", lambda s: s["question"] == "q1")
        assert settled == {"question": "q1", "by": "agent"}
        await at.until(lambda: answers["q1"].cancelled)
        with pytest.raises(CommandFailed, match="settled already, by agent"):
            await at.command("acpls.question.answer", {"question": "q1", "option": "allow_once"})
        with pytest.raises(CommandFailed, match="No question is open"):
            await at.command("acpls.question.answer", {"option": "allow_once"})


async def test_in_the_conversation_a_question_is_a_warning_on_its_line(tmp_path: Path) -> None:
    asks: list[Any] = [{"say": "Well..."}, {"ask": "Sure?"}, {"say": " Done."}]
    async with seat(tmp_path, {"turns": [asks]}, 1, capabilities=PLAIN) as at:
        talk = await open_conversation(at)
        at.type(talk, at.below_heading(talk), "Please do")
        await at.command("acpls.session.send")
        (warning,) = await at.until(lambda: at.diagnostics(talk))
        assert warning["severity"] == 2
        await at.until(lambda: "Sure?" in at.text(talk))
        assert await at.popup() == "Waiting for you: Sure?"
        (warning,) = at.diagnostics(talk)
        line = at.text(talk).splitlines()[warning["range"]["start"]["line"]]
        assert line.startswith("> ")
        assert "Sure?" in line
        await at.command("acpls.question.answer", {"option": "allow_once"})
        await at.until(lambda: " Done." in at.text(talk))
        await at.until(lambda: at.diagnostics(talk) == [])
