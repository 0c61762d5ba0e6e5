"""The sessions of a scripted agent: opened, opened again, copied, listed, closed, set.

Invariant: a session that is not open in this process takes no prompt, though it may be kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acpls.testing import shapes
from acpls.testing.lines import Refusal
from acpls.testing.turns import Session, Turn

if TYPE_CHECKING:
    from acpls.testing.shapes import Json
    from acpls.testing.turns import Agent


class Sessions:
    """All sessions of one agent; with ``kept_in`` those of processes before it too.

    ``afterwards``: updates that follow the answer to the request at hand, by its session.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._script: Json = agent.script.get("session", {})
        self._manners = agent.script.get("initialize", {}).get("manners", [])
        self._open: dict[str, Session] = {}
        self._kept: dict[str, Session] = {}
        self._file = Path(self._script["kept_in"]) if "kept_in" in self._script else None
        self._count = 0
        self.afterwards: list[tuple[Session, list[Json]]] = []
        if self._file is not None and self._file.exists():
            self._recall(self._file)

    def of(self, params: Json) -> Session:
        """The open session that a request names. Raises ``Refusal``."""
        key = need(params, "sessionId", str)
        if key not in self._open:
            raise Refusal(-32002, "Session not found", {"sessionId": key})
        return self._open[key]

    def cancel(self, key: Any) -> None:
        """``session/cancel`` came in; for a session that is not open it means nothing."""
        session = self._open.get(key)
        for turn in list(session.turns) if session else []:
            turn.cancel()

    # --- opened ----------------------------------------------------------------------

    def new(self, params: Json) -> Json:
        """``session/new``."""
        session = self._made(params)
        self._play_first(session, "before")
        return self._begun(session)

    def fork(self, params: Json) -> Json:
        """``session/fork``."""
        source = self._known(params)
        session = self._made(params)
        self._play_first(session, "again")
        session.title = source.title
        session.history = list(source.history)
        return self._begun(session)

    def _made(self, params: Json) -> Session:
        cwd = _folder(params)
        if self._agent.version == 1:
            need(params, "mcpServers", list)
        self._count += 1
        key = self._script.get("id", "session") + (f"-{self._count}" if self._count > 1 else "")
        session = self._open[key] = self._blank(key, cwd)
        return session

    def _blank(self, key: str, cwd: Path) -> Session:
        # Each session has settings of its own.
        own = json.loads(json.dumps(self._script))
        return Session(key, cwd, options=own.get("options", []), modes=own.get("modes"))

    def _begun(self, session: Session) -> Json:
        self._keep({"session": session.key, "cwd": str(session.cwd)})
        for update in session.history:
            self._keep({"session": session.key, "told": update})
        if session.title is not None:
            self._keep({"session": session.key, "title": session.title})
        session.keep = self._keep
        return {"sessionId": session.key, **self._settings(session)}

    def _play_first(self, session: Session, when: str) -> None:
        end = Turn(self._agent, session).play(self._script.get(when, []))
        if end.error is not None:
            self._open.pop(session.key, None)
            raise Refusal(end.error["code"], end.error["message"], end.error.get("data"))

    def _settings(self, session: Session) -> Json:
        told, version = self._script, self._agent.version
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

    def opened(self, key: str) -> None:
        """``session/new`` was answered."""
        told = self._script
        steps = [{"commands": told["commands"]}] if "commands" in told else []
        first = steps if self._agent.version == 1 else []
        Turn(self._agent, self._open[key]).play([*first, *told.get("after", [])])

    # --- opened again ----------------------------------------------------------------

    def load(self, params: Json) -> Json:
        """``session/load``: all is told again, before the answer, after it, or half and half."""
        _folder(params)
        need(params, "mcpServers", list)
        key = need(params, "sessionId", str)
        known = key in self._open or key in self._kept
        if not known and "load_anything" in self._manners:
            self._open[key] = self._blank(key, _folder(params))
            return {}
        session = self._again(params)
        past = _tellable(session)
        session.history = []
        share = {"before": len(past), "after": 0, "both": len(past) // 2}
        first = share[self._script.get("replay", "before")]
        self._replay(session, past[:first])
        self.afterwards.append((session, past[first:]))
        return self._settings(session)

    def resume(self, params: Json) -> Json:
        """``session/resume``."""
        if "no_resume" in self._manners:
            raise Refusal(-32601, "Method not found: session/resume")
        _folder(params)
        session = self._again(params)
        if self._agent.version != 1:
            if params.get("replayFrom") is not None:
                past, session.history = _tellable(session), []
                self._replay(session, past)
                Turn(self._agent, session).update({"sessionUpdate": "replay_complete"})
            state = "running" if session.turns else "idle"
            Turn(self._agent, session).set_state(state)
        return self._settings(session)

    def tell_rest(self) -> None:
        """What is told again after the answer."""
        waiting, self.afterwards = self.afterwards, []
        for session, past in waiting:
            self._replay(session, past)

    def _known(self, params: Json) -> Session:
        key = need(params, "sessionId", str)
        found = self._open.get(key) or self._kept.get(key)
        if found is None:
            raise Refusal(-32002, "Session not found", {"sessionId": key})
        return found

    def _again(self, params: Json) -> Session:
        session = self._known(params)
        self._play_first(session, "again")
        self._open[session.key] = session
        self._kept.pop(session.key, None)
        return session

    def _replay(self, session: Session, past: list[Json]) -> None:
        for update in past:
            # It stands in the file already.
            session.history.append(update)
            params = {"sessionId": session.key, "update": update}
            self._agent.wire.notify("session/update", params)

    # --- everything else ---------------------------------------------------------------

    def list(self, _params: Json) -> Json:
        """``session/list``."""
        known = (self._kept | self._open).values()
        return {
            "sessions": [
                {"sessionId": s.key, "cwd": str(s.cwd)} | ({"title": s.title} if s.title else {})
                for s in known
            ]
        }

    def close(self, params: Json) -> Json:
        """``session/close``: one that is kept can be opened again."""
        session = self._end(params)
        if self._file is not None:
            self._kept[session.key] = session
        return {}

    def delete(self, params: Json) -> Json:
        """``session/delete``."""
        session = self._end(params)
        self._keep({"session": session.key, "gone": True})
        return {}

    def _end(self, params: Json) -> Session:
        session = self.of(params)
        for turn in list(session.turns):
            turn.cancel()
        if session.last is not None:
            session.last.join()
        return self._open.pop(session.key)

    def set_title(self, params: Json) -> Json:
        """``session/set_title``: it is stored without blanks around it."""
        session = self.of(params)
        session.title = need(params, "title", str).strip()
        self._keep({"session": session.key, "title": session.title})
        return {"title": session.title}

    def set_option(self, params: Json) -> Json:
        """``session/set_config_option``."""
        session = self.of(params)
        key = need(params, "configId", str)
        value = need(params, "value", (str, bool))
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

    def set_mode(self, params: Json) -> Json:
        """``session/set_mode``."""
        session = self.of(params)
        mode = need(params, "modeId", str)
        if mode not in [each["id"] for each in (session.modes or {}).get("available", [])]:
            raise Refusal(-32602, "Invalid params: modeId")
        Turn(self._agent, session).play([{"mode": mode}])
        return {}

    # --- kept ------------------------------------------------------------------------

    def _keep(self, line: Json) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def _recall(self, file: Path) -> None:
        for text in file.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            key = line["session"]
            if "cwd" in line:
                self._kept[key] = self._blank(key, Path(line["cwd"]))
                self._kept[key].keep = self._keep
                self._count += 1
            elif "told" in line:
                self._kept[key].history.append(line["told"])
            elif "title" in line:
                self._kept[key].title = line["title"]
            else:
                del self._kept[key]


def need(params: Json, name: str, kind: type[Any] | tuple[type[Any], ...]) -> Any:
    """A member of this type. Raises ``Refusal``."""
    if not isinstance(params.get(name), kind):
        raise Refusal(-32602, f"Invalid params: {name}")
    return params[name]


def _folder(params: Json) -> Path:
    cwd = Path(need(params, "cwd", str))
    if not cwd.is_absolute():
        raise Refusal(-32602, "Invalid params: cwd is not absolute")
    return cwd


def _tellable(session: Session) -> list[Json]:
    silent = ("state_update", "replay_complete", "notice")
    return [u for u in session.history if u.get("sessionUpdate") not in silent]
