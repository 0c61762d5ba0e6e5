"""The server's face while the rest of it is still to be loaded.

Editors wait for the answer to ``initialize`` before they show anything, and the answer
needs nothing but the list of what we can do. All else is built with the next message.

Invariant: imports neither the hub nor the rim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.lsp.protocol import EditorServer, Ticket
    from acpls.lsp.rim import EditorRim

# What the rim does for each method, by the name of its function.
_FEATURES: dict[str, str] = {
    types.INITIALIZED: "initialized",
    types.TEXT_DOCUMENT_DID_OPEN: "opened",
    types.TEXT_DOCUMENT_DID_CHANGE: "changed",
    types.TEXT_DOCUMENT_DID_SAVE: "saved",
    types.TEXT_DOCUMENT_DID_CLOSE: "closed",
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: "configuration_changed",
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL: "progress_cancelled",
    types.TEXT_DOCUMENT_CODE_ACTION: "code_actions",
    types.TEXT_DOCUMENT_HOVER: "hover",
    "acp/focus/changed": "focus_changed",
    "acp/question/shown": "question_shown",
}
# Answered later; what they would be done by is never called.
_DEFERRED = (
    types.TEXT_DOCUMENT_DEFINITION,
    types.TEXT_DOCUMENT_REFERENCES,
    types.TEXT_DOCUMENT_DOCUMENT_LINK,
)
_KINDS = [types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor]
_OPTIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(code_action_kinds=_KINDS),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: types.DocumentLinkOptions(resolve_provider=False),
}


class Doorstep:
    """Registers what we can do; ``build`` makes the rim that does it."""

    def __init__(self, server: EditorServer, build: Callable[[], EditorRim]) -> None:
        self._build = build
        self._params: types.InitializeParams | None = None
        self._rim: EditorRim | None = None
        self._feature = server.feature
        server.feature(types.INITIALIZE)(self._initialize)
        for method, name in _FEATURES.items():
            server.feature(method, _OPTIONS.get(method))(self._forward(name))
        for method in _DEFERRED:
            server.feature(method, _OPTIONS.get(method))(self._forward("asked"))
        server.deferred |= frozenset(_DEFERRED)
        server.protocol.on_request = self._asked
        server.protocol.on_abandoned = self._abandoned

    def _initialize(self, params: types.InitializeParams) -> None:
        self._params = params
        document = params.capabilities.text_document
        if document is not None and document.code_lens is not None:
            self._feature(types.TEXT_DOCUMENT_CODE_LENS)(self._forward("code_lenses"))

    def _forward(self, name: str) -> Callable[[Any], Any]:
        def handler(params: Any) -> Any:
            return getattr(self._inside(), name)(params)

        return handler

    def _asked(self, ticket: Ticket, method: str, params: Any) -> None:
        if method == types.WORKSPACE_EXECUTE_COMMAND:
            self._inside().command(ticket, params)
        else:
            self._inside().asked(ticket, method, params)

    def _abandoned(self, ticket: Ticket) -> None:
        self._inside().abandoned(ticket)

    def _inside(self) -> EditorRim:
        if self._rim is None:
            self._rim = self._build()
            if self._params is not None:
                self._rim.initialize(self._params)
        return self._rim
