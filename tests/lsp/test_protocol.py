"""One test for each hazard of pygls 2.1.1 that the protocol remedies, named after the fact."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

import anyio
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError

from acpls.lsp.protocol import EditorError, EditorServer, NoAnswer, Ticket
from acpls.lsp.transport import Frames

HOVER = {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}}
EXECUTE = types.WORKSPACE_EXECUTE_COMMAND


class Editor:
    """The other side, in memory: messages go in as bytes and come out decoded."""

    def __init__(self, **options: Any) -> None:
        self.server = EditorServer("acpls", "1", **{"commands": ["acpls.status"], **options})
        self.protocol = self.server.protocol
        self.protocol.set_writer(self)
        self.requests: list[tuple[Ticket, str, Any]] = []
        self.abandoned: list[Ticket] = []
        self.protocol.on_request = lambda *request: self.requests.append(request)
        self.protocol.on_abandoned = self.abandoned.append
        self._frames = Frames()
        self.inbox: list[dict[str, Any]] = []
        self.bytes = b""

    def write(self, data: bytes) -> None:
        self.bytes += data
        self.inbox += [json.loads(body) for body in self._frames.feed(data)]

    def close(self) -> None:
        raise AssertionError("nobody closes the writer but the main loop")

    def sends(self, **message: Any) -> None:
        self.protocol.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notifies(self, method: str, params: Any = None) -> None:
        self.sends(method=method, params=params)

    def asks(self, method: str, params: Any = None, request: Any = 1) -> dict[str, Any]:
        """Send a request that is answered at once; return its answer."""
        self.sends(id=request, method=method, params=params)
        (answer,) = self.reads()
        assert answer["id"] == request
        return answer

    def reads(self) -> list[dict[str, Any]]:
        """Take all messages that have come."""
        taken, self.inbox = self.inbox, []
        return taken

    def initialized(self, **capabilities: Any) -> Editor:
        answer = self.asks(
            "initialize", {"processId": None, "rootUri": None, "capabilities": capabilities}
        )
        self.able = answer["result"]["capabilities"]
        self.notifies("initialized", {})
        return self

    @property
    def leftovers(self) -> int:
        return len(self.protocol._request_futures) + len(self.protocol._result_types)


@pytest.fixture
def editor() -> Editor:
    return Editor().initialized()


# --- what comes in ---------------------------------------------------------------------


def test_a_nested_jsonrpc_key_is_no_message(editor: Editor) -> None:
    recorded = {"jsonrpc": "2.0", "method": "session/update", "params": {"jsonrpc": "2.0"}}
    editor.notifies("workspace/didChangeConfiguration", {"settings": recorded})
    editor.sends(id=1, method=EXECUTE, params={"command": "acpls.status", "arguments": [recorded]})
    ((ticket, _, params),) = editor.requests
    assert params.arguments[0] == recorded
    editor.protocol.reply(ticket, recorded)
    assert editor.reads() == [{"jsonrpc": "2.0", "id": 1, "result": recorded}]


def test_a_nested_jsonrpc_key_is_no_message_for_a_loop_of_pygls_either(editor: Editor) -> None:
    heard: list[Any] = []
    editor.server.feature("acp/x")(heard.append)
    body = b'{"jsonrpc": "2.0", "method": "acp/x", "params": {"jsonrpc": "2.0", "id": 1}}'
    editor.protocol.handle_message(json.loads(body, object_hook=editor.protocol.structure_message))
    assert heard == [{"jsonrpc": "2.0", "id": 1}]


def test_custom_params_arrive_as_plain_json() -> None:
    editor = Editor(deferred=[EXECUTE, "acp/x"]).initialized()
    heard: list[Any] = []
    editor.server.feature("acp/focus/changed")(heard.append)
    odd = {"_meta": {"a": 1}, "session-id": 1, "class": [{"type_name": "x"}], "type_name": "y"}
    editor.notifies("acp/focus/changed", odd)
    editor.sends(method="acp/focus/changed")
    editor.sends(id=1, method="acp/x", params=odd)
    editor.sends(id="2", method="acp/x")
    assert heard == [odd, None]
    assert [(method, params) for _, method, params in editor.requests] == [
        ("acp/x", odd),
        ("acp/x", None),
    ]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"textDocument": {"uri": "a"}}, "position is missing"),
        ({**HOVER, "position": {"line": "x", "character": 0}}, "position.line does not fit"),
        ({**HOVER, "textDocument": {}}, "textDocument.uri is missing"),
        ([1], "textDocument does not fit"),
        (None, "params is missing"),
    ],
)
def test_a_request_that_does_not_fit_is_answered_with_the_field(
    editor: Editor, params: Any, message: str
) -> None:
    editor.server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: None)
    error = editor.asks("textDocument/hover", params)["error"]
    assert (error["code"], error["message"]) == (-32602, message)


def test_a_deferred_request_that_does_not_fit_is_answered_too(editor: Editor) -> None:
    error = editor.asks(EXECUTE, {"arguments": []})["error"]
    assert (error["code"], error["message"]) == (-32602, "command is missing")
    error = editor.asks(EXECUTE, {"command": "other.thing"})["error"]
    assert (error["code"], error["message"]) == (-32602, "No such command: other.thing")
    assert editor.requests == []


def test_a_notification_that_does_not_fit_is_only_logged(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Any] = []
    editor.server.feature(types.TEXT_DOCUMENT_DID_OPEN)(heard.append)
    editor.notifies("textDocument/didOpen", {"textDocument": {"uri": "file:///a"}})
    assert "textDocument.languageId is missing" in caplog.text
    assert (heard, editor.reads()) == ([], [])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        pytest.param(b"[" * 200_000, id="deep"),
        b"[]",
        b"1",
        b"null",
        b"{}",
        b'{"jsonrpc": "2.0", "id": null}',
        b'{"method": 3}',
        b'{"id": [1], "method": 4}',
        b'{"id": 99, "result": 1}',
        b'{"method": "$/cancelRequest", "params": {"id": {}}}',
        b'{"method": "$/cancelRequest", "params": [1]}',
        b'{"method": "$/cancelRequest", "params": {"id": 99}}',
        b'{"method": "$/unknown"}',
    ],
)
def test_junk_is_skipped_without_a_word_to_the_editor(editor: Editor, body: bytes) -> None:
    editor.protocol.receive(body)
    assert editor.reads() == []
    assert editor.asks("no/such")["error"]["code"] == -32601


@pytest.mark.parametrize("request_id", [None, True, [1], {}])
def test_a_request_with_an_unusable_id_is_refused(editor: Editor, request_id: Any) -> None:
    editor.sends(id=request_id, method="textDocument/hover", params=HOVER)
    ((answer),) = editor.reads()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


def test_requests_before_initialize_and_after_shutdown_are_refused() -> None:
    editor = Editor()
    editor.notifies("textDocument/didSave", {"textDocument": {"uri": "a"}})
    assert editor.asks("textDocument/hover", HOVER)["error"]["code"] == -32002
    editor.initialized()
    assert editor.asks("initialize", {"capabilities": {}})["error"]["code"] == -32600
    assert editor.asks("shutdown")["result"] is None
    assert editor.asks("textDocument/hover", HOVER)["error"]["code"] == -32600


# --- errors ----------------------------------------------------------------------------


def test_a_bug_in_a_request_gives_no_traceback_and_no_path(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    def hover(params: types.HoverParams) -> None:
        raise RuntimeError("secret " + __file__)

    editor.server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    error = editor.asks("textDocument/hover", HOVER)["error"]
    assert error["code"] == -32603
    assert error["message"] == "Internal error in textDocument/hover"
    assert isinstance(error["data"]["detail"], str)
    assert b"secret" not in editor.bytes
    assert b"raceback" not in editor.bytes
    assert "secret" in caplog.text
    assert "Traceback" in caplog.text


def test_a_bug_in_a_notification_gives_no_popup(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    def save(params: Any) -> None:
        raise RuntimeError("oops")

    editor.server.feature(types.TEXT_DOCUMENT_DID_SAVE)(save)
    editor.notifies("textDocument/didSave", {"textDocument": {"uri": "a"}})
    assert editor.reads() == []
    assert "oops" in caplog.text


def test_what_pygls_itself_reports_goes_to_the_log_only(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    editor.server._report_server_error(RuntimeError("oops"), JsonRpcException)
    assert "oops" in caplog.text
    assert editor.reads() == []


def test_an_error_of_our_choice_is_one_short_line(editor: Editor) -> None:
    def hover(params: types.HoverParams) -> None:
        raise JsonRpcException("a" * 200 + "\nb\x1b[31m", code=-32000, data={"key": 1})

    editor.server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    error = editor.asks("textDocument/hover", HOVER)["error"]
    assert error["code"] == -32000
    assert len(error["message"]) == 80
    assert error["data"] == {"key": 1, "detail": "a" * 200 + "\nb\x1b[31m"}


def test_the_traceback_in_the_data_of_pygls_errors_is_dropped(editor: Editor) -> None:
    def hover(params: types.HoverParams) -> None:
        raise JsonRpcInternalError("x", data={"traceback": ["File /secret"]})

    editor.server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    assert "data" not in editor.asks("textDocument/hover", HOVER)["error"]


def test_a_result_that_is_no_json_is_answered_with_an_error(editor: Editor) -> None:
    editor.server.feature("acp/odd")(lambda params: {"x": float(params) if params else object()})
    assert editor.asks("acp/odd")["error"]["code"] == -32603
    assert editor.asks("acp/odd", "nan")["error"]["code"] == -32603
    assert editor.asks("acp/odd", "1")["result"] == {"x": 1}


def test_an_unknown_request_is_answered(editor: Editor) -> None:
    error = editor.asks("textDocument/hover", HOVER)["error"]
    assert (error["code"], error["message"]) == (
        -32601,
        "Method not found: textDocument/hover",
    )


# --- documents -------------------------------------------------------------------------


def test_documents_reach_us_typed_and_pygls_keeps_no_copy(editor: Editor) -> None:
    heard: list[Any] = []
    for method in ("didOpen", "didChange", "didSave", "didClose"):
        editor.server.feature(f"textDocument/{method}")(heard.append)
    item = {"uri": "file:///a", "languageId": "x", "version": 1, "text": "a\u2028b"}
    editor.notifies("textDocument/didOpen", {"textDocument": item})
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    changes = [{"range": span, "text": "x"}, {"text": "all"}]
    changed = {"textDocument": {"uri": "file:///a", "version": 2}, "contentChanges": changes}
    editor.notifies("textDocument/didChange", changed)
    editor.notifies(
        "textDocument/didChange", {**changed, "textDocument": {"uri": "b", "version": 1}}
    )
    editor.notifies("textDocument/didSave", {"textDocument": {"uri": "file:///a"}})
    editor.notifies("textDocument/didClose", {"textDocument": {"uri": "file:///a"}})
    assert [type(params) for params in heard] == [
        types.DidOpenTextDocumentParams,
        types.DidChangeTextDocumentParams,
        types.DidChangeTextDocumentParams,
        types.DidSaveTextDocumentParams,
        types.DidCloseTextDocumentParams,
    ]
    assert heard[0].text_document.text == "a\u2028b"
    assert [type(change) for change in heard[1].content_changes] == [
        types.TextDocumentContentChangePartial,
        types.TextDocumentContentChangeWholeDocument,
    ]
    assert editor.protocol._workspace is None
    assert (editor.leftovers, editor.reads()) == (0, [])


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-16", "utf-32"], "utf-32"),
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-16"], "utf-16"),
        (["utf-7"], "utf-16"),
        (None, "utf-16"),
    ],
)
def test_positions_are_code_points_where_the_editor_can(offered: Any, chosen: str) -> None:
    editor = Editor()
    assert editor.protocol.encoding == "utf-16"
    editor.initialized(**({"general": {"positionEncodings": offered}} if offered else {}))
    assert editor.able["positionEncoding"] == chosen == editor.protocol.encoding


def test_what_initialize_announces() -> None:
    editor = Editor(commands=["acpls.b", "acpls.a"])
    editor.server.feature(types.TEXT_DOCUMENT_CODE_LENS)(lambda params: None)
    able = editor.initialized().able
    assert able["textDocumentSync"] == {
        "openClose": True,
        "change": 2,
        "save": {"includeText": False},
    }
    assert able["executeCommandProvider"] == {"commands": ["acpls.b", "acpls.a"]}
    assert able["experimental"] == {"acp": {"version": 1}}
    assert "codeLensProvider" in able
    assert "hoverProvider" not in able


def test_features_may_be_registered_by_what_the_editor_can() -> None:
    editor = Editor()

    def initialize(params: types.InitializeParams) -> None:
        experimental: Any = params.capabilities.experimental
        if experimental["acp"]["version"] == 1:
            editor.server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: None)

    editor.server.feature(types.INITIALIZE)(initialize)
    assert editor.initialized(experimental={"acp": {"version": 1}}).able["hoverProvider"] is True


def test_an_ability_newer_than_our_types_does_not_keep_an_editor_out() -> None:
    editor = Editor()
    kinds = {"workspace": {"symbol": {"symbolKind": {"valueSet": [1, 99, 2, 100]}}}}
    encodings = {"general": {"positionEncodings": ["utf-8"]}, "window": {"showMessage": 3}}
    editor.initialized(**kinds, **encodings)
    seen = editor.protocol.client_capabilities
    assert seen.workspace
    assert seen.workspace.symbol
    assert seen.workspace.symbol.symbol_kind
    assert list(seen.workspace.symbol.symbol_kind.value_set or ()) == [1, 2]
    assert editor.protocol.encoding == "utf-8"


def test_an_ability_that_lacks_a_part_is_left_out_whole() -> None:
    editor = Editor()
    editor.initialized(
        textDocument={"codeAction": {"codeActionLiteralSupport": {}, "dataSupport": True}}
    )
    seen = editor.protocol.client_capabilities
    assert seen.text_document
    assert seen.text_document.code_action
    assert seen.text_document.code_action.code_action_literal_support is None
    assert seen.text_document.code_action.data_support is True


@pytest.mark.parametrize(
    ("params", "code"), [({}, None), ({"capabilities": 3, "processId": "x"}, None), ([], -32602)]
)
def test_a_meagre_initialize_is_enough(params: Any, code: int | None) -> None:
    answer = Editor().asks("initialize", params)
    assert answer.get("error", {}).get("code") == code


# --- deferred requests -----------------------------------------------------------------


def test_a_hundred_commands_leave_nothing_behind(editor: Editor) -> None:
    for number in range(100):
        editor.sends(id=number, method=EXECUTE, params={"command": "acpls.status"})
    assert editor.reads() == []
    for ticket, _, _ in reversed(editor.requests):
        editor.protocol.reply(ticket, {"n": ticket.request})
    assert [answer["result"]["n"] for answer in editor.reads()] == list(range(99, -1, -1))
    assert (editor.leftovers, len(editor.protocol._tickets)) == (0, 0)


def test_a_hundred_notifications_leave_nothing_behind(editor: Editor) -> None:
    editor.server.feature(types.TEXT_DOCUMENT_DID_SAVE)(lambda params: None)
    for _ in range(100):
        editor.notifies("textDocument/didSave", {"textDocument": {"uri": "a"}})
    assert editor.leftovers == 0


def test_a_request_is_answered_exactly_once(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    editor.sends(id=1, method=EXECUTE, params={"command": "acpls.status"})
    ((ticket, _, _),) = editor.requests
    editor.protocol.fail(ticket, -32000, "Log in first", detail="how", data={"agent": "x"})
    editor.protocol.reply(ticket, 1)
    editor.protocol.fail(ticket, -1, "no")
    (answer,) = editor.reads()
    assert answer["error"] == {
        "code": -32000,
        "message": "Log in first",
        "data": {"agent": "x", "detail": "how"},
    }
    assert caplog.text.count("answered already") == 2


def test_an_id_may_be_used_again_after_its_answer(editor: Editor) -> None:
    editor.sends(id=1, method=EXECUTE, params={"command": "acpls.status"})
    old, _, _ = editor.requests[0]
    assert editor.asks(EXECUTE, {"command": "acpls.status"})["error"]["code"] == -32600
    editor.protocol.reply(old, "old")
    editor.sends(id=1, method=EXECUTE, params={"command": "acpls.status"})
    editor.protocol.reply(old, "older")
    editor.protocol.reply(editor.requests[1][0], "new")
    assert [answer["result"] for answer in editor.reads()] == ["old", "new"]


def test_a_cancelled_command_is_abandoned_for_real(editor: Editor) -> None:
    editor.sends(id="a", method=EXECUTE, params={"command": "acpls.status"})
    editor.notifies("$/cancelRequest", {"id": "a"})
    ((ticket, _, _),) = editor.requests
    assert editor.abandoned == [ticket]
    editor.protocol.reply(ticket, "late")
    editor.notifies("$/cancelRequest", {"id": "a"})
    (answer,) = editor.reads()
    assert (answer["id"], answer["error"]["code"]) == ("a", -32800)
    assert editor.leftovers == 0


def test_shutdown_with_a_pending_command_answers_both(editor: Editor) -> None:
    editor.sends(id=1, method=EXECUTE, params={"command": "acpls.status"})
    editor.sends(id=2, method="shutdown")
    cancelled, done = editor.reads()
    assert (cancelled["id"], cancelled["error"]["code"]) == (1, -32800)
    assert (done["id"], done["result"]) == (2, None)
    assert [ticket.request for ticket in editor.abandoned] == [1]
    with pytest.raises(SystemExit) as ended:
        editor.notifies("exit")
    assert ended.value.code == 0


def test_exit_alone_is_an_error() -> None:
    with pytest.raises(SystemExit) as ended:
        Editor().notifies("exit")
    assert ended.value.code == 1


def test_shutdown_may_carry_any_params(editor: Editor) -> None:
    assert editor.asks("shutdown", {})["result"] is None


@pytest.mark.parametrize("bug", [RuntimeError("x"), JsonRpcException("no", code=-32001)])
def test_a_bug_in_a_deferred_request_is_its_answer(editor: Editor, bug: Exception) -> None:
    def on_request(*request: Any) -> None:
        raise bug

    editor.protocol.on_request = on_request
    error = editor.asks(EXECUTE, {"command": "acpls.status"})["error"]
    assert error["code"] == (-32001 if isinstance(bug, JsonRpcException) else -32603)


def test_a_bug_after_the_answer_is_no_second_answer(editor: Editor) -> None:
    def on_request(ticket: Ticket, method: str, params: Any) -> None:
        editor.protocol.reply(ticket, "done")
        raise RuntimeError("x")

    editor.protocol.on_request = on_request
    assert editor.asks(EXECUTE, {"command": "acpls.status"})["result"] == "done"


def test_a_bug_in_on_abandoned_ends_nothing(editor: Editor) -> None:
    def on_abandoned(ticket: Ticket) -> None:
        raise RuntimeError("x")

    editor.protocol.on_abandoned = on_abandoned
    editor.sends(id=1, method=EXECUTE, params={"command": "acpls.status"})
    editor.notifies("$/cancelRequest", {"id": 1})
    assert editor.reads()[0]["error"]["code"] == -32800


def test_without_a_listener_a_deferred_request_is_refused(editor: Editor) -> None:
    editor.protocol.on_request = None
    assert editor.asks(EXECUTE, {"command": "acpls.status"})["error"]["code"] == -32601


def test_async_handlers_and_pygls_commands_are_refused(editor: Editor) -> None:
    async def late(params: Any) -> None:
        """Would run after later messages."""

    with pytest.raises(TypeError, match="plain function"):
        editor.server.feature("acp/x")(late)
    with pytest.raises(TypeError, match=r"acpls\.x"):
        editor.server.command("acpls.x")


# --- what goes out ---------------------------------------------------------------------


def test_notifications_typed_and_custom(editor: Editor) -> None:
    editor.server.window_log_message(types.LogMessageParams(types.MessageType.Info, "é\u2028"))
    editor.protocol.notify("acp/agent/changed", {"agent": "a", "state": "ready"})
    editor.protocol.notify("workspace/odd")
    typed, custom, bare = editor.reads()
    assert typed["params"] == {"type": 3, "message": "é\u2028"}
    assert custom["params"] == {"agent": "a", "state": "ready"}
    assert "params" not in bare


def test_half_a_surrogate_pair_survives(editor: Editor) -> None:
    editor.protocol.notify("acp/x", "\ud83d")
    assert editor.reads()[0]["params"] == "\ud83d"


def test_a_notification_that_is_no_json_is_only_logged(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    editor.protocol.notify("acp/x", {"x": object()})
    assert editor.reads() == []
    assert "object is no JSON" in caplog.text


def test_without_a_writer_nothing_fails(caplog: pytest.LogCaptureFixture) -> None:
    EditorServer().protocol.notify("acp/x")
    assert "no editor" in caplog.text


def test_the_pygls_loggers_are_silent_below_warning(editor: Editor) -> None:
    assert not logging.getLogger("pygls.protocol.json_rpc").isEnabledFor(logging.INFO)


async def answered(
    editor: Editor, method: str, params: Any, within_s: float = 5, **answer: Any
) -> Any:
    """Ask the editor and let it answer."""
    found: list[Any] = []

    async def ask() -> None:
        try:
            found.append(await editor.protocol.ask(method, params, within_s=within_s))
        except (NoAnswer, EditorError) as error:
            found.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        if answer:
            editor.sends(id=editor.inbox[0]["id"], **answer)
    return found[0]


@pytest.mark.anyio
async def test_asking_typed_and_custom(editor: Editor) -> None:
    edit = types.ApplyWorkspaceEditParams(types.WorkspaceEdit(changes={}))
    applied = await answered(editor, "workspace/applyEdit", edit, result={"applied": True})
    assert applied == types.ApplyWorkspaceEditResult(applied=True)
    (request,) = editor.reads()
    assert request["params"] == {"edit": {"changes": {}}}
    odd = {"class": {"jsonrpc": 1}, "_meta": None}
    assert await answered(editor, "acp/form/ask", {"a": 1}, result=odd) == odd
    assert editor.leftovers == 0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ({"error": {"code": -32601, "message": "no such"}}, -32601, "no such"),
        ({"error": "odd"}, -32603, "The editor gave no reason"),
        ({"error": {"code": "x", "message": 1}}, -32603, "The editor gave no reason"),
        ({"result": None}, -32603, "The editor's answer does not fit"),
        ({"error": None, "result": {}}, -32603, "The editor's answer does not fit"),
    ],
)
async def test_an_editor_that_says_no(
    editor: Editor, answer: dict[str, Any], code: int, message: str
) -> None:
    edit = types.ApplyWorkspaceEditParams(types.WorkspaceEdit())
    error = await answered(editor, "workspace/applyEdit", edit, **answer)
    assert isinstance(error, EditorError)
    assert (error.code, error.message, str(error)) == (code, message, message)
    assert editor.leftovers == 0


@pytest.mark.anyio
async def test_silence_is_given_up_and_a_late_answer_is_harmless(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(await answered(editor, "acp/question/ask", {}, within_s=0.01), NoAnswer)
    request, cancel = editor.reads()
    assert cancel == {
        "jsonrpc": "2.0",
        "method": "$/cancelRequest",
        "params": {"id": request["id"]},
    }
    editor.sends(id=request["id"], error={"code": -32800, "message": "cancelled"})
    editor.sends(id=request["id"], result=1)
    assert (editor.reads(), editor.leftovers, caplog.records) == ([], 0, [])


@pytest.mark.anyio
async def test_the_editor_is_told_when_the_task_that_asks_is_cancelled(editor: Editor) -> None:
    with anyio.move_on_after(0.01):
        await editor.protocol.ask("acp/question/ask", {}, within_s=60)
    assert [message["method"] for message in editor.reads()] == [
        "acp/question/ask",
        "$/cancelRequest",
    ]


@pytest.mark.anyio
async def test_after_shutdown_all_asks_end(editor: Editor) -> None:
    found: list[str] = []

    async def ask() -> None:
        with pytest.raises(NoAnswer):
            await editor.protocol.ask("acp/question/ask", {}, within_s=60)
        found.append("ended")

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        editor.reads()
        editor.asks("shutdown")
    await ask()
    editor.protocol.notify("acp/x", {})
    assert (found, editor.reads(), editor.leftovers) == (["ended"] * 3, [], 0)


@pytest.mark.anyio
async def test_what_cannot_be_sent_is_not_waited_for(editor: Editor) -> None:
    with pytest.raises(TypeError):
        await editor.protocol.ask("acp/x", object())
    assert editor.reads() == []


def test_requests_by_pygls_own_methods_leave_nothing_behind(editor: Editor) -> None:
    futures = [
        editor.server.workspace_apply_edit(types.ApplyWorkspaceEditParams(types.WorkspaceEdit()))
        for _ in range(4)
    ]
    good, bad, given_up, _ = (message["id"] for message in editor.reads())
    editor.sends(id=good, result={"applied": True})
    editor.sends(id=bad, error={"code": -1, "message": "no"})
    futures[2].cancel()
    editor.sends(id=given_up, result={"applied": True})
    assert futures[0].result(0).applied
    assert isinstance(futures[1].exception(0), JsonRpcException)
    editor.asks("shutdown")
    assert futures[3].cancelled()
    assert editor.leftovers == 0


def test_a_handler_may_take_the_server_first(editor: Editor) -> None:
    def hover(ls: EditorServer, params: types.HoverParams) -> types.Hover:
        return types.Hover(contents=ls.name, range=None)

    editor.server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    assert editor.asks("textDocument/hover", HOVER)["result"] == {"contents": "acpls"}


def test_hooks_for_the_life_of_the_connection_are_called() -> None:
    editor = Editor()
    heard: list[str] = []
    for method in ("initialize", "initialized", "shutdown", "exit"):
        editor.server.feature(method)(partial(lambda name, _params: heard.append(name), method))
    editor.initialized().asks("shutdown")
    with pytest.raises(SystemExit):
        editor.notifies("exit")
    assert heard == ["initialize", "initialized", "shutdown", "exit"]
