"""``acpls demo-agent``: a small deterministic ACP agent, to try the product without a model.

It speaks versions 1 and 2 of the protocol over standard input and output, one JSON object a
line, and ends at the end of its input. What it can be asked for is in ``works``.

Invariant: nothing of the server is imported, and no answer depends on time or chance.
"""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.demo.files import Workspace
from acpls.demo.sessions import Client, Session
from acpls.demo.terms import MODES
from acpls.demo.turn import Turn
from acpls.demo.v1 import Version1
from acpls.demo.v2 import Version2
from acpls.demo.wire import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    UNSUPPORTED_VERSION,
    Fault,
    Wire,
)
from acpls.demo.works import commands, perform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acpls.demo.terms import Json, RequestId, Version

_INFO: Json = {"name": "acpls-demo-agent", "title": "Demo agent", "version": "1.0.0"}
_LAST_WORDS_S = 2.0
"""Seconds that running work has to end in, after the end of input."""


def main(argv: Sequence[str]) -> int:
    """Serve one client until the end of input; ``argv`` is without the program's name."""
    parser = argparse.ArgumentParser(
        prog="acpls demo-agent",
        description="A small ACP agent without a model, for trying things out. "
        "It speaks JSON lines on its standard input and output: let an editor start it.",
    )
    parser.add_argument(
        "--protocol",
        choices=("1", "2", "auto"),
        default="auto",
        help="the version to speak (auto: 2 if the client asks for it, else 1)",
    )
    protocol = parser.parse_args(argv).protocol
    if sys.stdin.isatty():
        sys.stderr.write("acpls demo-agent waits for an ACP client on its standard input.\n")
    supported = (1, 2) if protocol == "auto" else (int(protocol),)
    # Unbuffered, so that nothing is left to be flushed when the client is gone before us.
    with open(sys.stdout.fileno(), "wb", buffering=0, closefd=False) as sink:
        try:
            Agent(Wire(sys.stdin.buffer, sink), supported).serve()
        except KeyboardInterrupt:
            return 130
    return 0


class Agent:
    """The agent's side of one connection."""

    def __init__(self, wire: Wire, supported: Sequence[int]) -> None:
        self._wire = wire
        self._supported = supported
        self._version: Version | None = None
        self._settled = False
        self._client = Client()
        self._sessions: dict[str, Session] = {}
        self._count = 0
        self._commands = commands()

    def serve(self) -> None:
        """Answer messages until there are none left; then end all work."""
        for message in self._wire.incoming():
            method = message.get("method")
            if isinstance(method, str) and "id" in message:
                self._answer(message["id"], method, message.get("params"))
            elif isinstance(method, str):
                self._heed(method, message.get("params"))
            elif "id" in message and ("result" in message or "error" in message):
                self._wire.replied(message)
            else:
                self._wire.fail(None, Fault(INVALID_REQUEST, "This is not a JSON-RPC message."))
        for session in self._sessions.values():
            self._end_work(session)

    def _heed(self, method: str, params: object) -> None:
        # Other notifications are unknown, or need nothing (``$/cancel_request``: every
        # request but the prompt is answered before the next message is read).
        if method == "session/cancel" and isinstance(params, dict):
            session = self._sessions.get(str(params.get("sessionId")))
            if session:
                self._cancel(session)

    def _answer(self, request: RequestId, method: str, params: object) -> None:
        if isinstance(request, bool) or not isinstance(request, int | str | None):
            self._wire.fail(None, Fault(INVALID_REQUEST, "An id is a whole number or a string."))
            return
        try:
            result, updates = self._result(request, method, _object(params))
        except Fault as fault:
            self._wire.fail(request, fault)
            return
        except Exception as error:  # noqa: BLE001  a bug must not end the connection
            self._wire.fail(request, Fault(INTERNAL_ERROR, f"The demo agent failed: {error!r}"))
            return
        if result is not None:
            self._wire.reply(request, result)
        for session, update in updates:
            self._wire.tell("session/update", {"sessionId": session, "update": update})

    def _result(
        self, request: RequestId, method: str, params: Json
    ) -> tuple[Json | None, list[tuple[str, Json]]]:
        """The result (``None``: it comes later), and the updates right after it."""
        if method == "initialize":
            return self._initialize(params), []
        version = self._version
        if version is None:
            raise Fault(INVALID_REQUEST, "`initialize` comes first.")
        self._settled = True
        if method == "session/new":
            session, result = self._new(version, params)
            return result, [(session, one) for one in version.greeting(self._commands)]
        if method == "session/prompt":
            self._prompt(version, request, params)
            return None, []
        return self._others(version).get(method, _unknown(method))(params), []

    def _others(self, version: Version) -> dict[str, Callable[[Json], Json]]:
        methods: dict[str, Callable[[Json], Json]] = {
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/resume": lambda params: self._resume(version, params),
            "session/set_config_option": lambda params: self._set_option(version, params),
        }
        if version.number == 1:
            return methods | {
                "session/load": lambda params: self._load(version, params),
                "session/set_mode": self._set_mode,
            }
        return methods | {
            "tool_call/cancel": lambda params: self._cancel_one(params, "toolCallId"),
            "terminal/cancel": lambda params: self._cancel_one(params, "terminalId"),
        }

    # --- the connection -----------------------------------------------------------------

    def _initialize(self, params: Json) -> Json:
        if self._settled:
            raise Fault(INVALID_REQUEST, "`initialize` cannot be repeated after other requests.")
        asked = params.get("protocolVersion")
        if not isinstance(asked, int) or isinstance(asked, bool):
            raise Fault(INVALID_PARAMS, "`protocolVersion` must be a whole number.")
        number = max((one for one in self._supported if one <= asked), default=None)
        if number is None:
            data = {"requested": asked, "supported": list(self._supported)}
            raise Fault(UNSUPPORTED_VERSION, f"Version {asked} is not spoken here.", data)
        if number > 1 and not isinstance(params.get("info"), dict):
            raise Fault(INVALID_PARAMS, "`info` is required in version 2.")
        self._version = Version1(_INFO) if number == 1 else Version2(_INFO)
        self._client = _offered(params, number)
        return self._version.initialized()

    # --- sessions -----------------------------------------------------------------------

    def _new(self, version: Version, params: Json) -> tuple[str, Json]:
        cwd = _text(params, "cwd")
        if not Path(cwd).is_absolute():
            raise Fault(INVALID_PARAMS, "`cwd` must be an absolute path.")
        if not Path(cwd).is_dir():
            raise Fault(INVALID_PARAMS, f"`cwd` is not a folder: {cwd}")
        if version.number == 1 and not isinstance(params.get("mcpServers"), list):
            raise Fault(INVALID_PARAMS, "`mcpServers` must be an array.")
        self._count += 1
        session = Session(f"demo-{self._count}", cwd, Workspace(Path(cwd)))
        self._sessions[session.id] = session
        return session.id, {"sessionId": session.id} | self._facts(version, session)

    def _facts(self, version: Version, session: Session) -> Json:
        return version.session(session.choices, self._commands)

    def _list(self, params: Json) -> Json:
        cwd = params.get("cwd")
        return {
            "sessions": [
                {"sessionId": one.id, "cwd": one.cwd} | ({"title": one.title} if one.title else {})
                for one in self._sessions.values()
                if cwd in {None, one.cwd}
            ]
        }

    def _close(self, params: Json) -> Json:
        session = self._known(params)
        self._end_work(session)
        session.active = False
        return {}

    def _delete(self, params: Json) -> Json:
        session = self._known(params)
        self._end_work(session)
        del self._sessions[session.id]
        return {}

    def _load(self, version: Version, params: Json) -> Json:
        session = self._reopened(params)
        self._replay(session)
        return self._facts(version, session)

    def _resume(self, version: Version, params: Json) -> Json:
        session = self._reopened(params)
        start = params.get("replayFrom")
        if version.number > 1 and isinstance(start, dict):
            if start.get("type") != "start":
                raise Fault(INVALID_PARAMS, "A replay can only begin at the start.")
            self._replay(session)
            self._tell(session, {"sessionUpdate": "replay_complete"})
        for update in version.states("running" if session.turn else "idle"):
            self._tell(session, update)
        return self._facts(version, session)

    def _reopened(self, params: Json) -> Session:
        session = self._known(params)
        if _text(params, "cwd") != session.cwd:
            raise Fault(INVALID_PARAMS, f"`cwd` of this session is {session.cwd}")
        session.active = True
        return session

    def _replay(self, session: Session) -> None:
        for update in list(session.history):
            self._tell(session, update)

    def _set_mode(self, params: Json) -> Json:
        session = self._active(params)
        mode = _text(params, "modeId")
        if mode not in {known for known, _, _ in MODES}:
            raise Fault(INVALID_PARAMS, f"There is no mode `{mode}`.")
        session.choices.mode = mode
        return {}

    def _set_option(self, version: Version, params: Json) -> Json:
        session = self._active(params)
        option, value = _text(params, "configId"), _text(params, "value")
        if version.number > 1 and params.get("type") != "id":
            raise Fault(INVALID_PARAMS, '`type` must be "id" for this option.')
        if value not in version.settable().get(option, ()):
            raise Fault(INVALID_PARAMS, f"`{option}` cannot be set to `{value}`.")
        setattr(session.choices, option, value)
        return {"configOptions": version.options(session.choices)}

    def _known(self, params: Json) -> Session:
        name = _text(params, "sessionId")
        session = self._sessions.get(name)
        if session is None:
            raise Fault(NOT_FOUND, f"There is no session `{name}`.", {"sessionId": name})
        return session

    def _active(self, params: Json) -> Session:
        session = self._known(params)
        if not session.active:
            data = {"sessionId": session.id}
            raise Fault(NOT_FOUND, f"The session `{session.id}` is closed.", data)
        return session

    def _tell(self, session: Session, update: Json) -> None:
        self._wire.tell("session/update", {"sessionId": session.id, "update": update})

    # --- turns --------------------------------------------------------------------------

    def _prompt(self, version: Version, request: RequestId, params: Json) -> None:
        session = self._active(params)
        prompt = _blocks(params.get("prompt"))
        with self._wire.changed:
            if session.turn:
                session.held.append((request, prompt))
                return
            session.turn = Turn(self._wire, version, self._client, session, request, prompt)
        session.worker = threading.Thread(
            target=self._work, args=(version, session, session.turn), daemon=True
        )
        session.worker.start()

    def _work(self, version: Version, session: Session, first: Turn) -> None:
        turn: Turn | None = first
        while turn:
            finish = turn.live(perform)
            # In one step with the last message, so that whoever has read it finds us idle.
            with self._wire.changed:
                turn = None
                if session.held:
                    request, prompt = session.held.popleft()
                    turn = Turn(self._wire, version, self._client, session, request, prompt)
                session.turn = turn
                finish()

    def _cancel(self, session: Session) -> None:
        with self._wire.changed:
            held = list(session.held)
            session.held.clear()
            turn = session.turn
        for request, _ in held:
            if self._version and self._version.number == 1:
                self._wire.reply(request, {"stopReason": "cancelled"})
            else:
                self._wire.fail(request, Fault(CANCELLED, "The prompt was cancelled."))
        if turn:
            turn.stop()

    def _cancel_one(self, params: Json, key: str) -> Json:
        session = self._active(params)
        name = _text(params, key)
        cancel = session.turn.cancels.get(name) if session.turn else None
        if cancel is None:
            raise Fault(INVALID_PARAMS, f"`{name}` cannot be cancelled.")
        cancel()
        return {}

    def _end_work(self, session: Session) -> None:
        self._cancel(session)
        if session.worker:
            session.worker.join(_LAST_WORDS_S)


def _unknown(method: str) -> Callable[[Json], Json]:
    def refuse(params: Json) -> Json:
        del params
        raise Fault(METHOD_NOT_FOUND, f"There is no method `{method}` here.")

    return refuse


def _offered(params: Json, number: int) -> Client:
    offered = _member(params, "clientCapabilities" if number == 1 else "capabilities")
    forms = isinstance(_member(offered, "elicitation").get("form"), dict)
    if number > 1:
        return Client(forms=forms)
    files = _member(offered, "fs")
    return Client(
        reads=files.get("readTextFile") is True,
        writes=files.get("writeTextFile") is True,
        terminals=offered.get("terminal") is True,
        forms=forms,
    )


def _member(of: Json, key: str) -> Json:
    value = of.get(key)
    return value if isinstance(value, dict) else {}


def _object(params: object) -> Json:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise Fault(INVALID_PARAMS, "`params` must be an object.")
    return params


def _text(params: Json, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise Fault(INVALID_PARAMS, f"`{key}` must be a string.")
    return value


def _blocks(prompt: Any) -> list[Json]:
    if not isinstance(prompt, list) or not prompt:
        raise Fault(INVALID_PARAMS, "`prompt` must be an array of content blocks.")
    for block in prompt:
        kind = block.get("type") if isinstance(block, dict) else None
        needed = {"text": "text", "resource_link": "uri", "resource": "resource"}.get(str(kind))
        wanted = dict if kind == "resource" else str
        if needed is None or not isinstance(block.get(needed), wanted):
            raise Fault(INVALID_PARAMS, f"A content block of type {kind!r} is not understood here.")
    return list(prompt)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
