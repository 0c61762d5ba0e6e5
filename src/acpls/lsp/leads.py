"""Where things in a conversation document lead: links, definitions, and the agent's trail.

The capabilities are for documents of every kind; in all but conversations there is nothing
to be found, which is answered at once.

Invariant: each request is answered once, in the position encoding that was agreed on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from acpls import effects as ef
from acpls import events as ev
from acpls.hub.mentions import conversation_at
from acpls.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from acpls.hub import Hub
    from acpls.lsp.protocol import EditorProtocol, Ticket
    from acpls.lsp.spelling import Spelling


class Leads:
    """Hands the questions over to the hub, and its answers back."""

    def __init__(
        self,
        protocol: EditorProtocol,
        hub: Hub,
        spelling: Spelling,
        emit: Callable[[ev.Event], None],
    ) -> None:
        self._protocol = protocol
        self._hub = hub
        self._spelling = spelling
        self._emit = emit

    def asked(self, ticket: Ticket, method: str, params: Any) -> None:
        """Somebody wants to know where something leads."""
        uri = self._spelling.ours(params.text_document.uri)
        state = self._hub.state
        buffer = state.buffers.get(uri)
        if conversation_at(state, uri) is None or buffer is None:
            self._protocol.reply(ticket, [])
        elif method == types.TEXT_DOCUMENT_DOCUMENT_LINK:
            self._emit(ev.LinksAsked(ticket, uri))
        elif method == types.TEXT_DOCUMENT_REFERENCES:
            self._emit(ev.TrailAsked(ticket, uri))
        else:
            at = params.position.line, params.position.character
            offset = LineIndex(buffer.text).offset(at, state.buffers.encoding)
            self._emit(ev.PlaceAsked(ticket, uri, offset))

    def reply(self, effect: ef.ReplyLinks | ef.ReplyPlaces) -> None:
        """Answer."""
        ticket: Any = effect.ticket
        if isinstance(effect, ef.ReplyLinks):
            index = LineIndex(effect.text)
            self._protocol.reply(ticket, [self._link(index, *link) for link in effect.links])
        else:
            self._protocol.reply(ticket, [self._location(spot) for spot in effect.places])

    def _link(self, index: LineIndex, start: int, end: int, uri: str) -> dict[str, Any]:
        ends = (_position(index, offset, self._encoding) for offset in (start, end))
        target, mark, fragment = uri.partition("#")
        theirs = self._spelling.theirs(target)
        return {"range": _range(*ends), "target": f"{theirs}{mark}{fragment}"}

    def _location(self, spot: ef.Spot) -> dict[str, Any]:
        column = _position(LineIndex(spot.line), spot.column, self._encoding)["character"]
        at = {"line": spot.row, "character": column}
        return {"uri": self._spelling.theirs(spot.uri), "range": _range(at, at)}

    @property
    def _encoding(self) -> Any:
        return self._hub.state.buffers.encoding


def _position(index: LineIndex, offset: int, encoding: Any) -> dict[str, int]:
    line, character = index.position(offset, encoding)
    return {"line": line, "character": character}


def _range(start: dict[str, int], end: dict[str, int]) -> dict[str, Any]:
    return {"start": start, "end": end}
