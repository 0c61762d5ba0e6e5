"""The review outlives the run of the server: it is stored as it changes, and loaded once.

What is loaded counts only for files that hold what they held then; each is read for that.
Sessions of the earlier run are gone, so stand-ins have their changes, until an agent opens
the session once more.

Invariant: nothing is stored before what was stored is loaded, so that none of it is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acpls.effects import (
    After,
    LoadReview,
    ReadFile,
    ReadStored,
    ShowReview,
    StoreReview,
    WatchFiles,
)
from acpls.events import BufferSaved
from acpls.hub.tokens import ForStored, LoadedReview, StoreDue
from acpls.review import moves, stored
from acpls.review.held import Held, of_disk
from acpls.review.records import put_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acpls.effects import Effect
    from acpls.events import EditorReady, Event, FileRead, ReviewLoaded, StoredRead
    from acpls.hub.state import Effects, State
    from acpls.session.state import Session

DELAY_S = 1.0


def ready(state: State, event: EditorReady) -> Effects:
    """The editor said in which folders it works: load what is known of them."""
    if event.roots and state.shelf.roots is None:
        state.shelf.roots = event.roots
        yield LoadReview(LoadedReview(), event.roots)


def loaded(state: State, event: ReviewLoaded) -> Effects:
    """Here is what an earlier run stored: look at the files that it is about."""
    shelf = state.shelf
    found = stored.load(event.value)
    shelf.folders = found.folders
    state.paths.learn_roots(found.places, found.places.values())
    # What a later version of the server stored is not taken for nothing.
    shelf.last = None if found == stored.Stored() else event.value
    shelf.sessions.update(found.sessions)
    state.checkpoints.loaded(found.checkpoints)
    for change in found.changes:
        shelf.waiting.setdefault(change.path, []).append(change)
    for key, (agent, native) in found.sessions.items():
        session = state.session_of(agent, native)
        if session is not None:
            yield from _adopt(state, key, session)
    bare = [change.base for change in found.changes if change.base.is_bare]
    if bare:
        wanted = dict.fromkeys((held.content or "", held.form) for held in bare)
        yield ReadStored(LoadedReview(), tuple(wanted))
    else:
        yield from _look(state)


def texts_read(state: State, _: LoadedReview, event: StoredRead) -> Effects:
    """Here are the texts of which only the hashes were stored."""
    state.shelf.texts = dict(event.texts)
    yield from _look(state)


def read(state: State, token: ForStored, event: FileRead) -> Effects:
    """A file that was under review was read."""
    shelf = state.shelf
    held = of_disk(event.disk)
    now = Held(opaque=f"the file {event.disk.problem}") if held is None else held
    for change in shelf.waiting.pop(token.path, ()):
        back = put_back(state.ledger, change, now, shelf.texts)
        if back is not None and back.stale is not None:
            shelf.unfit[token.path] = change
    yield ShowReview(token.path)
    if not shelf.waiting:
        yield from _over(state)


def opened(state: State, session: Session) -> Effects:
    """A session is open: perhaps it is one of an earlier run."""
    assert session.native is not None
    key = stored.stand_in(session.agent, session.native)
    if key in state.shelf.sessions:
        yield from _adopt(state, key, session)


def touched(state: State, event: Event, effects: Sequence[Effect]) -> Effects:
    """Store what has changed, in a moment, since more may."""
    shelf = state.shelf
    changes = isinstance(event, BufferSaved) or any(isinstance(e, ShowReview) for e in effects)
    if changes and shelf.is_loaded and not shelf.is_due:
        shelf.is_due = True
        yield After(DELAY_S, StoreDue())


def due(state: State, _: StoreDue) -> Effects:
    """The moment has passed."""
    state.shelf.is_due = False
    yield from store(state)


def store(state: State) -> Effects:
    """Store the review now, if it is another than the one that was stored last."""
    shelf = state.shelf
    if not shelf.is_loaded or shelf.roots is None:
        return
    value = stored.dump(
        state.ledger,
        state.checkpoints,
        lambda session: _name(state, session),
        folders=dict.fromkeys((*shelf.folders, *state.all_roots())),
        places=state.paths.roots,
        again=[change for path, change in shelf.unfit.items() if path in state.ledger.stale],
    )
    is_empty = not value["changes"] and not value["checkpoints"]
    now = None if is_empty else value
    if now != shelf.last:
        shelf.last = now
        yield StoreReview(shelf.roots, now)


def _look(state: State) -> Effects:
    shelf = state.shelf
    roots = tuple(dict.fromkeys((*state.all_roots(), *shelf.folders)))
    for path in shelf.waiting:
        yield ReadFile(ForStored(path), path, roots)
    if not shelf.waiting:
        yield from _over(state)


def _over(state: State) -> Effects:
    """All that was stored is loaded."""
    shelf = state.shelf
    shelf.is_loaded = True
    shelf.texts = {}
    for path in moves.mend(state.ledger.files, lambda: state.ledger.key("h")):
        yield ShowReview(path)
    if state.ledger.files:
        # No session has to be open for hunks to be looked at.
        yield WatchFiles(state.all_roots())
    yield from store(state)


def _adopt(state: State, key: str, session: Session) -> Effects:
    """What a stand-in has is a session's."""
    shelf = state.shelf
    shelf.sessions.pop(key, None)
    state.checkpoints.adopt(key, session.key)
    for path, changes in shelf.waiting.items():
        shelf.waiting[path] = [change.adopted(key, session.key) for change in changes]
    for path, change in shelf.unfit.items():
        shelf.unfit[path] = change.adopted(key, session.key)
    for path in state.ledger.adopt(key, session.key):
        yield ShowReview(path)


def _name(state: State, session: str) -> tuple[str, str] | None:
    """A session's agent, and what this calls it."""
    known = state.sessions.get(session)
    if known is None:
        return state.shelf.sessions.get(session)
    return None if known.native is None else (known.agent, known.native)
