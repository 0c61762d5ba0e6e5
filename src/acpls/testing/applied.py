"""How the fake editor takes ``workspace/applyEdit``: whole or not at all, checked first."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from acpls.testing import pages
from acpls.testing.pages import BadPosition

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acpls.testing.desk import Desk
    from acpls.testing.frames import Json

Step: TypeAlias = "Callable[[], None]"


class NotApplied(Exception):  # noqa: N818  an answer, not a failure of the editor
    """The edit cannot be applied; ``stale``: it is for another version of the document."""

    def __init__(self, reason: str, *, stale: bool = False) -> None:
        super().__init__(reason)
        self.stale = stale


class Plan:
    """The steps of one workspace edit, found before any of them is taken.

    ``unopened``: what happens to a file that is not open: ``"hidden"`` opens it where the
    user does not see it, ``"disk"`` writes the file, ``"refuse"`` applies nothing.
    ``operations``: the file operations that the editor knows. ``keep_deleted``: the document
    of a file that it deletes stays open.
    """

    def __init__(
        self, desk: Desk, unopened: str, operations: list[str], *, keep_deleted: bool = False
    ) -> None:
        self._desk = desk
        self._unopened = unopened
        self._operations = operations
        self._keep_deleted = keep_deleted
        self._steps: list[Step] = []
        self._texts: dict[str, str | None] = {}

    def take(self) -> None:
        """Takes all steps."""
        for step in self._steps:
            step()

    def add(self, edit: Json) -> None:
        """Plans a ``WorkspaceEdit``. Raises ``NotApplied``."""
        listed: list[Json] = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in (edit.get("changes") or {}).items()
        ]
        for change in listed:
            if "kind" not in change:
                self._edit(change)
            elif change["kind"] in self._operations:
                getattr(self, f"_{change['kind']}")(change, change.get("options") or {})
            else:
                raise NotApplied(f"this editor does not {change['kind']} files")

    def _edit(self, change: Json) -> None:
        uri, version = change["textDocument"]["uri"], change["textDocument"].get("version")
        page = self._desk.pages.get(uri)
        current = page.version if page else None
        if version is not None and version != current:
            raise NotApplied(f"{uri} is at version {current}, not {version}", stale=True)
        text = self._text(uri)
        if text is None:
            raise NotApplied(f"there is no {uri}")
        if page is None and self._unopened == "refuse":
            raise NotApplied(f"{uri} is not open")
        try:
            cuts = pages.cuts(text, change["edits"], self._desk.encoding)
        except BadPosition as bad:
            raise NotApplied(str(bad)) from None
        self._texts[uri] = pages.cut_out(text, cuts)
        self._steps.append(partial(self._change, uri, cuts))

    def _change(self, uri: str, cuts: list[pages.Cut]) -> None:
        if uri not in self._desk.pages:
            path = pages.to_path(uri)
            if self._unopened == "disk":
                path.write_bytes(pages.cut_out(pages.read(path), cuts).encode())
                return
            self._desk.open(path, hidden=True)
        if cuts:
            self._desk.change(uri, cuts)

    def _create(self, change: Json, options: Json) -> None:
        uri = change["uri"]
        if self._text(uri) is not None and not options.get("overwrite"):
            if options.get("ignoreIfExists"):
                return
            raise NotApplied(f"{uri} exists already")
        self._texts[uri] = ""
        self._steps.append(partial(_write, pages.to_path(uri), b""))

    def _rename(self, change: Json, options: Json) -> None:
        old, new = change["oldUri"], change["newUri"]
        text = self._text(old)
        if text is None:
            raise NotApplied(f"there is no {old}")
        if self._text(new) is not None and not options.get("overwrite"):
            if options.get("ignoreIfExists"):
                return
            raise NotApplied(f"{new} exists already")
        self._texts |= {old: None, new: text}
        self._steps.append(partial(self._move, old, new))

    def _move(self, old: str, new: str) -> None:
        page = self._desk.pages.get(old)
        target = pages.to_path(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        pages.to_path(old).replace(target)
        if page is not None:
            self._desk.close(old)
            self._desk.open_text(new, page.text, page.language)
            self._desk.pages[new].saved = page.saved

    def _delete(self, change: Json, options: Json) -> None:
        uri = change["uri"]
        path = pages.to_path(uri)
        if not path.exists():
            if options.get("ignoreIfNotExists"):
                return
            raise NotApplied(f"there is no {uri}")
        if path.is_dir() and not options.get("recursive"):
            raise NotApplied(f"{uri} is a folder")
        self._texts[uri] = None
        self._steps.append(partial(self._remove, uri))

    def _remove(self, uri: str) -> None:
        path = pages.to_path(uri)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        if uri in self._desk.pages and not self._keep_deleted:
            self._desk.close(uri)

    def _text(self, uri: str) -> str | None:
        """The text as it will be after the steps so far; ``None``: no such document."""
        if uri in self._texts:
            return self._texts[uri]
        if uri in self._desk.pages:
            return self._desk.pages[uri].text
        if not uri.startswith("file:"):
            return None
        path = pages.to_path(uri)
        # Any file can be renamed, also one that is no text.
        return path.read_bytes().decode(errors="surrogateescape") if path.is_file() else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def changes_files(edit: Json) -> bool:
    """Whether a ``WorkspaceEdit`` creates, renames or deletes files."""
    return any("kind" in change for change in edit.get("documentChanges") or [])


def outcome(*, applied: bool, reason: str | None = None) -> dict[str, Any]:
    """The result of ``workspace/applyEdit``."""
    return {"applied": applied} if reason is None else {"applied": applied, "failureReason": reason}
