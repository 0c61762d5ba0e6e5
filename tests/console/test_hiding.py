"""Secrets and the home folder are hidden; what is needed to understand a report stays."""

from __future__ import annotations

import pytest

from acpls.console.hiding import Hiding
from acpls.session.asks import McpServer
from acpls.settings import AgentSpec


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets of the user's own."""
    monkeypatch.setenv("MY_API_KEY", "hunter2hunter2")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent.1")
    monkeypatch.setenv("SHORT_KEY", "1")


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (["--acp", "-v"], ["--acp", "-v"]),
        (["--api-key=abc"], ["--api-key=***"]),
        (["--api-key=", "x"], ["--api-key=", "x"]),
        (["--api-key", "abc", "--token", "-v", "x"], ["--api-key", "***", "--token", "-v", "x"]),
        (["API_KEY=abc", "MODEL=m"], ["API_KEY=***", "MODEL=m"]),
        (["-H", "Authorization: Bearer abc"], ["-H", "Authorization: ***"]),
        (["-H", "Accept: all"], ["-H", "Accept: all"]),
        (["https://me:pw@host/x?api_key=1&b=2"], ["https://***@host/x?api_key=***&b=2"]),
        (["sk-abcdefghijkl"], ["***"]),
        (["--model", "passthrough"], ["--model", "passthrough"]),
        (["--dir", "/home/me/x"], ["--dir", "~/x"]),
    ],
)
def test_arguments(args: list[str], shown: list[str]) -> None:
    assert Hiding(home="/home/me").args(args) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the key hunter2hunter2 is wrong", "the key *** is wrong"),
        ('{"apiKey": "abc", "model": "m"}', '{"apiKey": "***", "model": "m"}'),
        ("token=abc; user=me", "token=***; user=me"),
        ("Bearer abcdefghij.klm", "Bearer ***"),
        ("ghp_0123456789abcdef and AIzaSyD0123456789", "*** and ***"),
        ("session 1 of 1", "session 1 of 1"),
        ("/run/agent.1 is a socket", "/run/agent.1 is a socket"),
        ("in /home/me, /home/me/a and /home/meike", "in ~, ~/a and /home/meike"),
        ("/mnt/home/me/a", "/mnt/home/me/a"),
        ("Authentication required", "Authentication required"),
    ],
)
def test_texts(text: str, shown: str) -> None:
    assert Hiding(home="/home/me").text(text) == shown


def test_what_an_agent_was_given_is_hidden_in_what_it_says() -> None:
    local = McpServer("m", "stdio", "/bin/m", env=(("A", "swordfish"),))
    remote = McpServer("n", "http", url="u", headers=(("X", "open sesame"),))
    spec = AgentSpec(
        "pi",
        ("--password", "long secret", "--key=longer secret", "--on=yes"),
        {"PLAIN": "value of it", "ON": "yes"},
        mcp_servers=(local, remote),
    )
    said = "value of it, swordfish, open sesame, long secret, longer secret, yes"
    assert Hiding(spec).text(said) == "***, ***, ***, ***, ***, yes"


def test_a_home_that_is_everything_hides_nothing() -> None:
    assert Hiding(home="/").path("/a/b") == "/a/b"


def test_a_windows_home_is_hidden() -> None:
    assert Hiding(home=r"C:\Users\Me").path(r"C:\Users\Me\bin\pi.exe") == r"~\bin\pi.exe"
