"""The editor is asked to save a document, and whatever it answers is an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import editor as editor_module
from editor_stage import Stage, announcing, stage

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

pytestmark = pytest.mark.anyio

URI = "file:///p/a%40b.py"
THEIRS = "file:///p/a@b.py"
OTHER = "file:///p/other.py"
SAVE = ef.SaveDocument("token", URI)
UNSURE = "it did not say whether it saved the document"


def saving() -> AbstractAsyncContextManager[Stage]:
    return stage(announcing("save"))


def begin(it: Stage) -> None:
    """From now on the events are only kept, since the hub did not ask for what follows."""
    it.events.clear()
    it.rim.editor._emit = it.events.append


async def outcome(it: Stage) -> str | None:
    """The problem of the one event that came."""
    await it.until(lambda: bool(it.events))
    await it.settle()
    (event,) = it.events
    assert (event.token, event.uri) == ("token", URI)
    assert isinstance(event, ev.DocumentSaved)
    return event.problem


async def test_a_document_is_saved_under_the_name_the_editor_has_for_it() -> None:
    async with saving() as it:
        it.editor.open(THEIRS, "text")
        begin(it)
        it.perform(SAVE)
        request = await it.editor.next("acp/document/save")
        assert request["params"] == {"uris": [THEIRS]}
        it.editor.reply(request, {"saved": [THEIRS], "failed": []})
        assert await outcome(it) is None


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"saved": [URI]}, None),
        ({"saved": [OTHER, THEIRS], "failed": [{"uri": OTHER, "reason": "read-only"}]}, None),
        ({"saved": [URI], "failed": None, "more": 1}, None),
        ({"saved": [], "failed": [{"uri": URI, "reason": "it is read-only"}]}, "it is read-only"),
        ({"failed": [{"uri": THEIRS, "reason": "changed on disk"}]}, "changed on disk"),
        ({"failed": [{"uri": URI}]}, "it gave no reason"),
        ({"failed": [{"uri": URI, "reason": ""}]}, "it gave no reason"),
        ({"failed": [{"uri": URI, "reason": 5}]}, "it gave no reason"),
        # Who says both is not believed.
        ({"saved": [URI], "failed": [{"uri": URI, "reason": "no"}]}, "no"),
        ({"saved": [OTHER]}, UNSURE),
        ({"saved": [], "failed": []}, UNSURE),
        ({"failed": [{"uri": OTHER, "reason": "no"}]}, UNSURE),
        ({"failed": [URI, None, {"uri": None}, {}]}, UNSURE),
        ({"saved": URI}, UNSURE),
        ({"saved": {URI: True}}, UNSURE),
        ({"saved": [None, 5, [URI], {"uri": URI}]}, UNSURE),
        ({}, UNSURE),
        (None, UNSURE),
        (True, UNSURE),
        ([URI], UNSURE),
        (URI, UNSURE),
    ],
)
async def test_what_counts_as_saved(answer: Any, problem: str | None) -> None:
    async with saving() as it:
        begin(it)
        it.perform(SAVE)
        it.editor.reply(await it.editor.next("acp/document/save"), answer)
        assert await outcome(it) == problem


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        ({"code": -32601, "message": "Method not found"}, "Method not found"),
        ({"code": -32603}, "The editor gave no reason"),
        ("broken", "The editor gave no reason"),
    ],
)
async def test_an_error_is_a_reason(error: Any, problem: str) -> None:
    async with saving() as it:
        begin(it)
        it.perform(SAVE)
        request = await it.editor.next("acp/document/save")
        it.editor._send(id=request["id"], error=error)
        assert await outcome(it) == problem


async def test_a_save_has_a_time_limit_and_a_late_answer_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(editor_module, "SAVE_LIMIT_S", 0.01)
    async with saving() as it:
        begin(it)
        it.perform(SAVE)
        request = await it.editor.next("acp/document/save")
        assert await outcome(it) == "it did not answer in time"
        cancelled = await it.editor.next("$/cancelRequest")
        assert cancelled["params"] == {"id": request["id"]}
        it.editor.reply(request, {"saved": [URI]})
        await it.settle()
        assert len(it.events) == 1


async def test_a_save_ends_with_the_editor() -> None:
    async with saving() as it:
        begin(it)
        it.perform(SAVE)
        await it.editor.next("acp/document/save")
        it.editor.protocol.editor_gone()
        assert await outcome(it) == "it did not answer in time"


async def test_an_editor_that_did_not_announce_it_is_not_asked() -> None:
    async with stage(announcing("sessions")) as it:
        begin(it)
        it.perform(SAVE)
        assert await outcome(it) == "this editor cannot be asked to save"
        assert "acp/document/save" not in it.editor.methods()


async def test_several_saves_are_answered_each_by_its_own() -> None:
    async with saving() as it:
        begin(it)
        it.perform(SAVE)
        it.perform(ef.SaveDocument("second", OTHER))
        first, second = [await it.editor.next("acp/document/save") for _ in range(2)]
        it.editor.reply(second, {"saved": [OTHER]})
        it.editor.refuse(first, message="busy")
        await it.until(lambda: len(it.events) == 2)
        assert it.events == [
            ev.DocumentSaved("second", OTHER),
            ev.DocumentSaved("token", URI, "busy"),
        ]


async def test_a_save_that_a_bug_spoils_has_an_outcome(caplog: pytest.LogCaptureFixture) -> None:
    async with saving() as it:
        begin(it)
        it.perform(ef.SaveDocument("token", {1}))  # type: ignore[arg-type]  # the bug
        await it.until(lambda: bool(it.events))
        (event,) = it.events
        assert "log" in event.problem
        assert "TypeError" in caplog.text


@pytest.mark.parametrize("save", [True, False])
async def test_whether_it_can_be_asked_is_known_from_the_start(save: bool) -> None:
    async with stage({"capabilities": {"experimental": {"acp": {"save": save}}}}) as it:
        assert it.state.editor.save is save
