"""``acpls agents add``: a table more in the user's file, and every byte of it kept."""

from __future__ import annotations

import io
import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from console_stage import at_home

from acpls.console import adding
from acpls.console.adding import platform_name

if TYPE_CHECKING:
    from pathlib import Path

    from console_stage import Console


@pytest.fixture
def console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Console:
    """The user's home."""
    return at_home(tmp_path, monkeypatch, capsys)


@pytest.fixture(autouse=True)
def programs(console: Console) -> None:
    """What is on PATH."""
    for name in ("npx", "gemini", "vibe-acp"):
        path = console.home / "bin" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)


def entries(console: Console) -> Any:
    return tomllib.loads(console.config.read_text("utf-8"))["agents"]


def registry(console: Console, *agents: dict[str, Any]) -> str:
    file = console.home / "registry.json"
    file.write_text(json.dumps({"version": "1.0.0", "agents": agents}))
    return str(file)


def npx(name: str, **more: Any) -> dict[str, Any]:
    part = {"package": f"{name}@1.0", **more}
    return {"id": name, "name": name, "version": "1", "distribution": {"npx": part}}


def test_a_known_agent_that_is_on_path_is_added_as_that(console: Console) -> None:
    ran = console.run("agents", "add", "gemini", "--yes")
    assert ran.code == 0
    assert console.config.read_text() == '[agents.gemini]\ncommand = "gemini"\nargs = ["--acp"]\n'
    assert "downloads" not in ran.err
    assert "acpls doctor gemini" in ran.err


def test_one_that_is_not_is_added_with_its_runner_and_that_is_said(console: Console) -> None:
    ran = console.run("agents", "add", "claude-acp", "--as", "my claude", "--yes")
    assert ran.code == 0
    assert entries(console) == {
        "my claude": {
            "command": "npx",
            "args": ["--yes", "@agentclientprotocol/claude-agent-acp@0.101.0"],
        }
    }
    assert "npx downloads this package when the agent is first started" in ran.err


def test_one_that_cannot_be_started_here_is_not_added(console: Console) -> None:
    ran = console.run("agents", "add", "agentao", "--yes")
    assert (ran.code, ran.out) == (1, "")
    assert "agentao is not on PATH" in ran.err
    assert "uvx is not on PATH" in ran.err
    assert not console.config.exists()


@pytest.mark.parametrize(
    "before",
    [
        "# mine\n\n[follow]\non = true\n",
        "# no newline at the end\nfollow.on = true",
        "# Windows\r\n[follow]\r\non = true\r\n",
        '[agents.x]\ncommand = "x" # é 日本\n\n\n',
        "\n",
    ],
)
def test_every_byte_is_kept(console: Console, before: str) -> None:
    console.write(before)
    console.config.chmod(0o640)
    assert console.run("agents", "add", "gemini", "--yes").code == 0
    after = console.config.read_bytes()
    assert after.startswith(before.encode())
    assert entries(console)["gemini"] == {"command": "gemini", "args": ["--acp"]}
    if "\r\n" in before:
        assert after.count(b"\n") == after.count(b"\r\n")
    assert console.config.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in console.config.parent.iterdir()] == ["config.toml"]


def test_a_file_that_is_a_link_stays_one(console: Console) -> None:
    kept = console.home / "dotfiles.toml"
    kept.write_text("# kept elsewhere\n")
    console.config.parent.mkdir(parents=True)
    console.config.symlink_to(kept)
    assert console.run("agents", "add", "gemini", "--yes").code == 0
    assert console.config.is_symlink()
    assert kept.read_text().startswith("# kept elsewhere\n")


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ('[agents.gemini]\ncommand = "mine"\n', 'has an agent "gemini" already'),
        ('"agents.gemini" = { command = "mine" }\n', 'has an agent "gemini" already'),
        ('agents = { pi = { command = "pi" } }\n', "no table can be added"),
        ("agents = 3\n", "agents is no table"),
        ("this is [not toml\n", "Expected"),
    ],
)
def test_a_file_that_cannot_take_it_is_left_as_it_is(
    console: Console, before: str, reason: str
) -> None:
    console.write(before)
    ran = console.run("agents", "add", "gemini", "--yes")
    assert ran.code == 1
    assert reason in ran.err
    assert console.config.read_text() == before
    assert "[agents.gemini]" in ran.out


def test_bytes_that_are_no_text_are_left_as_they_are(console: Console) -> None:
    console.write("")
    console.config.write_bytes(b"\xff\n")
    assert console.run("agents", "add", "gemini", "--yes").code == 1
    assert console.config.read_bytes() == b"\xff\n"


@pytest.mark.parametrize("name", ["", "a\nb"])
def test_a_name_can_be_printed(console: Console, name: str) -> None:
    assert console.run("agents", "add", "gemini", "--as", name, "--yes").code == 1
    assert not console.config.exists()


def test_a_write_that_fails_leaves_everything(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    console.write("# mine\n")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    ran = console.run("agents", "add", "gemini", "--yes")
    assert ran.code == 1
    assert "no space left" in ran.err
    assert console.config.read_text() == "# mine\n"
    assert [path.name for path in console.config.parent.iterdir()] == ["config.toml"]


# --- asking --------------------------------------------------------------------------


class Terminal(io.StringIO):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("Yes\n", 0), ("\n", 2), ("", 2)])
def test_it_asks_at_a_terminal(
    console: Console, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    ran = console.run("agents", "add", "gemini")
    assert ran.code == code
    assert "[y/N] " in ran.err
    assert console.config.exists() is (code == 0)


def test_without_a_terminal_it_wants_yes(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    ran = console.run("agents", "add", "gemini")
    assert ran.code == 2
    assert "--yes" in ran.err
    assert not console.config.exists()


# --- files ---------------------------------------------------------------------------


def test_the_only_agent_of_a_file_is_added(console: Console) -> None:
    file = registry(console, npx("neo", args=["--acp"], env={"MODE": "x"}))
    assert console.run("agents", "add", file, "--yes").code == 0
    assert entries(console) == {
        "neo": {"command": "npx", "args": ["--yes", "neo@1.0", "--acp"], "env": {"MODE": "x"}}
    }


def test_of_several_the_ids_are_listed(console: Console) -> None:
    bad = {"id": "bad", "distribution": {"npx": {"package": "-x"}}}
    file = registry(console, npx("neo"), npx("leo"), bad, {"id": 3})
    ran = console.run("agents", "add", file, "--yes")
    assert ran.code == 2
    assert [line.split()[0] for line in ran.out.splitlines()] == ["ID", "neo", "leo", "bad"]
    assert "not a name with a version" in ran.out
    assert "--id" in ran.err
    assert "entry 4 has no id" in ran.err
    assert console.run("agents", "add", file, "--id", "leo", "--yes").code == 0
    assert list(entries(console)) == ["leo"]
    assert console.run("agents", "add", file, "--id", "no", "--yes").code == 2


def test_an_archive_is_not_fetched(console: Console) -> None:
    archive = {"archive": "https://files.example/x.zip", "cmd": "./vibe-acp"}
    vibe = {"id": "v", "distribution": {"binary": {platform_name(): archive}}}
    assert console.run("agents", "add", registry(console, vibe), "--yes").code == 0
    assert entries(console) == {"v": {"command": "vibe-acp"}}
    other = {"id": "o", "distribution": {"binary": {platform_name(): archive | {"cmd": "./no"}}}}
    ran = console.run("agents", "add", registry(console, other), "--yes")
    assert ran.code == 1
    assert "no is not on PATH" in ran.err
    assert "Archives are not downloaded" in ran.err


def test_a_hostile_entry_adds_nothing(console: Console) -> None:
    part = {"archive": "x", "cmd": "/bin/sh", "args": ["-c", "id"]}
    evil = {"id": "evil", "distribution": {"binary": {platform_name(): part}}}
    ran = console.run("agents", "add", registry(console, evil), "--yes")
    assert ran.code == 1
    assert "cmd that is not the name of a program" in ran.err
    assert not console.config.exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no json", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[]", "holds no object"),
        (b'{"agents": []}', "holds no agent"),
        (b" " * (adding._MAX_FILE_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_no_registry(console: Console, content: bytes, reason: str) -> None:
    file = console.home / "r.json"
    file.write_bytes(content)
    ran = console.run("agents", "add", str(file), "--yes")
    assert ran.code == 2
    assert reason in ran.err


@pytest.mark.parametrize(
    ("what", "hint"), [("gemni", 'did you mean "gemini"?'), ("./x.json", "`acpls agents list`")]
)
def test_what_is_neither_known_nor_a_file(console: Console, what: str, hint: str) -> None:
    ran = console.run("agents", "add", what)
    assert ran.code == 2
    assert hint in ran.err


def test_an_id_is_for_files(console: Console) -> None:
    assert console.run("agents", "add", "gemini", "--id", "x").code == 2


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Darwin", "arm64", "darwin-aarch64"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Haiku", "x86_64", "other-x86_64"),
    ],
)
def test_our_platform_in_the_words_of_registries(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, name: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert platform_name() == name
