"""Files that a conversation mentions, and where its tool calls were: links, places, the trail.

Invariant: a link leads to a file that is there; whoever asks is answered once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acpls.effects import LookAt, ReplyLinks, ReplyPlaces, Spot
from acpls.follow import Hint, hints, placed
from acpls.follow.mentions import LONGEST, mentions
from acpls.hub import places
from acpls.hub.tokens import ForLinks, ForMention
from acpls.text import uris
from acpls.text.lines import LineIndex, body, split_lines

if TYPE_CHECKING:
    from acpls.conversation.document import Conversation
    from acpls.events import LinksAsked, LookedAt, PlaceAsked, Seen, TrailAsked
    from acpls.follow.mentions import Mention
    from acpls.hub.state import Effects, State
    from acpls.session.state import Session

SCANNED: Final = 100_000
"""Only so many characters at the end of a document are looked through for links."""

MOST_LINKS: Final = 500
"""So many of the last mentions become links."""


def conversation_at(state: State, uri: str) -> Conversation | None:
    """The conversation whose document this is."""
    return next((found for found in state.conversations.values() if found.uri == uri), None)


def links_asked(state: State, event: LinksAsked) -> Effects:
    """Find what a conversation document mentions, and look which of it is there."""
    conversation, buffer = conversation_at(state, event.uri), state.buffers.get(event.uri)
    if conversation is None or buffer is None:
        yield ReplyLinks(event.ticket)
        return
    session, text = state.sessions[conversation.session], buffer.text
    start = max(len(text) - SCANNED, 0)
    if start:
        # Not in the middle of a line, unless that is all there is.
        start = max(text.find("\n", start) + 1, start)
    found = list(mentions(text[start:], start))[-MOST_LINKS:]
    meant = tuple((mention, _paths(state, session, mention)) for mention in found)
    paths = dict.fromkeys(path for _, each in meant for path in each)
    yield LookAt(ForLinks(event.ticket, text, meant), tuple(paths), state.roots_of(session))


def links_found(state: State, token: ForLinks, event: LookedAt) -> Effects:
    """It is known which of the mentioned files there are."""
    files = {seen.path for seen in event.seen if seen.kind == "file"}
    links: list[tuple[int, int, str]] = []
    end = 0
    for mention, paths in token.mentions:
        path = next((path for path in paths if path in files), None)
        if path is not None and mention.start >= end:
            links.append((mention.start, mention.end, _target(state, path, mention)))
            end = mention.end
    yield ReplyLinks(token.ticket, token.text, tuple(links))


def _target(state: State, path: str, mention: Mention) -> str:
    uri = uris.from_path(state.paths.theirs(state.paths.place(path)))
    if not mention.line:
        return uri
    column = "" if mention.column is None else f",{mention.column}"
    return f"{uri}#L{mention.line}{column}"


def _paths(state: State, session: Session, mention: Mention) -> tuple[str, ...]:
    """The paths that a mention may mean: relative ones begin in any folder of the session."""
    path = mention.path
    if places.is_absolute(path):
        return (places.resolver(state, session)(path),)
    return tuple(places.joined(root, path) for root in state.roots_of(session))


def place_asked(state: State, event: PlaceAsked) -> Effects:
    """Find where something in a conversation document leads: a mention, or a tool call."""
    conversation, buffer = conversation_at(state, event.uri), state.buffers.get(event.uri)
    if conversation is None or buffer is None:
        yield ReplyPlaces(event.ticket)
        return
    session, index = state.sessions[conversation.session], LineIndex(buffer.text)
    row, _ = index.position(event.offset, "utf-32")
    start = index.line_start(row)
    line = body(buffer.text[start : index.line_start(row + 1)])
    # A line can be as long as an agent likes; what is far away is no mention at the cursor.
    near = max(event.offset - start - 2 * LONGEST, 0)
    part = line[near : event.offset - start + 2 * LONGEST]
    at = event.offset - start - near
    found = [mention for mention in mentions(part) if mention.start <= at <= mention.end]
    named = [
        (Hint(path, mention.line), mention.column)
        for mention in found
        for path in _paths(state, session, mention)
    ]
    call = conversation.call_at(row, line)
    told = None if call is None else session.tool_call(call)
    if told is not None:
        named += [(hint, None) for hint in hints(told, places.resolver(state, session))]
    if not named:
        yield ReplyPlaces(event.ticket)
        return
    token = ForMention(event.ticket, tuple(h for h, _ in named), tuple(c for _, c in named))
    paths = tuple(hint.path for hint in token.hints)
    yield LookAt(token, paths, state.roots_of(session), text=True)


def place_found(state: State, token: ForMention, event: LookedAt) -> Effects:
    """It is known which of the files there are: the first one that there is."""
    for hint, column, seen in zip(token.hints, token.columns, event.seen, strict=True):
        if seen.kind == "file":
            yield ReplyPlaces(token.ticket, (_spot(state, hint, column, seen),))
            return
    yield ReplyPlaces(token.ticket)


def _spot(state: State, hint: Hint, column: int | None, seen: Seen) -> Spot:
    text = places.text_at(state, seen)
    uri = uris.from_path(state.paths.theirs(state.paths.place(hint.path)))
    rows = placed(hint, text)
    if rows is None or text is None:
        return Spot(uri, 0 if rows is None else rows[0])
    lines = split_lines(text) or [""]
    line = body(lines[rows[0]])
    return Spot(uri, rows[0], min(max((column or 1) - 1, 0), len(line)), line)


def trail_asked(state: State, event: TrailAsked) -> Effects:
    """The places of the last turn, in the order in which the agent was there."""
    conversation = conversation_at(state, event.uri)
    if conversation is None:
        yield ReplyPlaces(event.ticket)
        return
    trail = state.follow.trail(conversation.session).places
    spots = [Spot(places.uri_of(state, place), place.line or 0) for place in trail]
    yield ReplyPlaces(event.ticket, tuple(spots))
