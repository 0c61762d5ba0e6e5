"""The user's hands on the fake editor: opening, typing, saving, closing.

Invariant: what the server is told of a document is what the editor did to it, in order,
unless ``reorder`` or ``hold_changes`` say otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing import pages
from acpls.testing.pages import Cut, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acpls.testing.frames import Json

_LANGUAGES = {".py": "python", ".md": "markdown", ".txt": "plaintext", ".toml": "toml"}


class Desk:
    """Buffers, and the document sync that goes with them.

    ``encoding`` and ``sync`` (0 none, 1 full, 2 incremental) are as negotiated. ``saves`` says
    how the server's wish to save (``acp/document/save``) is taken: ``"save"``; ``"careful"``
    (as ``"save"``, but not over a file that holds something else than the editor last saw
    there); ``"refuse"``; ``"lie"`` (says that it saved, and does nothing).
    """

    def __init__(self, send: Callable[[str, Any], None]) -> None:
        self.encoding = "utf-16"
        self.sync = 2
        self.save_text = False
        self.saves = "save"
        self.pages: dict[str, Page] = {}
        self._send = send
        self._held: list[Json] | None = None
        self._reorder = 0

    def open(self, path: str | Path, *, hidden: bool = False) -> str:
        """Opens a file and gives its URI. ``hidden``: the user does not see it."""
        whole = Path(path)
        known = self.pages.get(pages.to_uri(whole))
        if known is not None and known.hidden:
            known.hidden = hidden
            return known.uri
        text = pages.read(whole)
        language = _LANGUAGES.get(whole.suffix, "plaintext")
        return self._open(Page(pages.to_uri(whole), language, text, saved=text, hidden=hidden))

    def open_text(self, uri: str, text: str, language: str = "plaintext") -> str:
        """Opens a document that is on no disk, or with other text than the disk's."""
        return self._open(Page(uri, language, text))

    def type(self, uri: str, offset: int, text: str) -> None:
        """Inserts text at an offset, in characters."""
        self.replace(uri, offset, offset, text)

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """Puts text in the place of the characters from ``start`` to ``end``."""
        self.change(uri, [Cut(start, end, text)])

    def change(self, uri: str, cuts: Sequence[Cut]) -> None:
        """Makes several changes, which are in order, as one version."""
        page = self.pages[uri]
        changes = pages.changes(page.text, list(cuts), self.encoding)
        page.text = pages.cut_out(page.text, list(cuts))
        page.version += 1
        if self.sync == 0:
            return
        params = {
            "textDocument": {"uri": uri, "version": page.version},
            "contentChanges": changes if self.sync == 2 else [{"text": page.text}],
        }
        if self._held is None:
            self._send("textDocument/didChange", params)
            return
        self._held.append(params)
        if len(self._held) == self._reorder:
            self._held.reverse()
            self.release_changes()

    def save(self, uri: str) -> None:
        """Writes the buffer to the disk and tells the server."""
        page = self.pages[uri]
        path = pages.to_path(uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page.text.encode())
        page.saved = page.text
        self.release_changes()
        params: Json = {"textDocument": {"uri": uri}}
        if self.save_text:
            params["text"] = page.text
        self._send("textDocument/didSave", params)

    def save_asked(self, uris: Sequence[str]) -> Json:
        """Saves what the server asks for, and gives the answer to ``acp/document/save``."""
        saved, failed = [], []
        for uri in uris:
            if reason := self._why_not_saved(uri):
                failed.append({"uri": uri, "reason": reason})
                continue
            if self.saves != "lie":
                self.save(uri)
            saved.append(uri)
        return {"saved": saved, "failed": failed}

    def _why_not_saved(self, uri: str) -> str | None:
        page = self.pages.get(uri)
        if page is None:
            return "not open"
        if self.saves == "refuse":
            return "read-only"
        if self.saves == "careful":
            path = pages.to_path(uri)
            held = pages.read(path) if path.is_file() else None
            return None if held == page.saved else "the file has changed on disk"
        return None

    def reload(self, uri: str) -> None:
        """Takes the disk's text into the buffer, as after a change from outside."""
        page = self.pages[uri]
        text = pages.read(pages.to_path(uri))
        if text != page.text:
            self.change(uri, [Cut(0, len(page.text), text)])
        page.saved = text

    def close(self, uri: str) -> None:
        """Closes the document; unsaved changes are lost."""
        del self.pages[uri]
        self.release_changes()
        self._send("textDocument/didClose", {"textDocument": {"uri": uri}})

    def text(self, uri: str) -> str:
        """The text of the buffer."""
        return self.pages[uri].text

    def version(self, uri: str) -> int:
        """The version of the buffer, which begins with 1."""
        return self.pages[uri].version

    def modified(self, uri: str) -> bool:
        """The buffer has unsaved changes."""
        return self.pages[uri].modified

    def reorder(self, count: int) -> None:
        """Keeps back the next ``count`` changes, then sends them in the wrong order."""
        self._held, self._reorder = [], count

    def hold_changes(self) -> None:
        """Keeps changes back till ``release_changes``; saving and closing release too."""
        self._held, self._reorder = [], 0

    def release_changes(self) -> None:
        """Sends the changes that were kept back, and keeps none back any more."""
        held, self._held = self._held or [], None
        for params in held:
            self._send("textDocument/didChange", params)

    def _open(self, page: Page) -> str:
        if page.uri in self.pages:
            raise ValueError(f"already open: {page.uri}")
        page.version = 1
        self.pages[page.uri] = page
        item = {
            "uri": page.uri,
            "languageId": page.language,
            "version": page.version,
            "text": page.text,
        }
        self._send("textDocument/didOpen", {"textDocument": item})
        return page.uri
