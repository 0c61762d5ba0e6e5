"""The editor rim as a whole: every captured client, settings, commands, documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import configuration, views
from acpls.session import updates as up
from acpls.session.content import Location
from editor_stage import (
    CLIENTS,
    EVERYTHING,
    Stage,
    announcing,
    captured,
    claiming,
    stage,
)

pytestmark = pytest.mark.anyio

NAMES = sorted(file.stem for file in CLIENTS.glob("*.json"))
URI = "file:///p/a.py"


async def play(it: Stage) -> None:
    """A bit of everything: a prompt, a question, an edit, a place, an error, an end."""
    editor = it.editor
    editor.open(URI, "one\ntwo 😀\nthree\n")
    it.session()
    it.emit(ev.CommandGiven("acpls.follow.set", {"on": True}))
    it.prompts()
    it.says("Hello")
    locations = (Location("/p/a.py", 2),)
    it.told(up.ToolCallPatched("t", title="Edit", kind="edit", locations=locations))
    look = it.of(ef.LookAt)[-1]
    it.emit(ev.LookedAt(look.token, (ev.Seen("/p/a.py", "file"),)))
    it.question()
    await it.settle()
    (hunk,) = it.reviewed("/p/a.py", "one\ntwo 😀\nthree\n", "one\n2 😀\nthree\n")
    it.views.flush()
    assert editor.hover(URI, 1)["contents"]["value"].count("two 😀") == 1
    titles = editor.titles(URI, 1, 0)
    assert titles[:4] == [
        "Show what is asked: Edit a.py",
        "Allow: Edit a.py",
        "Always allow: Edit a.py",
        "Reject: Edit a.py",
    ]
    assert titles[4:] == [
        "Always allow (kept for this workspace): Edit a.py",
        "Always allow (kept everywhere): Edit a.py",
        "Keep this change",
        "Reject this change",
        "Stop demo",
        "Hold changes until I decide",
        "Ask the agent about this",
    ]
    allow = editor.actions(URI)[1]["command"]
    editor.command(allow["command"], allow["arguments"][0])
    keep = {"command": "acpls.review.keep", "arguments": [{"hunk": hunk}]}
    editor.ask("workspace/executeCommand", keep)
    read = it.of(ef.ReadFile)[-1]
    it.emit(ev.FileRead(read.token, ev.Disk("/p/a.py", "one\n2 😀\nthree\n")))
    await it.settle()
    it.emit(ev.AgentEnded("demo", "demo ended"))
    it.views.flush()
    await it.settle()


@pytest.mark.parametrize("name", NAMES)
async def test_each_captured_client_is_served(name: str, caplog: pytest.LogCaptureFixture) -> None:
    async with stage(captured(name)) as it:
        encodings = captured(name)["capabilities"].get("general", {}).get("positionEncodings", [])
        assert it.state.buffers.encoding in [*encodings, "utf-16"]
        assert it.state.editor.roots == ("/project",)
        await play(it)
        methods = it.editor.methods()
        assert not [method for method in methods if method.startswith("acp/")]
        assert "textDocument/publishDiagnostics" in methods
        shown = it.editor.reads("window/showMessage")
        waiting = {"type": 1, "message": "Waiting for you: Edit a.py"}
        gentle = it.state.editor.gentle_dialogs
        assert shown == [*([] if gentle else [waiting]), {"type": 1, "message": "demo ended"}]
        answers = [m for m in it.editor.inbox if "method" not in m]
        assert not [m for m in answers if "error" in m]
        # Emacs would ask about a document whose file has changed, and is left alone.
        takes_edits = "ale" not in name and "eglot" not in name
        edits = it.editor.reads("workspace/applyEdit")
        assert len(edits) == takes_edits
        if edits:
            whole = captured(name)["capabilities"].get("workspace", {}).get("workspaceEdit", {})
            # Neovim takes versions, and does not say so.
            versioned = whole.get("documentChanges") or "nvim" in name
            assert list(edits[0]["edit"]) == ["documentChanges" if versioned else "changes"]
    assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]


async def test_nothing_of_acp_goes_to_a_client_with_an_empty_block_but_its_agents() -> None:
    async with stage(announcing()) as it:
        await play(it)
        told = {method for method in it.editor.methods() if method.startswith("acp/")}
        assert told == {"acp/agent/changed"}


@pytest.mark.parametrize("block", [None, [], "yes", True])
async def test_a_block_that_is_no_object_announces_nothing(block: object) -> None:
    async with stage({"capabilities": {"experimental": {"acp": block}}}) as it:
        await play(it)
        assert not [method for method in it.editor.methods() if method.startswith("acp/")]


async def test_a_client_that_announces_all_is_told_all() -> None:
    async with stage({"capabilities": {"experimental": {"acp": EVERYTHING}}}) as it:
        await play(it)
        told = {method for method in it.editor.methods() if method.startswith("acp/")}
        assert told == {
            "acp/agent/changed",
            "acp/session/changed",
            "acp/question/ask",
            "acp/question/settled",
            "acp/review/changed",
            "acp/follow/changed",
            "acp/place/changed",
        }
        assert it.state.editor == ev.EditorReady(
            ("/p",), sessions=True, questions=True, reviews=True, places=True, focus=True
        )


@pytest.mark.parametrize("terminals", [True, False])
@pytest.mark.parametrize("shows", [True, False])
async def test_what_an_editor_can_do_for_a_login_is_known_a03(terminals: bool, shows: bool) -> None:
    acp = {"version": 1, "terminals": terminals}
    window = {"showDocument": {"support": shows}}
    params = {"capabilities": {"window": window, "experimental": {"acp": acp}}}
    async with stage(params) as it:
        assert (it.state.editor.terminals, it.state.editor.links) == (terminals, shows)


async def test_the_handshake_names_the_version_and_all_commands() -> None:
    async with anyio.create_task_group() as tasks:
        it = Stage(tasks)
        able = it.initialize()
        assert able["experimental"] == {"acp": {"version": 1}}
        assert able["executeCommandProvider"]["commands"][0] == "acpls.agent.list"
        assert able["codeActionProvider"] == {"codeActionKinds": ["quickfix", "refactor"]}
        assert able["hoverProvider"] is True
        tasks.cancel_scope.cancel()


# --- roots -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "roots"),
    [
        ({"workspaceFolders": [{"uri": "file:///x", "name": "x"}]}, ("/x",)),
        (
            {
                "workspaceFolders": [
                    {"uri": "file:///x", "name": "x"},
                    {"uri": "untitled:y", "name": "y"},
                    {"uri": "file:///z", "name": "z"},
                ]
            },
            ("/x", "/z"),
        ),
        (
            {"workspaceFolders": [{"uri": "vscode-vfs://y", "name": "y"}], "rootUri": "file:///r"},
            ("/r",),
        ),
        ({"workspaceFolders": [], "rootUri": "file:///a%20b"}, ("/a b",)),
        ({"rootUri": None, "rootPath": "/old"}, ("/old",)),
        ({"rootUri": "other:///r"}, (str(Path.cwd()),)),
        ({"rootUri": None}, (str(Path.cwd()),)),
    ],
)
async def test_roots(given: dict[str, Any], roots: tuple[str, ...]) -> None:
    async with stage(given) as it:
        assert it.state.editor.roots == roots


# --- settings --------------------------------------------------------------------------


def warnings(it: Stage) -> list[str]:
    return [p["message"] for p in it.editor.reads("window/logMessage") if p["type"] == 2]


async def test_layers_of_settings_lie_over_each_other() -> None:
    config = {"follow": {"on": True, "idleSeconds": 5}, "session": {"cancelSeconds": 1}}
    options = {"follow": {"idleSeconds": 6}}
    params = {**claiming(workspace={"configuration": True}), "initializationOptions": options}
    async with stage(params, config) as it:
        assert it.state.settings.idle_seconds == 6
        request = await it.editor.next("workspace/configuration")
        assert request["params"] == {"items": [{"section": "acpls"}]}
        it.editor.reply(request, [{"follow": {"idleSeconds": 7}}])
        await it.until(lambda: it.state.settings.idle_seconds == 7)
        assert it.state.settings.follow_on
        assert it.state.settings.cancel_seconds == 1


async def test_a_wrong_setting_is_one_warning_however_often_settings_come() -> None:
    params = {
        **claiming(workspace={"configuration": True}),
        "initializationOptions": {"folow": {"on": True}},
    }
    async with stage(params) as it:
        (warning,) = warnings(it)
        assert "follow" in warning
        for idle in (3, 4):
            request = await it.editor.next("workspace/configuration")
            it.editor.reply(request, [{"follow": {"idleSeconds": idle}, "client": {"x": True}}])
            await it.until(lambda idle=idle: it.state.settings.idle_seconds == idle)  # type: ignore[misc]  # mypy does not infer it
            it.editor.notify("workspace/didChangeConfiguration", {"settings": None})
        known = (
            "gentleDialogs, showDocument, gentleShow, reordersChanges, reloads, deletes, renames, "
            "staleEdits"
        )
        assert warnings(it) == [f'unknown setting "client.x"; there are: {known}']
        assert not it.editor.reads("window/showMessage")


async def test_a_problem_that_comes_back_is_told_again() -> None:
    async with stage() as it:
        for settings in ({"folow": 1}, {"follow": {"on": True}}, {"folow": 1}):
            it.editor.notify("workspace/didChangeConfiguration", {"settings": settings})
        assert len(warnings(it)) == 2


async def test_a_push_client_sends_its_configuration_along() -> None:
    async with stage(claiming(workspace={"configuration": False})) as it:
        for settings, seconds in (
            ({"acpls": {"follow": {"idleSeconds": 3}}}, 3),
            ({"follow": {"idleSeconds": 4}}, 4),
            ({"acpls": None}, 2),
            ({"follow.idleSeconds": 5}, 5),
            ([1], 5),
            (None, 5),
            ({}, 2),
        ):
            it.editor.notify("workspace/didChangeConfiguration", {"settings": settings})
            assert it.state.settings.idle_seconds == seconds
        assert not warnings(it)
        await it.settle()
        assert not it.editor.reads("workspace/configuration")


async def test_the_same_configuration_again_changes_nothing() -> None:
    async with stage(claiming(workspace={"configuration": True})) as it:
        for answer in ([None], [], [{"follow": {"idleSeconds": 3}}]):
            it.editor.reply(await it.editor.next("workspace/configuration"), answer)
            await it.settle()
            it.editor.notify("workspace/didChangeConfiguration", {"settings": {}})
        assert len([e for e in it.events if isinstance(e, ev.SettingsChanged)]) == 2
        # What is taken out of the configuration no longer counts.
        it.editor.reply(await it.editor.next("workspace/configuration"), [None])
        await it.until(lambda: it.state.settings.idle_seconds == 2)


async def test_an_editor_that_gives_no_configuration_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(configuration, "LIMIT_S", 0.01)
    async with stage(claiming(workspace={"configuration": True})) as it:
        await it.editor.next("workspace/configuration")
        await it.editor.next("$/cancelRequest")
        it.editor.notify("workspace/didChangeConfiguration", {"settings": None})
        it.editor.refuse(await it.editor.next("workspace/configuration"))
        await it.settle()
        assert it.state.settings.idle_seconds == 2
        assert not it.editor.methods()


@pytest.mark.parametrize("refuses", [True, False])
async def test_changes_of_the_configuration_are_asked_for_where_that_is_needed(
    refuses: bool,
) -> None:
    able = {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}
    async with stage(claiming(workspace=able)) as it:
        request = await it.editor.next("client/registerCapability")
        (registration,) = request["params"]["registrations"]
        assert registration["method"] == "workspace/didChangeConfiguration"
        assert registration["registerOptions"] == {"section": "acpls"}
        if refuses:
            it.editor.refuse(request)
        else:
            it.editor.reply(request)
        await it.settle()
        assert it.editor.methods() == ["workspace/configuration"]


async def test_client_forces_what_is_known_of_the_editor() -> None:
    params = {
        **claiming(window={"showMessage": {}}),
        "initializationOptions": {"client": {"gentleDialogs": True}},
    }
    async with stage(params) as it:
        assert it.state.may_use_dialogs
        it.editor.notify("workspace/didChangeConfiguration", {"settings": {"client": {}}})
        # The layers are joined: what is left out does not take anything back.
        assert it.state.may_use_dialogs
        off = {"client": {"gentleDialogs": False}}
        it.editor.notify("workspace/didChangeConfiguration", {"settings": off})
        assert not it.state.may_use_dialogs


# --- commands ----------------------------------------------------------------------------


async def test_a_command_is_answered() -> None:
    async with stage() as it:
        assert it.editor.command("acpls.follow.set") == {"on": True}
        assert it.editor.command("acpls.follow.set", {"on": None}) == {"on": False}


async def test_a_wrong_argument_is_answered_with_its_field() -> None:
    async with stage() as it:
        error = it.editor.command_error("acpls.follow.set", {"on": "yes"})
        assert error["code"] == -32602
        assert error["data"] == {"field": "on"}
        assert error["message"].startswith("on: ")
        assert not [e for e in it.events if isinstance(e, ev.CommandGiven)]


async def test_what_cannot_be_done_names_the_field_where_there_is_one() -> None:
    async with stage() as it:
        error = it.editor.command_error("acpls.session.get", {"session": "s9"})
        assert (error["code"], error["data"]) == (-32602, {"field": "session"})
        error = it.editor.command_error("acpls.question.answer", {"option": "yes"})
        assert (error["code"], error["message"]) == (-32803, "No question is open")
        assert "data" not in error


async def test_an_abandoned_command_is_an_event_and_is_answered_once() -> None:
    async with stage() as it:
        number = it.editor.ask("workspace/executeCommand", {"command": "acpls.session.new"})
        it.editor.notify("$/cancelRequest", {"id": number})
        abandoned = await it.event(ev.CommandAbandoned)
        (given,) = [e for e in it.events if isinstance(e, ev.CommandGiven)]
        assert abandoned.ticket is given.ticket
        it.session()
        (ask,) = [a for a in it.of(ef.SendAsk) if a.number == 1]
        it.emit(ev.AskFailed("demo", ask.number, ev_failure()))
        assert it.editor.answered(number)["error"]["code"] == -32800


def ev_failure() -> Any:
    from acpls.session.asks import Failure  # noqa: PLC0415 -- one test

    return Failure(1, "too late")


async def test_a_failed_command_has_its_detail() -> None:
    async with stage() as it:
        ticket = it.editor.ask("workspace/executeCommand", {"command": "acpls.session.new"})
        (ask,) = it.of(ef.SendAsk)
        it.emit(ev.AskFailed("demo", ask.number, ev_failure()))
        error = it.editor.answered(ticket)["error"]
        assert error == {"code": -32603, "message": "demo: too late"}


async def test_effects_for_commands_that_nobody_waits_for_are_dropped() -> None:
    async with stage() as it:
        it.perform(ef.ReplyCommand(None, {}))
        it.perform(ef.FailCommand(None, 1, "no"))
        assert not it.editor.reads()


# --- documents ---------------------------------------------------------------------------


def change(text: str, *where: int) -> dict[str, Any]:
    if not where:
        return {"text": text}
    start, end = (
        {"line": where[0], "character": where[1]},
        {
            "line": where[2],
            "character": where[3],
        },
    )
    return {"range": {"start": start, "end": end}, "text": text}


async def test_documents_are_followed() -> None:
    async with stage() as it:
        it.editor.open(URI, "a😀b\n", language="python")
        buffer = it.state.buffers.get(URI)
        assert buffer is not None
        assert (buffer.text, buffer.language) == ("a😀b\n", "python")
        it.editor.change(URI, 2, change("X", 0, 3, 0, 4), change("Y", 0, 0, 0, 1))
        assert (buffer.text, buffer.dirty) == ("Y😀X\n", True)
        it.editor.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        assert not buffer.dirty
        it.editor.change(URI, 3, change("whole"))
        assert buffer.text == "whole"
        it.editor.shut(URI)
        assert it.state.buffers.get(URI) is None


ODD = "/p/[id]/@x (1)+ü.py"
SPELLINGS = [
    "file:///p/[id]/@x%20(1)+ü.py",
    "file:///p/%5Bid%5D/%40x%20%281%29%2B%C3%BC.py",
    "file:///p/%5bid%5d/@x%20(1)+%c3%bc.py",
]


@pytest.mark.parametrize("uri", SPELLINGS)
async def test_a_document_is_found_however_the_editor_spells_its_uri(uri: str) -> None:
    params = announcing("reviews", "places", workspace={"workspaceEdit": {"documentChanges": True}})
    async with stage(params) as it:
        it.editor.open(uri, "one\n")
        buffer = it.state.buffer_at(ODD)
        assert buffer is not None
        it.editor.change(uri, 2, change("one\n2\n"))
        assert buffer.text == "one\n2\n"
        (hunk,) = it.reviewed(ODD, "one\n", "one\n2\n")
        it.perform(ef.ShowPlace("s1", ODD, 1, 1, "edit", None, move=False))
        it.views.flush()
        (review,) = it.editor.reads("acp/review/changed")
        (place,) = it.editor.reads("acp/place/changed")
        (margin,) = it.editor.reads("textDocument/publishDiagnostics")
        assert review["uri"] == place["uri"] == margin["uri"] == uri
        assert [h["hunk"] for h in review["hunks"]] == [hunk]
        assert it.editor.hover(uri, 1) is not None
        assert "Keep this change" in it.editor.titles(uri, 1, 0)
        assert it.editor.command("acpls.review.diff", {"uri": uri})["current"] == "one\n2\n"
        reject = {"command": "acpls.review.reject", "arguments": [{"uri": uri}]}
        it.editor.ask("workspace/executeCommand", reject)
        read = it.of(ef.ReadFile)[-1]
        it.emit(ev.FileRead(read.token, ev.Disk(ODD, "one\n2\n")))
        edit = await it.editor.next("workspace/applyEdit")
        (one,) = edit["params"]["edit"]["documentChanges"]
        assert one["textDocument"]["uri"] == uri
        it.editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        assert not buffer.dirty
        it.editor.shut(uri)
        assert it.state.buffer_at(ODD) is None


async def test_attached_documents_are_found_too() -> None:
    async with stage() as it:
        it.session()
        it.editor.open(SPELLINGS[0], "text of the document")
        context = [{"uri": SPELLINGS[0]}, {"uri": "untitled:1"}]
        it.editor.command("acpls.session.prompt", {"text": "look", "context": context})
        prompt = it.of(ef.SendAsk)[-1].ask
        assert "text of the document" in str(prompt)
        assert "untitled:1" in str(prompt)


# --- focus, progress, our own notifications ------------------------------------------------


async def test_focus_is_an_event(caplog: pytest.LogCaptureFixture) -> None:
    async with stage(announcing("focus")) as it:
        selection = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
        for params in (
            {"uri": SPELLINGS[0], "typing": True, "selection": selection},
            {"typing": False},
            {},
        ):
            it.editor.notify("acp/focus/changed", params)
        focus = [e for e in it.events if isinstance(e, ev.FocusChanged)]
        canonical = SPELLINGS[1]
        assert focus == [
            ev.FocusChanged(canonical, typing=True, rows=(0, 0)),
            ev.FocusChanged(None, typing=False),
            ev.FocusChanged(None, typing=False),
        ]
        strange: list[Any] = [None, [], {"typing": 1}, {"uri": 5}, {"what": 1}]
        for wrong in strange:
            it.editor.notify("acp/focus/changed", wrong)
        assert len([e for e in it.events if isinstance(e, ev.FocusChanged)]) == 3
        assert len(caplog.records) == 5
        assert not it.editor.reads()


async def test_what_is_on_the_screen_is_told_to_the_hub_p01(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with stage(announcing("questions")) as it:
        it.session()
        key = it.question()
        it.editor.notify("acp/question/shown", {"question": key})
        assert it.state.questions.all[key].shown
        strange: list[Any] = [None, {}, {"question": 1}, {"question": "q1", "what": 1}]
        for wrong in strange:
            it.editor.notify("acp/question/shown", wrong)
        assert len(caplog.records) == len(strange)
        # One that there is not is passed over.
        it.editor.notify("acp/question/shown", {"question": "q99"})
        assert not it.state.questions.all[key].unseen


async def test_cancelling_the_progress_of_a_turn_cancels_the_turn() -> None:
    async with stage(claiming(window={"workDoneProgress": True})) as it:
        it.session()
        it.prompts()
        it.views.flush()
        await it.settle()
        token = it.editor.reads("window/workDoneProgress/create")[-1]["token"]
        it.editor.notify("window/workDoneProgress/cancel", {"token": "unknown"})
        assert not it.state.sessions["s1"].stopping
        it.editor.notify("window/workDoneProgress/cancel", {"token": token})
        assert it.state.sessions["s1"].stopping


async def test_views_run_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "FLUSH_S", 0.0)
    async with stage(announcing("sessions")) as it:
        it.session()
        told = await it.editor.next("acp/session/changed")
        assert told["params"]["session"] == "s1"
