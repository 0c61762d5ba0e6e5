"""How a scripted agent's user logs in: by the agent, by a program, by variables.

Invariant: a login is over once; its request is answered then, whatever else goes on.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing.lines import Refusal
from acpls.testing.turns import Session, Turn

if TYPE_CHECKING:
    from acpls.testing.shapes import Json
    from acpls.testing.turns import Agent

_ONE: Json = {"id": "login", "name": "Log in"}


class Logins:
    """The logins of one script, in the words of ``acpls.testing.script``."""

    def __init__(self, script: Json, agent: Agent | None = None) -> None:
        told = script.get("initialize", {}).get("login", False)
        wanted: Json = {"methods": [_ONE]} if told is True else told or {"needed_for": []}
        self._agent = agent
        self._methods: list[Json] = wanted.get("methods", [_ONE] if told else [])
        self._needed_for: list[str] = wanted.get("needed_for", ["session/new"])
        self._kept_in = Path(wanted["kept_in"]) if "kept_in" in wanted else None
        self._is_in = False
        self._running: dict[Any, Turn] = {}

    # --- what is said of them ------------------------------------------------------------

    def shapes(self, version: int) -> list[Json]:
        """The ways to log in, for the result of ``initialize``."""
        return [_shape(version, each) for each in self._methods]

    def check(self, method: str) -> None:
        """Raises ``Refusal`` for a method that needs a login, where there is none."""
        if method in self._needed_for and not self._logged_in():
            raise Refusal(-32000, "Authentication required")

    def _logged_in(self) -> bool:
        kept = self._kept_in is not None and self._kept_in.exists()
        variables = [m["variables"] for m in self._methods if m.get("variables")]
        return self._is_in or kept or any(all(v in os.environ for v in vs) for vs in variables)

    # --- in and out ----------------------------------------------------------------------

    def log_in(self, number: Any, params: Json) -> None:
        """A request to log in; it is answered when the method's steps are through."""
        method = self._method(params.get("methodId"))
        if method is None or method.get("kind", "agent") != "agent":
            raise Refusal(-32602, "Invalid params: methodId")
        assert self._agent is not None
        turn = Turn(self._agent, Session("", Path.cwd()))
        turn.request = number
        self._running[number] = turn
        args = (number, turn, method.get("steps", []))
        threading.Thread(target=self._run, args=args, daemon=True).start()

    def _run(self, number: Any, turn: Turn, steps: list[Any]) -> None:
        assert self._agent is not None
        end = turn.play(steps)
        del self._running[number]
        if end.error is not None:
            message = {"jsonrpc": "2.0", "id": number, "error": end.error}
            self._agent.wire.send(message)
        elif end.stop_reason == "cancelled":
            self._agent.wire.refuse(number, Refusal(-32800, "Request cancelled"))
        else:
            self._keep()
            self._agent.wire.answer(number, {})

    def withdrawn(self, number: Any) -> None:
        """The client no longer waits for the answer to a request."""
        turn = self._running.get(number)
        if turn is not None:
            turn.cancel()

    def log_out(self, _params: Json) -> Json:
        """A request to log out."""
        self._is_in = False
        if self._kept_in is not None:
            self._kept_in.unlink(missing_ok=True)
        return {}

    def in_terminal(self, method: str) -> int:
        """The user runs the login's program. Returns its exit code."""
        spoken = self._method(method)
        if spoken is None or spoken.get("kind") != "terminal":
            return 2
        if not spoken.get("fails", 0):
            self._keep()
        return int(spoken.get("fails", 0))

    def _keep(self) -> None:
        self._is_in = True
        if self._kept_in is not None:
            self._kept_in.touch()

    def _method(self, key: Any) -> Json | None:
        return next((m for m in self._methods if m["id"] == key), None)


def _shape(version: int, spoken: Json) -> Json:
    kind = spoken.get("kind", "agent")
    shape: Json = {"id" if version == 1 else "methodId": spoken["id"], "name": spoken["name"]}
    if version != 1 or kind != "agent":
        shape["type"] = kind
    if "description" in spoken:
        shape["description"] = spoken["description"]
    if kind == "terminal":
        env = spoken.get("env", {})
        shape["args"] = ["--login", spoken["id"]]
        shape["env"] = env if version == 1 else [{"name": k, "value": v} for k, v in env.items()]
    if "variables" in spoken:
        shape["vars"] = [{"name": name} for name in spoken["variables"]]
    return shape
