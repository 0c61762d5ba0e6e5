"""The fake editor keeps its buffers right, answers as it is told, and notices what is left."""
# ruff: noqa: PT012  what is left shows when the editor is left, so its whole life is tried

from __future__ import annotations

import json
import math
import re
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpls.testing import pages
from acpls.testing.editor import FULL, PLAIN, CommandFailed, Error, FakeEditor, Later
from acpls.testing.frames import FrameError, Frames, frame
from acpls.testing.pages import BadPosition, Cut

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

Json = dict[str, Any]
pytestmark = pytest.mark.anyio
SYNC: Json = {"textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": True}}}


class Server:
    """A language server that lives in the test: what it gets is kept, what is put comes out."""

    def __init__(self, capabilities: Json | None = None) -> None:
        self.out, self.source = anyio.create_memory_object_stream[bytes](math.inf)
        self.got: list[Json] = []
        self.answers: dict[str, Any] = {
            "initialize": {"capabilities": SYNC if capabilities is None else capabilities},
            "shutdown": None,
        }
        self._frames = Frames()
        self._news = anyio.Event()
        self._count = 0

    async def send(self, item: bytes, /) -> None:
        for message in self._frames.feed(item):
            self.got.append(message)
            method = message.get("method")
            if "id" in message and method in self.answers:
                answer = self.answers[method]
                key = "error" if isinstance(answer, dict) and "code" in answer else "result"
                self.put({"id": message["id"], key: answer})
        self._news.set()
        self._news = anyio.Event()

    async def aclose(self) -> None:
        self.out.close()

    def put(self, message: Json) -> None:
        self.out.send_nowait(frame(message))

    def tell(self, method: str, params: Any) -> None:
        self.put({"method": method, "params": params})

    def begin(self, method: str, params: Any) -> str:
        self._count += 1
        self.put({"id": f"s{self._count}", "method": method, "params": params})
        return f"s{self._count}"

    async def reply(self, number: str) -> Json:
        return await self.until(lambda m: m.get("id") == number and "method" not in m)

    async def ask(self, method: str, params: Any) -> Json:
        return await self.reply(self.begin(method, params))

    async def until(self, found: Callable[[Json], bool]) -> Json:
        with anyio.fail_after(5):
            while True:
                for message in self.got:
                    if found(message):
                        return message
                await self._news.wait()

    async def told(self, method: str, count: int = 1) -> list[Any]:
        """The parameters of the messages of a method, once there are so many."""
        await self.until(lambda _: sum(m.get("method") == method for m in self.got) >= count)
        return [m.get("params") for m in self.got if m.get("method") == method]

    def order(self) -> list[str]:
        """Methods in order of arrival; answers as ``answer``."""
        return [message.get("method", "answer") for message in self.got]


@asynccontextmanager
async def desk(
    root: Path, server_offers: Json | None = None, **options: Any
) -> AsyncIterator[tuple[FakeEditor, Server]]:
    server = Server(server_offers)
    try:
        async with FakeEditor(root=root, streams=(server.source, server), **options) as editor:
            yield editor, server
    finally:
        server.out.close()
        server.source.close()


def replaced(line: int, start: int, end: int, text: str) -> Json:
    edge = [{"line": line, "character": character} for character in (start, end)]
    return {"range": {"start": edge[0], "end": edge[1]}, "newText": text}


def edit(uri: str, *edits: Json, version: int | None = None) -> Json:
    change = {"textDocument": {"uri": uri, "version": version}, "edits": list(edits)}
    return {"edit": {"documentChanges": [change]}}


def change_text(text: str, changes: list[Json], encoding: str) -> str:
    """What a server makes of the changes of a ``didChange``, by its own arithmetic."""
    unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    for change in changes:
        lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
        ends = []
        for edge in ("start", "end"):
            place = change["range"][edge]
            before = "".join(lines[: place["line"]])
            line = lines[place["line"]].encode(codec) if place["line"] < len(lines) else b""
            ends.append(before + line[: place["character"] * unit].decode(codec))
        text = ends[0] + change["text"] + text[len(ends[1]) :]
    return text


# --- framing and positions -----------------------------------------------------------


def test_frames_come_whole_from_any_pieces() -> None:
    data = frame({"method": "a", "params": "ä"}) + frame({"id": 1, "result": None})
    frames = Frames()
    messages = [m for at in range(len(data)) for m in frames.feed(data[at : at + 1])]
    assert [sorted(m) for m in messages] == [
        ["jsonrpc", "method", "params"],
        ["id", "jsonrpc", "result"],
    ]
    assert frames.clean
    assert next(iter(frames.feed(data[:-1])))["params"] == "ä"
    assert not frames.clean


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"hello\r\n\r\n", "not a header"),
        (b"Content-Type: x\r\n\r\n", "no length"),
        (b"Content-Length: x\r\n\r\n", "no length"),
        (b"print\nContent-Length: 2\r\n\r\n{}", "not a header"),
        (b"Content-Length: 2\r\n\r\n{]", "not JSON"),
        (b"Content-Length: 2\r\n\r\n{}", "not a JSON-RPC message"),
    ],
)
def test_bad_frames_are_faults(data: bytes, complaint: str) -> None:
    with pytest.raises(FrameError, match=complaint):
        list(Frames().feed(data))


TEXTS = st.text(st.sampled_from("ab\n\r ä😀\u2028\x0c"), max_size=12)
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(TEXTS, ENCODINGS, st.integers(0, 12))
def test_positions_lead_back_to_their_offset(text: str, encoding: str, offset: int) -> None:
    offset = min(offset, len(text))
    place = pages.position(text, offset, encoding)
    if text[offset - 1 : offset + 1] != "\r\n":
        assert pages.offset(text, place, encoding) == offset


@given(TEXTS, TEXTS, ENCODINGS, st.integers(0, 12), st.integers(0, 12))
def test_a_server_follows_the_changes(
    text: str, new: str, encoding: str, start: int, end: int
) -> None:
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
        return
    cuts = [Cut(start, end, new), Cut(end, end, "!")]
    changes = pages.changes(text, cuts, encoding)
    assert change_text(text, changes, encoding) == pages.cut_out(text, cuts)


def test_positions_that_cannot_be() -> None:
    def at(line: int, character: int, encoding: str = "utf-16") -> int:
        return pages.offset("a😀c\nb", {"line": line, "character": character}, encoding)

    assert [at(0, 3), at(0, 99), at(1, 1), at(7, 0)] == [2, 3, 5, 5]
    for place in ((0, 2), (-1, 0), (0, -1)):
        with pytest.raises(BadPosition):
            at(*place)
    with pytest.raises(BadPosition, match="inside a character"):
        at(0, 4, "utf-8")
    with pytest.raises(BadPosition, match="offset 9"):
        pages.position("a", 9, "utf-8")
    with pytest.raises(BadPosition, match="ends before"):
        pages.cuts("abc", [replaced(0, 2, 1, "")], "utf-8")
    with pytest.raises(BadPosition, match="overlap"):
        pages.cuts("abc", [replaced(0, 0, 2, ""), replaced(0, 1, 3, "")], "utf-8")


def test_a_position_inside_the_last_character_of_a_line_cannot_be() -> None:
    with pytest.raises(BadPosition, match="inside a character"):
        pages.offset("😀", {"line": 0, "character": 1}, "utf-16")


def test_uris_lead_back_to_their_path(tmp_path: Path) -> None:
    path = tmp_path / "a b#ä%.py"
    assert pages.to_uri(path).endswith("/a%20b%23%C3%A4%25.py")
    assert pages.to_path(pages.to_uri(path)) == path
    with pytest.raises(ValueError, match="not a file"):
        pages.to_path("untitled:x")


def test_presets_claim_what_they_say() -> None:
    assert "experimental" not in PLAIN
    assert "showDocument" not in PLAIN["window"]
    assert FULL["window"]["showDocument"]["support"]
    assert all(FULL["experimental"]["acp"].values())


# --- handshake -----------------------------------------------------------------------


async def test_it_introduces_itself_and_leaves_in_order(tmp_path: Path) -> None:
    options: Json = {"client_info": {"name": "x"}, "initialization_options": {"a": 1}}
    async with desk(tmp_path, **options, encoding="utf-8") as (editor, server):
        assert editor.server == server.answers["initialize"]
        await server.told("initialized")
    (params,) = await server.told("initialize")
    assert params["capabilities"]["general"] == {"positionEncodings": ["utf-8"]}
    assert params["capabilities"]["window"] == PLAIN["window"]
    assert params["clientInfo"] == {"name": "x"}
    assert params["initializationOptions"] == {"a": 1}
    assert params["workspaceFolders"] == [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    assert server.order() == ["initialize", "initialized", "shutdown", "exit"]
    assert PLAIN["general"] == {"positionEncodings": ["utf-8", "utf-32", "utf-16"]}


async def test_an_encoding_that_was_not_offered_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not offered: utf-8"):
        async with desk(tmp_path, {"positionEncoding": "utf-8"}) as (editor, _):
            assert editor.encoding == "utf-8"


async def test_neither_command_nor_streams(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs a command"):
        async with FakeEditor(root=tmp_path):
            pass


async def test_a_server_that_refuses_to_initialize(tmp_path: Path) -> None:
    server = Server()
    server.answers["initialize"] = {"code": -32603, "message": "no"}
    with pytest.raises(CommandFailed, match="no"):
        async with FakeEditor(root=tmp_path, streams=(server.source, server)):
            pass
    server.out.close()
    server.source.close()


# --- buffers -------------------------------------------------------------------------


async def test_buffers_and_what_the_server_is_told_of_them(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes("x = '😀'\r\ny\n".encode())
    async with desk(tmp_path) as (editor, server):
        uri = editor.open(path)
        (opened,) = await server.told("textDocument/didOpen")
        assert opened["textDocument"] == {
            "uri": path.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": "x = '😀'\r\ny\n",
        }
        editor.type(uri, 6, "!")
        editor.replace(uri, 0, 1, "zz")
        first, second = await server.told("textDocument/didChange", 2)
        assert first["textDocument"] == {"uri": uri, "version": 2}
        place = {"line": 0, "character": 7}  # the emoji counts two
        assert first["contentChanges"] == [{"range": {"start": place, "end": place}, "text": "!"}]
        changes = first["contentChanges"] + second["contentChanges"]
        text = change_text("x = '😀'\r\ny\n", changes, "utf-16")
        assert text == editor.text(uri) == "zz = '😀!'\r\ny\n"
        assert editor.version(uri) == 3
        assert editor.modified(uri)
        editor.save(uri)
        assert path.read_bytes().decode() == text
        assert not editor.modified(uri)
        (saved,) = await server.told("textDocument/didSave")
        assert saved["text"] == text
        path.write_bytes(b"other")
        editor.reload(uri)
        editor.reload(uri)
        assert editor.text(uri) == "other"
        with pytest.raises(ValueError, match="already open"):
            editor.open(path)
        editor.close(uri)
        await server.told("textDocument/didClose")
        assert editor.open_text("untitled:1", "new") in editor.pages
    assert len(await server.told("textDocument/didChange")) == 3


@pytest.mark.parametrize("sync", [0, 1, 2])
async def test_sync_is_of_the_kind_the_server_wants(tmp_path: Path, sync: int) -> None:
    async with desk(tmp_path, {"textDocumentSync": sync}) as (editor, server):
        uri = editor.open_text((tmp_path / "b.txt").as_uri(), "ab")
        editor.type(uri, 1, "-")
        editor.save(uri)
        assert await server.told("textDocument/didSave") == [{"textDocument": {"uri": uri}}]
    told = [m for m in server.got if m.get("method") == "textDocument/didChange"]
    texts = [change["text"] for m in told for change in m["params"]["contentChanges"]]
    assert texts == {0: [], 1: ["a-b"], 2: ["-"]}[sync]


async def test_changes_can_come_out_of_order_or_late(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        uri = editor.open_text("untitled:1", "")
        editor.reorder(3)
        for letter in "abcd":
            editor.type(uri, len(editor.text(uri)), letter)
        told = await server.told("textDocument/didChange", 4)
        assert [each["textDocument"]["version"] for each in told] == [4, 3, 2, 5]
        editor.hold_changes()
        editor.type(uri, 0, "e")
        editor.notify("x/mark")
        await server.told("x/mark")
        assert server.order()[-1] == "x/mark"
        editor.release_changes()
        told = await server.told("textDocument/didChange", 5)
        assert told[4]["textDocument"]["version"] == 6
        editor.hold_changes()
        editor.type(uri, 0, "f")
    assert server.order()[-3:] == ["textDocument/didChange", "shutdown", "exit"]


# --- requests, notifications ---------------------------------------------------------


async def test_commands_and_their_failures(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        server.answers["workspace/executeCommand"] = [1]
        assert await editor.command("a.b") == [1]
        assert await editor.command("a.b", {"x": 1}) == [1]
        told = await server.told("workspace/executeCommand")
        assert [each["arguments"] for each in told] == [[], [{"x": 1}]]
        error = {"code": -32602, "message": "no field", "data": {"detail": "x"}}
        server.answers["workspace/executeCommand"] = error
        with pytest.raises(CommandFailed) as raised:
            await editor.command("a.b")
        assert vars(raised.value) == error


async def test_a_call_can_be_cancelled_and_waited_for(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        call = editor.begin("x/slow", {"a": 1})
        with pytest.raises(TimeoutError, match="x/slow"):
            await call.result(within=0.01)
        call.cancel()
        assert await server.told("$/cancelRequest") == [{"id": call.number}]
        assert not call.answered
        server.put({"id": call.number, "error": {"code": -32800, "message": "cancelled"}})
        with pytest.raises(CommandFailed, match="-32800"):
            await call.result()


async def test_messages_are_read_once_and_in_order(tmp_path: Path) -> None:
    async with desk(tmp_path, ignore=()) as (editor, server):
        for number in range(4):
            server.tell("x/a", number)
        assert await editor.next("x/a") == 0
        assert await editor.next("x/a", lambda n: n > 1) == 2
        assert await editor.next("x/a") == 1
        assert await editor.next("x/a") == 3
        assert editor.seen("x/a") == [0, 1, 2, 3]
        with pytest.raises(TimeoutError, match=r"no x/a within 0\.01 s; unread: none"):
            await editor.next("x/a", within=0.01)
        server.tell("x/b", None)
        with pytest.raises(TimeoutError, match="unread: x/b"):
            await editor.next("x/a", within=0.01)
        assert await editor.next("x/b") is None


async def test_what_the_server_tells_is_kept(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        diagnostics = [{"message": "m"}]
        server.tell("textDocument/publishDiagnostics", {"uri": "u", "diagnostics": diagnostics})
        server.tell("$/progress", {"token": 7, "value": {"kind": "begin"}})
        server.tell("$/progress", {"token": 7, "value": {"kind": "end"}})
        server.tell("window/logMessage", {"type": 3, "message": "log"})
        server.tell("window/showMessage", {"type": 1, "message": "bad"})
        await editor.next("window/showMessage")
        assert editor.diagnostics("u") == diagnostics
        assert editor.diagnostics("v") == []
        assert [value["kind"] for value in editor.progress[7]] == ["begin", "end"]
        assert editor.log == ["log"]
        assert editor.popups == [{"type": 1, "message": "bad"}]


async def test_default_answers_of_a_full_editor(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    uri, gone = (tmp_path / "a.py").as_uri(), (tmp_path / "gone").as_uri()
    settings = {"acpls": {"follow": {"on": True}}}
    async with desk(tmp_path, capabilities=FULL, settings=settings) as (editor, server):

        async def result(method: str, params: Any = None) -> Any:
            answer = (await server.ask(method, params))["result"]
            await editor.next(method)
            return answer

        sections = [{"section": s} for s in ("acpls", "acpls.follow.on", "acpls.x.y")]
        assert await result("workspace/configuration", {"items": [*sections, {}]}) == [
            *(settings["acpls"], True, None, settings),
        ]
        registrations = {"registrations": [{"id": "1", "method": "x/y"}]}
        assert await result("client/registerCapability", registrations) is None
        assert editor.registered["x/y"]["id"] == "1"
        assert await result("client/unregisterCapability") is None
        assert await result("window/workDoneProgress/create", {"token": 1}) is None
        assert await result("window/showMessageRequest", {}) is None
        assert await result("acp/question/ask", {"question": "q1"}) == {"dismissed": True}
        assert await result("workspace/codeLens/refresh") is None
        assert (await result("workspace/workspaceFolders"))[0]["name"] == tmp_path.name
        show = "window/showDocument"
        assert await result(show, {"uri": "https://x", "external": True}) == {"success": True}
        assert await result(show, {"uri": gone}) == {"success": False}
        assert await result(show, {"uri": uri}) == {"success": True}
        assert await result(show, {"uri": uri}) == {"success": True}
        assert len(editor.shown) == 4
        editor.type(uri, 0, "y")
        assert await result("acp/document/save", {"uris": [uri, gone]}) == {
            "saved": [uri],
            "failed": [{"uri": gone, "reason": "not open"}],
        }
        assert (tmp_path / "a.py").read_text() == "yx"


async def test_a_plain_editor_does_not_know_what_it_did_not_claim(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        for method in ("window/showDocument", "window/showMessageRequest", "x/y"):
            assert (await server.ask(method, {}))["error"]["code"] == -32601
            await editor.next(method)
    with pytest.raises(AssertionError, match="acp/session/changed, which was not announced"):
        async with desk(tmp_path) as (editor, server):
            server.tell("acp/session/changed", {})
            await editor.next("acp/session/changed")


async def test_answers_of_the_test(tmp_path: Path) -> None:
    async with desk(tmp_path, ignore={"x/y"}) as (editor, server):
        editor.answer["x/y"] = lambda params: params["n"] + 1
        assert (await server.ask("x/y", {"n": 1}))["result"] == 2
        editor.answer["x/y"] = lambda _: Error(7, "seven", [7])
        expected = {"code": 7, "message": "seven", "data": [7]}
        assert (await server.ask("x/y", {}))["error"] == expected
        early = Later()
        early.set("early")
        early.set("second")
        editor.answer["x/y"] = lambda _: early
        assert (await server.ask("x/y", {}))["result"] == "early"


async def test_an_answer_that_comes_later_or_is_cancelled(tmp_path: Path) -> None:
    async with desk(tmp_path, ignore={"x/y"}) as (editor, server):
        laters = [Later(), Later(), Later(heeds_cancel=False)]
        waiting = iter(laters)
        editor.answer["x/y"] = lambda _: next(waiting)
        numbers = [server.begin("x/y", {}) for _ in laters]
        for number in numbers[1:]:
            server.tell("$/cancelRequest", {"id": number})
        assert (await server.reply(numbers[1]))["error"]["code"] == -32800
        laters[1].set("too late")
        assert laters[2].cancelled
        laters[0].set("zero")
        laters[2].set("anyway")
        assert (await server.reply(numbers[0]))["result"] == "zero"
        assert (await server.reply(numbers[2]))["result"] == "anyway"
        answers = [m for m in server.got if "method" not in m]
        assert len(answers) == 3


# --- workspace/applyEdit -------------------------------------------------------------

APPLY = "workspace/applyEdit"


@pytest.mark.parametrize("reply_first", [True, False])
async def test_an_edit_is_applied_and_told(tmp_path: Path, reply_first: bool) -> None:
    async with desk(tmp_path, encoding="utf-8", capabilities=FULL) as (editor, server):
        editor.reply_before_change = reply_first
        uri = editor.open_text("untitled:1", "aä\nb\n")
        both = edit(uri, replaced(0, 1, 1, "1"), replaced(0, 1, 1, "2"), replaced(1, 0, 1, ""))
        assert (await server.ask(APPLY, both))["result"] == {"applied": True}
        (change,) = await server.told("textDocument/didChange")
        assert editor.text(uri) == "a12ä\n\n"
        assert change_text("aä\nb\n", change["contentChanges"], "utf-16") == "a12ä\n\n"
        order = [m for m in server.order() if m in ("answer", "textDocument/didChange")]
        assert order == sorted(order, reverse=not reply_first)
        none: Json = {"edit": {"changes": {uri: []}}}
        assert (await server.ask(APPLY, none))["result"] == {"applied": True}
        assert editor.version(uri) == 2


async def test_versions_are_checked(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        uri = editor.open_text("untitled:1", "")
        insert = replaced(0, 0, 0, "x")
        assert (await server.ask(APPLY, edit(uri, insert, version=1)))["result"]["applied"]
        for version in (1, 3):
            result = (await server.ask(APPLY, edit(uri, insert, version=version)))["result"]
            assert not result["applied"]
            assert "is at version 2" in result["failureReason"]
        editor.edits = "stale_error"
        assert (await server.ask(APPLY, edit(uri, insert, version=1)))["error"]["code"] == -32603
        assert editor.text(uri) == "x"
        gone = await server.ask(APPLY, edit("untitled:2", insert))
        assert gone["result"]["failureReason"] == "there is no untitled:2"


async def test_edits_are_refused_or_lied_about(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        uri = editor.open_text("untitled:1", "")
        for policy, applied in (("refuse", False), ("lie", True)):
            editor.edits = policy
            answer = await server.ask(APPLY, edit(uri, replaced(0, 0, 0, "x")))
            assert answer["result"] == {"applied": applied}
        assert editor.text(uri) == ""
        editor.edits = "apply"
        overlap = edit(uri, replaced(0, 0, 0, "x"), {"range": replaced(1, 0, 0, "")["range"]})
        bad = edit(uri, {**replaced(0, 0, 0, "x"), "range": replaced(0, -1, 0, "")["range"]})
        assert (await server.ask(APPLY, bad))["result"]["failureReason"].startswith("negative")
        editor.answer[APPLY] = lambda _: {"applied": True}
        assert (await server.ask(APPLY, overlap))["result"] == {"applied": True}


async def test_the_user_types_right_before_an_edit(tmp_path: Path) -> None:
    async with desk(tmp_path) as (editor, server):
        uri = editor.open_text("untitled:1", "b")
        editor.delay = anyio.Event()
        number = server.begin(APPLY, edit(uri, replaced(0, 0, 1, "B"), version=1))
        await editor.next(APPLY)
        assert "answer" not in server.order()
        editor.before_edit = lambda _: editor.type(uri, 0, "a")
        editor.delay.set()
        assert (await server.reply(number))["result"]["applied"] is False
        assert editor.text(uri) == "ab"


@pytest.mark.parametrize("unopened", ["hidden", "disk", "refuse"])
async def test_an_edit_of_a_file_that_is_not_open(tmp_path: Path, unopened: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\r\n")
    async with desk(tmp_path, capabilities=FULL) as (editor, server):
        editor.unopened = unopened
        answer = await server.ask(APPLY, edit(path.as_uri(), replaced(0, 1, 1, "!")))
        assert answer["result"]["applied"] is (unopened != "refuse")
        assert path.read_bytes() == (b"a!\r\n" if unopened == "disk" else b"a\r\n")
        assert [page.text for page in editor.pages.values()] == (
            ["a!\r\n"] if unopened == "hidden" else []
        )
        if unopened == "hidden":
            assert editor.pages[path.as_uri()].hidden
            await server.ask("window/showDocument", {"uri": path.as_uri()})
            await editor.next("window/showDocument")
            assert not editor.pages[path.as_uri()].hidden
            assert len(await server.told("textDocument/didOpen")) == 1


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_file_operations(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "gone.txt").write_text("gone")
    (tmp_path / "dir").mkdir()

    def uri(name: str) -> str:
        return (tmp_path / name).as_uri()

    async with desk(tmp_path) as (editor, server):
        opened = editor.open(tmp_path / "old.txt")
        editor.open(tmp_path / "gone.txt")
        changes = [
            {"kind": "create", "uri": uri("sub/new.txt")},
            edit(uri("sub/new.txt"), replaced(0, 0, 0, "new"))["edit"]["documentChanges"][0],
            {"kind": "rename", "oldUri": opened, "newUri": uri("moved.txt")},
            {"kind": "delete", "uri": uri("gone.txt")},
            {"kind": "delete", "uri": uri("dir"), "options": {"recursive": True}},
        ]
        answer = await server.ask(APPLY, {"edit": {"documentChanges": changes}})
        assert answer["result"] == {"applied": True}
        assert editor.text(uri("sub/new.txt")) == "new"
        assert names(tmp_path) == ["moved.txt", "sub"]
        assert not editor.modified(uri("moved.txt"))
        assert set(editor.pages) == {uri("sub/new.txt"), uri("moved.txt")}
        moved, none = uri("moved.txt"), uri("none")
        for change, applied in (
            ({"kind": "create", "uri": moved}, False),
            ({"kind": "create", "uri": moved, "options": {"ignoreIfExists": True}}, True),
            ({"kind": "rename", "oldUri": none, "newUri": uri("x")}, False),
            ({"kind": "rename", "oldUri": uri("sub/new.txt"), "newUri": moved}, False),
            (
                {
                    "kind": "rename",
                    "oldUri": uri("sub/new.txt"),
                    "newUri": moved,
                    "options": {"ignoreIfExists": True},
                },
                True,
            ),
            ({"kind": "delete", "uri": none}, False),
            ({"kind": "delete", "uri": none, "options": {"ignoreIfNotExists": True}}, True),
            ({"kind": "delete", "uri": uri("sub")}, False),
            ({"kind": "polish", "uri": none}, False),
        ):
            answer = await server.ask(APPLY, {"edit": {"documentChanges": [change]}})
            assert answer["result"]["applied"] is applied, change
        assert (tmp_path / "moved.txt").read_text() == "old"
        over = {"kind": "create", "uri": uri("fresh"), "options": {"overwrite": True}}
        move = {"kind": "rename", "oldUri": uri("fresh"), "newUri": uri("fresh2")}
        answer = await server.ask(APPLY, {"edit": {"documentChanges": [over, move]}})
        assert answer["result"] == {"applied": True}
        assert (tmp_path / "fresh2").read_text() == ""


@pytest.mark.parametrize("way", ["refuse", "lie", "keep"])
async def test_file_operations_are_refused_lied_about_or_leave_the_document_open(
    tmp_path: Path, way: str
) -> None:
    for name in ("old.txt", "gone.txt"):
        (tmp_path / name).write_text(name)
    async with desk(tmp_path) as (editor, server):
        editor.file_edits = way
        old, gone = (editor.open(tmp_path / name) for name in ("old.txt", "gone.txt"))
        new = (tmp_path / "new.txt").as_uri()
        for change in (
            {"kind": "rename", "oldUri": old, "newUri": new},
            {"kind": "delete", "uri": gone},
        ):
            answer = await server.ask(APPLY, {"edit": {"documentChanges": [change]}})
            assert answer["result"]["applied"] is (way != "refuse")
        done = way == "keep"
        assert names(tmp_path) == (["new.txt"] if done else ["gone.txt", "old.txt"])
        assert set(editor.pages) == {new if done else old, gone}
        # Edits of texts are another matter.
        answer = await server.ask(APPLY, edit(gone, replaced(0, 0, 4, "back")))
        assert answer["result"] == {"applied": True}
        editor.save(gone)
        assert (tmp_path / "gone.txt").read_text() == "back.txt"


async def test_a_renamed_document_keeps_what_was_not_saved(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "old.bin").write_bytes(b"\xff\x00")
    async with desk(tmp_path) as (editor, server):
        uri = editor.open(tmp_path / "old.txt")
        editor.type(uri, 0, "very ")
        for name in ("old.txt", "old.bin"):
            path = tmp_path / name
            change = {
                "kind": "rename",
                "oldUri": path.as_uri(),
                "newUri": path.with_stem("new").as_uri(),
            }
            answer = await server.ask(APPLY, {"edit": {"documentChanges": [change]}})
            assert answer["result"] == {"applied": True}
        new = (tmp_path / "new.txt").as_uri()
        assert (editor.text(new), editor.modified(new)) == ("very old", True)
        assert (tmp_path / "new.txt").read_text() == "old"
        assert (tmp_path / "new.bin").read_bytes() == b"\xff\x00"


@pytest.mark.parametrize(
    ("way", "reason", "written"),
    [
        ("save", None, "mine and theirs"),
        ("lie", None, "theirs"),
        ("refuse", "read-only", "theirs"),
        ("careful", "the file has changed on disk", "theirs"),
    ],
)
async def test_the_wish_to_save_is_granted_refused_or_lied_about(
    tmp_path: Path, way: str, reason: str | None, written: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("and theirs")
    async with desk(tmp_path, capabilities=FULL) as (editor, server):
        editor.saves = way
        uri = editor.open(path)
        editor.type(uri, 0, "mine ")
        path.write_text("theirs")
        answer = await server.ask("acp/document/save", {"uris": [uri]})
        await editor.next("acp/document/save")
        failed = [] if reason is None else [{"uri": uri, "reason": reason}]
        assert answer["result"] == {"saved": [] if failed else [uri], "failed": failed}
        assert path.read_text() == written
        assert editor.modified(uri) is (way != "save")
        assert ("textDocument/didSave" in server.order()) is (way == "save")


async def test_a_careful_editor_saves_what_nobody_else_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    async with desk(tmp_path, capabilities=FULL) as (editor, server):
        editor.saves = "careful"
        uri = editor.open(path)
        editor.type(uri, 0, "a ")
        fresh = editor.open_text((tmp_path / "fresh.txt").as_uri(), "fresh")
        answer = await server.ask("acp/document/save", {"uris": [uri, fresh]})
        await editor.next("acp/document/save")
        assert answer["result"] == {"saved": [uri, fresh], "failed": []}
        assert (path.read_text(), names(tmp_path)) == ("a text", ["a.txt", "fresh.txt"])


# --- what is left at the end ---------------------------------------------------------


async def left(tmp_path: Path, deed: Callable[[FakeEditor, Server], Any], **options: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        async with desk(tmp_path, **options) as (editor, server):
            deed(editor, server)
            await server.told("initialized")
    return str(raised.value)


async def test_an_error_popup_is_left(tmp_path: Path) -> None:
    popup = {"type": 1, "message": "bad"}
    text = await left(tmp_path, lambda _, server: server.tell("window/showMessage", popup))
    assert "an error popup: {'type': 1, 'message': 'bad'}" in text


async def test_an_unread_message_is_left(tmp_path: Path) -> None:
    text = await left(tmp_path, lambda _, server: server.tell("x/y", [1]))
    assert "an unread x/y: [1]" in text
    async with desk(tmp_path, ignore={"x/y"}) as (_, server):
        server.tell("x/y", [1])


async def test_an_unanswered_request_of_either_side_is_left(tmp_path: Path) -> None:
    text = await left(tmp_path, lambda editor, _: editor.begin("x/slow"))
    assert "the server did not answer x/slow" in text

    with pytest.raises(AssertionError, match="nobody answered the server's x/y"):
        async with desk(tmp_path) as (editor, server):
            editor.answer["x/y"] = lambda _: Later()
            server.begin("x/y", {})
            await editor.next("x/y")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (frame({"id": 99, "result": None}), "an answer to no request of ours: id 99"),
        (b"Content-Length: 3\r\n\r\n[1]", "bad framing: not a JSON-RPC message"),
        (b"Hello\r\n\r\n", "bad framing: not a header"),
    ],
)
async def test_a_fault_in_the_protocol_is_left(tmp_path: Path, data: bytes, complaint: str) -> None:
    text = await left(tmp_path, lambda _, server: server.out.send_nowait(data))
    assert complaint in text


async def test_a_request_that_cannot_be_answered_is_left(tmp_path: Path) -> None:
    def wrong(_: Any) -> None:
        raise KeyError("x")

    with pytest.raises(AssertionError, match=r"x/y could not be answered: KeyError\('x'\)"):
        async with desk(tmp_path, ignore={"x/y"}) as (editor, server):
            editor.answer["x/y"] = wrong
            assert (await server.ask("x/y", {}))["error"]["code"] == -32603
    with pytest.raises(AssertionError, match="workspace/applyEdit could not be answered"):
        async with desk(tmp_path) as (editor, server):
            assert (await server.ask(APPLY, {}))["error"]["code"] == -32603


async def test_an_answer_with_result_and_error_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="x/y: neither a result nor an error, or both"):
        async with desk(tmp_path) as (editor, server):
            call = editor.begin("x/y")
            server.put({"id": call.number})
            with pytest.raises(ConnectionError):
                await call.result()


async def test_a_message_before_the_answer_to_initialize_is_a_fault(tmp_path: Path) -> None:
    server = Server()
    server.tell("window/logMessage", {"type": 4, "message": "early is fine"})
    server.tell("textDocument/publishDiagnostics", {"uri": "u", "diagnostics": []})
    with pytest.raises(AssertionError, match="publishDiagnostics before the answer"):
        async with FakeEditor(root=tmp_path, streams=(server.source, server)):
            pass
    server.source.close()


async def test_the_exception_of_the_test_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with desk(tmp_path) as (editor, _):
            editor.begin("x/slow")
            _ = 1 / 0
    with anyio.move_on_after(0.05) as scope:
        async with desk(tmp_path):
            await anyio.sleep_forever()
    assert scope.cancelled_caught


# --- a server in a process of its own ------------------------------------------------

PROGRAM = r"""
import json, os, subprocess, sys, time
way = sys.argv[1]
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
while True:
    length = 0
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not line:
        time.sleep(60 if way == "deaf" else 0)
        sys.exit(9)
    message = json.loads(sys.stdin.buffer.read(length))
    method = message["method"]
    if method == "initialize":
        sys.stderr.write("e" * 200000)
        sys.stderr.flush()
        if way == "dies at once":
            sys.exit(4)
        send({"id": message["id"], "result": {"capabilities": {}}})
    elif method == "x/env":
        send({"id": message["id"], "result": os.environ.get("FROM_TEST")})
    elif method == "x/die":
        if way == "half a frame":
            sys.stdout.buffer.write(b"Content-Length: 99\r\n\r\n{")
            sys.stdout.buffer.flush()
        os._exit(5)
    elif method == "shutdown":
        if way == "deaf":
            continue
        send({"id": message["id"], "result": None})
    elif method == "exit":
        if way == "deaf":
            continue
        if way == "leaves a child":
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"])
        sys.exit(3 if way == "wrong code" else 0)
"""


def program(tmp_path: Path, way: str, **options: Any) -> FakeEditor:
    return FakeEditor([sys.executable, "-c", PROGRAM, way], root=tmp_path, **options)


async def test_a_process_is_started_and_ended(tmp_path: Path) -> None:
    async with program(tmp_path, "good", env={"FROM_TEST": "yes"}) as editor:
        assert await editor.request("x/env") == "yes"
    assert editor.stderr == b"e" * 200_000


async def test_a_wrong_exit_code_is_left(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the server ended with code 3"):
        async with program(tmp_path, "wrong code"):
            pass


async def test_a_child_that_holds_the_output_open_is_left(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a child of the server holds its output open"):
        async with program(tmp_path, "leaves a child", within=0.3):
            pass


async def test_a_server_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"shutdown: .*\n.*still runs 0.3 s after exit"):
        async with program(tmp_path, "deaf", within=0.3):
            pass


async def test_a_server_that_dies_is_noticed_at_once(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as raised:
        async with program(tmp_path, "half a frame") as editor:
            with pytest.raises(ConnectionError, match="before it answered x/die"):
                await editor.request("x/die")
            with pytest.raises(ConnectionError, match="the server ended without x/y"):
                await editor.next("x/y")
            with pytest.raises(ConnectionError):
                await editor.request("x/env")
    text = str(raised.value)
    assert "the server ended with code 5" in text
    assert "in the middle of a message" in text
    with pytest.raises(ConnectionError):
        async with program(tmp_path, "dies at once"):
            pass


async def test_waiting_ends_with_the_server(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        async with program(tmp_path, "good") as editor:
            editor.notify("x/die")
            with pytest.raises(ConnectionError):
                await editor.next("x/y")


def test_frames_are_json_rpc() -> None:
    head, body = frame({"id": 1}).split(b"\r\n\r\n")
    assert head == b"Content-Length: %d" % len(body)
    assert json.loads(body) == {"jsonrpc": "2.0", "id": 1}
