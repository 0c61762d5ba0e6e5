"""Whether the editor goes where the agent is: what the user wants, and what he is doing.

Invariant: decides by values given to it; the time is an argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from acpls.follow.trail import Trail

if TYPE_CHECKING:
    from acpls.follow.places import Place

MOVE_EVERY_S: Final = 0.5
"""The editor is moved at most so often, in seconds."""

Word: TypeAlias = Literal["on", "paused", "off"]
Focus: TypeAlias = "tuple[str | None, tuple[int, int] | None]"


@dataclass(slots=True)
class Follow:
    """The user's wish, the trails of all sessions, and the gate before each move.

    The wish, the stronger first: ``chosen`` in this run of the server, the ``setting``, and
    what was ``remembered`` from another run. ``own``: what was chosen for single sessions
    since. ``watched``: the session that the user chose to watch instead of the current one.
    ``paused``: he went away by himself; ``shown``: where he was taken last.

    ``acted_at_s``: when he did something last, ``moved_at_s``: when he was moved.
    ``wanted``: the session whose place waits for the gate. ``due_at_s``: when that is looked
    at again. ``focus``: where he said he was last. ``opening``: documents that open because of
    us, ``closed``: the one closed last, and when. ``told``: that this editor is not moved.
    """

    chosen: bool | None = None
    setting: bool | None = None
    remembered: bool | None = None
    own: dict[str, bool] = field(default_factory=dict)
    watched: str | None = None
    paused: bool = False
    idle_s: float = 2.0
    typing: bool = False
    acted_at_s: float = float("-inf")
    moved_at_s: float = float("-inf")
    shown: Place | None = None
    wanted: str | None = None
    due_at_s: float | None = None
    focus: Focus = (None, None)
    opening: dict[str, None] = field(default_factory=dict)
    closed: tuple[str, float] = ("", float("-inf"))
    told: bool = False
    trails: dict[str, Trail] = field(default_factory=dict)

    @property
    def on(self) -> bool:
        """What the user wants of all sessions that he did not choose otherwise for."""
        wishes = (self.chosen, self.setting, self.remembered)
        return next((wish for wish in wishes if wish is not None), False)

    def word(self, session: str | None) -> Word:
        """How it stands with a session, if it is the one that is watched."""
        wanted = self.on if session is None else self.own.get(session, self.on)
        if not wanted:
            return "off"
        return "paused" if self.paused else "on"

    def trail(self, session: str) -> Trail:
        """The trail of a session."""
        return self.trails.setdefault(session, Trail())

    def here(self, session: str) -> Place | None:
        """Where the session's agent is now."""
        trail = self.trails.get(session)
        return None if trail is None else trail.newest

    def set(self, setting: bool | None) -> None:  # noqa: FBT001 -- a value, not a switch
        """The setting was read; one that turned round counts more than an older choice.

        Settings come layer by layer when the server starts, so one that was not there before
        is no reason to forget what was chosen meanwhile.
        """
        if None not in {setting, self.setting} and setting != self.setting:
            self.chosen = None
        self.setting = setting

    def choose(self, *, on: bool, session: str | None = None) -> None:
        """The user wants it so, for one session or for all there are."""
        if session is None:
            self.chosen = on
            self.own.clear()
        else:
            self.own[session] = on
            self.watched = session if on else None
        if on:
            self.resume()

    def pause(self) -> None:
        """The user has gone away, and is to be left there."""
        self.paused = True
        self.wanted = None

    def resume(self) -> None:
        """The user wants to be taken along again."""
        self.paused = False
        self.shown = None

    def acts(self, now_s: float) -> None:
        """The user did something in the editor."""
        self.acted_at_s = now_s

    def wait_s(self, now_s: float) -> float:
        """How long it is until the editor may be moved, if the user does nothing more."""
        idle_s = self.acted_at_s + self.idle_s - now_s
        return max(idle_s, self.moved_at_s + MOVE_EVERY_S - now_s, 0.0)
