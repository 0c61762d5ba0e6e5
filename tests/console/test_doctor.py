"""``acpls agents check`` and ``acpls doctor``, with real agents."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from console_stage import at_home, heard, method, pids

from acpls.console import doctor, talk

if TYPE_CHECKING:
    from console_stage import Console


@pytest.fixture
def console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Console:
    """The user's home."""
    return at_home(tmp_path, monkeypatch, capsys)


NEEDS_LOGIN = {"code": -32000, "message": "Authentication required"}


# --- check -----------------------------------------------------------------------------


def test_check_tells_what_each_agent_answers(console: Console) -> None:
    first, second = console.agent("one", {"title": "One"}), console.agent("two", {"title": "Two"})
    ran = console.run("agents", "check")
    assert ran.code == 0
    one, two = ran.out.splitlines()
    assert one.startswith("one: One 3.1, ACP 2, after ")
    assert two.startswith("two: Two 3.1, ACP 2, after ")
    assert "one: waiting for its answer to initialize" in ran.err
    assert heard(first) == heard(second) == ["initialize"]


def test_check_fails_when_one_fails(console: Console) -> None:
    console.agent("bad", {"die": 3, "stderr": ["no key"]}, env={"SECRET": "no key"})
    console.agent("missing", command="not-there")
    console.agent("good")
    ran = console.run("agents", "check")
    assert ran.code == 1
    bad, missing, good = ran.out.splitlines()
    assert bad.startswith("bad: failed: ")
    assert "no key" not in bad
    assert "'not-there' was not found" in missing
    assert good.startswith("good: Tiny")
    assert console.run("agents", "check", "good").code == 0
    assert console.run("agents", "check", "nobody").code == 2


@pytest.mark.parametrize("command", ["check", "doctor"])
def test_what_may_download_is_not_started_unasked(console: Console, command: str) -> None:
    runner = console.home / "bin" / "npx"
    log = console.agent("pi", {})
    runner.write_text(
        f'#!{sys.executable}\nimport os, sys\nos.execv(sys.executable, ["x", *sys.argv[2:]])\n'
    )
    runner.chmod(0o755)
    argv = ["agents", "check"] if command == "check" else ["doctor"]
    args = ["--yes", str(console.home / "agent.py"), str(console.home / "pi.json")]
    console.write("")
    console.agent("pi", {}, command="npx", args=args)
    ran = console.run(*argv)
    assert ran.code == 0
    assert "--download" in ran.out
    assert not log.exists()
    ran = console.run(*argv, "--download")
    assert ran.code == 0
    assert "Tiny 3.1" in ran.out
    assert len(pids(log)) == 1


# --- doctor ------------------------------------------------------------------------------


def test_the_demo_agent_is_well(console: Console) -> None:
    ran = console.run("doctor")
    assert ran.code == 0
    assert "demo: ready (takes new sessions)" in ran.out
    assert "Demo agent 1.0.0, ACP 2" in ran.out
    assert "~/config/acpls/config.toml (not there)" in ran.out
    assert str(console.home) not in ran.out


@pytest.mark.parametrize("protocol", [1, 2])
def test_both_versions_are_examined(console: Console, protocol: int) -> None:
    console.write(f"[agents.demo]\nprotocol = {protocol}\n")
    told = json.loads(console.run("doctor", "--json").out)
    (agent,) = told["agents"]
    assert (agent["state"], agent["protocol"], agent["version"]) == ("ready", protocol, "1.0.0")
    assert agent["seconds"] > 0
    assert "resume" in agent["can"]


def test_its_session_is_in_a_folder_of_its_own_and_is_taken_back(console: Console) -> None:
    log = console.agent("one")
    assert console.run("doctor").code == 0
    assert heard(log) == ["initialize", "session/new", "session/close", "session/delete"]
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    (new,) = [message["params"] for message in messages if message.get("method") == "session/new"]
    assert Path(new["cwd"]).is_absolute()
    assert "acpls-doctor-" in new["cwd"]
    assert not Path(new["cwd"]).exists()


def test_a_session_that_cannot_be_taken_back_is_no_failure(console: Console) -> None:
    console.agent("one", {"session/delete": {"code": -32601, "message": "no such method"}})
    ran = console.run("doctor")
    assert ran.code == 0
    assert "could not be taken back: no such method" in ran.err


def test_an_agent_that_sees_other_paths_gets_a_folder_that_it_sees(console: Console) -> None:
    shared = console.home / "shared"
    shared.mkdir()
    log = console.agent("far", pathMap={"/nowhere/here": "/x", str(shared): "/there"})
    assert console.run("doctor").code == 0
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    (new,) = [message["params"] for message in messages if message.get("method") == "session/new"]
    assert new["cwd"].startswith(("/there/acpls-doctor-", f"{shared}/acpls-doctor-"))
    assert list(shared.iterdir()) == []


def test_a06_an_agent_that_wants_a_login_says_how(console: Console) -> None:
    """A06: the signed-out state is seen, with the line that ends it."""
    methods = [method("web"), method("term in al", "terminal", args=["--log-in"])]
    console.agent("my agent", {"methods": methods, "new": NEEDS_LOGIN})
    ran = console.run("doctor")
    assert ran.code == 1
    assert "my agent: needs a login" in ran.out
    assert "acpls login 'my agent' web   (Web, agent)" in ran.out
    assert "acpls login 'my agent' 'term in al'   (Term In Al, terminal)" in ran.out
    (agent,) = json.loads(console.run("doctor", "--json").out)["agents"]
    assert (agent["state"], agent["login"]) == ("needsLogin", "needed")
    assert [it["id"] for it in agent["methods"]] == ["web", "term in al"]


def test_a_failure_is_told_with_the_last_words(console: Console) -> None:
    said = [f"line {number}" for number in range(30)] + ["\x1b[31mthe token is swordfish\x1b[0m"]
    console.agent(
        "bad",
        {"new": {"code": -32603, "message": "no model for swordfish"}, "stderr": said},
        env={"TOKEN": "swordfish"},
    )
    ran = console.run("doctor")
    assert ran.code == 1
    assert "bad: FAILED" in ran.out
    assert "no model for ***" in ran.out
    assert "the token is ***" in ran.out
    assert "line 29" in ran.out
    assert "line 10" not in ran.out
    assert "TOKEN (values hidden)" in ran.out
    assert "swordfish" not in ran.out + ran.err
    assert "\x1b" not in ran.out


def test_a_program_that_is_missing_is_told(console: Console) -> None:
    console.agent("missing", command="not-there")
    ran = console.run("doctor")
    assert ran.code == 1
    assert "'not-there' was not found" in ran.out


def test_the_settings_are_part_of_the_report(console: Console) -> None:
    console.write("[folow]\non = true\n")
    assert '! unknown setting "folow"' in console.run("doctor").out
    console.write("no = [toml")
    ran = console.run("doctor")
    assert ran.code == 1
    assert "cannot be read" in ran.out


def test_a_session_that_takes_too_long_is_a_failure(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    console.agent("slow", {"new": "hang"})
    monkeypatch.setattr(doctor, "_SESSION_LIMIT_S", 0.3)
    monkeypatch.setattr(talk, "REMIND_S", 0.05)
    ran = console.run("doctor")
    assert ran.code == 1
    assert "no answer within 0.3 seconds" in ran.out
    assert "slow: still waiting, 0 s" in ran.err


@pytest.mark.parametrize("argv", [["doctor"], ["agents", "check"], ["login", "slow"]])
def test_ctrl_c_ends_everything(console: Console, argv: list[str]) -> None:
    plan = {"new": "hang", "login": "hang", "methods": [method("web")]}
    if argv[-1] == "check":
        plan = {"initialize": "hang"}
    log = console.agent("slow", plan)
    wanted = {"doctor": "opening a session", "check": "waiting for", "slow": "waiting for you"}
    command = console.start(*argv, start_new_session=True)
    assert command.stderr is not None
    for line in command.stderr:
        if wanted[argv[-1]] in line.decode():
            break
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=15)
    assert command.returncode == 130
    assert b"Traceback" not in err
    assert b"Stopped." in err
    # It may have been stopped before it was there to write anything.
    assert not any(psutil.pid_exists(pid) for pid in (pids(log) if log.exists() else []))
    assert psutil.Process().children(recursive=True) == []


@pytest.mark.parametrize(
    ("status", "state", "login"),
    [
        (
            {"kind": "none", "label": "No\nbody"},
            "needsLogin",
            "not logged in (No body)",
        ),
        ({"kind": "none"}, "needsLogin", "not logged in"),
        ({"kind": "api_key", "label": "API key"}, "ready", "logged in (API key)"),
        (7, "ready", "not asked for; some agents ask at the first prompt"),
    ],
)
def test_a06_what_an_agent_says_by_itself_of_being_logged_in(
    console: Console, status: object, state: str, login: str
) -> None:
    """A06: some open a session for anybody, and ask at the first prompt."""
    plan = {"methods": [method("web")], "status": [None, {"authStatus": status}]}
    console.agent("tiny", plan)
    ran = console.run("doctor", "--json")
    (agent,) = json.loads(ran.out)["agents"]
    assert (agent["state"], agent["login"]) == (state, login)
    assert [m["id"] for m in agent["methods"]] == (["web"] if state == "needsLogin" else [])
    assert ran.code == (1 if state == "needsLogin" else 0)


def test_x06_lines_that_are_no_messages_are_counted(console: Console) -> None:
    """X06: it works all the same, but whoever wrote the agent may want to know."""
    console.agent("loud", {"noise": ["Welcome!", "Have fun."]})
    ran = console.run("doctor")
    assert ran.code == 0
    assert "2 that are no messages" in ran.out


def test_progress_shows_no_secrets_either(console: Console) -> None:
    """Both streams are in the terminal that people copy."""
    words = ["AWS_SECRET_ACCESS_KEY=abcdefgh", "password: hunter2222"]
    console.agent("leaky", {"die": 3, "stderr": words})
    ran = console.run("doctor")
    assert ran.code == 1
    assert "abcdefgh" not in ran.out + ran.err
    assert "hunter2222" not in ran.out + ran.err
