"""What the demo agent remembers of a session and of its client.

Invariant: ids are counted, never drawn, so that a conversation can be repeated.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acpls.demo.terms import Choices

if TYPE_CHECKING:
    import threading

    from acpls.demo.files import Workspace
    from acpls.demo.terms import Json, RequestId
    from acpls.demo.turn import Turn


@dataclass(frozen=True, slots=True)
class Client:
    """What the client offers; all but ``forms`` is of version 1 only."""

    reads: bool = False
    writes: bool = False
    terminals: bool = False
    forms: bool = False


@dataclass(slots=True)
class Session:
    """A conversation. ``held`` are prompts that wait for the running turn to end."""

    id: str
    cwd: str
    workspace: Workspace
    choices: Choices = field(default_factory=Choices)
    title: str | None = None
    active: bool = True
    history: list[Json] = field(default_factory=list)
    characters: int = 0
    turn: Turn | None = None
    worker: threading.Thread | None = None
    held: deque[tuple[RequestId, list[Json]]] = field(default_factory=deque)
    _counts: dict[str, int] = field(default_factory=dict)

    def count(self, word: str) -> str:
        """The next id of a kind of thing: ``call-1``, ``call-2``, and so on."""
        self._counts[word] = self._counts.get(word, 0) + 1
        return f"{word}-{self._counts[word]}"
