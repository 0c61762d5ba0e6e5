"""Code lenses: keep and reject above each hunk, and above the document for all of them.

Invariant: the lenses of a document are a query of the state. The editor is asked to fetch
them again only when there are other ones, not when they merely move with their lines.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from acpls.lsp import hunks
from acpls.lsp.asking import EditorError, NoAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anyio.abc import TaskGroup

    from acpls.hub.state import State
    from acpls.lsp.protocol import EditorProtocol

# Beyond that many hunks a document is all lenses; the others keep their code actions.
HUNKS_LIMIT: Final = 100
REFRESH_LIMIT_S: Final = 10.0

_log = logging.getLogger("acpls.lsp")


def lenses(state: State, uri: str) -> list[types.CodeLens]:
    """The lenses of a document, those for the whole of it first."""
    return [
        types.CodeLens(
            range=types.Range(types.Position(line, 0), types.Position(line, 0)),
            command=types.Command(title=title, command=command, arguments=[argument]),
        )
        for line, title, command, argument in _lenses(state, uri)
    ]


def _lenses(state: State, uri: str) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    here = hunks.shown(state, uri)
    for offer in hunks.of_file(state, here, uri):
        yield 0, offer.short, offer.command, offer.argument
    for hunk in here[:HUNKS_LIMIT]:
        for offer in hunk.offers():
            title = offer.title if hunk.is_whole else offer.short
            yield hunk.first, title, offer.command, offer.argument


class Lenses:
    """Sees to it that the editor has the lenses as they are, where it can be asked to."""

    def __init__(self, tasks: TaskGroup, protocol: EditorProtocol) -> None:
        self._tasks = tasks
        self._protocol = protocol
        self._told: dict[str, list[object]] = {}
        # Whether a request is under way, and whether another has to follow it.
        self._asking = self._again = False

    def told(self, state: State, uris: Iterable[str]) -> None:
        """Something may have changed in these documents."""
        if not self._can_be_asked():
            return
        changed = False
        for uri in uris:
            now: list[object] = [lens[1:] for lens in _lenses(state, uri)]
            if state.buffers.get(uri) is None:
                # It is asked for when it is opened.
                self._told.pop(uri, None)
            elif now != self._told.get(uri, []):
                self._told[uri] = now
                changed = True
        if changed and self._asking:
            self._again = True
        elif changed:
            self._asking = True
            self._tasks.start_soon(self._refresh)

    def _can_be_asked(self) -> bool:
        workspace = self._protocol.client_capabilities.workspace
        claimed = workspace.code_lens if workspace is not None else None
        return bool(claimed is not None and claimed.refresh_support)

    async def _refresh(self) -> None:
        while True:
            self._again = False
            try:
                await self._protocol.ask(types.WORKSPACE_CODE_LENS_REFRESH, None, REFRESH_LIMIT_S)
            except (NoAnswer, EditorError) as problem:
                _log.debug("the lenses were not fetched again: %s", problem)
            if not self._again:
                self._asking = False
                return
