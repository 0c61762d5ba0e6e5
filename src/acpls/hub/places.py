"""Where agents are becomes known, and the editor goes along when the user wants and rests.

A tool call says where it may be; what is there is looked at before it counts, so that folders
and files that are not there are nobody's place. What is told again while an old session is
opened, and what a subagent does, moves nothing.

Invariant: the editor is moved in one place, ``go``, and only through the gate.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import TYPE_CHECKING

from acpls.effects import After, LookAt, ShowPlace
from acpls.follow import Hint, Place, hints, placed
from acpls.hub import review_shapes
from acpls.hub.tokens import FollowDue, ForPlace
from acpls.session.asks import ResumeSession
from acpls.text import uris
from acpls.text.pathmap import PathMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.events import FocusChanged, LookedAt, Seen
    from acpls.follow import Trail
    from acpls.hub.state import Effects, State
    from acpls.session.state import Session, ToolCall

# What was refused, or never came to be, is not where the agent is.
_NOWHERE = frozenset({"failed", "cancelled"})
# Moves are gathered for a moment before the editor is told.
UNTOLD_S = 0.1
# A document that is read anew is closed and opened in one go.
REOPENS_S = 1.0
_MOST_OPENING = 20


# --- where the agent is ----------------------------------------------------------------


def told(state: State, session: Session, call: ToolCall) -> Effects:
    """A tool call has changed: look where it may be, if that is news."""
    if call.of_subagent or call.status in _NOWHERE or _is_replayed(state, session):
        return
    trail = _trail(state, session)
    found = hints(call, resolver(state, session))
    about = hash((found, call.kind, call.finished))
    if not found or trail.looked.get(call.id) == about:
        return
    trail.looked[call.id] = about
    yield from _look(state, session, ForPlace(session.key, call.id, call.kind, found))


def served(
    state: State, session: Session, reason: str, path: str, line: int | None, count: int | None
) -> Effects:
    """A file was read or written for the agent, as some do without telling of it."""
    hint = Hint(path, line, count)
    yield from _look(state, session, ForPlace(session.key, None, reason, (hint,)))


def _look(state: State, session: Session, token: ForPlace) -> Effects:
    paths = tuple(hint.path for hint in token.hints)
    yield LookAt(token, paths, state.roots_of(session), text=True)


def _is_replayed(state: State, session: Session) -> bool:
    """Whether the agent only tells what was before."""
    return session.state == "starting" or any(
        isinstance(waiting.ask, ResumeSession) and waiting.session == session.key
        for waiting in state.asks.values()
    )


def _trail(state: State, session: Session) -> Trail:
    trail = state.follow.trail(session.key)
    trail.begin(session.turn)
    return trail


def looked(state: State, token: ForPlace, event: LookedAt) -> Effects:
    """It is known what is there: the first file is where the agent is.

    One outside of all roots is a place as well, where there is no other; it is in the trail, and
    the editor is not taken there, since the user never said that it belongs to the work.
    """
    files = [(h, s) for h, s in zip(token.hints, event.seen, strict=True) if s.kind == "file"]
    inside = [(hint, seen) for hint, seen in files if seen.inside]
    if not files:
        return
    hint, seen = (inside or files)[0]
    session = state.sessions[token.session]
    changes = token.call is not None or token.reason == "edit"
    hunk = _hunk(state, session, token.call, hint.path) if changes else None
    rows = placed(hint, text_at(state, seen), hunk)
    line, end = (None, None) if rows is None else rows
    place = Place(hint.path, line, token.reason, token.call, end, not seen.inside)
    if not _trail(state, session).add(place):
        return
    if session.key == watched(state) and seen.inside:
        state.follow.wanted = session.key
    moves = [*go(state)]
    if not any(isinstance(effect, ShowPlace) for effect in moves):
        yield _shown(session.key, place, move=False)
    yield from moves


def text_at(state: State, seen: Seen) -> str | None:
    """What the user sees of a file: the document, where it is open."""
    buffer = state.buffer_at(seen.path)
    return seen.text if buffer is None else buffer.text


def _hunk(state: State, session: Session, call: str | None, path: str) -> tuple[int, int] | None:
    """The rows of the first thing that the review knows the call to have changed there."""
    for shape in review_shapes.hunks_at(state, state.paths.place(path)):
        if (shape.get("session"), shape.get("toolCall")) == (session.key, call):
            start, end = (int(shape["range"][side]["line"]) for side in ("start", "end"))
            return start, max(end - 1, start)
    return None


def resolver(state: State, session: Session) -> Callable[[str], str]:
    """Makes the editor's absolute path of one that the agent wrote in words of its own."""
    spec = state.settings.agents.get(session.agent)
    mapped = PathMap(() if spec is None else spec.path_map)

    def resolve(path: str) -> str:
        own = uris.to_path(path) or path
        if is_absolute(own):
            return mapped.to_editor(own)
        return joined(session.cwd, own)

    return resolve


def is_absolute(path: str) -> bool:
    """Whether a path begins at the root of anything, on whatever platform."""
    return re.match(r"/|[A-Za-z]:[\\/]|\\\\", path) is not None


def joined(folder: str, path: str) -> str:
    """A relative path, begun in a folder, without detours."""
    if folder.startswith("/"):
        return posixpath.normpath(posixpath.join(folder, path))
    return ntpath.normpath(ntpath.join(folder, path))


# --- going along -------------------------------------------------------------------------


def watched(state: State) -> str | None:
    """The session that is followed: the one that the user chose, else the current one."""
    chosen = state.sessions.get(state.follow.watched or "")
    return state.current if chosen is None or chosen.over else chosen.key


def can_move(state: State) -> bool:
    """Whether the editor can be taken somewhere without a nuisance."""
    return state.editor.places or state.editor.gentle_show


def go(state: State) -> Effects:
    """Take the editor to where the agent is, if the user wants that and nothing is in the way.

    What is in the way is waited for, and by then the place that is the last one counts.
    """
    follow, key = state.follow, watched(state)
    if key is None or follow.wanted != key or follow.word(key) != "on" or not can_move(state):
        return
    place = follow.here(key)
    if place is None or place.outside or (follow.shown and follow.shown.spot == place.spot):
        follow.wanted = None
        return
    if follow.typing or is_asked(state):
        # The end of either is told.
        return
    wait_s = follow.wait_s(state.now_s)
    if wait_s > 0:
        due_at_s = state.now_s + wait_s
        if follow.due_at_s is None or follow.due_at_s > due_at_s:
            follow.due_at_s = due_at_s
            yield After(wait_s, FollowDue())
        return
    follow.wanted, follow.shown, follow.moved_at_s = None, place, state.now_s
    expects(state, uri_of(state, place))
    yield _shown(key, place, move=True)


def due(state: State, _: FollowDue) -> Effects:
    """The user has rested, unless he did something since."""
    state.follow.due_at_s = None
    yield from go(state)


def is_asked(state: State) -> bool:
    """Whether a question is on the screen; what opens in front of it would take its keys."""
    pending = state.questions.pending()
    return any((q.put and not q.dismissed) or q.dialog == "open" for q in pending)


def interrupted(state: State) -> None:
    """A question comes up: a move that the editor was not told of waits for its end, too."""
    follow = state.follow
    if follow.shown is not None and state.now_s - follow.moved_at_s < UNTOLD_S:
        follow.wanted, follow.shown = watched(state), None


def _shown(session: str, place: Place, *, move: bool) -> ShowPlace:
    end = place.line if place.end is None else place.end
    return ShowPlace(session, place.path, place.line, end, place.reason, place.tool_call, move=move)


# --- what the user does --------------------------------------------------------------------


def expects(state: State, uri: str) -> None:
    """A document may open because of us, which is not the user's doing."""
    opening = state.follow.opening
    opening[uri] = None
    if len(opening) > _MOST_OPENING:
        # Documents that are open already are not opened.
        del opening[next(iter(opening))]


def opened(state: State, uri: str) -> None:
    """A document opened; where the user does not say where he is, that tells of it."""
    ours = uri in state.follow.opening
    state.follow.opening.pop(uri, None)
    closed, at_s = state.follow.closed
    reopened = closed == uri and state.now_s - at_s < REOPENS_S
    if not (ours or reopened or state.editor.focus):
        _acts(state, uri)


def closed(state: State, uri: str) -> None:
    """A document was closed."""
    state.follow.closed = uri, state.now_s


def typed(state: State, uri: str, *, reloads: bool = False) -> None:
    """A document changed, and not by us. ``reloads``: perhaps not by the user either."""
    if state.editor.focus:
        return
    if reloads:
        state.follow.acts(state.now_s)
    else:
        _acts(state, uri)


def focused(state: State, event: FocusChanged) -> Effects:
    """The user says where he is, and whether he types."""
    follow = state.follow
    before, follow.focus = follow.focus, (event.uri, event.rows)
    typed, follow.typing = follow.typing, event.typing
    went = before != follow.focus and not _is_shown(state, event)
    if typed or event.typing or went:
        _acts(state, event.uri)
    yield from go(state)


def _is_shown(state: State, event: FocusChanged) -> bool:
    """Whether the user is just where we have taken him."""
    place = state.follow.shown
    if place is None or event.uri is None or event.uri != uri_of(state, place):
        return False
    rows = event.rows
    return rows is None or place.line is None or rows[0] <= place.line <= rows[1]


def _acts(state: State, uri: str | None) -> None:
    """The user is at work, and where we took him before he has gone away by himself.

    Panels, conversations and forms are beside the text: there he talks with the agent.
    """
    follow, key = state.follow, watched(state)
    follow.acts(state.now_s)
    if key is None or not state.sessions[key].busy:
        follow.wanted = None
        return
    talks = {known.uri for known in state.conversations.values()}
    beside = uri is None or uri in talks | {form.uri for form in state.form_documents.values()}
    if follow.shown is not None and not beside and follow.word(key) == "on":
        follow.pause()


def uri_of(state: State, place: Place) -> str:
    """What the editor calls the file of a place."""
    return review_shapes.uri(state, state.paths.place(place.path))
