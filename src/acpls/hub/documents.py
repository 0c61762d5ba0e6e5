"""The editor's documents open, change, are saved and closed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acpls.effects import After, ReadFile, ShowReview
from acpls.hub import changes, conversing, editing, files, in_step, places, verdicts
from acpls.hub.tokens import ForWrite, HeldChanges, InStep, Look
from acpls.review.composing import Author
from acpls.text import uris

if TYPE_CHECKING:
    from acpls.events import BufferChanged, BufferClosed, BufferOpened, BufferSaved
    from acpls.hub.state import Effects, State
    from acpls.text.buffers import Buffer

HELD_S = 0.05


def opened(state: State, event: BufferOpened) -> Effects:
    """The editor owns a document now."""
    yield from _forget(state, event.uri)
    state.buffers.open(event.uri, event.version, event.text, event.language)
    places.opened(state, event.uri)
    yield from in_step.opened(state, event.uri, event.text)
    yield from _moved(state, event.uri)


def changed(state: State, event: BufferChanged) -> Effects:
    """A document changed; what came before its turn is held for a moment."""
    buffer = state.buffers.get(event.uri)
    if state.unsure and buffer is not None:
        yield from _not_saved(state, buffer)
    was_clean = buffer is not None and not buffer.dirty
    if state.buffers.change(event.uri, event.version, event.changes) == "held":
        yield After(HELD_S, HeldChanges(event.uri))
    yield from _changed(state, event.uri, was_clean=was_clean)


def _not_saved(state: State, buffer: Buffer) -> Effects:
    """What a document has had from its file was not saved, or we had been told of that."""
    place = state.path_of(buffer.uri)
    if place in state.unsure and state.unsure[place][0].text == buffer.text:
        yield from changes.settle(state, place)


def release(state: State, token: HeldChanges) -> Effects:
    """What was missing has not come: take in what is held."""
    if state.buffers.release(token.uri):
        yield from _changed(state, token.uri)


def saved(state: State, event: BufferSaved) -> Effects:
    """The editor wrote a document to its file."""
    buffer, place = state.buffers.get(event.uri), state.path_of(event.uri)
    if buffer is not None and place in state.unsure and state.unsure[place][0].text != buffer.text:
        # That was another change, which was saved over.
        yield from changes.settle(state, place)
    origin = state.origins.pop(event.uri, None if buffer is None else buffer.saved_text)
    state.buffers.save(event.uri)
    state.disk.pop(event.uri, None)
    if buffer is not None and origin is not None and uris.to_path(event.uri) is not None:
        yield from _in_ledger(state, buffer, origin)
    yield from changes.settle(state, place)
    yield from _moved(state, event.uri)


def closed(state: State, event: BufferClosed) -> Effects:
    """The editor no longer owns a document: its file counts again."""
    yield from _forget(state, event.uri)
    places.closed(state, event.uri)
    yield from _moved(state, event.uri, closes=True)


def _forget(state: State, uri: str) -> Effects:
    editing.closed(state, uri)
    for known in (state.disk, state.origins, state.typed):
        known.pop(uri, None)
    own = state.saving.get(uri)
    if own is not None and own.saved is None:
        yield from files.came_to_nothing(state, own.write)


def _in_ledger(state: State, buffer: Buffer, origin: str) -> Effects:
    """What was saved is the user's, but for what we had put into the document."""
    place = state.path_of(buffer.uri)
    saving = state.saving.get(buffer.uri)
    is_agents = saving is not None and saving.saved is None
    if saving is not None:
        state.saving[buffer.uri] = replace(saving, saved=buffer.saved_text)
    if saving is not None and is_agents:
        # The agent's text, and then what the editor made of it in saving.
        before, author = saving.before, Author(saving.write.session)
        text = before.with_text(saving.text, before.form)
        yield from changes.agent_wrote(state, place, before, text, author, "buffer")
        origin = saving.text
    else:
        verdicts.saved(state, place)
    state.ledger.saved(place, buffer.saved_text, origin, shares=not is_agents)
    state.unsaved.pop(place, None)
    state.saved[place] = buffer.saved_text
    yield ReadFile(Look(), place, state.all_roots())


def _changed(state: State, uri: str, *, was_clean: bool = False) -> Effects:
    buffer = state.buffers.get(uri)
    if buffer is None:
        return
    path = state.path_of(uri)
    change = state.ledger.files.get(path)
    reloaded = change is not None and change.target.text == buffer.text
    own = editing.seen(state, buffer)
    if own is None and not reloaded:
        # The editor may have reloaded it, but not twice in a row.
        reloads = state.editor.reloads and was_clean and bool(state.at_work)
        places.typed(state, uri, reloads=reloads)
    if own is not None and isinstance(own.token, InStep):
        buffer.saved_text = buffer.text
    if uri in state.disk:
        state.in_step(buffer, state.disk[uri])
    if own is not None and isinstance(own.token, ForWrite):
        yield from files.edited(own.token, uri)
    elif own is None and was_clean and buffer.dirty and state.at_work:
        # The editor may have reloaded what an agent wrote, which is not the user's typing.
        yield ReadFile(Look(), path, state.all_roots())
    yield from _moved(state, uri, own)


def _moved(
    state: State, uri: str, own: editing.OwnEdit | None = None, *, closes: bool = False
) -> Effects:
    """Whoever waits for something of a document looks at it again."""
    path = state.path_of(uri)
    if closes:
        state.buffers.close(uri)
        state.paths.spelled.pop(path, None)
    yield from conversing.buffer_changed(state, uri, own)
    if uris.to_path(uri) is not None:
        yield from verdicts.buffer_changed(state, path, own)
        if state.ledger.at(path):
            yield ShowReview(path)
