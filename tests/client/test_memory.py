"""What an agent was found to speak is known the next time, until the agent is another one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acpls.client.memory import Memory
from acpls.settings import AgentSpec

if TYPE_CHECKING:
    from pathlib import Path

SPEC = AgentSpec("agent", ("--acp",))
OTHER = AgentSpec("agent")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "versions.json"


def test_version_2_is_asked_for_where_nothing_is_known(file: Path) -> None:
    assert Memory().version(SPEC) == 2
    assert Memory(file).version(SPEC) == 2
    assert not file.exists()


def test_what_was_found_is_known_in_the_next_run(file: Path) -> None:
    Memory(file).agreed(SPEC, 1, "0.61.0")
    assert Memory(file).version(SPEC) == 1
    assert Memory(file).version(OTHER) == 2
    assert [x.name for x in file.parent.iterdir()] == ["versions.json"]


def test_without_a_file_it_is_known_in_this_run() -> None:
    memory = Memory()
    memory.agreed(SPEC, 1, "")
    assert memory.version(SPEC) == 1


def test_after_an_update_the_agent_is_asked_for_version_2_again(file: Path) -> None:
    Memory(file).agreed(SPEC, 1, "0.61.0")
    Memory(file).agreed(SPEC, 1, "0.62.0")
    assert Memory(file).version(SPEC) == 2
    Memory(file).agreed(SPEC, 2, "0.62.0")
    assert Memory(file).version(SPEC) == 2


def test_what_could_not_be_agreed_on_is_forgotten(file: Path) -> None:
    memory = Memory(file)
    memory.agreed(SPEC, 1, "1")
    memory.agreed(OTHER, 1, "1")
    memory.forget(SPEC)
    memory.forget(SPEC)
    assert (Memory(file).version(SPEC), Memory(file).version(OTHER)) == (2, 1)


def test_nothing_is_written_where_nothing_changed(file: Path) -> None:
    memory = Memory(file)
    memory.agreed(SPEC, 1, "1")
    file.unlink()
    memory.agreed(SPEC, 1, "1")
    assert not file.exists()


@pytest.mark.parametrize(
    "rows",
    [
        "no json {",
        "{}",
        "7",
        [[], None, {"command": "agent"}, {"command": ["agent", 7], "protocol": 1, "agent": ""}],
        [{"command": ["agent", "--acp"], "protocol": 3, "agent": ""}],
        [{"command": ["agent", "--acp"], "protocol": 1, "agent": None}],
    ],
)
def test_a_broken_file_is_no_file(file: Path, rows: Any) -> None:
    file.parent.mkdir()
    file.write_text(rows if isinstance(rows, str) else json.dumps(rows))
    memory = Memory(file)
    assert memory.version(SPEC) == 2
    memory.agreed(SPEC, 1, "1")
    assert Memory(file).version(SPEC) == 1


def test_where_nothing_can_be_written_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "versions.json")
    memory.agreed(SPEC, 1, "1")
    assert memory.version(SPEC) == 1


def test_the_oldest_are_given_up_first(file: Path) -> None:
    memory = Memory(file)
    for number in range(201):
        memory.agreed(AgentSpec(f"agent{number}"), 1, "1")
    again = Memory(file)
    assert again.version(AgentSpec("agent0")) == 2
    assert again.version(AgentSpec("agent1")) == 1
    assert again.version(AgentSpec("agent200")) == 1
