"""What the dialect of ACP 1 keeps in mind of a session.

Modes and models, which version 1 has beside options, become options here, unless the
agent offers a real option for the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from acpls.client import lift_session
from acpls.client.v1_facts import unknown
from acpls.events import SessionTold
from acpls.session.content import Choice, Option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acpls.client.lift_session import AnyOption
    from acpls.events import AgentEvent
    from acpls.session.asks import AgentFacts
    from acpls.session.content import Json
    from acpls.session.updates import Role, TurnChanged, Update
    from acpls.wire import v1 as wire

MODE: Final = "mode"
MODEL: Final = "model"


@dataclass(slots=True)
class SessionState:
    """One session. ``turn``: the state told last; ``prompting``: a prompt is open;
    ``awaiting``: and the agent has not begun to answer it. ``muted``: what it tells was
    said before, in a time that nobody asked to hear again.
    """

    cwd: str | None = None
    turn: str = "idle"
    prompting: bool = False
    awaiting: bool = False
    muted: bool = False
    cost: tuple[float, str] | None = None
    _growing: tuple[Role, str] | None = None
    _ids_made: int = 0
    _tool_calls: set[str] = field(default_factory=set)
    _config: tuple[Option, ...] = ()
    _mode: Option | None = None
    _model: Option | None = None

    # --- messages without ids --------------------------------------------------------

    def message(self, role: Role) -> str:
        """The id of the message that grows; a new one for another role or after a break."""
        if self._growing is None or self._growing[0] != role:
            self._ids_made += 1
            self._growing = (role, f"made-{self._ids_made}")
        return self._growing[1]

    def break_message(self) -> None:
        """What grows next is another message."""
        self._growing = None

    def saw_tool_call(self, tool_call: str) -> None:
        """A tool call was told of; a new one breaks the message."""
        if tool_call not in self._tool_calls:
            self._tool_calls.add(tool_call)
            self.break_message()

    # --- options ---------------------------------------------------------------------

    def options(self) -> tuple[Option, ...]:
        """All options, those made from modes and models at the end."""
        return (*self._config, *self._made())

    def made(self, option: str) -> bool:
        """Whether this option was made from modes or models."""
        return any(x.option == option for x in self._made())

    def mode_option(self) -> str:
        """The option that the session's mode is shown as."""
        return next((x.option for x in self.options() if x.category == MODE), MODE)

    def set_config(self, options: Iterable[AnyOption]) -> None:
        """The agent gave its complete list of options."""
        self._config = lift_session.options(options)

    def set_modes(self, modes: wire.SessionModeState) -> None:
        """The agent gave its modes."""
        choices = tuple(Choice(x.id, x.name, x.description) for x in modes.available_modes)
        self._mode = Option(MODE, "Mode", "select", modes.current_mode_id, choices, MODE)

    def set_models(self, models: wire.SessionModelState) -> None:
        """The agent gave its models."""
        choices = tuple(Choice(x.model_id, x.name, x.description) for x in models.available_models)
        self._model = Option(MODEL, "Model", "select", models.current_model_id, choices, MODEL)

    def chose(self, option: str, value: str) -> None:
        """The mode or the model is another one now."""
        if option == MODE and self._mode is not None:
            self._mode = replace(self._mode, value=value)
        elif option == MODEL and self._model is not None:
            self._model = replace(self._model, value=value)

    def _made(self) -> tuple[Option, ...]:
        categories = {x.category for x in self._config}
        taken = {x.option for x in self._config}
        return tuple(
            x
            for x in (self._mode, self._model)
            if x is not None and x.category not in categories and x.option not in taken
        )


class AgentState:
    """The agent that the bridge calls ``name``: what it can do, and its sessions.

    ``resumes``: it has ``session/resume``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: AgentFacts = unknown(name)
        self.resumes = False
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

    def folder(self, session: str) -> str | None:
        """Where relative paths of the session begin."""
        state = self._sessions.get(session)
        return None if state is None else state.cwd

    def tell(self, session: str, *told: Update, raw: Json | None = None) -> tuple[AgentEvent, ...]:
        """The events of updates; ``raw`` is what they were made from."""
        return tuple(SessionTold(self.name, session, x, raw) for x in told)

    def turn(self, session: str, change: TurnChanged) -> tuple[AgentEvent, ...]:
        """The session's state is another one now."""
        self.session(session).turn = change.state
        return self.tell(session, change)

    def ended(self, session: str, change: TurnChanged) -> tuple[AgentEvent, ...]:
        """A prompt was answered."""
        state = self.session(session)
        state.prompting = state.awaiting = False
        state.break_message()
        return self.turn(session, replace(change, final=True))
