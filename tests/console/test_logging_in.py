"""``acpls login`` and ``logout``: each way that an agent may offer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from console_stage import at_home, heard, method

if TYPE_CHECKING:
    from pathlib import Path

    from console_stage import Console


@pytest.fixture
def console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Console:
    """The user's home."""
    return at_home(tmp_path, monkeypatch, capsys)


TERMINAL = method("term", "terminal", args=["--log-in"], env=[{"name": "EXTRA", "value": "e"}])


def link(url: str) -> dict[str, Any]:
    """A page that the agent wants visited during its login."""
    params = {
        "mode": "url",
        "requestId": 2,
        "elicitationId": "1",
        "url": url,
        "message": "Sign in here",
    }
    return {"method": "elicitation/create", "params": params}


# --- agent -----------------------------------------------------------------------------


def test_the_only_way_is_taken(console: Console) -> None:
    log = console.agent("one", {"methods": [method("web")]})
    ran = console.run("login", "one")
    assert ran.code == 0
    assert heard(log) == ["initialize", "auth/login"]
    assert "Web: waiting for you to finish; Ctrl-C gives up." in ran.err
    assert "Logged in to one." in ran.err


def test_the_way_of_the_settings_is_taken(console: Console) -> None:
    methods = [method("web"), method("key")]
    log = console.agent("one", {"methods": methods}, authMethod="key")
    assert console.run("login", "one").code == 0
    assert '"methodId": "key"' in log.read_text() or '"methodId":"key"' in log.read_text()


def test_the_way_that_was_named_is_taken(console: Console) -> None:
    log = console.agent("one", {"methods": [method("web"), method("key")]}, authMethod="web")
    assert console.run("login", "one", "key").code == 0
    assert '"methodId":"key"' in log.read_text().replace(" ", "")
    ran = console.run("login", "one", "kye")
    assert ran.code == 2
    assert "it offers web, key" in ran.err


def test_a_login_that_fails_says_why(console: Console) -> None:
    failed = {"code": -32603, "message": "the key swordfish is wrong", "data": {"try": "again"}}
    console.agent("one", {"methods": [method("web")], "login": failed}, env={"KEY": "swordfish"})
    ran = console.run("login", "one")
    assert ran.code == 1
    assert "the key *** is wrong" in ran.err
    assert "again" in ran.err


def test_an_agent_that_cannot_start_cannot_be_logged_in_to(console: Console) -> None:
    console.agent("one", {"die": 3, "stderr": ["no room"]})
    for command in ("login", "logout"):
        ran = console.run(command, "one")
        assert ran.code == 1
        assert "no room" in ran.err


def test_an_agent_without_a_way_to_log_in(console: Console) -> None:
    console.agent("one")
    ran = console.run("login", "one")
    assert ran.code == 1
    assert "one offers no way to log in." in ran.err


def test_a_way_of_an_unknown_kind_is_not_taken(console: Console) -> None:
    console.agent("one", {"methods": [method("x", "_magic")]})
    ran = console.run("login", "one")
    assert ran.code == 1
    assert "not known here: _magic" in ran.err


# --- pages -----------------------------------------------------------------------------


def answer_to_the_link(console: Console, url: str) -> tuple[str, str]:
    log = console.agent("one", {"methods": [method("web")], "ask": link(url)})
    ran = console.run("login", "one")
    assert ran.code == 0
    (answer,) = [line for line in log.read_text().splitlines() if '"ask"' in line]
    return answer, ran.out


def test_a03_a_page_to_visit_is_shown_alone_on_its_line(console: Console) -> None:
    """A03: the URL is shown and can be copied, and the wait is visible."""
    answer, out = answer_to_the_link(console, "https://login.example/?code=1&x=2")
    assert out.splitlines() == ["https://login.example/?code=1&x=2"]
    assert "accept" in answer


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "https://a b", "https://\x1b[1m"]
)
def test_another_kind_of_address_is_not_shown_as_a_page(console: Console, url: str) -> None:
    answer, out = answer_to_the_link(console, url)
    assert out == ""
    assert "accept" not in answer


FORM = {
    "mode": "form",
    "requestId": 2,
    "message": "Your key?",
    "requestedSchema": {"type": "object", "properties": {"key": {"type": "string"}}},
}
PERMISSION = {
    "sessionId": "s",
    "title": "Run it?",
    "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    "subject": {"type": "tool_call", "toolCall": {"toolCallId": "t"}},
}


@pytest.mark.parametrize(
    ("request_method", "params", "answer"),
    [
        ("elicitation/create", FORM, '"action":"decline"'),
        ("session/request_permission", PERMISSION, '"outcome":"cancelled"'),
        ("_unknown", {}, '"error"'),
    ],
)
def test_what_else_an_agent_asks_is_refused_politely(
    console: Console, request_method: str, params: dict[str, Any], answer: str
) -> None:
    asked = {"method": request_method, "params": params}
    log = console.agent("one", {"methods": [method("web")], "ask": asked})
    ran = console.run("login", "one")
    assert ran.code == 0
    (answered,) = [line for line in log.read_text().splitlines() if '"ask"' in line]
    assert answer in answered.replace(" ", "")
    assert ("asks to fill in a form" in ran.err) == (params is FORM)


def test_no_files_are_read_for_an_agent(console: Console) -> None:
    """Version 1 lets agents ask for files, also where no session is open that has any."""
    way = {"id": "web", "name": "Web"}
    one = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [way]}
    asked = {
        "method": "fs/read_text_file",
        "params": {"sessionId": "s", "path": str(console.config)},
    }
    log = console.agent("one", {"initialize": one, "ask": asked}, protocol=1)
    assert console.run("login", "one").code == 0
    (answered,) = [line for line in log.read_text().splitlines() if '"ask"' in line]
    assert "no files are read or written here" in answered


# --- terminal --------------------------------------------------------------------------


def test_a_terminal_way_runs_the_agents_own_command_in_the_foreground(console: Console) -> None:
    log = console.agent("one", {"methods": [TERMINAL]})
    command = console.start("login", "one", stdin=subprocess.PIPE)
    out, err = command.communicate(b"Ada\n", timeout=20)
    assert command.returncode == 0
    assert out == b"hello Ada e\n"
    assert b"Running" in err
    assert b"--log-in" in err
    assert heard(log) == ["initialize"]


def test_a_terminal_way_may_name_another_program(console: Console) -> None:
    file = console.home / "bin" / "tool"
    file.write_text('#!/bin/sh\necho "$1 $KEY $EXTRA"\n')
    file.chmod(0o755)
    auth = {"terminal-auth": {"command": "tool", "args": ["login"], "env": {"EXTRA": "x"}}}
    way = {"id": "term", "name": "Term", "_meta": auth}
    one = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [way]}
    console.agent("one", {"initialize": one}, env={"KEY": "k"}, protocol=1)
    command = console.start("login", "one")
    out, err = command.communicate(timeout=20)
    assert (command.returncode, out) == (0, b"login k x\n")
    assert b"Running tool login" in err


def test_a_terminal_way_that_fails(console: Console) -> None:
    console.agent("one", {"methods": [TERMINAL], "exit": 7})
    command = console.start("login", "one")
    _, err = command.communicate(timeout=20)
    assert command.returncode == 7
    assert b"exit code 7, so you are not logged in" in err


def test_a_terminal_way_whose_program_is_missing(console: Console) -> None:
    auth = {"terminal-auth": {"command": "not-there", "args": []}}
    way = {"id": "term", "name": "Term", "_meta": auth}
    one = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [way]}
    console.agent("one", {"initialize": one}, protocol=1)
    ran = console.run("login", "one")
    assert ran.code == 1
    assert "'not-there' was not found" in ran.err
    assert "agents.NAME" not in ran.err


def test_ctrl_c_is_for_the_program_in_the_foreground(console: Console) -> None:
    file = console.home / "bin" / "tool"
    code = """
import signal, sys
try:
    print("ready", flush=True)
    signal.pause()
except KeyboardInterrupt:
    sys.exit(5)
"""
    file.write_text(f"#!{sys.executable}\n{code}\n")
    file.chmod(0o755)
    auth = {"terminal-auth": {"command": "tool", "args": []}}
    way = {"id": "term", "name": "Term", "_meta": auth}
    one = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [way]}
    console.agent("one", {"initialize": one}, protocol=1)
    command = console.start("login", "one", start_new_session=True)
    assert command.stdout is not None
    assert command.stdout.readline() == b"ready\n"
    os.killpg(command.pid, signal.SIGINT)
    _, err = command.communicate(timeout=20)
    assert command.returncode == 5
    assert b"Traceback" not in err


# --- variables -------------------------------------------------------------------------


def variables(*names: str) -> dict[str, Any]:
    """An agent of version 1, as it tells of variables."""
    way = {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": it} for it in names]}
    return {"initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [way]}}


def test_variables_are_named_with_their_place(console: Console) -> None:
    console.agent("one", variables("A_KEY", "B_KEY"), env={"B_KEY": "set"}, protocol=1)
    ran = console.run("login", "one")
    assert ran.code == 1
    assert "set A_KEY" in ran.err
    assert str(console.config) in ran.err
    assert ran.out == 'env = { A_KEY = "..." }\n'


def test_variables_that_are_set_need_nothing(console: Console) -> None:
    console.agent("one", variables("A_KEY"), env={"A_KEY": "set"}, protocol=1)
    ran = console.run("login", "one")
    assert ran.code == 0
    assert "A_KEY is set" in ran.err


# --- choosing --------------------------------------------------------------------------


class Pipe:
    """Standard input with a person at it, or none."""

    def __init__(self, typed: bytes, *, tty: bool = True) -> None:
        self._read, write = os.pipe()
        os.write(write, typed)
        os.close(write)
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def fileno(self) -> int:
        return self._read

    def close(self) -> None:
        os.close(self._read)


@pytest.fixture
def several(console: Console) -> Console:
    """An agent with two ways to log in."""
    described = method("key", description="Paste it.\nThen wait.")
    console.agent("one", {"methods": [method("web"), described]})
    return console


def typed(
    console: Console, monkeypatch: pytest.MonkeyPatch, text: bytes, *, tty: bool = True
) -> Any:
    pipe = Pipe(text, tty=tty)
    monkeypatch.setattr(sys, "stdin", pipe)
    try:
        return console.run("login", "one")
    finally:
        pipe.close()


def test_a02_without_a_terminal_the_ways_are_listed(
    several: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A02: the ways that the agent offers are to be chosen from."""
    ran = typed(several, monkeypatch, b"", tty=False)
    assert ran.code == 2
    assert ran.out.splitlines() == [
        "1. Web: acpls login one web",
        "2. Key: acpls login one key",
        "   Paste it.",
        "   Then wait.",
    ]


@pytest.mark.parametrize(("text", "chosen"), [(b"2\n", "key"), (b" web \n", "web")])
def test_at_a_terminal_one_is_chosen(
    several: Console, monkeypatch: pytest.MonkeyPatch, text: bytes, chosen: str
) -> None:
    ran = typed(several, monkeypatch, text)
    assert ran.code == 0
    assert "Which one, 1 to 2? " in ran.err
    log = (several.home / "one.json.log").read_text().replace(" ", "")
    assert f'"methodId":"{chosen}"' in log


@pytest.mark.parametrize("text", [b"", b"0\n", b"3\n", b"\xff\n"])
def test_what_is_none_of_them_is_not_taken(
    several: Console, monkeypatch: pytest.MonkeyPatch, text: bytes
) -> None:
    assert typed(several, monkeypatch, text).code == 2


# --- logging out -----------------------------------------------------------------------


def test_logging_out(console: Console) -> None:
    log = console.agent("one", {"methods": [method("web")]})
    ran = console.run("logout", "one")
    assert ran.code == 0
    assert heard(log) == ["initialize", "auth/logout"]
    assert "Logged out of one." in ran.err


def test_an_agent_without_a_way_to_log_out(console: Console) -> None:
    console.agent("one")
    ran = console.run("logout", "one")
    assert ran.code == 1
    assert "no way to log out" in ran.err
