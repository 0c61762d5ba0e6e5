"""Plays the steps of a script: what a scripted agent does in one turn, or around it.

Each turn has a thread of its own; waiting in it holds nothing else up. ``session/cancel``
comes in from the reading thread and is taken notice of between steps and in every wait.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing import shapes
from acpls.testing.script import verb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acpls.testing.lines import Sent, Wire
    from acpls.testing.shapes import Json


class TurnEnd(Exception):  # noqa: N818  the way a turn ends, not a failure
    """Ends the turn with a stop reason or an error."""

    def __init__(self, stop_reason: str, error: Json | None = None) -> None:
        super().__init__(stop_reason)
        self.stop_reason = stop_reason
        self.error = error


@dataclass(eq=False)
class Agent:
    """What all turns share: the wire, the version spoken, what the client offers."""

    wire: Wire
    script: Json
    acts: Mapping[str, Callable[[Turn, Json], None]]
    version: int = 2
    offers: Json = field(default_factory=dict)
    ignores_eof: bool = False
    arrived: list[str] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    @property
    def heeds_cancel(self) -> bool:
        """``session/cancel`` ends a turn at its next step."""
        return bool(self.script.get("cancel", "heed") == "heed")

    def note(self, method: str) -> None:
        """A message with this method came in."""
        with self.news:
            self.arrived.append(method)
            self.news.notify_all()


@dataclass(eq=False)
class Session:
    """One session: its folder, settings, what was told in it, and its running turns."""

    key: str
    cwd: Path
    options: list[Json] = field(default_factory=list)
    modes: Json | None = None
    words: dict[str, str] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    history: list[Json] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    last: threading.Thread | None = None
    title: str | None = None
    keep: Callable[[Json], None] | None = None

    def note(self, update: Json) -> None:
        """It is told again whenever the session is; ``keep`` keeps it for the next process."""
        self.history.append(update)
        if self.keep is not None:
            self.keep({"session": self.key, "told": update})

    def config(self, version: int) -> list[Json]:
        """All options in the shape of this version."""
        spoken = list(self.options)
        if version != 1 and self.modes:
            spoken.append(shapes.mode_option(self.modes))
        return [shapes.option(version, each) for each in spoken]


class Turn:
    """The run of one list of steps. ``began`` is called before the first visible one.

    ``request``: the id of the client's request, where the steps are about no session.
    """

    def __init__(
        self, agent: Agent, session: Session, began: Callable[[Turn], None] | None = None
    ) -> None:
        self.agent = agent
        self.session = session
        self.request: Any = None
        self.cancelled = threading.Event()
        self.since = len(agent.arrived)
        self.asks: dict[str, Sent] = {}
        self.branches: list[threading.Thread] = []
        self.branch_ends: list[TurnEnd] = []
        self.messages = 0
        self.run_of: str | None = None
        self._began = began
        self._on_cancel: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def play(self, steps: Sequence[Any]) -> TurnEnd:
        """All steps; says how the turn ended."""
        end = TurnEnd("end_turn")
        try:
            self.steps(steps)
        except TurnEnd as raised:
            end = raised
        for branch in self.branches:
            branch.join()
        if self.branch_ends:
            return self.branch_ends[0]
        if self.cancelled.is_set() and self.agent.heeds_cancel and end.error is None:
            return TurnEnd("cancelled")
        return end

    def begin(self) -> None:
        """The prompt counts as taken from here on."""
        if self._began is not None:
            began, self._began = self._began, None
            began(self)

    @property
    def taken(self) -> bool:
        """``begin`` was called."""
        return self._began is None

    def cancel(self) -> None:
        """``session/cancel`` came in."""
        with self._lock:
            self.cancelled.set()
            calls, self._on_cancel = self._on_cancel, []
        for call in calls:
            call()

    def on_cancel(self, call: Callable[[], None]) -> None:
        """Calls when the turn is cancelled, at once if it was."""
        with self._lock:
            if not self.cancelled.is_set():
                self._on_cancel.append(call)
                return
        call()

    def update(self, update: Json) -> None:
        """Sends one ``session/update``."""
        self.session.note(update)
        params = {"sessionId": self.session.key, "update": update}
        self.agent.wire.notify("session/update", params)

    def set_state(self, state: str, **fields: Any) -> None:
        """Sends the session's state, in ACP 2."""
        if self.agent.version != 1:
            self.update({"sessionUpdate": "state_update", "state": state, **fields})

    def keep(self, step: Json, text: str) -> None:
        """Makes ``text`` available under the word that the step gives."""
        if "into" in step:
            self.session.words[step["into"]] = text

    def resolve(self, path: str) -> Path:
        """A path of the script, made absolute."""
        return Path(shapes.absolute(path, self.session.cwd))

    def steps(self, steps: Sequence[Any], *, heed: bool = True) -> None:
        """Runs steps. With ``heed`` a cancel ends the turn between them."""
        heed = heed and self.agent.heeds_cancel
        for step in steps:
            word = verb(step)
            if heed and self.cancelled.is_set() and word != "wait_cancel":
                raise TurnEnd("cancelled")
            full = {word: None} if isinstance(step, str) else self._filled(step)
            if word not in ("late", "fail"):
                self.begin()
            if word not in ("say", "think", "user"):
                self.run_of = None
            self.agent.acts[word](self, full)

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            for word, text in {"cwd": str(self.session.cwd), **self.session.words}.items():
                value = value.replace(f"{{{word}}}", text)
            return value
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, dict):
            return {key: self._filled(item) for key, item in value.items()}
        return value
