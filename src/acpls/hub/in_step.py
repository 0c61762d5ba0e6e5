"""Open documents without unsaved changes follow their files.

Editors that reload such a document by themselves get a moment to do so. A document with
unsaved changes is never touched here, and whether it has any is decided by its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import After, ReadFile
from acpls.hub import editing
from acpls.hub.tokens import InStep, Opened
from acpls.text import uris
from acpls.text.diff import edits_between

if TYPE_CHECKING:
    from acpls.events import Disk
    from acpls.hub.state import Effects, State

DELAY_S = 0.3
TRIES = 3


def opened(state: State, uri: str, text: str) -> Effects:
    """The editor opened a document, perhaps with changes that were never saved."""
    path = uris.to_path(uri)
    if path is not None:
        yield ReadFile(Opened(uri, text), path, state.all_roots())


def opened_read(state: State, token: Opened, disk: Disk) -> Effects:
    """The file of a document that was opened is known."""
    buffer = state.buffers.get(token.uri)
    reviewed = state.ledger.files.get(disk.path)
    if reviewed is not None and reviewed.written and reviewed.target == token.text:
        # It was opened with what an agent had written; the file has gone on since.
        return iter(())
    if buffer is not None and buffer.saved_text == token.text and disk.problem is None:
        buffer.saved_text = disk.text or ""
    return iter(())


def bring(state: State, path: str, tries: int = 0) -> Effects:
    """Give the editor a moment to reload a clean document, then see whether it did."""
    reviewed = state.ledger.files.get(path)
    buffer = state.buffer_at(path)
    if reviewed is None or not reviewed.written or buffer is None:
        return
    if path in state.stepping or tries >= TRIES or buffer.dirty:
        return
    if buffer.text != reviewed.target:
        state.stepping.add(path)
        yield After(DELAY_S, InStep(path, tries))


def due(state: State, token: InStep) -> Effects:
    """The moment has passed: read the file again and compare."""
    yield ReadFile(token, token.path, state.all_roots())


def read(state: State, token: InStep, disk: Disk) -> Effects:
    """Edit the clean document so that it holds what the file holds."""
    buffer = state.buffer_at(token.path)
    if buffer is None or disk.text is None or buffer.dirty or buffer.text == disk.text:
        state.stepping.discard(token.path)
        return
    if token.path in state.verdicts or editing.under_way(state, buffer.uri):
        yield After(DELAY_S, token)
        return
    state.stepping.discard(token.path)
    yield editing.ask(state, token, buffer, edits_between(buffer.text, disk.text))


def came_to_nothing(state: State, token: InStep, *_: object, **__: object) -> Effects:
    """The editor did not make the edit; it may a little later."""
    yield from bring(state, token.path, token.tries + 1)
