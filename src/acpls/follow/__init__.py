"""Where agents are, the last places before that, and whether the editor goes along."""

from __future__ import annotations

from acpls.follow.following import MOVE_EVERY_S, Follow, Word
from acpls.follow.hints import Hint, hints
from acpls.follow.places import Place, placed
from acpls.follow.trail import TRAIL_LENGTH, Trail

__all__ = [
    "MOVE_EVERY_S",
    "TRAIL_LENGTH",
    "Follow",
    "Hint",
    "Place",
    "Trail",
    "Word",
    "hints",
    "placed",
]
