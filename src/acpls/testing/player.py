"""What a scripted agent answers: the handshake, sessions, settings, and prompts.

Invariant: prompts, logins and cancels are taken by the reading thread, in the order of the wire;
everything else may wait behind another request.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing import shapes
from acpls.testing.lines import Refusal
from acpls.testing.logins import Logins
from acpls.testing.sessions import Sessions, need
from acpls.testing.turns import Agent, Session, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acpls.testing.shapes import Json

NO_ANSWER = object()


class Player:
    """Answers the client's messages, and starts the turns."""

    def __init__(self, agent: Agent, protocol: str) -> None:
        self._agent = agent
        self._script = agent.script
        self._protocol = protocol
        self._logins = Logins(agent.script, agent)
        self._sessions = Sessions(agent)
        self._prompts = 0
        self._ready = False
        self._served = False

    # --- on the reading thread -------------------------------------------------------

    def at_once(self, message: Json) -> bool:
        """Takes what must not wait behind other requests: prompts, logins and cancels."""
        method = message["method"]
        params = message.get("params") or {}
        self._agent.note(method)
        if method == "session/cancel" and "id" not in message:
            self._sessions.cancel(params.get("sessionId"))
            return True
        if method == "$/cancel_request":
            self._logins.withdrawn(params.get("requestId"))
            return True
        login = "authenticate" if self._agent.version == 1 else "auth/login"
        calls = {"session/prompt": self._prompt}
        if self._ready:
            # It may be withdrawn at any time.
            calls[login] = self._logins.log_in
        if method in calls and "id" in message:
            try:
                calls[method](message["id"], params)
            except Refusal as refusal:
                self._agent.wire.refuse(message["id"], refusal)
            return True
        return False

    def _prompt(self, number: Any, params: Json) -> None:
        self._logins.check("session/prompt")
        session = self._sessions.of(params)
        blocks = need(params, "prompt", list)
        if not blocks or not all(isinstance(b, dict) and "type" in b for b in blocks):
            raise Refusal(-32602, "Invalid params: prompt")
        turns = self._script.get("turns") or [[]]
        steps = turns[min(self._prompts, len(turns) - 1)]
        self._prompts += 1
        self._served = True
        turn = Turn(self._agent, session, partial(self._take, number, blocks))
        session.turns.append(turn)
        args = (number, turn, steps, session.last)
        session.last = threading.Thread(target=self._run, args=args, daemon=True)
        session.last.start()

    # --- on the thread of a turn -----------------------------------------------------

    def _run(
        self, number: Any, turn: Turn, steps: Sequence[Any], last: threading.Thread | None
    ) -> None:
        if last is not None:
            last.join()
        end = turn.play(steps)
        two = self._agent.version != 1
        held = two and not turn.taken
        if held and end.error is None and end.stop_reason != "cancelled":
            turn.begin()
            held = False
        turn.session.turns.remove(turn)
        if held and end.error is None:
            self._agent.wire.refuse(number, Refusal(-32800, "Request cancelled"))
        elif end.error is not None and (held or not two):
            message = {"jsonrpc": "2.0", "id": number, "error": end.error}
            self._agent.wire.send(message)
        elif two:
            fields = {} if end.error is None else {"error": end.error}
            turn.set_state("idle", stopReason=end.stop_reason, **fields)
        else:
            self._agent.wire.answer(number, {"stopReason": end.stop_reason})

    def _take(self, number: Any, blocks: list[Json], turn: Turn) -> None:
        if self._agent.version == 1:
            # It is not told now, but whenever the session is told again.
            for block in blocks:
                turn.session.note({"sessionUpdate": "user_message_chunk", "content": block})
            return
        message = f"{turn.session.key}-prompt-{turn.since}"
        for word in self._script.get("prompt", ["echo", "answer", "state"]):
            if word == "echo":
                update = {"sessionUpdate": "user_message", "messageId": message}
                turn.update({**update, "content": blocks})
            elif word == "answer":
                self._agent.wire.answer(number, {"messageId": message})
            else:
                turn.set_state("running")

    # --- on the main thread ----------------------------------------------------------

    def start(self) -> None:
        """Runs the steps that come before the first message."""
        nowhere = Session("", Path.cwd())
        Turn(self._agent, nowhere).play(self._script.get("start", []))

    def handle(self, message: Json) -> None:
        """One message that may wait."""
        if "id" not in message:
            return
        try:
            result = self._result(message["method"], message.get("params"))
        except Refusal as refusal:
            self._agent.wire.refuse(message["id"], refusal)
            return
        if result is NO_ANSWER:
            return
        self._agent.wire.answer(message["id"], result)
        self._sessions.tell_rest()
        if message["method"] == "session/new":
            self._sessions.opened(result["sessionId"])

    def _result(self, method: str, params: Any) -> Any:
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise Refusal(-32602, "Invalid params")
        if method == "initialize":
            return self._initialize(params)
        if not self._ready:
            raise Refusal(-32600, "Not initialized")
        self._served = True
        call = self._methods().get(method)
        if call is None:
            raise Refusal(-32601, f"Method not found: {method}")
        self._logins.check(method)
        return call(params)

    def _methods(self) -> Mapping[str, Callable[[Json], Any]]:
        sessions = self._sessions
        shared = {
            "session/new": sessions.new,
            "session/resume": sessions.resume,
            "session/fork": sessions.fork,
            "session/list": sessions.list,
            "session/close": sessions.close,
            "session/delete": sessions.delete,
            "session/set_title": sessions.set_title,
            "session/set_config_option": sessions.set_option,
        }
        if self._agent.version == 1:
            return shared | {
                "logout": self._logins.log_out,
                "session/load": sessions.load,
                "session/set_mode": sessions.set_mode,
            }
        return shared | {"auth/logout": self._logins.log_out}

    def _initialize(self, params: Json) -> Any:
        asked = need(params, "protocolVersion", int)
        manners = self._script.get("initialize", {}).get("manners", [])
        two = asked >= 2
        if self._ready and "refuse_again" in manners:
            raise Refusal(-32600, "Already initialized")
        if (
            "hang" in manners
            or (two and "hang_on_2" in manners)
            or (self._ready and "hang_again" in manners)
        ):
            return NO_ANSWER
        if two and "die_on_2" in manners:
            os._exit(3)
        if two and "error_on_2" in manners:
            raise Refusal(-32603, "Internal error", "unexpected protocol version")
        if two and "unsupported_2" in manners:
            raise _unsupported(asked, [1])
        says_2 = "v1_shape_says_2" in manners
        version = 1 if says_2 else self._version(asked)
        if version != 1:
            info = need(params, "info", dict)
            need(info, "name", str)
            need(info, "version", str)
        self._ready = True
        self._agent.version = version
        offers = params.get("clientCapabilities" if version == 1 else "capabilities")
        self._agent.offers = offers or {}
        told = self._script.get("initialize", {})
        result = shapes.initialize_result(version, told.get("offers", []))
        result["authMethods"] = self._logins.shapes(version)
        if says_2 and two:
            result["protocolVersion"] = asked
        return _laid_over(result, told.get("override", {}))

    def _version(self, asked: int) -> int:
        if self._protocol == "1":
            return 1
        supported = [2] if self._protocol == "2" else [1, 2]
        if asked < supported[0]:
            raise _unsupported(asked, supported)
        version = min(asked, 2)
        if self._ready and (self._served or version < self._agent.version):
            raise Refusal(-32600, "Already initialized")
        return version


def _unsupported(asked: int, supported: list[int]) -> Refusal:
    detail = {"requested": asked, "supported": supported}
    return Refusal(-32022, "Unsupported protocol version", detail)


def _laid_over(base: Json, over: Json) -> Json:
    merged = dict(base)
    for name, value in over.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = _laid_over(merged[name], value)
        else:
            merged[name] = value
    return merged
