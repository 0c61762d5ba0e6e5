"""What is done about files when a turn starts and when it ends.

Before a prompt goes out all files are looked at, so that what each held is known; whatever
changes from then on is the agent's, until they have been looked at again after the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acpls.effects import After, SyncFiles, TellUser, WatchFiles
from acpls.hub import stored
from acpls.hub.tokens import TurnEnds, TurnStarts
from acpls.session.content import Text

if TYPE_CHECKING:
    from acpls.events import FilesSynced
    from acpls.hub.state import Effects, State
    from acpls.session.state import Session

AGAIN_S = 0.05
# By then all is decided on, but for what others write on and on.
TRIES = 10


def opened(state: State, session: Session) -> Effects:
    """A session is open: get to know its files before they are needed."""
    yield WatchFiles(_watched(state))
    yield SyncFiles(TurnStarts(session.key), state.roots_of(session))


def starts(state: State, session: Session) -> Effects:
    """A prompt is about to be sent, which waits for this look at the files."""
    yield SyncFiles(TurnStarts(session.key), state.roots_of(session))


def running(state: State, session: Session) -> None:
    """The agent works, whether it was asked to or not."""
    if session.key not in state.at_work:
        state.at_work.add(session.key)
        state.checkpoints.begin(session.key, _title(session))


def ends(state: State, session: Session) -> Effects:
    """The turn is over, or the agent is gone: see what it did."""
    if session.key in state.at_work:
        yield SyncFiles(TurnEnds(session.key), state.roots_of(session))
    else:
        yield from _watch_less(state)


def ends_late(state: State, token: TurnEnds) -> Effects:
    """Look once more: what was told of last may have been read by now."""
    yield SyncFiles(token, state.roots_of(state.sessions[token.session]))


def synced(state: State, event: FilesSynced) -> Effects:
    """All files were looked at."""
    token = event.token
    assert isinstance(token, TurnStarts | TurnEnds)
    session = state.sessions[token.session]
    state.paths.learn_roots(state.roots_of(session), event.real_roots)
    if event.problem is not None:
        yield TellUser("warning", event.problem)
    if isinstance(token, TurnStarts):
        if session.busy:
            running(state, session)
        return
    reading = any(n for a, n in state.claims_awaited.items() if a.session == session.key)
    if reading or (state.unsure and token.tries < TRIES):
        # What was told of last, or seen, belongs to this turn.
        yield After(AGAIN_S, replace(token, tries=token.tries + 1))
        return
    state.at_work.discard(session.key)
    state.checkpoints.close(session.key, event.at_s)
    state.named = {path: a for path, a in state.named.items() if a.session != session.key}
    state.changed_by = {pair for pair in state.changed_by if pair[0] != session.key}
    state.foregone = {at: f for at, f in state.foregone.items() if at[0] != session.key}
    if session.busy:
        # It has been prompted again, and may be at work before the next look is over.
        running(state, session)
    state.ledger.halves.forget(session.key)
    yield from stored.store(state)
    yield from _watch_less(state)


def _title(session: Session) -> str:
    """The first line of the prompt."""
    blocks = () if session.asked is None else session.asked.blocks
    said = (block.text.strip() for block in blocks if isinstance(block, Text))
    return next((text.splitlines()[0] for text in said if text), "")[:80]


def _watched(state: State) -> tuple[str, ...]:
    """The folders of all sessions that are not over, and those where something is pending."""
    roots = [r for s in state.sessions.values() if s.state != "lost" for r in state.roots_of(s)]
    roots += state.all_roots() if state.ledger.files else ()
    return tuple(dict.fromkeys(roots))


def _watch_less(state: State) -> Effects:
    if not state.at_work and not _watched(state):
        yield WatchFiles(())
