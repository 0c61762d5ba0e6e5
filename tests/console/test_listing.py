"""``acpls agents list`` and ``show``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from console_stage import at_home

from acpls.console.program import would_download
from acpls.settings import AgentSpec

if TYPE_CHECKING:
    from pathlib import Path

    from console_stage import Console


@pytest.fixture
def console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Console:
    """The user's home."""
    return at_home(tmp_path, monkeypatch, capsys)


CONFIG = """
defaultAgent = "mine"
[agents.mine]
command = "~/tools/mine"
args = ["--acp", "--api-key", "hunter2"]
env = { TOKEN = "very secret", MODE = "x" }
protocol = 2
cwd = "/srv"
systemPrompt = "Be brief."
[agents.mine.options]
model = "fast"
web = true
[agents.mine.mcpServers]
files = { command = "/bin/files", args = ["--token=abcdef"], env = { A = "sesame" } }
far = { url = "https://me:pw@m.example", headers = { X = "sesame" } }
[agents.claude]
authMethod = "key"
[agents.runner]
command = "npx"
args = ["--yes", "thing@1"]
"""


def program(console: Console, *names: str) -> None:
    for name in names:
        path = console.home / "bin" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)


def row(text: str, name: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(f"  {name} ")]
    return line


def test_without_settings_there_is_the_demo_agent_and_what_is_known(console: Console) -> None:
    program(console, "gemini", "npx")
    ran = console.run("agents", "list")
    assert (ran.code, ran.err) == (0, "")
    assert "Configured in ~/config/acpls/config.toml:" in ran.out
    assert "* demo" in ran.out
    assert "on PATH" in row(ran.out, "gemini")
    assert "by npx" in row(ran.out, "claude")
    assert row(ran.out, "vibe").endswith("not found  vibe-acp")
    assert console.run("agents").out == ran.out


def test_configured_agents_come_first_and_are_not_listed_twice(console: Console) -> None:
    console.write(CONFIG)
    program(console, "claude-agent-acp")
    out = console.run("agents", "list").out
    assert "* mine" in out
    assert "hunter2" not in out
    assert "--api-key '***'" in out or "--api-key ***" in out
    assert "~/bin/claude-agent-acp" in row(out, "claude")
    assert "not found" in row(out, "runner")


def test_the_list_is_there_as_json(console: Console) -> None:
    console.write(CONFIG)
    ran = console.run("agents", "list", "--json")
    told = json.loads(ran.out)
    assert [agent["name"] for agent in told["configured"]] == ["mine", "claude", "runner"]
    assert [agent["default"] for agent in told["configured"]] == [True, False, False]
    assert [agent["mayDownload"] for agent in told["configured"]] == [False, False, True]
    gemini = next(agent for agent in told["known"] if agent["name"] == "gemini")
    assert gemini["ways"][0] == {"kind": "program", "program": None, "line": "gemini --acp"}
    assert "claude" not in [agent["name"] for agent in told["known"]]


def test_problems_of_the_settings_go_to_standard_error(console: Console) -> None:
    console.write('[agents.x]\nargs = ["a"]\n[folow]\n')
    ran = console.run("agents", "list")
    assert ran.code == 0
    assert "agents.x.command is missing" in ran.err
    assert 'did you mean "follow"' in ran.err
    console.write("no = [toml")
    assert "cannot be read" in console.run("agents", "list").err


def test_show_tells_what_is_in_effect_and_where_it_comes_from(console: Console) -> None:
    """X18: what an agent is started with can be seen."""
    console.write(CONFIG)
    ran = console.run("agents", "show", "mine")
    assert ran.code == 0
    assert row(ran.out, "program").split() == ["program", "not", "found"]
    assert row(ran.out, "env.TOKEN").split() == ["env.TOKEN", "***", "(config.toml)"]
    assert row(ran.out, "options.model").split()[:2] == ["options.model", "fast"]
    assert "secret" not in ran.out
    assert "hunter2" not in ran.out
    snippet = tomllib.loads(ran.out[ran.out.index("[agents.mine]") :])
    assert snippet["agents"]["mine"] == {
        "command": "~/tools/mine",
        "args": ["--acp", "--api-key", "***"],
        "env": {"TOKEN": "***", "MODE": "***"},
        "protocol": 2,
        "cwd": "/srv",
        "options": {"model": "fast", "web": True},
        "systemPrompt": {"mode": "append", "text": "Be brief."},
        "mcpServers": {
            "files": {
                "type": "stdio",
                "command": "/bin/files",
                "args": ["--token=***"],
                "env": {"A": "***"},
            },
            "far": {"type": "http", "url": "https://***@m.example", "headers": {"X": "***"}},
        },
    }


def test_show_tells_what_the_list_of_known_agents_lends(console: Console) -> None:
    console.write(CONFIG)
    out = console.run("agents", "show", "claude").out
    assert row(out, "command").endswith("(the list of known agents)")
    assert row(out, "authMethod").endswith("(config.toml)")
    assert "needs a login, or ANTHROPIC_API_KEY" in out


def test_show_warns_of_what_may_be_downloaded(console: Console) -> None:
    console.write(CONFIG)
    assert "may download" in console.run("agents", "show", "runner").out


@pytest.mark.parametrize("name", ["gemini", "github-copilot-cli"])
def test_show_knows_agents_that_are_not_configured(console: Console, name: str) -> None:
    """The second is known in the registry by another name than here."""
    ran = console.run("agents", "show", name)
    assert ran.code == 0
    assert "not in your settings" in ran.out
    snippet = tomllib.loads(ran.out[ran.out.index("[agents.") :])["agents"]
    assert [entry["args"] for entry in snippet.values()] == [["--acp"]]
    told = json.loads(console.run("agents", "show", name, "--json").out)
    assert told["protocols"] == [1]


def test_show_as_json_hides_secrets(console: Console) -> None:
    console.write(CONFIG)
    ran = console.run("agents", "show", "mine", "--json")
    assert json.loads(ran.out)["settings"]["env"] == {"TOKEN": "***", "MODE": "***"}
    assert "hunter2" not in ran.out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mien", 'did you mean "mine"?'),
        ("gemni", 'did you mean "gemini"?'),
        ("zzzz", "there is mine, claude, runner"),
    ],
)
def test_an_agent_that_is_not_there(console: Console, name: str, hint: str) -> None:
    console.write(CONFIG)
    ran = console.run("agents", "show", name)
    assert (ran.code, ran.out) == (2, "")
    assert hint in ran.err


def test_a_known_agent_has_to_be_added_before_it_is_started(console: Console) -> None:
    ran = console.run("login", "gemini")
    assert ran.code == 2
    assert "`acpls agents add gemini` adds it" in ran.err


@pytest.mark.parametrize(
    ("command", "args", "would"),
    [
        ("npx", ["x"], True),
        ("/usr/bin/npx", [], True),
        ("C:\\Program Files\\nodejs\\NPX.CMD", ["x"], True),
        ("uvx", ["x"], True),
        ("uv", ["tool", "run", "x"], True),
        ("npm", ["--silent", "exec", "x"], True),
        ("uv", ["--version"], False),
        ("node", ["x.js"], False),
        ("pi", ["npx"], False),
    ],
)
def test_what_may_download(command: str, args: list[str], would: bool) -> None:
    assert would_download(AgentSpec(command, tuple(args))) is would


def test_a_reader_that_has_seen_enough_is_no_error(console: Console) -> None:
    """The list goes into a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        run = subprocess.run(
            [sys.executable, "-m", "acpls", "agents", "list"],
            stdout=write,
            stderr=subprocess.PIPE,
            env={**os.environ, **console.variables},
            check=False,
        )
    finally:
        os.close(write)
    assert (run.returncode, run.stderr) == (1, b"")


def help_of(*argv: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "acpls", *argv, "--help"], capture_output=True, text=True, check=True
    ).stdout


def test_the_command_line_tells_its_commands() -> None:
    assert all(word in help_of() for word in ("agents", "doctor", "login", "logout"))
    assert all(word in help_of("agents") for word in ("list", "show", "add", "check"))
