"""Where the agent is, and whether the editor should go there.

Invariant: decides by values given to it; the clock is an argument.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acpls.session.content import Fragment, Patch

if TYPE_CHECKING:
    from acpls.session.state import ToolCall

TRAIL_LENGTH = 50


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: ``line`` is zero-based, ``None`` when only the file is known."""

    path: str
    line: int | None
    reason: str
    tool_call: str | None


@dataclass(slots=True)
class Follow:
    """Follow-along: the last places of each session, and the wish to go along."""

    on: bool = False
    idle_s: float = 2.0
    typed_at_s: float = float("-inf")
    typing: bool = False
    trails: dict[str, deque[Place]] = field(default_factory=dict)

    def here(self, session: str) -> Place | None:
        """Where the session's agent is now."""
        trail = self.trails.get(session)
        return trail[0] if trail else None

    def seen(self, session: str, place: Place) -> bool:
        """The agent is at ``place``; whether that is news."""
        trail = self.trails.setdefault(session, deque(maxlen=TRAIL_LENGTH))
        if trail and trail[0] == place:
            return False
        trail.appendleft(place)
        return True

    def may_move(self, now_s: float) -> bool:
        """Whether the editor may be moved: follow is on and the user is idle."""
        return self.on and not self.typing and now_s - self.typed_at_s >= self.idle_s


def place_of(call: ToolCall) -> Place | None:
    """The place of a tool call: its last location, else the path of its first diff.

    ACP lines are one-based; 0 is taken for the first line, as some agents send it.
    """
    for location in reversed(call.locations):
        line = None if location.line is None else max(location.line - 1, 0)
        return Place(location.path, line, call.kind, call.id)
    for item in call.content:
        match item:
            case Fragment(path):
                return Place(path, None, call.kind, call.id)
            case Patch(changes):
                for change in changes:
                    if change.path is not None:
                        return Place(change.path, None, call.kind, call.id)
            case _:
                pass
    return None
