"""What the editor is asked: edits, documents, messages, questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import editor as editor_module
from acpls.session.asks import Accepted, Cancelled, Selected
from acpls.session.content import AboutCommand, Choosable, OtherContent
from acpls.testing import pages
from acpls.text.diff import Edit, apply_edits
from editor_stage import AGENT, Stage, announcing, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
TEXT = "a😀b\r\n日本 é\n🏳️‍🌈 end\rlast"
VERSIONED = {"workspaceEdit": {"documentChanges": True}, "applyEdit": True}
DIALOGS = {
    **claiming(window={"showMessage": {}, "showDocument": {"support": True}}),
    "clientInfo": {"name": "Visual Studio Code"},
}


def edit(*edits: Edit, number: int = 1, versioned: bool = True) -> ef.EditBuffer:
    return ef.EditBuffer(number, URI, 7, TEXT, edits, versioned=versioned)


# --- edits -------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("versions", [True, False])
async def test_positions_of_an_edit_follow_the_encoding_d47(encoding: str, versions: bool) -> None:
    params = claiming(
        general={"positionEncodings": [encoding]}, workspace=VERSIONED if versions else {}
    )
    # Each place between two characters, and a few spans over several lines.
    places = [Edit(at, at, "|") for at in range(len(TEXT) + 1) if TEXT[at - 1 : at + 1] != "\r\n"]
    spans = [Edit(1, 2, "😀"), Edit(0, len(TEXT), ""), Edit(2, 9, "x\ny")]
    async with stage(params) as it:
        for number, one in enumerate([*places, *spans]):
            it.perform(edit(one, number=number))
            request = await it.editor.next("workspace/applyEdit")
            whole = request["params"]["edit"]
            assert request["params"] == {"edit": whole}
            if versions:
                (document,) = whole["documentChanges"]
                assert document["textDocument"] == {"uri": URI, "version": 7}
                (told,) = document["edits"]
            else:
                (told,) = whole["changes"][URI]
            start, end = (
                pages.offset(TEXT, told["range"][side], encoding) for side in ("start", "end")
            )
            assert apply_edits(TEXT, [Edit(start, end, told["newText"])]) == apply_edits(
                TEXT, [one]
            )


async def test_neovim_takes_a_version_and_no_notice_of_version_0() -> None:
    """It claims nothing of it, and would make an edit of an older text in the wrong place."""
    params = {**claiming(workspace={"applyEdit": True}), "clientInfo": {"name": "Neovim"}}
    async with stage(params) as it:
        for version in (0, 7):
            it.perform(replace(edit(Edit(0, 0, "x"), number=version), version=version))
            whole = (await it.editor.next("workspace/applyEdit"))["params"]["edit"]
            (document,) = whole["documentChanges"]
            assert document["textDocument"] == {"uri": URI, "version": max(version, 1)}


async def test_an_edit_that_does_not_insist_has_no_version() -> None:
    async with stage(claiming(workspace=VERSIONED)) as it:
        it.perform(edit(Edit(0, 0, "x"), Edit(3, 4, ""), versioned=False))
        params = (await it.editor.next("workspace/applyEdit"))["params"]
        assert [one["newText"] for one in params["edit"]["changes"][URI]] == ["x", ""]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"result": {"applied": False}}, "it gave no reason"),
        ({"result": {"applied": False, "failureReason": "no such version"}}, "no such version"),
        ({"result": None}, "The editor's answer does not fit"),
        ({"result": {}}, "The editor's answer does not fit"),
        ({"result": [1]}, "The editor's answer does not fit"),
        ({"error": {"code": -32603, "message": "Internal error"}}, "Internal error"),
        ({"error": {"code": -32601}}, "The editor gave no reason"),
    ],
)
async def test_an_edit_that_was_not_made_is_refused_once(answer: Any, reason: str) -> None:
    async with stage() as it:
        it.perform(edit(Edit(0, 0, "x"), number=5))
        request = await it.editor.next("workspace/applyEdit")
        it.editor._send(id=request["id"], **answer)
        assert await it.event(ev.EditRefused) == ev.EditRefused(5, reason)
        it.editor.reply(request, {"applied": True})
        await it.settle()
        assert not [e for e in it.events if isinstance(e, ev.EditApplied | ev.EditRefused)]


async def test_an_edit_that_the_editor_made_is_applied_once() -> None:
    async with stage() as it:
        it.perform(edit(Edit(0, 0, "x"), number=5))
        request = await it.editor.next("workspace/applyEdit")
        it.editor.reply(request, {"applied": True})
        assert await it.event(ev.EditApplied) == ev.EditApplied(5)
        it.editor.refuse(request)
        await it.settle()
        assert not [e for e in it.events if isinstance(e, ev.EditApplied | ev.EditRefused)]


async def test_an_edit_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor_module, "EDIT_LIMIT_S", 0.01)
    async with stage() as it:
        it.perform(edit(Edit(0, 0, "x")))
        request = await it.editor.next("workspace/applyEdit")
        assert await it.event(ev.EditRefused) == ev.EditRefused(1, "it did not answer in time")
        cancelled = await it.editor.next("$/cancelRequest")
        assert cancelled["params"] == {"id": request["id"]}
        it.editor.reply(request, {"applied": True})
        await it.settle()
        assert not [e for e in it.events if isinstance(e, ev.EditApplied)]


async def test_an_edit_is_refused_when_the_editor_goes() -> None:
    async with stage() as it:
        it.perform(edit(Edit(0, 0, "x")))
        await it.editor.next("workspace/applyEdit")
        it.editor.protocol.editor_gone()
        assert (await it.event(ev.EditRefused)).edit == 1


async def test_an_editor_that_says_it_takes_no_edits_is_not_asked() -> None:
    async with stage(claiming(workspace={"applyEdit": False})) as it:
        it.perform(edit(Edit(0, 0, "x")))
        assert (await it.event(ev.EditRefused)).reason == "this editor takes no edits"
        assert not it.editor.methods()


async def test_an_edit_that_a_bug_spoils_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as it:
        it.perform(ef.EditBuffer(3, URI, 1, None, (Edit(0, 0, ""),)))  # type: ignore[arg-type]  # the bug
        refused = await it.event(ev.EditRefused)
        assert refused.edit == 3
        assert "log" in refused.reason
        assert "TypeError" in caplog.text


# --- documents, messages -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "params"),
    [
        (ef.ShowDocument(URI), {"takeFocus": False}),
        (
            ef.ShowDocument(URI, 3, take_focus=True),
            {
                "takeFocus": True,
                "selection": {
                    "start": {"line": 3, "character": 0},
                    "end": {"line": 3, "character": 0},
                },
            },
        ),
        (
            ef.ShowDocument(URI, 3, 5),
            {
                "takeFocus": False,
                "selection": {
                    "start": {"line": 3, "character": 0},
                    "end": {"line": 5, "character": 0},
                },
            },
        ),
    ],
)
async def test_a_document_is_shown(effect: ef.ShowDocument, params: dict[str, Any]) -> None:
    async with stage(claiming(window={"showDocument": {"support": True}})) as it:
        it.perform(effect)
        request = await it.editor.next("window/showDocument")
        assert request["params"] == {"uri": URI, **params}
        it.editor.reply(request, {"success": True})
        await it.settle()
        assert not it.editor.reads()


@pytest.mark.parametrize("answer", [{"result": {"success": False}}, {"error": {"code": 1}}])
async def test_a_document_that_was_not_shown_is_a_line_in_the_log(answer: Any) -> None:
    async with stage(claiming(window={"showDocument": {"support": True}})) as it:
        it.perform(ef.ShowDocument(URI))
        request = await it.editor.next("window/showDocument")
        it.editor._send(id=request["id"], **answer)
        log = await it.editor.next("window/logMessage")
        assert log["params"]["type"] == 3
        assert URI in log["params"]["message"]


@pytest.mark.parametrize("window", [None, {}, {"showDocument": {"support": False}}])
async def test_an_editor_that_cannot_show_a_document_is_not_asked(window: Any) -> None:
    async with stage(claiming(window=window)) as it:
        it.perform(ef.ShowDocument(URI, take_focus=True))
        it.perform(ef.ShowDocument(URI))
        await it.settle()
        # Only what the user wanted shown is worth a line.
        (log,) = it.editor.reads()
        assert log["method"] == "window/logMessage"
        assert URI in log["params"]["message"]


async def test_a_page_is_opened_outside_of_the_editor_a03() -> None:
    url = "https://a.example/?x=1&y=%28#z"
    async with stage(claiming(window={"showDocument": {"support": True}})) as it:
        it.perform(ef.OpenLink(url))
        request = await it.editor.next("window/showDocument")
        assert request["params"] == {"uri": url, "external": True}
        it.editor.reply(request, {"success": False})
        log = await it.editor.next("window/logMessage")
        assert log["params"]["message"] == f"The editor could not open {url}"


# --- programs ------------------------------------------------------------------------------

RUN = ef.RunProgram(
    "token", "Log in to Demo", ("/bin/agent", "login", "--now"), (("A", "1"), ("B", "")), "/home"
)


async def test_a_program_is_run_in_a_terminal_of_the_editor() -> None:
    async with stage(announcing("terminals")) as it:
        it.perform(RUN)
        request = await it.editor.next("acp/terminal/run")
        assert request["params"] == {
            "title": "Log in to Demo",
            "command": "/bin/agent",
            "args": ["login", "--now"],
            "env": {"A": "1", "B": ""},
            "cwd": "/home",
        }
        it.perform(replace(RUN, argv=("agent",), env=(), cwd=None))
        bare = await it.editor.next("acp/terminal/run")
        assert bare["params"] == {
            "title": "Log in to Demo",
            "command": "agent",
            "args": [],
            "env": {},
        }


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"result": {"exitCode": 0}}, 0),
        ({"result": {"exitCode": 130}}, 130),
        ({"result": {"exitCode": None}}, None),
        ({"result": {"exitCode": True}}, None),
        ({"result": {"exitCode": "0"}}, None),
        ({"result": {}}, None),
        ({"result": None}, None),
        ({"result": [0]}, None),
    ],
)
async def test_how_a_program_ended_is_what_the_editor_says(answer: Any, code: int | None) -> None:
    async with stage(announcing("terminals")) as it:
        it.events.clear()
        it.rim.editor._emit = it.events.append
        it.perform(RUN)
        request = await it.editor.next("acp/terminal/run")
        it.editor._send(id=request["id"], **answer)
        await it.until(lambda: bool(it.events))
        assert it.events == [ev.ProgramRan("token", code)]


@pytest.mark.parametrize("way", ["refused", "late"])
async def test_a_program_that_the_editor_does_not_run_is_told(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor_module, "QUESTION_LIMIT_S", 0.01 if way == "late" else 5.0)
    async with stage(announcing("terminals")) as it:
        it.events.clear()
        it.rim.editor._emit = it.events.append
        it.perform(RUN)
        request = await it.editor.next("acp/terminal/run")
        if way == "refused":
            it.editor.refuse(request)
        await it.until(lambda: bool(it.events))
        assert it.events == [ev.ProgramRan("token", None)]
        log = await it.editor.next("window/logMessage")
        assert log["params"]["type"] == 2
        # What the user was to type is not for the log.
        assert log["params"]["message"].startswith("The editor did not run /bin/agent: ")


async def test_only_errors_are_messages_and_they_are_one_short_line() -> None:
    async with stage() as it:
        it.perform(ef.TellUser("info", "nothing much"))
        it.perform(ef.TellUser("warning", "a warning", "and more"))
        it.perform(ef.TellUser("error", "it\n\tfailed \x1b[31m" + "x" * 100, "line\nline"))
        logged = it.editor.reads("window/logMessage")
        assert [(p["type"], p["message"][:9]) for p in logged] == [
            (3, "nothing m"),
            (2, "a warning"),
            (2, "and more"),
            (1, "it\n\tfaile"),
            (1, "line\nline"),
        ]
        (shown,) = it.editor.reads("window/showMessage")
        assert shown["type"] == 1
        assert shown["message"].startswith("it failed [31mxxx")
        assert len(shown["message"]) == 80
        assert shown["message"].isprintable()


async def test_a_message_fits_into_80_columns_of_neovim() -> None:
    """Beside its prefix; at a longer one it waits for a key, and answers nothing meanwhile."""
    async with stage({**claiming(), "clientInfo": {"name": "Neovim"}}) as it:
        it.perform(ef.TellUser("error", "x" * 100))
        (shown,) = it.editor.reads("window/showMessage")
        assert shown["message"] == "x" * 56 + "…"
        (log,) = it.editor.reads("window/logMessage")
        assert log["message"] == "x" * 100


# --- questions for clients that know them ----------------------------------------------------


async def test_several_questions_are_asked_at_once_and_each_has_its_own_answer_p10() -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        first, second = it.question(1, "One?"), it.question(2, "Two?")
        requests = [await it.editor.next("acp/question/ask") for _ in range(2)]
        assert [r["params"]["question"] for r in requests] == [first, second]
        assert requests[0]["params"] == {
            "question": first,
            "session": "s1",
            "agent": AGENT,
            "title": "One?",
            "text": "The agent says nothing about what it wants to do.",
            "state": "open",
            "options": [
                {"option": "yes", "name": "Allow", "kind": "allow_once"},
                {"option": "always", "name": "Always allow", "kind": "allow_always"},
                {"option": "no", "name": "Reject", "kind": "reject_once"},
            ],
        }
        it.editor.reply(requests[1], {"option": "no"})
        await it.until(lambda: len(it.answers()) == 1)
        it.editor.reply(requests[0], {"option": "yes"})
        await it.until(lambda: len(it.answers()) == 2)
        assert it.answers() == [Selected("no"), Selected("yes")]
        assert [a.request for a in it.of(ef.SendAnswer)] == [2, 1]
        settled = it.editor.reads("acp/question/settled")
        assert settled == [
            {"question": second, "by": "editor", "option": "no"},
            {"question": first, "by": "editor", "option": "yes"},
        ]


@pytest.mark.parametrize(
    "answer",
    [
        {"result": None},
        {"result": {"dismissed": True}},
        {"result": {"option": None}},
        {"result": {"option": 5}},
        {"result": {"option": "an option that nobody offered"}},
        {"result": "yes"},
        {"error": {"code": -32601, "message": "what?"}},
    ],
)
@pytest.mark.parametrize("way", ["acp/question/ask", "window/showMessageRequest"])
async def test_what_is_no_answer_leaves_the_question_open_p11(way: str, answer: Any) -> None:
    params = announcing("questions") if way.startswith("acp") else DIALOGS
    async with stage(params) as it:
        it.session()
        key = it.question()
        request = await it.editor.next(way)
        it.editor._send(id=request["id"], **answer)
        put = await it.event(ev.QuestionPut)
        assert put.question == key
        question = it.state.questions.all[key]
        assert (question.open, question.dismissed) == (True, True)
        assert not it.answers()
        # Somebody may still answer.
        it.editor.command("acpls.question.answer", {"question": key, "option": "always"})
        assert it.answers() == [Selected("always")]


async def test_a_question_has_a_time_limit_and_a_late_answer_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(editor_module, "QUESTION_LIMIT_S", 0.01)
    async with stage(announcing("questions")) as it:
        it.session()
        key = it.question()
        request = await it.editor.next("acp/question/ask")
        assert await it.event(ev.QuestionPut) == ev.QuestionPut(key, None, seen=False)
        assert (await it.editor.next("$/cancelRequest"))["params"] == {"id": request["id"]}
        it.editor.reply(request, {"option": "yes"})
        await it.settle()
        assert it.state.questions.all[key].open
        assert not it.answers()


@pytest.mark.parametrize("way", ["acp/question/ask", "window/showMessageRequest"])
async def test_a_question_that_is_settled_elsewhere_is_taken_away(way: str) -> None:
    asks = way.startswith("acp")
    async with stage(announcing("questions") if asks else DIALOGS) as it:
        it.session()
        key = it.question()
        request = await it.editor.next(way)
        it.editor.command("acpls.question.answer", {"option": "no"})
        assert (await it.editor.next("$/cancelRequest"))["params"] == {"id": request["id"]}
        told = it.editor.reads("acp/question/settled")
        assert told == ([{"question": key, "by": "editor", "option": "no"}] if asks else [])
        it.editor.reply(request, {"option": "yes", "title": "Allow"})
        await it.settle()
        assert it.answers() == [Selected("no")]
        assert not [e for e in it.events if isinstance(e, ev.QuestionPut)]


async def test_a_question_that_is_settled_before_it_was_put_is_not_put() -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        it.question(7)
        it.emit(ev.RequestWithdrawn(AGENT, 7))
        await it.settle()
        assert it.answers() == [Cancelled()]
        assert "acp/question/ask" not in it.editor.methods()
        assert it.editor.reads("acp/question/settled") == [{"question": "q1", "by": "agent"}]


async def test_an_answer_that_crosses_the_end_of_its_question_is_dropped() -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        it.question(7)
        request = await it.editor.next("acp/question/ask")
        it.editor.reply(request, {"option": "yes"})
        it.emit(ev.RequestWithdrawn(AGENT, 7))
        await it.settle()
        assert it.answers() == [Cancelled()]


async def test_a_question_that_cannot_be_sent_is_open_and_the_next_one_is_put(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        key = it.question(1, subject=OtherContent({"strange": {1, 2}}))
        assert await it.event(ev.QuestionPut) == ev.QuestionPut(key, None, seen=False)
        assert "TypeError" in caplog.text
        it.question(2, subject=AboutCommand("rm -r x", "/p"))
        request = await it.editor.next("acp/question/ask")
        assert request["params"]["subject"] == {
            "type": "command",
            "command": "rm -r x",
            "cwd": "/p",
        }


# --- dialogs -------------------------------------------------------------------------------


async def dialog(it: Stage) -> tuple[dict[str, Any], list[str]]:
    request = await it.editor.next("window/showMessageRequest")
    return request, [action["title"] for action in request["params"]["actions"]]


async def test_dialogs_come_one_at_a_time_in_order_p07() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        for number, title in enumerate(["One?", "Two?", "Three?"]):
            it.question(number, title)
        for number, title in enumerate(["One?", "Two?", "Three?"]):
            request, titles = await dialog(it)
            await it.settle()
            assert not it.editor.reads("window/showMessageRequest")
            nothing = "The agent says nothing about what it wants to do."
            assert request["params"]["message"] == f"{title}\n{nothing}"
            # The one that editors may preselect decides nothing; then all, in order.
            assert titles == ["Show what is asked", "Allow", "Always allow", "Reject"]
            it.editor.reply(request, {"title": "Always allow"})
            await it.until(lambda number=number: len(it.answers()) == number + 1)  # type: ignore[misc]  # mypy does not infer it
        assert it.answers() == [Selected("always")] * 3


async def test_the_neutral_answer_shows_the_conversation_and_settles_nothing() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        key = it.question()
        request, titles = await dialog(it)
        it.editor.reply(request, {"title": titles[0]})
        assert await it.event(ev.QuestionPut) == ev.QuestionPut(key, None)
        commands = [e for e in it.events if isinstance(e, ev.CommandGiven)]
        assert commands[-1] == ev.CommandGiven("acpls.question.show", {"question": key})
        assert it.state.questions.all[key].open


async def test_a_page_is_seen_in_full_before_it_is_opened_a03() -> None:
    url = "https://a.example/" + "x" * 300
    async with stage(DIALOGS) as it:
        it.session()
        it.link(url)
        request, titles = await dialog(it)
        assert request["params"]["message"] == f"Log in to Demo\n{url}"
        assert titles == [
            "Later",
            "Open the page",
            "I have opened the page myself",
            "Do not open it",
        ]
        it.editor.reply(request, {"title": "Open the page"})
        shown = await it.editor.next("window/showDocument")
        assert shown["params"] == {"uri": url, "external": True}
        assert it.answers() == [Accepted()]


async def test_later_opens_nothing_and_leaves_the_question_open() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        key = it.link()
        request, titles = await dialog(it)
        it.events.clear()
        it.editor.reply(request, {"title": titles[0]})
        assert await it.event(ev.QuestionPut) == ev.QuestionPut(key, None)
        assert it.events == []
        assert it.state.questions.all[key].open


async def test_an_option_that_is_called_like_our_own_is_an_option() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        it.state.questions.login(
            AGENT, "", "Log in", (Choosable("again", "Show what is asked", "x"),), "how"
        )
        it.perform(ef.PutQuestion("q1"))
        request, titles = await dialog(it)
        assert request["params"]["message"] == "Log in\nhow"
        it.events.clear()
        it.editor.reply(request, {"title": titles[1]})
        await it.until(lambda: bool(it.events))
        assert it.events[0] == ev.QuestionPut("q1", "again")


async def test_titles_that_are_equal_stay_distinguishable_p11() -> None:
    long = "y" * 100
    options = (
        Choosable("a", "Yes", "allow_once"),
        Choosable("b", "Yes", "reject_once"),
        Choosable("c", "Show what is asked", "allow_always"),
        Choosable("d", "", "of_no_kind"),
        Choosable("e", f"{long}1", "allow_once"),
        Choosable("f", f"{long}2", "allow_once"),
        Choosable("g", "two\nlines ", "allow_once"),
    )
    for at in range(len(options)):
        async with stage(DIALOGS) as it:
            it.session()
            it.question(options=options)
            request, titles = await dialog(it)
            assert titles[:5] == [
                "Show what is asked",
                "Yes (a)",
                "Yes (b)",
                "Show what is asked (2)",
                "d",
            ]
            assert titles[-1] == "two ⏎ lines"
            assert len(set(titles)) == len(options) + 1
            assert max(map(len, titles)) == 80
            it.editor.reply(request, {"title": titles[at + 1]})
            await it.until(lambda it=it: len(it.answers()) == 1)  # type: ignore[misc]  # mypy does not infer it
            assert it.answers() == [Selected(options[at].option)]


async def test_a_dialog_without_title_in_its_answer_is_dismissed() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        it.question()
        request, _ = await dialog(it)
        it.editor.reply(request, {"option": "yes"})
        assert await it.event(ev.QuestionPut) == ev.QuestionPut("q1", None, seen=False)


@pytest.mark.parametrize("name", ["Neovim", "helix", "Eglot", ""])
async def test_an_editor_that_takes_dialogs_badly_gets_none(name: str) -> None:
    params = {**claiming(window={"showMessage": {}}), "clientInfo": {"name": name}}
    async with stage(params) as it:
        it.session()
        it.question()
        await it.settle()
        assert not it.editor.reads("window/showMessageRequest")
        assert it.state.questions.pending()


async def test_the_user_can_have_dialogs_all_the_same() -> None:
    params = {
        **claiming(window={"showMessage": {}}),
        "initializationOptions": {"questions": {"dialogs": True}},
    }
    async with stage(params) as it:
        it.session()
        it.question()
        request, _ = await dialog(it)
        it.editor.reply(request)
        await it.event(ev.QuestionPut)


async def test_questions_end_with_the_editor() -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        it.question()
        await it.editor.next("acp/question/ask")
        it.editor.protocol.editor_gone()
        assert await it.event(ev.QuestionPut) == ev.QuestionPut("q1", None, seen=False)


async def test_tasks_that_are_cancelled_tell_nothing() -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        it.question()
        it.perform(edit(Edit(0, 0, "x")))
        await it.settle()
    assert not [e for e in it.events if isinstance(e, ev.QuestionPut | ev.EditRefused)]
