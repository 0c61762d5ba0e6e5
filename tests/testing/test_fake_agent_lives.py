"""The scripted agent's logins, and its sessions from one process to the next."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from raw_client import INIT_1, INIT_2, WITHIN, Client, Json, both

from acpls.testing.agent import command, received
from acpls.testing.script import ScriptError, check
from acpls.testing.shapes import OFFERS

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "https://example.org/log-in?code=1"
LOG_IN = {1: "authenticate", 2: "auth/login"}
LOG_OUT = {1: "logout", 2: "auth/logout"}


def new(folder: Path) -> Json:
    return {"cwd": str(folder), "mcpServers": []}


def login(**told: Any) -> Json:
    return {"initialize": {"login": told}}


METHODS: list[Json] = [
    {"id": "web", "name": "In the browser", "description": "Opens a page"},
    {"id": "tty", "name": "In a terminal", "kind": "terminal", "env": {"A": "1"}},
    {"id": "bad", "name": "In vain", "kind": "terminal", "fails": 3},
    {"id": "key", "name": "By key", "kind": "env_var", "variables": ["NO_SUCH_KEY"]},
]


# --- logins --------------------------------------------------------------------------


@both
def test_methods_are_told_as_the_version_writes_them(tmp_path: Path, init: Json) -> None:
    two = init is INIT_2
    with Client(login(methods=METHODS), tmp_path) as client:
        told = client.call("initialize", init)["authMethods"]
        key = "methodId" if two else "id"
        assert [m[key] for m in told] == ["web", "tty", "bad", "key"]
        assert [m.get("type") for m in told] == [
            *("agent" if two else None, "terminal", "terminal", "env_var")
        ]
        assert told[1]["args"] == ["--login", "tty"]
        assert told[1]["env"] == ([{"name": "A", "value": "1"}] if two else {"A": "1"})
        assert told[3]["vars"] == [{"name": "NO_SUCH_KEY"}]
        for other in ("tty", "none"):
            assert client.error(LOG_IN[client.version], {"methodId": other})["code"] == -32602


@both
def test_what_needs_a_login_and_logging_out(tmp_path: Path, init: Json) -> None:
    script = login(methods=METHODS, needed_for=["session/prompt"], kept_in=str(tmp_path / "in"))
    with Client(script, tmp_path) as client:
        session = client.open(init)
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "x"}]}
        assert client.error("session/prompt", prompt)["code"] == -32000
        assert client.call(LOG_IN[client.version], {"methodId": "web"}) == {}
        assert client.end(client.prompt(session)) == "end_turn"
    with Client(script, tmp_path) as client:
        session = client.open(init)
        assert client.end(client.prompt(session)) == "end_turn"
        assert client.call(LOG_OUT[client.version], {}) == {}
        prompt["sessionId"] = session
        assert client.error("session/prompt", prompt)["code"] == -32000


def test_a_login_in_a_terminal_is_kept(tmp_path: Path) -> None:
    script = login(methods=METHODS, kept_in=str(tmp_path / "in"))
    argv = command(script, tmp_path)

    def run(method: str) -> int:
        return subprocess.run([*argv, "--login", method], check=False, timeout=WITHIN).returncode

    assert run("bad") == 3
    assert run("web") == 2
    with Client(script, tmp_path) as client:
        client.call("initialize", INIT_1)
        assert client.error("session/new", new(tmp_path))["code"] == -32000
        assert run("tty") == 0
        assert client.call("session/new", new(tmp_path))["sessionId"] == "session"


def test_a_variable_logs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "NO_SUCH_KEY", "")
    with Client(login(methods=METHODS), tmp_path) as client:
        assert client.open(INIT_2) == "session"


@both
def test_a_login_by_a_page(tmp_path: Path, init: Json) -> None:
    steps: list[Any] = [
        {
            "visit": PAGE,
            "link": "l1",
            "wait": False,
            "declined": [{"fail": {"code": 1, "message": "no"}}],
        },
        {"complete": "l1"},
    ]
    method = {**METHODS[0], "steps": steps}
    with Client(login(methods=[method]), tmp_path) as client:
        client.call("initialize", init)
        for action in ("accept", "decline"):
            number = client.begin(LOG_IN[client.version], {"methodId": "web"})
            asked = client.asked("elicitation/create")
            params = asked["params"]
            assert (params["url"], params["mode"], params["requestId"]) == (PAGE, "url", number)
            client.until(lambda m: m.get("method") == "elicitation/complete")
            client.answer(asked, {"action": action})
            assert ("result" in client.response(number)) == (action == "accept")


@both
def test_a_login_that_is_withdrawn(tmp_path: Path, init: Json) -> None:
    method = {**METHODS[0], "steps": ["wait_cancel"]}
    with Client(login(methods=[method]), tmp_path) as client:
        client.call("initialize", init)
        number = client.begin(LOG_IN[client.version], {"methodId": "web"})
        client.send({"method": "$/cancel_request", "params": {"requestId": number}})
        assert client.response(number)["error"]["code"] == -32800
        assert client.error("session/new", new(tmp_path))["code"] == -32000


@both
def test_a_visit_during_a_turn_is_about_its_session(tmp_path: Path, init: Json) -> None:
    visit = {
        "visit": PAGE,
        "accepted": [{"say": "accepted"}],
        "cancelled": [{"say": "cancelled"}],
        "failed": [{"say": "failed"}],
    }
    with Client({"turns": [[visit]]}, tmp_path) as client:
        session = client.open(init)
        answers: list[Json] = [
            {"result": {"action": "accept"}},
            {"result": {"action": "cancel"}},
            {"error": {"code": -32601, "message": "none"}},
        ]
        for answer in answers:
            number = client.prompt(session)
            asked = client.asked("elicitation/create")
            assert asked["params"]["sessionId"] == session
            client.send({"id": asked["id"], **answer})
            client.end(number)
        assert client.text() == "acceptedcancelledfailed"


@both
def test_a_form_says_what_was_filled_in(tmp_path: Path, init: Json) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    form = {
        "form": schema,
        "message": "Who?",
        "call": "c1",
        "into": "values",
        "accepted": [{"say": "{values}"}],
        "declined": [{"say": "declined"}],
    }
    with Client({"turns": [[form]]}, tmp_path) as client:
        session = client.open(init)
        for answer in ({"action": "accept", "content": {"name": "Ann"}}, {"action": "decline"}):
            number = client.prompt(session)
            asked = client.asked("elicitation/create")
            assert asked["params"] == {
                "sessionId": session,
                "toolCallId": "c1",
                "mode": "form",
                "message": "Who?",
                "requestedSchema": schema,
            }
            client.answer(asked, answer)
            client.end(number)
        assert client.text() == '{"name": "Ann"}declined'


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (login(method=[]), "login: unknown member 'method'"),
        (login(methods=[{"id": "x"}]), "login.methods[0]: needs 'name'"),
        (login(methods=[{"id": "x", "name": "X", "kind": "y"}]), "unknown word 'y'"),
        (
            login(methods=[{"id": "x", "name": "X", "steps": [{"say": "x"}]}]),
            "login.methods[0].steps[0]: 'say' needs a session",
        ),
        ({"initialize": {"offers": ["wings"]}}, "initialize.offers: unknown word 'wings'"),
        ({"session": {"replay": "never"}}, "session.replay: unknown word 'never'"),
        ({"session": {"again": ["fly"]}}, "session.again[0]: unknown step 'fly'"),
    ],
)
def test_wrong_logins_are_refused(script: Json, complaint: str) -> None:
    with pytest.raises(ScriptError) as raised:
        check(script)
    assert complaint in str(raised.value)


# --- what it offers ------------------------------------------------------------------


@both
def test_it_says_what_it_is_told_to_offer(tmp_path: Path, init: Json) -> None:
    with Client({"initialize": {"offers": list(OFFERS)}}, tmp_path) as client:
        told = client.call("initialize", init)
    if init is INIT_1:
        can = told["agentCapabilities"]
        assert can["mcpCapabilities"] == {"http": True, "sse": True}
        assert can["auth"] == {"logout": {}}
        session = can["sessionCapabilities"]
    else:
        session = told["capabilities"]["session"]
        assert session["mcp"] == {"stdio": {}, "http": {}}
    assert session["systemPrompt"] == {"mode": {"override": {}}}
    assert session["fork"] == session["title"] == session["additionalDirectories"] == {}


# --- sessions that last --------------------------------------------------------------


def lasting(folder: Path, **session: Any) -> Json:
    return {
        "session": {"kept_in": str(folder / "sessions"), **session},
        "turns": [[{"say": "One "}, {"notice": "hm"}, {"say": "Two "}]],
    }


@both
def test_a_session_outlives_the_process(tmp_path: Path, init: Json) -> None:
    script = lasting(tmp_path)
    with Client(script, tmp_path) as client:
        client.turn(init)
        named = {"sessionId": "session", "title": " Named "}
        assert client.call("session/set_title", named) == {"title": "Named"}
        client.call("session/new", new(tmp_path))
        client.call("session/delete", {"sessionId": "session-2"})
    with Client(script, tmp_path) as client:
        client.call("initialize", init)
        (known,) = client.call("session/list", {})["sessions"]
        assert known == {"sessionId": "session", "cwd": str(tmp_path), "title": "Named"}
        prompt = {"sessionId": "session", "prompt": [{"type": "text", "text": "x"}]}
        assert client.error("session/prompt", prompt)["code"] == -32002
        client.call("session/resume", {"sessionId": "session", **new(tmp_path)})
        assert client.text() == ""
        client.end(client.prompt("session"))
        assert client.text().startswith("One ")
        # The ids of those before are not given again.
        assert client.call("session/new", new(tmp_path))["sessionId"] == "session-3"
        client.call("session/close", {"sessionId": "session"})
        client.call("session/resume", {"sessionId": "session", **new(tmp_path)})


@pytest.mark.parametrize("replay", ["before", "after", "both"])
def test_loading_tells_all_again_before_or_after_its_answer(tmp_path: Path, replay: str) -> None:
    script = lasting(tmp_path, replay=replay)
    with Client(script, tmp_path) as client:
        client.turn(INIT_1)
    with Client(script, tmp_path) as client:
        client.call("initialize", INIT_1)
        client.call("session/load", {"sessionId": "session", **new(tmp_path)})
        before = len(client.updates)
        client.call("session/list", {})
        assert client.kinds()[0] == "user_message_chunk"
        assert len(client.updates) == 4
        assert before == {"before": 4, "after": 0, "both": 2}[replay]


@both
def test_a_copy_has_what_was_told_so_far(tmp_path: Path, init: Json) -> None:
    script = lasting(tmp_path)
    with Client(script, tmp_path) as client:
        client.turn(init)
        told = client.call("session/fork", {"sessionId": "session", **new(tmp_path)})
        assert told["sessionId"] == "session-2"
    with Client(script, tmp_path) as client:
        client.call("initialize", init)
        client.updates.clear()
        back = {"sessionId": "session-2", **new(tmp_path)}
        if init is INIT_1:
            client.call("session/load", back)
        else:
            client.call("session/resume", {**back, "replayFrom": {"type": "start"}})
        assert client.text().startswith("One ")


def test_steps_before_a_session_comes_back(tmp_path: Path) -> None:
    fail = {"fail": {"code": -32001, "message": "not yet"}}
    script = lasting(tmp_path, again=[{"gate": str(tmp_path / "gate")}, fail])
    (tmp_path / "gate").touch()
    with Client(script, tmp_path) as client:
        client.turn(INIT_1)
        back = {"sessionId": "session", **new(tmp_path)}
        assert client.error("session/resume", back)["message"] == "not yet"
        assert client.error("session/resume", {**back, "sessionId": "x"})["code"] == -32002


def test_bad_manners_with_old_sessions(tmp_path: Path) -> None:
    with Client({"initialize": {"manners": ["no_resume", "load_anything"]}}, tmp_path) as client:
        assert client.call("initialize", INIT_1)["agentCapabilities"]["sessionCapabilities"]
        back = {"sessionId": "never heard of", **new(tmp_path)}
        assert client.error("session/resume", back)["code"] == -32601
        assert client.call("session/load", back) == {}
        assert client.end(client.prompt("never heard of")) == "end_turn"
        assert received(client.log)[-1]["method"] == "session/prompt"
