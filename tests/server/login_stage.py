"""Scripts of agents that want a login, and what tests with them look at."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import anyio

from acpls.testing.editor import FULL, Later

if TYPE_CHECKING:
    from pathlib import Path

    from server_stage import Seat

    from acpls.testing.frames import Json
    from acpls.testing.link import Call

PAGE = "https://example.org/log-in?client=acpls&code=" + "0123456789abcdef" * 8 + "&state=%2Fx#end"
WEB: Json = {"id": "web", "name": "In the browser", "description": "Opens a page of ours"}
TTY: Json = {"id": "tty", "name": "In a terminal", "kind": "terminal", "env": {"MODE": "tty"}}
KEY: Json = {"id": "key", "name": "By key", "kind": "env_var", "variables": ["SCRIPTED_KEY"]}
TERMINALS: Json = {
    **FULL,
    "experimental": {"acp": {**FULL["experimental"]["acp"], "terminals": True}},
}
LOG_IN = {1: "authenticate", 2: "auth/login"}
LOG_OUT = {1: "logout", 2: "auth/logout"}
ANSWER = "acpls.question.answer"
TURNS: list[Any] = [[{"say": "Hello. "}]]


def wants_login(
    folder: Path, *methods: Json, needed_for: tuple[str, ...] = ("session/new",), **more: Any
) -> Json:
    """A script with a login that one process leaves to the next."""
    login = {
        "methods": list(methods or (WEB,)),
        "needed_for": list(needed_for),
        "kept_in": str(folder / "logged-in"),
    }
    initialize = {"login": login, **more.pop("initialize", {})}
    return {"initialize": initialize, "turns": TURNS, **more}


def by_hand(at: Seat) -> dict[str, Later]:
    """Lets the test answer each question, by its key, when it likes."""
    answers: dict[str, Later] = defaultdict(Later)
    at.answer["acp/question/ask"] = lambda asked: answers[asked["question"]]
    return answers


def begin_session(at: Seat, agent: str = "fake") -> Call:
    params = {"command": "acpls.session.new", "arguments": [{"agent": agent}]}
    return at.begin("workspace/executeCommand", params)


async def state_of(at: Seat, agent: str = "fake") -> str:
    listed = await at.command("acpls.agent.list")
    (entry,) = [a for a in listed if a["agent"] == agent]
    return str(entry["state"])


async def becomes(at: Seat, state: str, agent: str = "fake") -> Json:
    told: Json = await at.next(
        "acp/agent/changed", lambda p: (p["agent"], p["state"]) == (agent, state)
    )
    return told


def methods_heard(at: Seat, agent: str = "fake") -> list[str]:
    """What the agent was asked, without how its versions were found out."""
    heard = [m.get("method", "") for m in at.heard_by(agent)]
    return [m for m in heard if m not in {"initialize", ""}]


def users_words(entry: Json) -> list[str]:
    """The user's messages in a session, each as one text."""
    return [
        "".join(b["text"] for b in e["content"])
        for e in entry["entries"]
        if e["type"] == "message" and e["role"] == "user"
    ]


def by_page(folder: Path, *rest: Any) -> Json:
    refused = {"fail": {"code": -32000, "message": "The user would not"}}
    visit = {"visit": PAGE, "message": "Log in here", "link": "l1", "wait": False}
    steps = [{**visit, "declined": [refused], "cancelled": [refused]}, *rest]
    return wants_login(folder, {**WEB, "steps": steps})


async def exit_code(run: Json) -> int:
    """Runs what the server wants run, as the user's terminal would."""
    ended = await anyio.run_process([run["command"], *run["args"]], check=False, cwd=run.get("cwd"))
    return ended.returncode
