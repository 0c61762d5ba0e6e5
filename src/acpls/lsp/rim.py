"""The rim towards the editor: its messages become events, the hub's effects become its.

Invariant: handlers are plain functions that hand an event over and return.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast

from lsprotocol import types

from acpls import effects as ef
from acpls import events as ev
from acpls.lsp import actions, hovers, quirks
from acpls.lsp.configuration import Configuration
from acpls.lsp.editor import Editor
from acpls.lsp.lenses import lenses
from acpls.lsp.spelling import Spelling
from acpls.lsp.views import Views
from acpls.text import uris
from acpls.text.buffers import ContentChange

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls.hub import Hub
    from acpls.lsp.protocol import EditorServer, Ticket
    from acpls.text.lines import Encoding

EditorEffect: TypeAlias = (
    ef.EditBuffer
    | ef.ChangeFile
    | ef.SaveDocument
    | ef.ShowDocument
    | ef.OpenLink
    | ef.RunProgram
    | ef.PutQuestion
    | ef.QuestionSettled
    | ef.ReplyCommand
    | ef.FailCommand
    | ef.TellUser
    | ef.ShowSession
    | ef.ShowReview
    | ef.ShowQuestions
    | ef.ShowPlace
    | ef.ShowAgent
)

INVALID_PARAMS = -32602

_log = logging.getLogger("acpls.lsp")


class EditorRim:
    """One editor. ``config_layer``: raw settings from the user's own file, or ``None``."""

    def __init__(
        self,
        tasks: TaskGroup,
        server: EditorServer,
        hub: Hub,
        emit: Callable[[ev.Event], None],
        config_layer: object = None,
    ) -> None:
        self._protocol = server.protocol
        self._hub = hub
        self._emit = emit
        self._params = types.InitializeParams(types.ClientCapabilities())
        self._warned: set[str] = set()
        self._spelling = Spelling()
        self.editor = Editor(tasks, self._protocol, hub, self._spelling, emit)
        self.views = Views(tasks, self._protocol, hub, self._spelling, self.editor)
        self._configuration = Configuration(
            tasks, self._protocol, config_layer, self._settings_changed
        )

    # --- from the hub ------------------------------------------------------------------

    def perform(self, effect: EditorEffect) -> None:
        """Perform one effect; never blocks."""
        match effect:
            case ef.ShowSession():
                self.views.session(effect)
            case ef.EditBuffer():
                self.editor.edit(effect)
            case ef.ChangeFile():
                self.editor.change_file(effect)
            case ef.SaveDocument():
                self.editor.save(effect)
            case ef.ShowReview():
                self.views.review(effect)
            case ef.ShowQuestions():
                self.views.questions()
            case ef.ShowPlace():
                self.views.place(effect)
            case ef.ShowAgent():
                self.views.agent(effect)
            case ef.ShowDocument():
                self.editor.show_document(effect)
            case ef.OpenLink(url):
                self.editor.open_link(url)
            case ef.RunProgram():
                self.editor.run(effect)
            case ef.PutQuestion():
                self.editor.put(effect)
            case ef.QuestionSettled():
                self.editor.settled(effect)
            case ef.TellUser():
                self._tell(effect)
            case ef.ReplyCommand(ticket, value):
                if ticket is not None:
                    self._protocol.reply(cast("Ticket", ticket), value)
            case ef.FailCommand(ticket, code, message, detail, field):
                if ticket is not None:
                    data = None if field is None else {"field": field}
                    self._protocol.fail(cast("Ticket", ticket), code, message, detail, data)
            case _:  # pragma: no cover -- the union is closed
                assert_never(effect)

    def _tell(self, effect: ef.TellUser) -> None:
        if effect.message in self._hub.state.problems:
            # Settings come layer by layer, and each time the hub tells all that is wrong.
            if effect.message in self._warned:
                return
            self._warned.add(effect.message)
        self.editor.tell(effect)

    # --- from the editor: commands -------------------------------------------------------

    def abandoned(self, ticket: Ticket) -> None:
        """Nobody waits for a command's answer any more."""
        self._emit(ev.CommandAbandoned(ticket))

    def command(self, ticket: Ticket, params: types.ExecuteCommandParams) -> None:
        """A command was given; it is answered later, under its ticket."""
        from acpls.lsp.arguments import WrongArguments, checked  # noqa: PLC0415 -- starts faster

        try:
            arguments = checked(params.command, params.arguments)
        except WrongArguments as wrong:
            self._protocol.fail(ticket, INVALID_PARAMS, str(wrong), data={"field": wrong.field})
            return
        if params.command == "acpls.session.get":
            # A snapshot holds nothing that is told again afterwards.
            self.views.flush_sessions()
        for holder in (arguments, *arguments.get("context", ())):
            if "uri" in holder:
                holder["uri"] = self._spelling.ours(holder["uri"])
        self._emit(ev.CommandGiven(params.command, arguments, ticket))

    # --- from the editor: its life and its settings ----------------------------------------

    def initialize(self, params: types.InitializeParams) -> None:
        """The editor says who it is and what it can do."""
        self._params = params
        self._hub.state.buffers.encoding = cast("Encoding", self._protocol.encoding)
        announced = _announced(params)
        self.editor.announced = announced or {}
        self.views.announced = announced
        self._emit(self._ready())

    def _ready(self) -> ev.EditorReady:
        state = self._hub.state
        known = quirks.quirks_of(self._params, state.settings.client)
        if known.reorders_changes != self.editor.quirks.reorders_changes:
            state.buffers.gaps = not known.reorders_changes
        self.editor.quirks = known
        announced = self.editor.announced
        window = self._params.capabilities.window
        return ev.EditorReady(
            _roots(self._params),
            sessions=bool(announced.get("sessions")),
            questions=bool(announced.get("questions")),
            reviews=bool(announced.get("reviews")),
            places=bool(announced.get("places")),
            focus=bool(announced.get("focus")),
            dialogs=window is not None and window.show_message is not None,
            gentle_dialogs=known.gentle_dialogs,
            terminals=bool(announced.get("terminals")),
            links=self.editor.shows_documents(),
            save=bool(announced.get("save")),
            deletes=self.editor.changes_files("delete"),
            renames=self.editor.changes_files("rename"),
            reloads=known.reloads,
            stale_edits=known.stale_edits,
        )

    def initialized(self, _: types.InitializedParams) -> None:
        """The editor is ready to be asked and told."""
        self._configuration.begin(self._params)

    def _settings_changed(self, layers: tuple[object, ...]) -> None:
        self._emit(ev.SettingsChanged(layers))
        state = self._hub.state
        strangers = quirks.unknown(state.settings.client)
        # What was put right and is wrong again is told again.
        self._warned &= {*state.problems, *strangers}
        for stranger in strangers:
            if stranger not in self._warned:
                self._warned.add(stranger)
                self.editor.log("warning", stranger)
        self._emit(self._ready())

    # --- from the editor: documents ----------------------------------------------------------

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """The editor opened a document."""
        document = params.text_document
        uri = self._spelling.opened(document.uri)
        self._emit(ev.BufferOpened(uri, document.version, document.text, document.language_id))
        self.views.document(uri, anew=True)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document changed."""
        document = params.text_document
        uri = self._spelling.ours(document.uri)
        changes = tuple(_change(change) for change in params.content_changes)
        self._emit(ev.BufferChanged(uri, document.version, changes))
        self.views.document(uri)

    def saved(self, params: types.DidSaveTextDocumentParams) -> None:
        """A document was saved."""
        self._emit(ev.BufferSaved(self._spelling.ours(params.text_document.uri)))

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """A document was closed."""
        uri = self._spelling.ours(params.text_document.uri)
        self._emit(ev.BufferClosed(uri))
        self.views.document(uri, anew=True)

    def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What the user can do at a place."""
        params.text_document.uri = self._spelling.ours(params.text_document.uri)
        return actions.offer(self._hub.state, params)

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What there is to know about a place."""
        params.text_document.uri = self._spelling.ours(params.text_document.uri)
        document = self._params.capabilities.text_document
        claimed = document.hover.content_format if document and document.hover else None
        markdown = claimed is None or types.MarkupKind.Markdown in claimed
        return hovers.hover(self._hub.state, params, markdown=markdown)

    def code_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        """What the user can do, above the lines that it is about."""
        return lenses(self._hub.state, self._spelling.ours(params.text_document.uri))

    # --- from the editor: progress, focus ----------------------------------------------------

    def progress_cancelled(self, params: types.WorkDoneProgressCancelParams) -> None:
        """A progress was cancelled: so is its turn, or the login that it waits for."""
        session = self.views.progress.turn_of(params.token)
        if session is not None:
            self._emit(ev.CommandGiven("acpls.session.cancel", {"session": session}))
        agent = self.views.progress.agent_of(params.token)
        if agent is not None:
            self._emit(ev.CommandGiven("acpls.agent.cancelLogin", {"agent": agent}))

    def focus_changed(self, params: Any) -> None:
        """The user looks at something else, or began or ceased to type."""
        from acpls.lsp.arguments import Focus, WrongArguments, fitting  # noqa: PLC0415 -- as above

        try:
            focus = fitting(Focus, params)
        except WrongArguments as wrong:
            _log.warning("acp/focus/changed: %s", wrong)
            return
        uri = focus.get("uri")
        ours = None if uri is None else self._spelling.ours(uri)
        self._emit(ev.FocusChanged(ours, focus["typing"]))

    def question_shown(self, params: Any) -> None:
        """A question is on the screen."""
        from acpls.lsp.arguments import Shown, WrongArguments, fitting  # noqa: PLC0415 -- as above

        try:
            question = fitting(Shown, params)["question"]
        except WrongArguments as wrong:
            _log.warning("acp/question/shown: %s", wrong)
            return
        self._emit(ev.QuestionShown(question))

    def configuration_changed(self, params: types.DidChangeConfigurationParams) -> None:
        """The editor's configuration changed."""
        self._configuration.told(params)


def _change(change: types.TextDocumentContentChangeEvent) -> ContentChange:
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return ContentChange(change.text)
    start, end = change.range.start, change.range.end
    return ContentChange(change.text, (start.line, start.character), (end.line, end.character))


def _announced(params: types.InitializeParams) -> dict[str, Any] | None:
    experimental = params.capabilities.experimental
    announced = experimental.get("acp") if isinstance(experimental, dict) else None
    return announced if isinstance(announced, dict) else None


def _roots(params: types.InitializeParams) -> tuple[str, ...]:
    """The workspace's folders; where the editor opened none, the folder it was started in."""
    folders = [uris.to_path(folder.uri) for folder in params.workspace_folders or ()]
    root = uris.to_path(params.root_uri) if params.root_uri else None
    paths = tuple(path for path in folders if path is not None)
    return paths or (root or params.root_path or os.getcwd(),)  # noqa: PTH109 -- a string is wanted
