"""Work-done progress: one for each turn, for each agent that starts or logs in, and one for
questions that are about no turn. A turn that waits for the user says so.

The progress of a turn or a login can be cancelled, and what it is of is cancelled then.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from acpls.hub import telling
from acpls.lsp.asking import EditorError, NoAnswer
from acpls.session.content import Text
from acpls.session.state import Message, ToolCall

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from acpls import effects as ef
    from acpls.hub import Hub
    from acpls.lsp.protocol import EditorProtocol
    from acpls.questions import Question
    from acpls.session.state import Session

CREATE_LIMIT_S = 10.0
LINE_LIMIT = 100
WAITING: Final = "Waiting for you: "
# What an agent is shown to be doing, by its state.
_AGENTS: Final = {"starting": "Starting {}", "loggingIn": "Logging in to {}"}


@dataclass(slots=True)
class _Shown:
    """``begun``: the editor took the token. What comes before that waits in ``message``."""

    token: str
    title: str
    cancellable: bool
    begun: bool = False
    ended: bool = False
    message: str = ""


class Progress:
    """The progress that the editor shows of our work."""

    def __init__(self, tasks: TaskGroup, protocol: EditorProtocol, hub: Hub) -> None:
        self._tasks = tasks
        self._protocol = protocol
        self._hub = hub
        self._turns: dict[str, _Shown] = {}
        self._agents: dict[str, _Shown] = {}
        self._questions: _Shown | None = None
        self._numbers = itertools.count(1)

    def session(self, session: Session) -> None:
        """Begin, report or end the progress of a session's turn."""
        shown = self._turns.get(session.key)
        if shown is not None and shown.token != f"acpls-turn-{session.turn}":
            self._end(shown, session.error or session.stop_reason or session.state)
            del self._turns[session.key]
            shown = None
        if session.turn is None or not self._able():
            return
        if shown is None:
            title = self._hub.state.agent(session.agent).title
            shown = _Shown(f"acpls-turn-{session.turn}", title, cancellable=True)
            self._turns[session.key] = shown
            self._tasks.start_soon(self._begin, shown)
        waiting = self._waiting([q for q in self._pending() if q.session == session.key])
        self._report(shown, waiting or _last_line(session))

    def questions(self) -> None:
        """Begin, report or end the progress of the questions that are about no turn."""
        shown, sessions = self._questions, self._hub.state.sessions
        loose = [
            q for q in self._pending() if q.session not in sessions or not sessions[q.session].turn
        ]
        message = self._waiting(loose)
        if message is None:
            if shown is not None:
                self._end(shown, "answered")
            self._questions = None
            return
        if shown is None:
            if not self._able():
                return
            token = f"acpls-questions-{next(self._numbers)}"
            shown = self._questions = _Shown(token, "acpls", cancellable=False)
            self._tasks.start_soon(self._begin, shown)
        self._report(shown, message)

    def _pending(self) -> list[Question]:
        return self._hub.state.questions.pending()

    def _waiting(self, questions: list[Question]) -> str | None:
        """Says which question waits; ``None`` where there is none."""
        if not questions:
            return None
        more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
        limit = LINE_LIMIT - len(WAITING) - len(more)
        return f"{WAITING}{telling.line(self._hub.state, questions[0], limit)}{more}"

    def agent(self, effect: ef.ShowAgent) -> None:
        """Begin, report or end the progress of an agent's start, or of a login."""
        shown = self._agents.get(effect.agent)
        title = _AGENTS.get(effect.state, "").format(effect.agent)
        if shown is not None and shown.title != title:
            del self._agents[effect.agent]
            self._end(shown, effect.message or effect.state)
            shown = None
        if not title:
            return
        if shown is None:
            if not self._able():
                return
            token = f"acpls-agent-{next(self._numbers)}"
            shown = _Shown(token, title, cancellable=effect.state == "loggingIn")
            self._agents[effect.agent] = shown
            self._tasks.start_soon(self._begin, shown)
        if effect.message:
            self._report(shown, effect.message)

    def agent_of(self, token: int | str) -> str | None:
        """The agent whose login's progress has this token."""
        for name, shown in self._agents.items():
            if shown.token == token and shown.cancellable:
                return name
        return None

    def turn_of(self, token: int | str) -> str | None:
        """The key of the session whose turn's progress has this token."""
        for key, shown in self._turns.items():
            if shown.token == token:
                return key
        return None

    def _able(self) -> bool:
        window = self._protocol.client_capabilities.window
        return bool(window is not None and window.work_done_progress)

    async def _begin(self, shown: _Shown) -> None:
        try:
            await self._protocol.ask(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": shown.token}, CREATE_LIMIT_S
            )
        except (NoAnswer, EditorError):
            # Without the editor's word nothing may be sent under the token.
            return
        begin = {"kind": "begin", "title": shown.title, "cancellable": shown.cancellable}
        self._notify(shown, {**begin, "message": shown.message})
        shown.begun = True
        if shown.ended:
            self._end(shown, shown.message)

    def _report(self, shown: _Shown, message: str) -> None:
        if message == shown.message:
            return
        shown.message = message
        if shown.begun:
            self._notify(shown, {"kind": "report", "message": message})

    def _end(self, shown: _Shown, message: str) -> None:
        shown.ended, shown.message = True, message
        if shown.begun:
            self._notify(shown, {"kind": "end", "message": message})

    def _notify(self, shown: _Shown, value: dict[str, Any]) -> None:
        self._protocol.notify(types.PROGRESS, {"token": shown.token, "value": value})


def _last_line(session: Session) -> str:
    """The last line that the agent said, or the title of what it does now."""
    if session.stopping:
        return "stopping"
    for entry in reversed(session.entries.values()):
        match entry:
            case Message(role="user"):
                return "thinking"
            case Message(blocks=blocks):
                # The end is enough: the text may be long, and this is asked for often.
                tail = "".join(
                    block.text[-2 * LINE_LIMIT :]
                    for block in blocks[-2 * LINE_LIMIT :]
                    if isinstance(block, Text)
                ).strip()
                if tail:
                    return tail.rsplit("\n", 1)[-1][-LINE_LIMIT:]
            case ToolCall(title=title) if title:
                return title[:LINE_LIMIT]
            case _:
                pass
    return ""
