"""The environment of the login shell: when it is asked, how, and what is taken of it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Literal

import anyio
import pytest

from acpls.client import environment
from acpls.client.environment import (
    RESOLVING,
    LoginShell,
    overlaid,
    shell_command,
    told_environment,
    wants_login_shell,
    with_login,
)
from rim_stage import all_gone

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

DESKTOP = {"SHELL": "/bin/zsh", "PATH": "/usr/bin", "DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("setting", "env", "platform", "wanted"),
    [
        ("auto", DESKTOP, "linux", True),
        ("auto", DESKTOP, "darwin", True),
        ("auto", DESKTOP, "freebsd14", False),
        ("auto", {**DESKTOP, "TERM": "dumb", "SHLVL": "0"}, "darwin", True),
        ("auto", {**DESKTOP, "TERM": ""}, "linux", True),
        ("auto", {**DESKTOP, "TERM": "xterm-256color"}, "linux", False),
        ("auto", {**DESKTOP, "SHLVL": "1"}, "linux", False),
        ("auto", {"PATH": "/usr/bin"}, "linux", False),
        ("auto", {**DESKTOP, "SHELL": ""}, "linux", False),
        ("auto", DESKTOP, "win32", False),
        (True, {**DESKTOP, "TERM": "xterm", "SHLVL": "3"}, "freebsd14", True),
        (True, {}, "linux", False),
        (True, DESKTOP, "win32", False),
        (False, DESKTOP, "linux", False),
    ],
)
def test_when_the_login_shell_is_asked(
    setting: Literal["auto"] | bool, env: dict[str, str], platform: str, wanted: bool
) -> None:
    assert wants_login_shell(env, platform, setting=setting) is wanted


def test_x17_what_wins_over_what() -> None:
    """X17: what is configured for an agent wins over whatever a shell's start files set."""
    own = {
        "PATH": "/usr/bin",
        "LANG": "C",
        "ONLY": "ours",
        "XDG_RUNTIME_DIR": "/run/1",
        "ACPLS_TREE": "us",
        "DBUS_SESSION_BUS_ADDRESS": "bus",
        "SSH_AUTH_SOCK": "/run/ssh",
        "SHLVL": "0",
    }
    login = {
        "PATH": "/opt/node/bin:/usr/bin",
        "LANG": "de_DE.UTF-8",
        "KEY": "from the shell",
        "XDG_RUNTIME_DIR": "/other",
        "XDG_NEW": "new",
        "ACPLS_TREE": "its",
        "DBUS_SESSION_BUS_ADDRESS": "other",
        "SSH_AUTH_SOCK": "/tmp/other",
        "DISPLAY": ":1",
        "PWD": "/",
        "OLDPWD": "/home",
        "SHLVL": "2",
        "_": "/usr/bin/python",
        RESOLVING: "1",
    }
    base = with_login(own, login)
    assert base == {
        **own,
        "PATH": "/opt/node/bin:/usr/bin",
        "LANG": "de_DE.UTF-8",
        "KEY": "from the shell",
        "XDG_NEW": "new",
        "DISPLAY": ":1",
    }
    assert overlaid(base, {"PATH": "/mine"}, windows=False)["PATH"] == "/mine"


def test_x17_on_windows_a_variable_has_one_name_in_any_case() -> None:
    base = {"Path": "C:\\bin", "Temp": "C:\\t"}
    assert overlaid(base, {"PATH": "C:\\mine"}, windows=True) == {
        "PATH": "C:\\mine",
        "Temp": "C:\\t",
    }
    assert len(overlaid(base, {"PATH": "/mine"}, windows=False)) == 3


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (b'<M{"A": "1"}M>', {"A": "1"}),
        (b'welcome\n\x1b]0;title\x07<M{"A": "x\\ny\\udcff"}M>\nbye', {"A": "x\ny\udcff"}),
        (b'+ python -c ... <M{...}M>\n<M{"A": ""}M>', {"A": ""}),
        (b"<M{}M>", {}),
        (b'<M{"A": "1"}', None),
        (b"<M{broken}M>", None),
        (b'{"A": "1"}', None),
        (b"", None),
    ],
)
def test_the_environment_is_found_in_the_noise(output: bytes, told: dict[str, str] | None) -> None:
    assert told_environment(output, "M") == told


def test_shells_are_asked_in_their_own_way() -> None:
    line = shell_command("/bin/zsh", "/usr/bin/python3", "M")
    assert line is not None
    assert line[:4] == ["/bin/zsh", "-l", "-i", "-c"]
    assert line[4].startswith("'/usr/bin/python3' -I -S -c 'import json")
    assert line[4].endswith("' M")
    assert line[4].count("'") == 4
    assert "!" not in line[4]
    assert "\\" not in line[4]
    csh = shell_command("/bin/tcsh", "/usr/bin/python3", "M")
    assert csh is not None
    assert csh[:3] == ["/bin/tcsh", "-i", "-c"]
    assert shell_command("/bin/sh", "/it's/python", "M") is None


# --- real shells and made-up ones -----------------------------------------------------


class Asked:
    """A login shell that is asked in an environment of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path, shell: str) -> None:
        for name in [n for n in os.environ if n != "COVERAGE_PROCESS_CONFIG"]:
            monkeypatch.delenv(name)
        for name, value in {"PATH": "/usr/bin:/bin", "HOME": str(home), "SHELL": shell}.items():
            monkeypatch.setenv(name, value)
        self.log: list[str] = []
        self.login = LoginShell()

    async def environment(self) -> dict[str, str]:
        with anyio.fail_after(8):
            return await self.login.environment(self.log.append)


def made_up(folder: Path, body: str) -> str:
    """A shell that is called as ``-l -i -c LINE``."""
    shell = folder / "shell"
    shell.write_text(f"#!/bin/sh\n{body}\n")
    shell.chmod(0o755)
    return str(shell)


START_FILES = {
    ".profile": "export FROM_LOGIN=1",
    ".bash_profile": "export FROM_LOGIN=1; . ~/.bashrc",
    ".bashrc": "echo noise; echo more >&2; export FROM_SHELL='a \"b\" $c'; cat",
    ".zshrc": "echo noise; export FROM_SHELL='a \"b\" $c'; cat",
    ".tcshrc": "echo noise; setenv FROM_LOGIN 1",
    ".config/fish/config.fish": "echo noise; set -gx FROM_LOGIN 1; cat",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.needs(n)) for n in ("dash", "bash", "zsh", "fish", "tcsh")],
)
async def test_real_shells_tell_what_their_start_files_set(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, text in START_FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text + "\n")
    (tmp_path / ".zprofile").write_text("export FROM_LOGIN=1\n")
    shell = str(shutil.which(name))
    it = Asked(monkeypatch, tmp_path, shell)
    monkeypatch.setenv("ODD", "x\n'\"\\$")
    env = await it.environment()
    assert env["FROM_LOGIN"] == "1"
    assert env["ODD"] == "x\n'\"\\$"
    assert env.get("FROM_SHELL", 'a "b" $c') == 'a "b" $c'
    (line,) = it.log
    assert line.startswith("acpls: took ")
    assert line.endswith(f" variables of the login shell {shell}")


async def test_the_shell_is_asked_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer serves for the life of the server, also those who ask meanwhile."""
    asked = tmp_path / "asked"
    body = f'echo "${RESOLVING}" >>{asked}; export FOUND=1 {RESOLVING}; eval "$4"'
    it = Asked(monkeypatch, tmp_path, made_up(tmp_path, body))
    found: list[dict[str, str]] = []

    async def ask() -> None:
        found.append(await it.environment())

    assert not it.login.known
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
    await ask()
    assert it.login.known
    assert [env["FOUND"] for env in found] == ["1"] * 4
    assert RESOLVING not in found[0]
    assert asked.read_text() == "1\n"
    assert len(it.log) == 1


async def test_whoever_waits_asks_anew_when_the_first_one_was_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    body = f'[ -e {gate} ] || {{ touch {gate}; exec sleep 60; }}; export FOUND=1; eval "$4"'
    it = Asked(monkeypatch, tmp_path, made_up(tmp_path, body))
    found: list[dict[str, str]] = []

    async def second() -> None:
        found.append(await it.environment())

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as first:

            async def stop() -> None:
                while not gate.exists():
                    await anyio.lowlevel.checkpoint()
                tasks.start_soon(second)
                first.cancel()

            tasks.start_soon(stop)
            await it.environment()
    assert first.cancelled_caught
    assert [env["FOUND"] for env in found] == ["1"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("exit 1", "its answer has no environment"),
        ("echo nothing", "its answer has no environment"),
        ("exec sleep 60", "it did not answer within 0.5 seconds"),
        ('trap "" TERM; sleep 60 & wait', "it did not answer within 0.5 seconds"),
        ("exec cat /dev/zero", "its answer has no environment"),
    ],
)
async def test_a_shell_that_does_not_tell_is_done_without(
    body: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acpls.client.process._TERM_S", 0.2)
    it = Asked(monkeypatch, tmp_path, made_up(tmp_path, body))
    it.login = LoginShell(limit_s=0.5)
    started = time.monotonic()
    assert await it.environment() == dict(os.environ)
    assert time.monotonic() - started < 4
    shell = tmp_path / "shell"
    assert it.log == [
        f"acpls: the environment of the login shell {str(shell)!r} is not used: {problem}"
    ]
    assert await it.environment() == dict(os.environ)
    assert len(it.log) == 1


@pytest.mark.parametrize("shell", ["/no/shell", ""])
async def test_a_shell_that_is_not_there_is_done_without(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Asked(monkeypatch, tmp_path, shell)
    assert await it.environment() == dict(os.environ)
    (line,) = it.log
    assert line.startswith("acpls: the login shell was not asked: ")
    assert (shell or "SHELL is not set") in line


async def test_a_path_of_ours_that_no_shell_can_quote_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = Asked(monkeypatch, tmp_path, "/bin/sh")
    monkeypatch.setattr(sys, "executable", "/it's/python")
    assert await it.environment() == dict(os.environ)
    assert "not asked: " in it.log[0]


async def test_x01_what_the_shell_starts_ends_with_the_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = 'sleep 60 & echo $! >pid; export FOUND=1; eval "$4"; sleep 60'
    it = Asked(monkeypatch, tmp_path, made_up(tmp_path, body))
    monkeypatch.chdir(tmp_path)
    assert (await it.environment())["FOUND"] == "1"
    assert all_gone([int((tmp_path / "pid").read_text())], 0.1)


def test_the_question_is_short_lived() -> None:
    assert environment.LIMIT_S == 5.0
