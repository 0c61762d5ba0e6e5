"""What the fake editor does with the messages of the server, and what it remembers of them.

Invariant: each request of the server is answered at most once.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from acpls.testing import pages
from acpls.testing.applied import NotApplied, Plan, changes_files, outcome
from acpls.testing.desk import Desk
from acpls.testing.link import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from acpls.testing.frames import Json

_BEFORE_INITIALIZED = {
    "$/progress",
    "telemetry/event",
    "window/logMessage",
    "window/showMessage",
    "window/showMessageRequest",
}


@dataclass(frozen=True)
class Error:
    """An error as the answer to a request of the server."""

    code: int
    message: str
    data: Any = None


class Later:
    """An answer that comes later, with ``set``.

    ``cancelled``: the server has cancelled its request, which answers it with -32800 unless
    ``heeds_cancel`` is false, as it is in most dialogs of real editors.
    """

    def __init__(self, *, heeds_cancel: bool = True) -> None:
        self.heeds_cancel = heeds_cancel
        self.cancelled = False
        self._answer: list[Any] = []
        self._tell: Callable[[Any], None] | None = None

    def set(self, result: Any) -> None:
        """Gives the result or the ``Error``; the first one counts."""
        if not self._answer:
            self._answer.append(result)
            if self._tell is not None:
                self._tell(result)

    def bind(self, tell: Callable[[Any], None]) -> None:
        """Calls with the answer, now or when it is set."""
        self._tell = tell
        if self._answer:
            tell(self._answer[0])


@dataclass(eq=False)
class Message:
    """A notification or request of the server. ``taken``: the test has read it."""

    method: str
    params: Any
    number: int | str | None
    taken: bool = False
    answered: bool = False
    later: Later | None = None


class Replies(Desk):
    """Answers the server's requests and keeps what it tells.

    How ``workspace/applyEdit`` is taken: ``edits`` is ``"apply"``; ``"refuse"``; ``"lie"``
    (says that it was applied, and does nothing); ``"stale_error"`` (like ``"apply"``, but an
    edit for another version is answered with an error instead of a reason). ``delay``: an
    event that it waits for before each. ``before_edit``: called with the parameters right
    before one is checked, so that the user can type at the worst moment.
    ``reply_before_change``: the answer goes out before the ``didChange``, as in most editors.
    ``file_edits`` is the same for an edit that creates, renames or deletes files: ``"apply"``,
    ``"refuse"``, ``"lie"``, and ``"keep"`` (documents of deleted files stay open).
    ``unopened``: see ``Plan``.

    ``answer``: by method, what answers a request; it is called with the parameters and gives
    a result, an ``Error`` or a ``Later``. ``settings`` answer ``workspace/configuration``, by
    dotted section. ``confirms``: a question is said to be on the screen when it is asked.
    What is not claimed in ``capabilities`` is answered with -32601.

    What came: ``progress`` (values by token), ``log``, ``popups`` (parameters of
    ``window/showMessage``), ``shown`` (of ``window/showDocument``), ``registered``.
    """

    def __init__(
        self, root: Path, capabilities: Json, settings: Json, other_roots: Iterable[Path] = ()
    ) -> None:
        self._link = Link(self._take)
        super().__init__(self._link.notify)
        self.root = root
        self._roots = [root, *other_roots]
        self.capabilities = capabilities
        self.settings = settings
        self.server: Json = {}
        self.edits = "apply"
        self.file_edits = "apply"
        self.unopened = "hidden"
        self.delay: anyio.Event | None = None
        self.before_edit: Callable[[Json], None] | None = None
        self.reply_before_change = True
        self.confirms = True
        self.answer: dict[str, Callable[[Any], Any]] = self._answers()
        self.progress: dict[int | str, list[Any]] = {}
        self.log: list[str] = []
        self.popups: list[Json] = []
        self.shown: list[Json] = []
        self.registered: dict[str, Json] = {}
        self._diagnostics: dict[str, list[Json]] = {}
        self._messages: list[Message] = []
        self._news = anyio.Event()
        self._edit_box, self._edit_queue = anyio.create_memory_object_stream[Message](1000)

    def folders(self) -> list[Json]:
        """The workspace folders, as ``initialize`` has them."""
        return [{"uri": pages.to_uri(root), "name": root.name} for root in self._roots]

    # --- messages of the server ------------------------------------------------------

    def _take(self, raw: Json) -> None:
        message = Message(raw["method"], raw.get("params"), raw.get("id"))
        if not self.server and message.method not in _BEFORE_INITIALIZED:
            self._link.faults.append(f"{message.method} before the answer to initialize")
        if message.method.startswith("acp/") and not self._claims("experimental", "acp"):
            self._link.faults.append(f"{message.method}, which was not announced")
        if message.method == "$/cancelRequest":
            self._cancelled(message.params["id"])
            return
        self._messages.append(message)
        if message.number is None:
            self._noted(message.method, message.params)
        elif message.method == "workspace/applyEdit" and message.method not in self.answer:
            self._edit_box.send_nowait(message)
        else:
            with self._faults_of(message):
                self._serve(message)
        self._wake()

    def _noted(self, method: str, params: Any) -> None:
        if method == "textDocument/publishDiagnostics":
            self._diagnostics[params["uri"]] = params["diagnostics"]
        elif method == "$/progress":
            self.progress.setdefault(params["token"], []).append(params["value"])
        elif method == "window/logMessage":
            self.log.append(params["message"])
        elif method == "window/showMessage":
            self.popups.append(params)

    def _serve(self, message: Message) -> None:
        answer: Callable[[Any], Any] = self.answer.get(message.method, _unknown)
        result = answer(message.params)
        if message.method == "acp/question/ask" and self.confirms:
            shown = {"question": message.params["question"]}
            self._link.notify("acp/question/shown", shown)
        if isinstance(result, Later):
            message.later = result
            result.bind(lambda late: self._reply(message, late))
        else:
            self._reply(message, result)

    def _reply(self, message: Message, result: Any) -> None:
        if message.answered:
            return
        message.answered = True
        if isinstance(result, Error):
            error = {"code": result.code, "message": result.message}
            if result.data is not None:
                error["data"] = result.data
            self._link.put({"id": message.number, "error": error})
        else:
            self._link.put({"id": message.number, "result": result})

    def _cancelled(self, number: int | str) -> None:
        for message in self._messages:
            if message.number == number and message.later and not message.answered:
                message.later.cancelled = True
                if message.later.heeds_cancel:
                    self._reply(message, Error(-32800, "Request cancelled"))

    def _wake(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    @contextmanager
    def _faults_of(self, message: Message) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001  it must fail the test, not the reading
            self._link.faults.append(f"{message.method} could not be answered: {error!r}")
            self._reply(message, Error(-32603, "Internal error"))

    # --- default answers -------------------------------------------------------------

    def _answers(self) -> dict[str, Callable[[Any], Any]]:
        answers: dict[str, Callable[[Any], Any]] = {
            "client/registerCapability": self._register,
            "client/unregisterCapability": lambda _: None,
            "window/workDoneProgress/create": lambda _: None,
            "workspace/configuration": self._configure,
            "workspace/workspaceFolders": lambda _: self.folders(),
        }
        if self._claims("window", "showDocument"):
            answers["window/showDocument"] = self._show
        if self._claims("window", "showMessage"):
            answers["window/showMessageRequest"] = lambda _: None
        for name, method in (
            ("codeLens", "workspace/codeLens/refresh"),
            ("diagnostics", "workspace/diagnostic/refresh"),
            ("inlayHint", "workspace/inlayHint/refresh"),
            ("semanticTokens", "workspace/semanticTokens/refresh"),
        ):
            if self._claims("workspace", name, "refreshSupport"):
                answers[method] = lambda _: None
        if self._claims("experimental", "acp", "questions"):
            answers["acp/question/ask"] = lambda _: {"dismissed": True}
        if self._claims("experimental", "acp", "save"):
            answers["acp/document/save"] = lambda params: self.save_asked(params["uris"])
        return answers

    def _claims(self, *names: str) -> bool:
        value: Any = self.capabilities
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return bool(value)

    def _register(self, params: Json) -> None:
        self.registered |= {each["method"]: each for each in params["registrations"]}

    def _configure(self, params: Json) -> list[Any]:
        values = []
        for item in params["items"]:
            value: Any = self.settings
            for name in (item.get("section") or "").split("."):
                value = value.get(name) if name and isinstance(value, dict) else value
            values.append(value)
        return values

    def _show(self, params: Json) -> Json:
        self.shown.append(params)
        uri = params["uri"]
        if params.get("external") or (uri in self.pages and not self.pages[uri].hidden):
            return {"success": True}
        path = pages.to_path(uri)
        if path.is_file():
            self.open(path)
        return {"success": path.is_file()}

    # --- edits -----------------------------------------------------------------------

    async def _apply_edits(self) -> None:
        async for message in self._edit_queue:
            if self.delay is not None:
                await self.delay.wait()
            with self._faults_of(message):
                if self.before_edit is not None:
                    self.before_edit(message.params)
                self._apply(message)

    def _apply(self, message: Message) -> None:
        edit = message.params["edit"]
        way = self.file_edits if changes_files(edit) else self.edits
        if way in ("refuse", "lie"):
            self._reply(message, outcome(applied=way == "lie"))
            return
        known = self.capabilities.get("workspace", {}).get("workspaceEdit", {})
        operations = known.get("resourceOperations", [])
        plan = Plan(self, self.unopened, operations, keep_deleted=way == "keep")
        try:
            plan.add(edit)
        except NotApplied as refusal:
            if refusal.stale and self.edits == "stale_error":
                self._reply(message, Error(-32603, str(refusal)))
            else:
                self._reply(message, outcome(applied=False, reason=str(refusal)))
            return
        if self.reply_before_change:
            self._reply(message, outcome(applied=True))
            plan.take()
        else:
            plan.take()
            self._reply(message, outcome(applied=True))


def _unknown(_params: Any) -> Error:
    return Error(-32601, "Method not found")
