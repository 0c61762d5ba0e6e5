"""Plugins: they add agents below every layer, watch sessions, and cannot do harm."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from acpls.events import SessionTold
from acpls.plugins import Plugins, load
from acpls.session.content import Text
from acpls.session.updates import MessageGrew
from acpls.settings import AgentSpec, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEMO = AgentSpec("demo")


def told(text: str) -> SessionTold:
    return SessionTold("pi", "s", MessageGrew("m", "agent", Text(text)))


def install(folder: Path, name: str, code: str, points: str) -> None:
    """Put a package and its entry points where an installer would."""
    (folder / f"{name}.py").write_text(code, "utf-8")
    facts = folder / f"{name}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    (facts / "entry_points.txt").write_text(f"[acpls.plugins]\n{points}\n", "utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages; those of a test are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("plugged"):
            del sys.modules[name]


GOOD = """
seen = []

def agents():
    return {"mine": {"command": "mine", "args": ["--acp"], "env": {"A": "1"}}}

def watch(session, event):
    seen.append((session, event))

class Quiet:
    def agents(self):
        return {"quiet": {"command": "quiet"}}

quiet = Quiet()
"""


def test_an_installed_module_adds_agents_and_watches(installed: Path) -> None:
    install(installed, "plugged", GOOD, "a = plugged\nb = plugged:quiet")
    plugins = load()
    assert list(plugins.layer["agents"]) == ["mine", "quiet"]
    plugins.watch("key", told("x"))
    plugins.watch("key", told("y"))
    assert sys.modules["plugged"].seen == [("key", told("x")), ("key", told("y"))]


def test_the_users_settings_lie_above_a_plugins(installed: Path) -> None:
    install(installed, "plugged", GOOD, "a = plugged")
    users = {"agents": {"mine": {"args": ["-q"]}, "other": {"command": "other"}}}
    found, warnings = parse((load().layer, users), DEMO)
    assert warnings == ()
    assert found.agents == {
        "mine": AgentSpec("mine", ("-q",), {"A": "1"}),
        "other": AgentSpec("other"),
    }


def test_without_plugins_there_is_an_empty_layer() -> None:
    plugins = Plugins({})
    plugins.watch("key", told("x"))
    assert parse((plugins.layer,), DEMO)[0].agents == {"demo": DEMO}


def test_what_cannot_be_loaded_is_logged_and_left_out(
    installed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install(installed, "plugged", GOOD, "z = plugged\nb = plugged:no\nc = plugged_gone")
    install(installed, "plugged_exit", "raise SystemExit(3)", "a = plugged_exit")
    assert list(load().layer["agents"]) == ["mine"]
    assert [record.getMessage() for record in caplog.records] == [
        "plugin a cannot be loaded: SystemExit: 3",
        "plugin b cannot be loaded: AttributeError: module 'plugged' has no attribute 'no'",
        "plugin c cannot be loaded: ModuleNotFoundError: No module named 'plugged_gone'",
    ]


def test_of_two_plugins_with_one_name_the_first_is_taken(
    installed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    install(installed, "plugged", GOOD, "a = plugged")
    install(installed, "plugged_too", GOOD.replace("mine", "theirs"), "a = plugged_too")
    assert list(load().layer["agents"]) == ["mine"]
    assert caplog.messages == ["plugin a is there twice; plugged_too is left out"]


def broken() -> Any:
    raise RuntimeError("no\nagents")


@pytest.mark.parametrize(
    ("agents", "reason"),
    [
        (broken, "RuntimeError: no agents"),
        (lambda: ["pi"], "TypeError: agents() gave a list, not a mapping"),
        (lambda: {"pi": 3}, "TypeError: 'int' object is not iterable"),
        (lambda _: {}, "TypeError: "),
    ],
)
def test_wrong_agents_are_logged_and_left_out(
    agents: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    plugins = Plugins({"p": SimpleNamespace(agents=agents)})
    assert plugins.layer == {"agents": {}}
    (message,) = caplog.messages
    assert message.startswith(f"plugin p adds no agents: {reason}")
    assert message.isprintable()


def test_an_agent_that_two_plugins_add_is_the_first_ones(caplog: pytest.LogCaptureFixture) -> None:
    one = SimpleNamespace(agents=lambda: {"pi": {"command": "one"}})
    two = SimpleNamespace(agents=lambda: {"pi": {"command": "two"}, "other": {"command": "o"}})
    layer = Plugins({"one": one, "two": two}).layer
    assert layer == {"agents": {"pi": {"command": "one"}, "other": {"command": "o"}}}
    assert caplog.messages == ["plugin two: another one has the agent pi"]


@pytest.mark.parametrize("wrong", [RuntimeError("tired"), SystemExit(1)])
def test_a_watch_that_raises_is_told_nothing_more(
    wrong: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def tired(session: str, event: SessionTold) -> None:
        calls.append(f"tired {session}")
        raise wrong

    def awake(session: str, event: SessionTold) -> None:
        calls.append(f"awake {session}")

    plugins = Plugins({"t": SimpleNamespace(watch=tired), "w": SimpleNamespace(watch=awake)})
    plugins.watch("1", told("x"))
    plugins.watch("2", told("y"))
    assert calls == ["tired 1", "awake 1", "awake 2"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "plugin t watches no longer" in caplog.text


def test_a_plugin_without_either_is_harmless() -> None:
    plugins = Plugins({"p": SimpleNamespace(agents=None, watch=3), "q": object()})
    plugins.watch("key", told("x"))
    assert plugins.layer == {"agents": {}}


def test_an_installed_plugin_is_found_by_the_command_line(tmp_path: Path) -> None:
    install(tmp_path, "plugged", GOOD, "a = plugged")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from acpls.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, "agents", "show", "mine", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)},
    )
    shown = json.loads(run.stdout)
    assert (shown["source"], shown["line"]) == ("a plugin", "mine --acp")


def test_importing_it_costs_nothing() -> None:
    slow = "{'importlib.metadata', 'pydantic', 'anyio', 'asyncio', 'acpls.events'}"
    code = f"import sys, acpls.plugins; print(sorted({slow} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_watch_that_waits_is_no_watch(caplog: pytest.LogCaptureFixture) -> None:
    async def waits(session: str, event: SessionTold) -> None:
        raise AssertionError

    plugins = Plugins({"a": SimpleNamespace(watch=waits), "n": SimpleNamespace(watch=7)})
    plugins.watch("key", told("x"))
    assert [record.getMessage() for record in caplog.records] == [
        "plugin a cannot watch: its watch is no plain function",
        "plugin n cannot watch: its watch is no plain function",
    ]


def test_a_watch_that_wants_to_end_everything_ends_itself(caplog: pytest.LogCaptureFixture) -> None:
    def ends(session: str, event: SessionTold) -> None:
        raise KeyboardInterrupt

    plugins = Plugins({"e": SimpleNamespace(watch=ends)})
    plugins.watch("key", told("x"))
    assert "plugin e watches no longer: KeyboardInterrupt" in caplog.text
