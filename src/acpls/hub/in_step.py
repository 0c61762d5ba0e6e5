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
from acpls.text.diff import Edit, edits_between
from acpls.text.shared import same_ends
from acpls.text.size import reason_not_shown

if TYPE_CHECKING:
    from acpls.events import FileRead
    from acpls.hub.state import Effects, State
    from acpls.text.buffers import Buffer

DELAY_S = 0.3
# By then an editor that reloads has done so.
RELOAD_S = 1.0
TRIES = 3


def opened(state: State, uri: str, text: str) -> Effects:
    """The editor opened a document, perhaps with changes that were never saved."""
    path = uris.to_path(uri)
    if path is not None:
        yield ReadFile(Opened(uri, text), path, state.all_roots())


def opened_read(state: State, token: Opened, event: FileRead) -> Effects:
    """The file of a document that was opened is known."""
    disk, buffer = event.disk, state.buffers.get(token.uri)
    state.paths.opened(uris.to_path(token.uri) or disk.path, disk)
    if buffer is None or buffer.saved_text != token.text or disk.problem is not None:
        return iter(())
    earlier = event.earlier.disk
    change = state.ledger.files.get(disk.place)
    known = change is not None and change.hunks_in(token.text) is not None
    run = next(iter(state.verdicts.get(disk.place, ())), None)
    if run is not None and run.disk is not None:
        known = known or run.disk.text == token.text
    if disk.text != token.text and (known or (earlier is not None and earlier.text == token.text)):
        # It was opened with what the file held before; the file has gone on since.
        return bring(state, disk.place)
    buffer.saved_text = disk.text or ""
    return iter(())


def bring(state: State, place: str, tries: int = 0) -> Effects:
    """Give the editor a moment to reload a clean document, then see whether it did."""
    buffer = state.buffer_at(place)
    if buffer is None or place in state.stepping or tries >= TRIES or buffer.dirty:
        return
    wanted = _wanted(state, place, buffer)
    if wanted is not None and buffer.text != wanted and state.editor.stale_edits:
        state.stepping.add(place)
        yield After(RELOAD_S if state.editor.reloads else DELAY_S, InStep(place, tries))


def _wanted(state: State, place: str, buffer: Buffer) -> str | None:
    """What agents made of a file; ``None``: nothing that is known."""
    change = state.ledger.files.get(place)
    if change is not None and change.target.opaque is None:
        return change.target.text
    if change is not None:
        # A text that is too large to be shown line by line is followed all the same.
        return state.disk.get(buffer.uri)
    # It is not under review, or not any more.
    by_agent = any(path == place for _, path in state.changed_by)
    return state.disk.get(buffer.uri) if by_agent else None


def follow(state: State, place: str) -> Effects:
    """A file was written by us as a whole: its clean document is to hold the same."""
    buffer = state.buffer_at(place)
    if buffer is None or place in state.stepping or buffer.dirty:
        return
    if state.disk.get(buffer.uri, buffer.text) != buffer.text and state.editor.stale_edits:
        state.stepping.add(place)
        yield After(RELOAD_S if state.editor.reloads else DELAY_S, InStep(place))


def due(state: State, token: InStep) -> Effects:
    """The moment has passed: read the file again and compare."""
    yield ReadFile(token, token.path, state.all_roots())


def read(state: State, token: InStep, event: FileRead) -> Effects:
    """Edit the clean document so that it holds what the file holds."""
    buffer, text = state.buffer_at(token.path), event.disk.text
    if buffer is None or text is None or buffer.dirty or buffer.text == text:
        state.stepping.discard(token.path)
        return
    is_busy = token.path in state.verdicts or token.path in state.unsure
    if is_busy or editing.under_way(state, buffer.uri):
        yield After(DELAY_S, token)
        return
    state.stepping.discard(token.path)
    yield editing.ask(state, token, buffer, _edits(buffer.text, text))


def _edits(old: str, new: str) -> tuple[Edit, ...]:
    """The edits between two texts; one around all that differs where these are too large to
    be compared while everything else waits.
    """
    if reason_not_shown(old) is None and reason_not_shown(new) is None:
        return edits_between(old, new)
    head, tail = same_ends(old, new)
    return (Edit(head, len(old) - tail, new[head : len(new) - tail]),)


def came_to_nothing(state: State, token: InStep, *_: object, **__: object) -> Effects:
    """The editor did not make the edit; it may a little later."""
    yield from bring(state, token.path, token.tries + 1)
