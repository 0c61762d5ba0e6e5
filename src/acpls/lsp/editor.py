"""What we ask of the editor: to edit, save and show documents, to put a question.

Each request has a time limit, and whatever comes of it is an event. ``applied`` in an
answer is passed on as what it is, the editor's word.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from anyio import CancelScope
from lsprotocol import types

from acpls.events import (
    CommandGiven,
    DocumentSaved,
    EditApplied,
    EditRefused,
    ProgramRan,
    QuestionPut,
)
from acpls.hub import question_shapes, shapes, telling
from acpls.lsp.answers import OPTIONS_LIMIT, SHOW_REQUEST
from acpls.lsp.asking import EditorError, NoAnswer
from acpls.lsp.quirks import Quirks
from acpls.lsp.wording import TITLE_LIMIT, distinct, short
from acpls.permissions import SCOPES
from acpls.text.lines import LineIndex
from acpls.text.visible import middle

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls import effects as ef
    from acpls.events import Event
    from acpls.hub import Hub
    from acpls.lsp.protocol import EditorProtocol
    from acpls.lsp.spelling import Spelling
    from acpls.questions import Question

EDIT_LIMIT_S = 10.0
# Formatters run before a document is saved.
SAVE_LIMIT_S = 15.0
SHOW_LIMIT_S = 10.0
# People think as long as they like; an end all the same, so that nothing is for ever.
QUESTION_LIMIT_S = 7 * 24 * 3600.0

_BUG: Final = "a mistake in acpls; its log says more"
_LEVELS: Final = {
    "error": types.MessageType.Error,
    "warning": types.MessageType.Warning,
    "info": types.MessageType.Info,
}

_log = logging.getLogger("acpls.lsp")


class Editor:
    """The editor, as something that can be asked."""

    def __init__(
        self,
        tasks: TaskGroup,
        protocol: EditorProtocol,
        hub: Hub,
        spelling: Spelling,
        emit: Callable[[Event], None],
    ) -> None:
        """``emit`` takes the events; it is called in the loop's thread."""
        self.quirks = Quirks()
        self.announced: dict[str, Any] = {}
        self._tasks = tasks
        self._protocol = protocol
        self._hub = hub
        self._spelling = spelling
        self._emit = emit
        # The questions that are on the screen, by key, and whether as a dialog besides.
        self._shown: dict[tuple[str, bool], CancelScope] = {}

    # --- edits -------------------------------------------------------------------------

    def edit(self, effect: ef.EditBuffer) -> None:
        """Edit an open document."""
        self._tasks.start_soon(self._edit, effect.number, partial(self._workspace_edit, effect))

    async def _edit(self, number: int, workspace_edit: Callable[[], dict[str, Any]]) -> None:
        refused: str | None = _BUG
        try:
            refused = await self._refused(workspace_edit)
        except Exception:  # noqa: BLE001 -- each edit has an outcome, whatever happens
            _log.exception("a bug while editing a document")
        self._emit(EditApplied(number) if refused is None else EditRefused(number, refused))

    async def _refused(self, workspace_edit: Callable[[], dict[str, Any]]) -> str | None:
        """Ask for the edit; why it was not made, or ``None``."""
        workspace = self._protocol.client_capabilities.workspace
        # Some that say nothing of edits do take them; those that say no never answer.
        if workspace is not None and workspace.apply_edit is False:
            return "this editor takes no edits"
        params = {"edit": workspace_edit()}
        try:
            answer = await self._protocol.ask(types.WORKSPACE_APPLY_EDIT, params, EDIT_LIMIT_S)
        except NoAnswer:
            return "it did not answer in time"
        except EditorError as error:
            return error.message
        return None if answer.applied else answer.failure_reason or "it gave no reason"

    def _workspace_edit(self, effect: ef.EditBuffer) -> dict[str, Any]:
        index = LineIndex(effect.text)
        uri = self._spelling.theirs(effect.uri)
        edits = [
            {
                "range": {
                    "start": self._position(index, edit.start),
                    "end": self._position(index, edit.end),
                },
                "newText": edit.text,
            }
            for edit in effect.edits
        ]
        if effect.versioned and self._takes_versions():
            version = max(effect.version, 1) if self.quirks.versions else effect.version
            document = {"uri": uri, "version": version}
            return {"documentChanges": [{"textDocument": document, "edits": edits}]}
        return {"changes": {uri: edits}}

    def _position(self, index: LineIndex, offset: int) -> dict[str, int]:
        line, character = index.position(offset, self._hub.state.buffers.encoding)
        return {"line": line, "character": character}

    def _takes_versions(self) -> bool:
        claimed = self._claimed_of_edits()
        return self.quirks.versions or bool(claimed is not None and claimed.document_changes)

    def _claimed_of_edits(self) -> types.WorkspaceEditClientCapabilities | None:
        workspace = self._protocol.client_capabilities.workspace
        return workspace.workspace_edit if workspace is not None else None

    # --- files -------------------------------------------------------------------------

    def change_file(self, effect: ef.ChangeFile) -> None:
        """Delete or rename a file, where the editor is known to do it well."""
        self._tasks.start_soon(self._change_file, effect)

    def changes_files(self, kind: Literal["delete", "rename"]) -> bool:
        """Whether the editor deletes or renames files, and their documents with them."""
        claimed = self._claimed_of_edits()
        known = self.quirks.deletes if kind == "delete" else self.quirks.renames
        kinds = claimed.resource_operations if claimed is not None else None
        return known and kind in (kinds or ())

    async def _change_file(self, effect: ef.ChangeFile) -> None:
        kind: Literal["delete", "rename"] = "delete" if effect.new_uri is None else "rename"
        if self.changes_files(kind):
            await self._edit(effect.number, partial(self._file_operation, effect))
        else:
            reason = f"this editor is not asked to {kind} files"
            self._emit(EditRefused(effect.number, reason))

    def _file_operation(self, effect: ef.ChangeFile) -> dict[str, Any]:
        uri = self._spelling.theirs(effect.uri)
        operation = {"kind": "delete", "uri": uri}
        if effect.new_uri is not None:
            new_uri = self._spelling.theirs(effect.new_uri)
            operation = {"kind": "rename", "oldUri": uri, "newUri": new_uri}
        # Alone: editors differ in what remains of a request whose second half fails.
        return {"documentChanges": [operation]}

    # --- saving ------------------------------------------------------------------------

    def save(self, effect: ef.SaveDocument) -> None:
        """Save an open document, where the editor announced that it can."""
        self._tasks.start_soon(self._save, effect)

    async def _save(self, effect: ef.SaveDocument) -> None:
        problem: str | None = _BUG
        try:
            problem = await self._unsaved(effect.uri)
        except Exception:  # noqa: BLE001 -- somebody waits for the outcome, whatever happens
            _log.exception("a bug while saving a document")
        self._emit(DocumentSaved(effect.token, effect.uri, problem))

    async def _unsaved(self, uri: str) -> str | None:
        """Ask for the document to be saved; why it was not, or ``None``."""
        if not self.announced.get("save"):
            return "this editor cannot be asked to save"
        params = {"uris": [self._spelling.theirs(uri)]}
        try:
            answer = await self._protocol.ask("acp/document/save", params, SAVE_LIMIT_S)
        except NoAnswer:
            return "it did not answer in time"
        except EditorError as error:
            return error.message
        told = answer if isinstance(answer, dict) else {}
        failed, saved = (_entries(told.get(key)) for key in ("failed", "saved"))
        for entry in failed:
            if isinstance(entry, dict) and self._spells(entry.get("uri"), uri):
                reason = entry.get("reason")
                return reason if isinstance(reason, str) and reason else "it gave no reason"
        if any(self._spells(entry, uri) for entry in saved):
            return None
        return "it did not say whether it saved the document"

    def _spells(self, theirs: object, uri: str) -> bool:
        return isinstance(theirs, str) and self._spelling.ours(theirs) == uri

    # --- documents, messages -------------------------------------------------------------

    def show_document(self, effect: ef.ShowDocument) -> None:
        """Show a document, where the editor can."""
        uri = self._spelling.theirs(effect.uri)
        if not self.shows_documents():
            # Following an agent through its files is no reason to fill the log.
            if effect.take_focus:
                self.log("info", f"This editor cannot be told to open {uri}")
            return
        params: dict[str, Any] = {"uri": uri, "takeFocus": effect.take_focus}
        if effect.line is not None:
            end = effect.line if effect.end is None else effect.end
            params["selection"] = shapes.lines(effect.line, end)
        self._tasks.start_soon(self._show_document, params)

    def shows_documents(self) -> bool:
        """Whether the editor can be told to open something."""
        if self.quirks.show_document is not None:
            return self.quirks.show_document
        window = self._protocol.client_capabilities.window
        claimed = window.show_document if window is not None else None
        return bool(claimed is not None and claimed.support)

    async def _show_document(self, params: dict[str, Any]) -> None:
        try:
            answer = await self._protocol.ask(types.WINDOW_SHOW_DOCUMENT, params, SHOW_LIMIT_S)
        except (NoAnswer, EditorError) as problem:
            self.log("info", f"The editor did not open {params['uri']}: {problem}")
        else:
            if not answer.success:
                self.log("info", f"The editor could not open {params['uri']}")

    def open_link(self, url: str) -> None:
        """Open a page in the user's browser."""
        self._tasks.start_soon(self._show_document, {"uri": url, "external": True})

    def run(self, effect: ef.RunProgram) -> None:
        """Let the editor run a program in a terminal of its own."""
        self._tasks.start_soon(self._run, effect)

    async def _run(self, effect: ef.RunProgram) -> None:
        params = shapes.lean(
            title=effect.title,
            command=effect.argv[0],
            args=list(effect.argv[1:]),
            env=dict(effect.env),
            cwd=effect.cwd,
        )
        code = None
        try:
            answer = await self._protocol.ask("acp/terminal/run", params, QUESTION_LIMIT_S)
            code = answer.get("exitCode") if isinstance(answer, dict) else None
        except (NoAnswer, EditorError) as problem:
            self.log("warning", f"The editor did not run {effect.argv[0]}: {problem}")
        self._emit(ProgramRan(effect.token, code if type(code) is int else None))

    def tell(self, effect: ef.TellUser) -> None:
        """Tell the user: an error as a message of one short line, everything in the log."""
        self.log(effect.level, effect.message)
        if effect.detail:
            self.log(effect.level, effect.detail)
        if effect.level == "error":
            # Anything but an error blocks one editor until a key is pressed.
            message = short(effect.message, self.quirks.message_limit)
            params = {"type": _LEVELS["error"].value, "message": message}
            self._protocol.notify(types.WINDOW_SHOW_MESSAGE, params)

    def log(self, level: str, text: str) -> None:
        """Write to the editor's log of this server; ``level``: error, warning, info."""
        params = {"type": _LEVELS[level].value, "message": text}
        self._protocol.notify(types.WINDOW_LOG_MESSAGE, params)

    # --- questions -----------------------------------------------------------------------

    def put(self, effect: ef.PutQuestion) -> None:
        """Put a question: by our own request where the editor knows it, else as a dialog."""
        question = self._hub.state.questions.all[effect.question]
        scope = self._shown[question.key, effect.dialog] = CancelScope()
        self._tasks.start_soon(partial(self._put, question, scope, dialog=effect.dialog))

    async def _put(self, question: Question, scope: CancelScope, *, dialog: bool) -> None:
        if (question.key, dialog) not in self._shown:
            # It was settled before its turn came.
            return
        ask = self._dialog
        if not dialog and self.announced.get("questions"):
            ask = self._ask
        if not dialog and self.announced.get("forms") and question.kind in {"form", "link"}:
            ask = self._ask_form
        put = QuestionPut(question.key, None, seen=False)
        with scope:
            try:
                put = await ask(question)
            except (NoAnswer, EditorError) as problem:
                _log.debug("question %s was not answered: %s", question.key, problem)
            except Exception:  # noqa: BLE001 -- the others still have to be put
                _log.exception("a bug while putting a question")
        if self._shown.pop((question.key, dialog), None) is not None:
            self._emit(replace(put, dialog=dialog))

    async def _ask_form(self, question: Question) -> QuestionPut:
        form = question.form
        params = shapes.lean(
            question=question.key,
            session=question.session or None,
            subagent=question.subagent,
            agent=question.agent,
            source=telling.source(self._hub.state, question),
            message=question.title if form is None else form.message,
            mode="url" if form is None else "form",
            schema=None if form is None else form.schema,
            secrets=form and [field.name for field in form.secrets],
            url=question.url,
        )
        answer = await self._protocol.ask("acp/form/ask", params, QUESTION_LIMIT_S)
        given = answer if isinstance(answer, dict) else {}
        action, content = given.get("action"), given.get("content")
        return QuestionPut(question.key, None, action=action, content=content)

    async def _ask(self, question: Question) -> QuestionPut:
        shape = question_shapes.question(self._hub.state, question)
        answer = await self._protocol.ask("acp/question/ask", shape, QUESTION_LIMIT_S)
        told = answer if isinstance(answer, dict) else {}
        option, kept = told.get("option"), told.get("scope")
        return QuestionPut(
            question.key,
            option if isinstance(option, str) else None,
            scope=kept if kept in SCOPES else None,
        )

    async def _dialog(self, question: Question) -> QuestionPut:
        # Some editors preselect the first answer, so that one decides nothing.
        told = telling.told(self._hub.state, question)
        neutral = SHOW_REQUEST if question.session else "Later"
        shown = told.options[:OPTIONS_LIMIT]
        titles = distinct([neutral, *(middle(name, TITLE_LIMIT) for _, name in shown)])
        params = {
            "type": types.MessageType.Info.value,
            "message": told.brief(),
            "actions": [{"title": title} for title in titles],
        }
        answer = await self._protocol.ask(
            types.WINDOW_SHOW_MESSAGE_REQUEST, params, QUESTION_LIMIT_S
        )
        if answer is None:
            return QuestionPut(question.key, None)
        if question.session and answer.title == SHOW_REQUEST:
            self._emit(CommandGiven("acpls.question.show", {"question": question.key}))
        options = (option for option, _ in shown)
        chosen = dict(zip(titles[1:], options, strict=True)).get(answer.title)
        return QuestionPut(question.key, chosen)

    def settled(self, effect: ef.QuestionSettled) -> None:
        """Take a question away from wherever it is shown."""
        for dialog in (False, True):
            scope = self._shown.pop((effect.question, dialog), None)
            if scope is not None:
                scope.cancel()
        if self.announced.get("questions"):
            params = shapes.lean(question=effect.question, by=effect.by, option=effect.option)
            self._protocol.notify("acp/question/settled", params)


def _entries(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
