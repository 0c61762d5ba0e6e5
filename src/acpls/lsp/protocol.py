"""The Language Server Protocol by pygls, without the hazards measured in pygls 2.1.1.

Of pygls remain the types, the capabilities and the registration of features; messages are
dispatched, answered and sent here.

Invariant: a request is answered exactly once; no traceback and no path goes to the editor.
"""

from __future__ import annotations

import inspect
import json
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from acpls.lsp import asking, messages, misfit
from acpls.lsp.asking import EditorError, NoAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from cattrs import Converter
    from pygls.server import ServerErrors

    Registered = TypeVar("Registered", bound=Callable[..., Any])

__all__ = ["EditorError", "EditorProtocol", "EditorServer", "NoAnswer", "Ticket"]

MsgId: TypeAlias = int | float | str

PROTOCOL_VERSION: Final = 1
"""The version of the ``acp/*`` methods, announced in ``capabilities.experimental.acp``."""

_log = logging.getLogger("acpls.lsp")

_INVALID_REQUEST: Final = types.ErrorCodes.InvalidRequest.value
_METHOD_NOT_FOUND: Final = types.ErrorCodes.MethodNotFound.value
_INVALID_PARAMS: Final = types.ErrorCodes.InvalidParams.value
_INTERNAL_ERROR: Final = types.ErrorCodes.InternalError.value
_NOT_INITIALIZED: Final = types.ErrorCodes.ServerNotInitialized.value
_CANCELLED: Final = types.LSPErrorCodes.RequestCancelled.value


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request of the editor that is answered later; each one is a value of its own."""

    request: MsgId
    method: str


class EditorProtocol(LanguageServerProtocol):
    """One editor's connection. All of it belongs to the loop's thread.

    ``on_request(ticket, method, params)`` is called for the server's deferred methods,
    with lsprotocol's params for a method of LSP and plain JSON for any other (``None`` when
    there are none). ``on_abandoned(ticket)`` says that nobody waits for the answer any more.

    ``encoding``: the unit of positions, ``"utf-8"``, ``"utf-16"`` or ``"utf-32"``.
    """

    _server: EditorServer

    def __init__(self, server: EditorServer, converter: Converter) -> None:
        """``server`` names the commands and the deferred methods."""
        self.encoding = "utf-16"
        self.on_request: Callable[[Ticket, str, Any], None] | None = None
        self.on_abandoned: Callable[[Ticket], None] | None = None
        self._initialized = False
        self._gone = False
        self._asks = asking.Asks(self._send)
        self._tickets: dict[MsgId, Ticket] = {}
        super().__init__(server, converter)

    # --- towards the editor ----------------------------------------------------------

    def reply(self, ticket: Ticket, value: object = None) -> None:
        """Answer a deferred request with a JSON value or lsprotocol objects."""
        if self._taken(ticket):
            self._respond(ticket.request, ticket.method, value)

    def fail(
        self,
        ticket: Ticket,
        code: int,
        message: str,
        detail: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Answer a deferred request with an error.

        What ``message`` has beyond one short line goes to ``data.detail``, before ``detail``.
        """
        if self._taken(ticket):
            self._send_data(messages.refusal(ticket.request, code, message, detail, data))

    async def ask(self, method: str, params: object = None, within_s: float = 10.0) -> Any:
        """Send a request and wait for its result.

        The result is an lsprotocol object for a method of LSP and plain JSON for any other.
        Raises ``NoAnswer`` after ``within_s`` seconds and when the editor is gone, and
        ``EditorError`` when it says no. An answer that comes later is dropped.
        """
        answer = await self._asks.ask(method, params, within_s)
        return asking.result(self._converter, self.get_result_type(method), answer)

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification; what is no JSON is logged. Nothing goes out after shutdown."""
        if not self._gone:
            self._send_data(messages.call(method, params))

    def editor_gone(self) -> None:
        """End everything that waits for the editor, or that the editor waits for."""
        self._gone = True
        for ticket in list(self._tickets.values()):
            self._abandon(ticket, "The language server is shutting down")
        self._asks.end()
        # Requests that were sent by pygls' own methods.
        for future in self._request_futures.values():
            future.cancel()
        self._request_futures.clear()
        self._result_types.clear()

    # --- from the editor -------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Handle one message. Raises ``SystemExit`` on ``exit``, and nothing else."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            # There is no id to answer to, and editors show an error without one.
            _log.warning("skipped a message of %d bytes that is not JSON", len(body))
            return
        self.handle_message(message)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Leave ``data`` alone: pygls' loops call this for every object inside a message."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle one decoded message."""
        if not isinstance(message, dict):
            _log.warning("skipped a message that is no object")
        elif isinstance(method := message.get("method"), str):
            if "id" in message:
                self._serve(message["id"], method, message.get("params"))
            else:
                self._hear(method, message.get("params"))
        elif isinstance(key := message.get("id"), (int, str)):
            self._settle(key, message)
        else:
            _log.warning("skipped a message that is no request, notification or answer")

    def _serve(self, request: Any, method: str, params: Any) -> None:
        if isinstance(request, bool) or not isinstance(request, (int, float, str)):
            message = "The id of a request is a number or a string"
            self._send_data(messages.refusal(None, _INVALID_REQUEST, message))
            return
        try:
            self._check(request, method)
            if self.on_request is not None and method in self._server.deferred:
                self._defer(Ticket(request, method), self._structured(method, params))
                return
            serve = self._handler(method)
            result = self._guarded(method, serve, self._structured(method, params))
        except JsonRpcException as error:
            self._refuse(request, error)
        else:
            self._respond(request, method, result)

    def _check(self, request: MsgId, method: str) -> None:
        problem, code = None, _INVALID_REQUEST
        if request in self._tickets:
            problem = "A request with this id is still open"
        elif self._shutdown:
            problem = "The server is shutting down"
        elif self._initialized and method == types.INITIALIZE:
            problem = "The server is initialized already"
        elif not self._initialized and method != types.INITIALIZE:
            problem, code = "The server is not initialized yet", _NOT_INITIALIZED
        if problem:
            raise JsonRpcException(problem, code)

    def _handler(self, method: str) -> Callable[[Any], Any]:
        handler = self.fm.builtin_features.get(method) or self.fm.features.get(method)
        if handler is None:
            raise JsonRpcException(f"Method not found: {method}", _METHOD_NOT_FOUND)
        return handler  # type: ignore[no-any-return]  # pygls' tables are untyped

    def _defer(self, ticket: Ticket, params: Any) -> None:
        if isinstance(params, types.ExecuteCommandParams) and (
            params.command not in self._server.commands
        ):
            raise JsonRpcException(f"No such command: {params.command}", _INVALID_PARAMS)
        self._tickets[ticket.request] = ticket
        try:
            self._guarded(ticket.method, self.on_request, ticket, ticket.method, params)
        except JsonRpcException as error:
            if self._taken(ticket):
                self._refuse(ticket.request, error)

    def _hear(self, method: str, params: Any) -> None:
        if method == types.CANCEL_REQUEST:
            request = params.get("id") if isinstance(params, dict) else None
            ticket = self._tickets.get(request) if isinstance(request, (int, str)) else None
            if ticket is not None:
                self._abandon(ticket, "The request was cancelled")
            return
        if method == types.EXIT:
            self._call(method, self.fm.features.get(method), None)
            raise SystemExit(0 if self._shutdown else 1)
        if self._shutdown or not self._initialized or method not in self.fm.features:
            _log.debug("ignored a notification: %s", method)
            return
        try:
            structured = self._structured(method, params)
        except JsonRpcException as error:
            _log.warning("skipped a notification: %s: %s", method, error.message)
        else:
            self._call(method, self.fm.features[method], structured)

    def _settle(self, key: int | str, message: Mapping[str, Any]) -> None:
        if self._asks.settle(key, message):
            return
        # A request that was sent by one of pygls' own methods, or an answer too late.
        future = self._request_futures.pop(key, None)
        kind = self._result_types.pop(key, None)
        if future is None or future.done():
            _log.debug("dropped an answer that nobody waits for")
            return
        try:
            future.set_result(asking.result(self._converter, kind, message))
        except EditorError as error:
            future.set_exception(JsonRpcException(error.message, error.code))

    # --- the life of the connection --------------------------------------------------

    def _register_builtin_features(self) -> None:
        # Of pygls' own only these: the others keep a second copy of the documents, or
        # leave a finished future behind for each notification.
        self.fm.add_builtin_feature(types.INITIALIZE, self._initialize)
        self.fm.add_builtin_feature(types.SHUTDOWN, self._shut_down)

    def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        self._server.process_id = params.process_id
        self.client_capabilities = params.capabilities
        self.encoding = _encoding(params.capabilities)
        # The editor's abilities decide which features are registered, so they come first.
        if (hear := self.fm.features.get(types.INITIALIZE)) is not None:
            hear(params)
        able: types.ServerCapabilities = ServerCapabilitiesBuilder(
            params.capabilities,
            set(self.fm.features),
            self.fm.feature_options,
            list(self._server.commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            self.encoding,
        ).build()  # type: ignore[no-untyped-call]  # pygls gives no types here
        able.text_document_sync = types.TextDocumentSyncOptions(
            open_close=True,
            change=types.TextDocumentSyncKind.Incremental,
            save=types.SaveOptions(include_text=False),
        )
        able.experimental = {"acp": {"version": PROTOCOL_VERSION}}
        self.server_capabilities = able
        self._initialized = True
        return types.InitializeResult(capabilities=able, server_info=self.server_info)

    def _shut_down(self, _params: None) -> None:
        self._call(types.SHUTDOWN, self.fm.features.get(types.SHUTDOWN), None)
        self.editor_gone()
        self._shutdown = True

    def _taken(self, ticket: Ticket) -> bool:
        if self._tickets.get(ticket.request) is not ticket:
            _log.info("dropped an answer to %s: it is answered already", ticket.method)
            return False
        del self._tickets[ticket.request]
        return True

    def _abandon(self, ticket: Ticket, message: str) -> None:
        self.fail(ticket, _CANCELLED, message)
        self._call(types.CANCEL_REQUEST, self.on_abandoned, ticket)

    # --- one guard for all handlers --------------------------------------------------

    def _guarded(self, method: str, handler: Any, *args: Any) -> Any:
        try:
            return handler(*args)
        except JsonRpcException:
            raise
        except Exception as bug:
            _log.exception("a bug while handling %s", method)
            data = {"detail": "The language server's log says more."}
            raise JsonRpcException(f"Internal error in {method}", _INTERNAL_ERROR, data) from bug

    def _call(self, method: str, handler: Any, params: Any) -> None:
        if handler is None:
            return
        try:
            self._guarded(method, handler, params)
        except JsonRpcException as error:
            _log.warning("%s: %s", method, error.message)

    # --- JSON and types --------------------------------------------------------------

    def _structured(self, method: str, params: Any) -> Any:
        # What these two carry differs between editors and does not matter.
        if method == types.INITIALIZED:
            return types.InitializedParams()
        kind = None if method == types.SHUTDOWN else self.get_message_type(method)
        return params if kind is None else misfit.params(self._converter, kind, method, params)

    def _respond(self, request: MsgId, method: str, result: object) -> None:
        try:
            self._guarded(method, self._send, messages.answer(request, result))
        except JsonRpcException as error:
            self._refuse(request, error)

    def _refuse(self, request: MsgId, error: JsonRpcException) -> None:
        # The data of pygls' own errors is a traceback.
        ours = isinstance(error.data, dict) and "traceback" not in error.data
        data = error.data if ours else None
        self._send_data(messages.refusal(request, error.code, error.message, data=data))

    def _send_data(self, data: Any) -> None:
        try:
            self._send(data)
        except Exception:  # noqa: BLE001 - a message that is no JSON ends nothing else
            _log.exception("a message could not be sent")

    def _send(self, message: object) -> None:
        if self.writer is None:
            _log.error("there is no editor to write to")
            return
        self.writer.write(messages.framed(message, self._converter))


class EditorServer(LanguageServer):
    """pygls' server over an ``EditorProtocol``. Handlers are plain functions."""

    protocol: EditorProtocol

    def __init__(
        self,
        name: str = "acpls",
        version: str = "",
        *,
        commands: Iterable[str] = (),
        deferred: Iterable[str] = (types.WORKSPACE_EXECUTE_COMMAND,),
    ) -> None:
        """``commands``: the ids of all commands. ``deferred``: the methods of ``on_request``."""
        # At INFO pygls logs whole messages, and the editor shows what is on stderr.
        logging.getLogger("pygls").setLevel(logging.WARNING)
        self.commands = tuple(commands)
        self.deferred = frozenset(deferred)
        super().__init__(name, version, protocol_cls=EditorProtocol)

    def feature(
        self, feature_name: str, options: Any | None = None
    ) -> Callable[[Registered], Registered]:
        """Register the handler of a method; its capability is announced by ``initialize``."""
        register = super().feature(feature_name, options)

        def checked(handler: Registered) -> Registered:
            if inspect.iscoroutinefunction(handler) or inspect.isgeneratorfunction(handler):
                msg = f"the handler of {feature_name} has to be a plain function"
                raise TypeError(msg)
            # pygls marks what it registers, and a bound method cannot be marked.
            register(handler if inspect.isfunction(handler) else partial(handler))
            return handler

        return checked

    def command(self, command_name: str) -> Callable[[Registered], Registered]:
        """Refuse: commands go to ``on_request``."""
        msg = f"{command_name}: give the ids of commands to EditorServer"
        raise TypeError(msg)

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Log what pygls would show to the user."""
        _log.error("%s", source.__name__, exc_info=error)


def _encoding(capabilities: types.ClientCapabilities) -> str:
    general = capabilities.general
    offered = {str(kind) for kind in (general and general.position_encodings) or ()}
    # Code points are what Python's strings are made of.
    return next((kind for kind in ("utf-32", "utf-8") if kind in offered), "utf-16")
