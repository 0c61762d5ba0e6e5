"""The editor's documents open, change, are saved and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import After, ShowReview
from acpls.hub import conversing, editing, in_step, verdicts
from acpls.hub.tokens import HeldChanges, InStep
from acpls.text import uris

if TYPE_CHECKING:
    from acpls.events import BufferChanged, BufferClosed, BufferOpened, BufferSaved
    from acpls.hub.state import Effects, State

HELD_S = 0.05


def opened(state: State, event: BufferOpened) -> Effects:
    """The editor owns a document now."""
    _forget(state, event.uri)
    state.buffers.open(event.uri, event.version, event.text, event.language)
    yield from in_step.opened(state, event.uri, event.text)
    yield from _moved(state, event.uri)


def changed(state: State, event: BufferChanged) -> Effects:
    """A document changed; what came before its turn is held for a moment."""
    if state.buffers.change(event.uri, event.version, event.changes) == "held":
        yield After(HELD_S, HeldChanges(event.uri))
    yield from _changed(state, event.uri)


def release(state: State, token: HeldChanges) -> Effects:
    """What was missing has not come: take in what is held."""
    if state.buffers.release(token.uri):
        yield from _changed(state, token.uri)


def saved(state: State, event: BufferSaved) -> Effects:
    """The editor wrote a document to its file."""
    state.buffers.save(event.uri)
    state.disk.pop(event.uri, None)
    state.origins.pop(event.uri, None)
    path = uris.to_path(event.uri)
    if path is not None:
        state.unsaved.pop(path, None)
        state.saved_over.add(path)
    yield from _moved(state, event.uri)


def closed(state: State, event: BufferClosed) -> Effects:
    """The editor no longer owns a document: its file counts again."""
    _forget(state, event.uri)
    state.buffers.close(event.uri)
    yield from _moved(state, event.uri)


def _forget(state: State, uri: str) -> None:
    editing.closed(state, uri)
    state.disk.pop(uri, None)
    state.origins.pop(uri, None)


def _changed(state: State, uri: str) -> Effects:
    buffer = state.buffers.get(uri)
    if buffer is None:
        return
    reviewed = state.ledger.files.get(uris.to_path(uri) or "")
    reloaded = reviewed is not None and reviewed.target == buffer.text
    own = editing.seen(state, buffer)
    if own is None and not reloaded:
        state.follow.typed_at_s = state.now_s
    if own is not None and isinstance(own.token, InStep):
        buffer.saved_text = buffer.text
    if uri in state.disk:
        state.buffers.in_step(uri, state.disk[uri])
    yield from _moved(state, uri, own)


def _moved(state: State, uri: str, own: editing.OwnEdit | None = None) -> Effects:
    """Whoever waits for something of a document looks at it again."""
    yield from conversing.buffer_changed(state, uri, own)
    path = uris.to_path(uri)
    if path is not None:
        yield from verdicts.buffer_changed(state, path, own)
        if path in state.ledger.files:
            yield ShowReview(path)
