"""What the user sees change: sessions, hunks, questions, places, agents.

Changes are noted as they come and told at most every ``FLUSH_S`` seconds, each thing once
and as it is by then. Nothing is told while the editor has not read what was told before,
so a slow editor costs no memory: what is noted is never more than there is.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
from lsprotocol import types

from acpls.effects import ShowDocument
from acpls.hub import review_shapes, shapes
from acpls.lsp.diagnostics import diagnostics_of
from acpls.lsp.lenses import Lenses
from acpls.lsp.progress import Progress
from acpls.session.state import Message
from acpls.text import uris

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.abc import TaskGroup

    from acpls import effects as ef
    from acpls.hub import Hub
    from acpls.lsp.editor import Editor
    from acpls.lsp.protocol import EditorProtocol
    from acpls.lsp.spelling import Spelling
    from acpls.session.state import Session

FLUSH_S = 0.03
PENDING_LIMIT_BYTES = 1024 * 1024

_log = logging.getLogger("acpls.lsp")


class Views:
    """Tells the editor what has changed."""

    def __init__(
        self,
        tasks: TaskGroup,
        protocol: EditorProtocol,
        hub: Hub,
        spelling: Spelling,
        editor: Editor,
    ) -> None:
        """``editor`` is moved where it does not move by itself."""
        self.announced: dict[str, Any] | None = None
        self.progress = Progress(tasks, protocol, hub)
        self._lenses = Lenses(tasks, protocol)
        self._protocol = protocol
        self._hub = hub
        self._spelling = spelling
        self._editor = editor
        self._sessions: dict[str, dict[tuple[str, str | None], None]] = {}
        self._files: dict[str, None] = {}
        self._documents: dict[str, None] = {}
        self._questions = False
        self._places: dict[str, ef.ShowPlace] = {}
        # What the editor was told: of each message, by session, its revision and how many
        # blocks of it; of each document its diagnostics, ``None`` if it may have lost them.
        self._told: dict[str, dict[str, tuple[int, int]]] = {}
        self._diagnosed: dict[str, list[dict[str, Any]] | None] = {}
        self._wake = anyio.Event()
        tasks.start_soon(self._run)

    # --- what changes ----------------------------------------------------------------

    def session(self, effect: ef.ShowSession) -> None:
        """Something of a session changed."""
        self._sessions.setdefault(effect.session, {})[effect.what, effect.key] = None
        self._wake.set()

    def review(self, effect: ef.ShowReview) -> None:
        """The hunks of a file changed."""
        self._files[effect.path] = None
        self._wake.set()

    def document(self, uri: str, *, anew: bool = False) -> None:
        """A document's text changed; ``anew``: it was opened or closed."""
        if anew and uri in self._diagnosed:
            self._diagnosed[uri] = None
        self._documents[uri] = None
        self._wake.set()

    def questions(self) -> None:
        """The set of open questions changed."""
        self._questions = True
        self._wake.set()

    def place(self, effect: ef.ShowPlace) -> None:
        """The agent is somewhere else; only the last place counts."""
        self._places[effect.session] = effect
        self._wake.set()

    def agent(self, effect: ef.ShowAgent) -> None:
        """An agent's state changed; that is rare, and told at once."""
        if self.announced is not None:
            params = shapes.lean(
                agent=effect.agent,
                state=effect.state,
                message=effect.message,
                exitCode=effect.exit_code,
            )
            self._protocol.notify("acp/agent/changed", params)
        self.progress.agent(effect)

    # --- telling ---------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            await anyio.sleep(FLUSH_S)
            while self._pending_bytes() > PENDING_LIMIT_BYTES:  # noqa: ASYNC110 -- a thread writes
                await anyio.sleep(FLUSH_S)
            self._wake = anyio.Event()
            self.flush()

    def _pending_bytes(self) -> int:
        return int(getattr(self._protocol.writer, "pending_bytes", 0))

    def flush(self) -> None:
        """Tell all that was noted."""
        documents, self._documents = self._documents, {}
        if self._questions or self._sessions:
            self._questions = False
            documents |= dict.fromkeys(c.uri for c in self._hub.state.conversations.values())
            self._safely(self.progress.questions)
        self.flush_sessions()
        files, self._files = self._files, {}
        for path in files:
            self._safely(self._tell_review, path)
        state = self._hub.state
        reviewed = [review_shapes.uri(state, path) for path in files]
        for uri in documents | dict.fromkeys(reviewed):
            self._safely(self._diagnose, uri)
        self._safely(self._lenses.told, state, reviewed)
        places, self._places = self._places, {}
        for place in places.values():
            self._safely(self._tell_place, place)

    def flush_sessions(self) -> None:
        """Tell what was noted of sessions; a snapshot given now comes after it."""
        sessions, self._sessions = self._sessions, {}
        for key, dirty in sessions.items():
            self._safely(self._tell_session, self._hub.state.sessions[key], list(dirty))

    def _safely(self, tell: Callable[..., None], *what: object) -> None:
        try:
            tell(*what)
        except Exception:  # noqa: BLE001 -- a bug in one view must not end the others
            _log.exception("a bug while telling the editor what has changed")

    # --- sessions --------------------------------------------------------------------

    def _tell_session(self, session: Session, dirty: list[tuple[str, str | None]]) -> None:
        self.progress.session(session)
        if not self._draws("sessions"):
            return
        changes = [change for what, key in dirty for change in self._changes(session, what, key)]
        changes += self._removed(session)
        if changes:
            params = {"session": session.key, "seq": session.seq, "changes": changes}
            self._protocol.notify("acp/session/changed", params)

    def _draws(self, what: str) -> bool:
        return bool((self.announced or {}).get(what))

    def _changes(self, session: Session, what: str, key: str | None) -> list[dict[str, Any]]:
        state = self._hub.state
        entry = session.entries.get(f"{what}:{key}")
        match what:
            case "message" | "toolCall" | "notice" | "compaction" | "sessionMessage" | "other":
                if isinstance(entry, Message):
                    return self._message(session, entry)
                return [] if entry is None else [shapes.entry(state, entry)]
            case "title":
                return [
                    shapes.lean(type="title", title=session.title, updatedAt=session.updated_at)
                ]
            case "plan":
                return [{"type": "plan", **shapes.plan(session, str(key))}]
            case "options":
                return [{"type": "options", "options": shapes.options(session)}]
            case "commands":
                return [{"type": "commands", "commands": shapes.commands(session)}]
            case "usage":
                return [{"type": "usage", "usage": shapes.usage(session)}]
            case "terminal":
                return [{"type": "terminal", **shapes.terminal(session.terminals[str(key)])}]
            case "subagent":
                return [{"type": "subagent", **shapes.subagent(session.subagents[str(key)])}]
            case "queue":
                return [{"type": "queue", "queue": shapes.queue(session)}]
            case _:
                told = shapes.session_entry(state, session)
                return [{"type": "state", **told, "stopping": session.stopping}]

    def _message(self, session: Session, message: Message) -> list[dict[str, Any]]:
        told = self._told.setdefault(session.key, {})
        revision, count = told.get(message.id, (-1, 0))
        told[message.id] = (message.revision, len(message.blocks))
        head = {"type": "message", "message": message.id, "role": message.role}
        if revision != message.revision:
            content = [shapes.block(block) for block in shapes.joined(message.blocks)]
            return [{**head, **shapes.lean(meta=message.meta or None), "content": content}]
        new = shapes.joined(message.blocks[count:])
        return [{**head, "append": shapes.block(block)} for block in new]

    def _removed(self, session: Session) -> list[dict[str, Any]]:
        """A message may turn out to be the user's own prompt, told by the agent."""
        told = self._told.get(session.key, {})
        gone = [message for message in told if f"message:{message}" not in session.entries]
        for message in gone:
            del told[message]
        head = {"type": "message", "role": "user", "removed": True}
        return [{**head, "message": message} for message in gone]

    # --- files and places --------------------------------------------------------------

    def _tell_review(self, path: str) -> None:
        if not self._draws("reviews"):
            return
        state = self._hub.state
        uri = review_shapes.uri(state, path)
        buffer = state.buffers.get(uri)
        hunks = review_shapes.hunks_at(state, path)
        version = None if buffer is None else buffer.version
        params = shapes.lean(uri=self._spelling.theirs(uri), version=version, hunks=hunks)
        self._protocol.notify("acp/review/changed", params)

    def _diagnose(self, uri: str) -> None:
        found = diagnostics_of(self._hub.state, uri)
        if found == self._diagnosed.get(uri, []):
            return
        if found:
            self._diagnosed[uri] = found
        else:
            self._diagnosed.pop(uri, None)
        params = {"uri": self._spelling.theirs(uri), "diagnostics": found}
        self._protocol.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def _tell_place(self, place: ef.ShowPlace) -> None:
        state = self._hub.state
        row = 0 if place.line is None else shapes.clip(state, place.path, place.line)
        uri = uris.from_path(place.path)
        if self._draws("places"):
            params = shapes.lean(
                session=place.session,
                uri=self._spelling.theirs(uri),
                range=shapes.lines(row, row),
                reason=place.reason,
                toolCall=place.tool_call,
                move=place.move,
            )
            self._protocol.notify("acp/place/changed", params)
        elif place.move:
            self._editor.show_document(ShowDocument(uri, row, row))
