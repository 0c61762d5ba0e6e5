"""What the dialect of ACP 2 keeps in mind of an agent and its sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acpls.client.v2_facts import unknown
from acpls.events import SessionTold

if TYPE_CHECKING:
    from acpls.events import AgentEvent
    from acpls.session.asks import AgentFacts
    from acpls.session.content import Json
    from acpls.session.updates import Update


@dataclass(slots=True)
class SessionState:
    """One session: its folder, and the cost told last.

    ``muted``: it is opened again without what was said before, which some agents tell all
    the same. ``replaying``: it is told again, and the end of that was not told yet.
    """

    cwd: str | None = None
    cost: tuple[float, str] | None = None
    muted: bool = False
    replaying: bool = False


class AgentState:
    """The agent that the bridge calls ``name``: what it can do, and its sessions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: AgentFacts = unknown(name)
        self._sessions: dict[str, SessionState] = {}

    def session(self, session: str) -> SessionState:
        """The session of this id; whatever is told of one makes it known."""
        state = self._sessions.get(session)
        if state is None:
            state = self._sessions[session] = SessionState()
        return state

    def forget(self, session: str) -> None:
        """The session is closed or deleted."""
        self._sessions.pop(session, None)

    def tell(self, session: str, *told: Update, raw: Json | None = None) -> tuple[AgentEvent, ...]:
        """The events of updates; ``raw`` is what they were made from."""
        return tuple(SessionTold(self.name, session, x, raw) for x in told)
