"""The last places of a turn, and how far one has stepped through them.

Places have numbers that are never used again, so that stepping goes on where it was when
places were added, or the oldest were let go.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from acpls.follow.places import Place

TRAIL_LENGTH: Final = 50
"""So many places are kept."""


@dataclass(slots=True)
class Trail:
    """The places of ``turn``, oldest first.

    ``calls``: where each tool call was last, so that what is told again is no news. ``looked``:
    by what each was looked for last.
    """

    turn: str | None = None
    places: deque[Place] = field(default_factory=lambda: deque(maxlen=TRAIL_LENGTH))
    calls: dict[str, Place] = field(default_factory=dict)
    looked: dict[str, object] = field(default_factory=dict)
    # The number of the newest place, and of the one that was stepped to.
    _newest: int = -1
    _at: int | None = None

    def begin(self, turn: str | None) -> None:
        """The agent works in this turn; ``None``: in none, which goes on with the last one."""
        if turn in {None, self.turn}:
            return
        self.turn = turn
        self.places.clear()
        self.calls.clear()
        self.looked.clear()
        self._at = None

    @property
    def newest(self) -> Place | None:
        """Where the agent is now."""
        return self.places[-1] if self.places else None

    def add(self, place: Place) -> bool:
        """The agent is at a place; whether that is news.

        What one tool call has told already is none. The same spot once more, and a file whose
        line is told a little later, take the place of the one before.
        """
        call = place.tool_call
        if call is not None:
            if self.calls.get(call) == place:
                return False
            self.calls[call] = place
        last = self.newest
        if last is not None and (last == place or _says_less(last, place)):
            return False
        if last is not None and (last.spot == place.spot or _completes(last, place)):
            self.places[-1] = place
            return True
        self.places.append(place)
        self._newest += 1
        return True

    def step(self, where: Literal["previous", "next", "newest"]) -> Place | None:
        """Go on by one place; ``None`` where there is none, and one stays where one is.

        The first step back is to the newest place, the first one on to the oldest.
        """
        oldest = self._newest - len(self.places) + 1
        at = self._at
        if where == "previous":
            to = self._newest if at is None else at - 1
        elif where == "next":
            to = oldest if at is None else max(at + 1, oldest)
        else:
            to = self._newest
        if not self.places or not oldest <= to <= self._newest:
            return None
        self._at = to
        return self.places[to - oldest]


def _says_less(last: Place, place: Place) -> bool:
    """Whether it is the file alone, read or written for the tool call that was told of."""
    return place.tool_call is None and place.line in {None, last.line} and place.path == last.path


def _completes(last: Place, place: Place) -> bool:
    same = last.path == place.path and last.tool_call == place.tool_call is not None
    return same and last.line is None
