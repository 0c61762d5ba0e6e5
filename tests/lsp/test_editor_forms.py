"""Forms at the editor's side: code actions, dialogs, marks, and our own request."""

from __future__ import annotations

from typing import Any

import pytest

from acpls import events as ev
from acpls.session.asks import Accepted, Declined
from editor_stage import AGENT, NATIVE, Stage, announcing, claiming, stage

pytestmark = pytest.mark.anyio

URI = "file:///p/a.py"
SCHEMA: dict[str, Any] = {
    "properties": {"name": {"type": "string", "title": "Name"}},
    "required": ["name"],
}
YES_OR_NO: dict[str, Any] = {"properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
DIALOGS = {
    **claiming(window={"showMessage": {}, "showDocument": {"support": True}}),
    "clientInfo": {"name": "Visual Studio Code"},
}


def form(it: Stage, schema: dict[str, Any] | None = None, request: int = 7) -> str:
    """The agent asks for a form; the question's key comes back."""
    it.emit(ev.FormAsked(AGENT, request, NATIVE, "Who are you?", schema or SCHEMA))
    return list(it.state.questions.all)[-1]


def document(it: Stage, key: str) -> str:
    """The form's document is on the screen; its URI."""
    it.emit(ev.CommandGiven("acpls.form.open", {"question": key}))
    wanted = it.state.form_documents[key]
    it.editor.open(wanted.uri, wanted.text)
    return wanted.uri


async def test_a_form_can_be_filled_in_from_any_document() -> None:
    async with stage() as it:
        it.session()
        key = form(it)
        titles = it.editor.titles(URI, 0, 0)[:3]
        assert titles == [
            "Show what is asked: Who are you?",
            "Fill in the form: Who are you?",
            "Decline the form: Who are you?",
        ]
        _, fill, decline = it.editor.actions(URI, 0, 0)[:3]
        assert fill["command"]["command"] == "acpls.form.open"
        assert fill["command"]["arguments"] == [{"question": key}]
        assert decline["command"]["arguments"] == [{"question": key, "option": "decline"}]


async def test_in_its_own_document_a_form_is_sent_or_declined() -> None:
    async with stage() as it:
        it.session()
        key = form(it)
        other = form(it, YES_OR_NO, 8)
        uri = document(it, key)
        titles = it.editor.titles(uri, 0, 0)
        assert titles[:3] == [
            "Send the form",
            "Decline the form",
            "Show what is asked: Who are you?",
        ]
        assert [title.split(":")[0] for title in titles[3:6]] == ["Yes", "No", "Decline the form"]
        send, decline = it.editor.actions(uri, 0, 0)[:2]
        assert send["command"]["command"] == "acpls.form.send"
        assert send["command"]["arguments"] == [{"question": key}]
        it.editor.command("acpls.question.answer", decline["command"]["arguments"][0])
        assert it.answers() == [Declined()]
        assert it.editor.titles(uri, 0, 0)[0].startswith("Show what is asked")
        assert [q.key for q in it.state.questions.pending()] == [other]


async def test_what_is_wrong_is_marked_and_goes_when_the_form_is_settled() -> None:
    async with stage() as it:
        it.session()
        uri = document(it, form(it))
        it.editor.ask(
            "workspace/executeCommand", {"command": "acpls.form.send", "arguments": [{"uri": uri}]}
        )
        it.rim.views.flush()
        (mark,) = it.editor.reads("textDocument/publishDiagnostics")[-1]["diagnostics"]
        assert (mark["message"], mark["severity"], mark["code"]) == (
            "Name must be filled in",
            1,
            "q1",
        )
        it.editor.command("acpls.question.answer", {"action": "decline"})
        it.rim.views.flush()
        told = it.editor.reads("textDocument/publishDiagnostics")
        assert told[-1] == {"uri": uri, "diagnostics": []}


async def test_a_dialog_offers_to_fill_in_a_form_and_answers_a_simple_one() -> None:
    async with stage(DIALOGS) as it:
        it.session()
        form(it)
        request = await it.editor.next("window/showMessageRequest")
        titles = [action["title"] for action in request["params"]["actions"]]
        assert titles == ["Show what is asked", "Fill in the form", "Decline the form"]
        assert request["params"]["message"] == "Who are you?\n- Name"
        form(it, YES_OR_NO, 8)
        it.editor.reply(request, {"title": "Fill in the form"})
        request = await it.editor.next("window/showMessageRequest")
        assert list(it.state.form_documents) == ["q1"]
        assert it.answers() == []
        await it.event(ev.QuestionPut)
        it.editor.reply(request, {"title": "No"})
        await it.event(ev.QuestionPut)
        assert it.answers() == [Accepted({"sure": False})]


@pytest.mark.parametrize(
    "answer",
    [
        {"result": None},
        {"result": "yes"},
        {"result": {"action": "accept", "content": {"name": 3}}},
        {"result": {"action": ["accept"]}},
        {"error": {"code": -32601, "message": "what?"}},
    ],
)
async def test_what_is_no_answer_leaves_the_form_open(answer: Any) -> None:
    async with stage(announcing("forms")) as it:
        it.session()
        key = form(it)
        request = await it.editor.next("acp/form/ask")
        assert request["params"]["mode"] == "form"
        it.editor._send(id=request["id"], **answer)
        put = await it.event(ev.QuestionPut)
        assert put.question == key
        assert it.state.questions.all[key].open
        assert it.answers() == []


async def test_a_form_that_is_settled_elsewhere_is_taken_away() -> None:
    async with stage(announcing("forms")) as it:
        it.session()
        form(it)
        request = await it.editor.next("acp/form/ask")
        it.emit(ev.RequestWithdrawn(AGENT, 7))
        assert (await it.editor.next("$/cancelRequest"))["params"] == {"id": request["id"]}


async def test_a_page_is_opened_by_the_client_that_draws_forms() -> None:
    async with stage(announcing("forms")) as it:
        it.session()
        it.link("https://a.example/x")
        request = await it.editor.next("acp/form/ask")
        params = request["params"]
        assert (params["mode"], params["url"]) == ("url", "https://a.example/x")
        it.editor.reply(request, {"action": "accept"})
        await it.event(ev.QuestionPut)
        assert it.answers() == [Accepted()]
        assert "window/showDocument" not in it.editor.methods()
