"""What a scripted agent answers: the handshake, sessions, settings, and prompts.

Invariant: prompts and cancels are taken by the reading thread, in the order of the wire;
everything else may wait behind another request.
"""

from __future__ import annotations

import json
import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing import shapes
from acpls.testing.lines import Refusal
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
        self._sessions: dict[str, Session] = {}
        self._count = 0
        self._prompts = 0
        self._ready = False
        self._served = False
        self._logged_in = not self._script.get("initialize", {}).get("login", False)

    # --- on the reading thread -------------------------------------------------------

    def at_once(self, message: Json) -> bool:
        """Takes what must not wait behind other requests: prompts and cancels."""
        method = message["method"]
        params = message.get("params") or {}
        self._agent.note(method)
        if method == "session/cancel" and "id" not in message:
            session = self._sessions.get(params.get("sessionId", ""))
            for turn in list(session.turns) if session else []:
                turn.cancel()
            return True
        if method == "session/prompt" and "id" in message:
            try:
                self._prompt(message["id"], params)
            except Refusal as refusal:
                self._agent.wire.refuse(message["id"], refusal)
            return True
        return False

    def _prompt(self, number: Any, params: Json) -> None:
        session = self._session(params)
        blocks = _need(params, "prompt", list)
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
        if message["method"] == "session/new":
            self._opened(self._sessions[result["sessionId"]])

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
        return call(params)

    def _methods(self) -> Mapping[str, Callable[[Json], Any]]:
        shared = {
            "session/new": self._new,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._close,
            "session/set_config_option": self._set_option,
        }
        if self._agent.version == 1:
            return shared | {
                "authenticate": self._log_in,
                "session/load": self._load,
                "session/set_mode": self._set_mode,
            }
        return shared | {"auth/login": self._log_in}

    def _initialize(self, params: Json) -> Any:
        asked = _need(params, "protocolVersion", int)
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
            info = _need(params, "info", dict)
            _need(info, "name", str)
            _need(info, "version", str)
        self._ready = True
        self._agent.version = version
        offers = params.get("clientCapabilities" if version == 1 else "capabilities")
        self._agent.offers = offers or {}
        login = bool(self._script.get("initialize", {}).get("login"))
        result = shapes.initialize_result(version, login=login)
        if says_2 and two:
            result["protocolVersion"] = asked
        return _laid_over(result, self._script.get("initialize", {}).get("override", {}))

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

    def _new(self, params: Json) -> Json:
        if not self._logged_in:
            raise Refusal(-32000, "Authentication required")
        cwd = _folder(params)
        if self._agent.version == 1:
            _need(params, "mcpServers", list)
        told = self._script.get("session", {})
        self._count += 1
        key = told.get("id", "session") + (f"-{self._count}" if self._count > 1 else "")
        # Each session has settings of its own.
        own = json.loads(json.dumps(told))
        session = Session(key, cwd, options=own.get("options", []), modes=own.get("modes"))
        self._sessions[key] = session
        end = Turn(self._agent, session).play(told.get("before", []))
        if end.error is not None:
            del self._sessions[key]
            raise Refusal(end.error["code"], end.error["message"], end.error.get("data"))
        return {"sessionId": key, **self._settings(session)}

    def _settings(self, session: Session) -> Json:
        told = self._script.get("session", {})
        version = self._agent.version
        shape: Json = {}
        if version == 1 and session.modes:
            modes = session.modes
            shape["modes"] = {
                "currentModeId": modes["current"],
                "availableModes": modes["available"],
            }
        if "options" in told or (session.modes and version != 1):
            shape["configOptions"] = session.config(version)
        if "commands" in told and version != 1:
            shape["availableCommands"] = [shapes.command(version, c) for c in told["commands"]]
        return shape

    def _opened(self, session: Session) -> None:
        told = self._script.get("session", {})
        steps = [{"commands": told["commands"]}] if "commands" in told else []
        first = steps if self._agent.version == 1 else []
        Turn(self._agent, session).play([*first, *told.get("after", [])])

    def _load(self, params: Json) -> Json:
        session = self._session(params)
        _folder(params)
        _need(params, "mcpServers", list)
        self._replay(session)
        return self._settings(session)

    def _resume(self, params: Json) -> Json:
        session = self._session(params)
        _folder(params)
        if self._agent.version != 1:
            if params.get("replayFrom") is not None:
                self._replay(session)
                Turn(self._agent, session).update({"sessionUpdate": "replay_complete"})
            state = "running" if session.turns else "idle"
            Turn(self._agent, session).set_state(state)
        return self._settings(session)

    def _replay(self, session: Session) -> None:
        told, session.history = session.history, []
        for update in told:
            if update.get("sessionUpdate") not in ("state_update", "replay_complete", "notice"):
                Turn(self._agent, session).update(update)

    def _list(self, _params: Json) -> Json:
        sessions = [{"sessionId": s.key, "cwd": str(s.cwd)} for s in self._sessions.values()]
        return {"sessions": sessions}

    def _close(self, params: Json) -> Json:
        session = self._session(params)
        for turn in list(session.turns):
            turn.cancel()
        if session.last is not None:
            session.last.join()
        del self._sessions[session.key]
        return {}

    def _set_option(self, params: Json) -> Json:
        session = self._session(params)
        key = _need(params, "configId", str)
        value = _need(params, "value", (str, bool))
        if self._agent.version != 1 and params.get("type") not in ("id", "boolean"):
            raise Refusal(-32602, "Invalid params: type")
        if self._agent.version != 1 and session.modes and key == "mode":
            spoken = shapes.mode_option(session.modes)
        else:
            spoken = next((each for each in session.options if each["id"] == key), {})
        values = [c if isinstance(c, str) else c["value"] for c in spoken.get("choices", [])]
        if not spoken or (value not in values if values else not isinstance(value, bool)):
            raise Refusal(-32602, "Invalid params: no such option or value")
        turn = Turn(self._agent, session)
        if spoken not in session.options:
            turn.play([{"mode": value}])
        else:
            turn.play([{"set_option": key, "value": value}])
        return {"configOptions": session.config(self._agent.version)}

    def _set_mode(self, params: Json) -> Json:
        session = self._session(params)
        mode = _need(params, "modeId", str)
        if mode not in [each["id"] for each in (session.modes or {}).get("available", [])]:
            raise Refusal(-32602, "Invalid params: modeId")
        Turn(self._agent, session).play([{"mode": mode}])
        return {}

    def _log_in(self, params: Json) -> Json:
        if _need(params, "methodId", str) != "login":
            raise Refusal(-32602, "Invalid params: methodId")
        self._logged_in = True
        return {}

    def _session(self, params: Json) -> Session:
        key = _need(params, "sessionId", str)
        if key not in self._sessions:
            raise Refusal(-32002, "Session not found", {"sessionId": key})
        return self._sessions[key]


def _need(params: Json, name: str, kind: type[Any] | tuple[type[Any], ...]) -> Any:
    if not isinstance(params.get(name), kind):
        raise Refusal(-32602, f"Invalid params: {name}")
    return params[name]


def _folder(params: Json) -> Path:
    cwd = Path(_need(params, "cwd", str))
    if not cwd.is_absolute():
        raise Refusal(-32602, "Invalid params: cwd is not absolute")
    return cwd


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
