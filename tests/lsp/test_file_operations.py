"""The editor is asked to delete or rename a file, where it is known to do that well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import editor as editor_module
from editor_stage import Stage, captured, claiming, stage

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

pytestmark = pytest.mark.anyio

URI = "file:///p/a%40b.py"
THEIRS = "file:///p/a@b.py"
NEW = "file:///p/new.py"
ALL = ["create", "rename", "delete"]
FILE = ef.ChangeFile(7, URI)


def operations(*kinds: str, **forced: bool) -> dict[str, Any]:
    """An editor that claims these, and what its user says of it."""
    return {
        **claiming(workspace={"workspaceEdit": {"resourceOperations": list(kinds)}}),
        "initializationOptions": {"client": {"deletes": True, "renames": True, **forced}},
    }


def able() -> AbstractAsyncContextManager[Stage]:
    return stage(operations(*ALL))


# --- who is asked ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "deletes", "renames"),
    [
        ("nvim-0.11.4", True, True),
        ("helix-25.01.1", False, True),
        ("helix-25.07.1", False, True),
        ("vscode-1.139", True, True),
        ("emacs-30.1-eglot", False, False),
        ("emacs-30.1-lsp-mode", False, False),
        ("kate-25.04.3", False, False),
        ("vim-9.1-ale", False, False),
    ],
)
async def test_what_real_editors_are_trusted_with(name: str, deletes: bool, renames: bool) -> None:
    async with stage(captured(name)) as it:
        assert (it.state.editor.deletes, it.state.editor.renames) == (deletes, renames)


@pytest.mark.parametrize(
    ("params", "deletes", "renames"),
    [
        (operations(*ALL), True, True),
        (operations("delete"), True, False),
        (operations("rename"), False, True),
        (operations(*ALL, deletes=False), False, True),
        (operations(*ALL, renames=False), True, False),
        (operations(), False, False),
        ({**operations(), **claiming(workspace={"workspaceEdit": {}})}, False, False),
        ({**operations(), **claiming(workspace={})}, False, False),
        ({**operations(), **claiming()}, False, False),
    ],
)
async def test_both_the_claim_and_what_is_known_count(
    params: dict[str, Any], deletes: bool, renames: bool
) -> None:
    async with stage(params) as it:
        assert (it.state.editor.deletes, it.state.editor.renames) == (deletes, renames)
        it.editor.notify(
            "workspace/didChangeConfiguration",
            {"settings": {"client": {"deletes": False, "renames": False}}},
        )
        assert (it.state.editor.deletes, it.state.editor.renames) == (False, False)


# --- what it is asked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "operation"),
    [
        (FILE, {"kind": "delete", "uri": THEIRS}),
        (ef.ChangeFile(7, NEW), {"kind": "delete", "uri": NEW}),
        (ef.ChangeFile(7, URI, NEW), {"kind": "rename", "oldUri": THEIRS, "newUri": NEW}),
        (ef.ChangeFile(7, NEW, URI), {"kind": "rename", "oldUri": NEW, "newUri": THEIRS}),
    ],
)
async def test_an_operation_is_alone_in_its_request_and_overwrites_nothing(
    effect: ef.ChangeFile, operation: dict[str, Any]
) -> None:
    async with able() as it:
        it.editor.open(THEIRS, "text")
        it.perform(effect)
        request = await it.editor.next("workspace/applyEdit")
        assert request["params"] == {"edit": {"documentChanges": [operation]}}
        it.editor.reply(request, {"applied": True})
        assert await it.event(ev.EditApplied) == ev.EditApplied(7)
        it.editor.refuse(request)
        await it.settle()
        assert not [e for e in it.events if isinstance(e, ev.EditApplied | ev.EditRefused)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"result": {"applied": False}}, "it gave no reason"),
        ({"result": {"applied": False, "failureReason": "no such file"}}, "no such file"),
        ({"result": None}, "The editor's answer does not fit"),
        ({"result": {}}, "The editor's answer does not fit"),
        ({"error": {"code": -32603, "message": "Internal error"}}, "Internal error"),
        ({"error": {}}, "The editor gave no reason"),
    ],
)
@pytest.mark.parametrize("effect", [FILE, ef.ChangeFile(7, URI, NEW)])
async def test_an_operation_that_was_not_done_is_refused(
    effect: ef.ChangeFile, answer: Any, reason: str
) -> None:
    async with able() as it:
        it.perform(effect)
        request = await it.editor.next("workspace/applyEdit")
        it.editor._send(id=request["id"], **answer)
        assert await it.event(ev.EditRefused) == ev.EditRefused(7, reason)
        await it.settle()
        assert not [e for e in it.events if isinstance(e, ev.EditApplied | ev.EditRefused)]


async def test_an_operation_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor_module, "EDIT_LIMIT_S", 0.01)
    async with able() as it:
        it.perform(FILE)
        request = await it.editor.next("workspace/applyEdit")
        assert await it.event(ev.EditRefused) == ev.EditRefused(7, "it did not answer in time")
        assert (await it.editor.next("$/cancelRequest"))["params"] == {"id": request["id"]}


async def test_an_operation_ends_with_the_editor() -> None:
    async with able() as it:
        it.perform(FILE)
        await it.editor.next("workspace/applyEdit")
        it.editor.protocol.editor_gone()
        assert (await it.event(ev.EditRefused)).edit == 7


@pytest.mark.parametrize(
    ("effect", "kind"), [(FILE, "delete"), (ef.ChangeFile(7, URI, NEW), "rename")]
)
async def test_an_editor_that_is_not_trusted_with_it_is_not_asked(
    effect: ef.ChangeFile, kind: str
) -> None:
    async with stage(operations(*ALL, deletes=False, renames=False)) as it:
        it.perform(effect)
        refused = await it.event(ev.EditRefused)
        assert refused == ev.EditRefused(7, f"this editor is not asked to {kind} files")
        assert "workspace/applyEdit" not in it.editor.methods()


async def test_an_editor_that_takes_no_edits_is_not_asked() -> None:
    params = operations(*ALL)
    params["capabilities"]["workspace"]["applyEdit"] = False
    async with stage(params) as it:
        it.perform(FILE)
        assert (await it.event(ev.EditRefused)).reason == "this editor takes no edits"
        assert "workspace/applyEdit" not in it.editor.methods()
