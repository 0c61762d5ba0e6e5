"""Links, definitions and references, as editors ask for them (F10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from acpls import effects as ef
from acpls import events as ev
from acpls.session import updates as up
from acpls.session.content import Location
from editor_stage import Stage, announcing, claiming, stage

if TYPE_CHECKING:
    from acpls.text.lines import Encoding

pytestmark = pytest.mark.anyio

CODE = "file:///p/a.py"


def talk(it: Stage, text: str) -> str:
    """A conversation is open, and reads like this; its URI, as the editor spells it."""
    it.session()
    it.emit(ev.CommandGiven("acpls.session.openConversation", {"session": "s1"}))
    (conversation,) = it.state.conversations.values()
    uri = conversation.uri.replace("/.acp/", "/%2Eacp/")
    it.editor.open(uri, text)
    return uri


def place(it: Stage, path: str, line: int) -> None:
    """The agent is somewhere."""
    locations = (Location(path, line),)
    it.told(up.ToolCallPatched(f"{path}:{line}", kind="read", locations=locations))
    look = it.of(ef.LookAt)[-1]
    it.emit(ev.LookedAt(look.token, (ev.Seen(path, "file"),)))


def asked(it: Stage, kind: str, uri: str, at: tuple[int, int] | None = None) -> Any:
    """Ask; the answer, when the disk is looked at."""
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    if at is not None:
        params["position"] = {"line": at[0], "character": at[1]}
        params["context"] = {"includeDeclaration": True}
    before = len(it.of(ef.LookAt))
    number = it.editor.ask(f"textDocument/{kind}", params)
    for look in it.of(ef.LookAt)[before:]:
        seen = tuple(
            ev.Seen(path, "file" if path.endswith("a.py") else "missing", text="wörld 😀x\n")
            for path in look.paths
        )
        it.emit(ev.LookedAt(look.token, seen))
    return it.editor.answered(number)["result"]


async def test_all_three_are_offered() -> None:
    async with anyio.create_task_group() as tasks:
        able = Stage(tasks).initialize()
        tasks.cancel_scope.cancel()
    assert able["documentLinkProvider"] == {"resolveProvider": False}
    assert able["definitionProvider"]
    assert able["referencesProvider"]


@pytest.mark.parametrize("kind", ["documentLink", "definition", "references"])
async def test_in_other_documents_nothing_is_found_at_once(kind: str) -> None:
    async with stage() as it:
        it.editor.open(CODE, "a.py\n")
        at = None if kind == "documentLink" else (0, 0)
        assert asked(it, kind, CODE, at) == []
        assert asked(it, kind, "file:///p/closed.py", at) == []
        assert it.of(ef.LookAt) == []


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 5), ("utf-16", 3), ("utf-32", 2)])
async def test_f10_links_have_the_editors_positions(encoding: Encoding, start: int) -> None:
    params = claiming(general={"positionEncodings": [encoding]})
    async with stage(params) as it:
        uri = talk(it, "x\n😀 a.py:3 b.py\n")
        at = {"line": 1, "character": start}
        end = {"line": 1, "character": start + 6}
        link = {"range": {"start": at, "end": end}, "target": f"{CODE}#L3"}
        assert asked(it, "documentLink", uri) == [link]


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 11), ("utf-16", 8), ("utf-32", 7)])
async def test_f10_a_definition_has_the_exact_position(encoding: Encoding, column: int) -> None:
    params = claiming(general={"positionEncodings": [encoding]})
    async with stage(params) as it:
        uri = talk(it, "see a.py:1:8\n")
        at = {"line": 0, "character": column}
        found = [{"uri": CODE, "range": {"start": at, "end": at}}]
        assert asked(it, "definition", uri, (0, 6)) == found
        assert asked(it, "definition", uri, (0, 1)) == []


async def test_a_document_goes_by_the_name_that_it_was_opened_by() -> None:
    async with stage() as it:
        it.editor.open("file:///p/%61.py", "one\n")
        uri = talk(it, "a.py#L1\n")
        (link,) = asked(it, "documentLink", uri)
        assert link["target"] == "file:///p/%61.py#L1"
        (place,) = asked(it, "definition", uri, (0, 0))
        assert place["uri"] == "file:///p/%61.py"


async def test_references_are_the_trail() -> None:
    async with stage() as it:
        uri = talk(it, "text\n")
        assert asked(it, "references", uri, (0, 0)) == []
        it.prompts()
        for line in (3, 1):
            place(it, "/p/a.py", line)
        rows = [p["range"]["start"]["line"] for p in asked(it, "references", uri, (0, 0))]
        assert rows == [2, 0]


async def test_whether_the_editor_goes_along_is_told_to_whoever_draws_places() -> None:
    async with stage(announcing("places")) as it:
        it.session()
        assert it.editor.command("acpls.follow.set", {"on": True}) == {"on": True}
        it.views.flush()
        assert it.editor.reads("acp/follow/changed") == [{"state": "on", "session": "s1"}]
        assert it.editor.command("acpls.status")["follow"] == "on"
    async with stage(announcing("sessions")) as it:
        it.editor.command("acpls.follow.set", {"on": True})
        it.views.flush()
        assert it.editor.reads("acp/follow/changed") == []


@pytest.mark.parametrize("gentle", [True, False])
@pytest.mark.parametrize("shows", [True, False])
async def test_f14_what_an_editor_does_not_say_can_be_forced(gentle: bool, shows: bool) -> None:
    params = claiming(window={"showDocument": {"support": False}})
    client = {"gentleShow": gentle, "showDocument": shows}
    async with stage({**params, "initializationOptions": {"client": client}}) as it:
        assert it.state.editor.gentle_show is (gentle and shows)
        it.session()
        it.prompts()
        it.editor.command("acpls.follow.set", {"on": True})
        place(it, "/p/a.py", 3)
        it.views.flush()
        await it.settle()
        assert bool(it.editor.reads("window/showDocument")) is (gentle and shows)


async def test_f02_a_place_is_shown_without_the_focus() -> None:
    client = {"gentleShow": True, "showDocument": True}
    async with stage({"initializationOptions": {"client": client}}) as it:
        it.session()
        it.prompts()
        it.editor.command("acpls.follow.set", {"on": True})
        place(it, "/p/a.py", 3)
        it.views.flush()
        params = (await it.editor.next("window/showDocument"))["params"]
        at = {"line": 2, "character": 0}
        assert params == {
            "uri": CODE,
            "takeFocus": False,
            "selection": {"start": at, "end": at},
        }
