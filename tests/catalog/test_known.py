"""The bundled list of agents: what is in it, and when it is read."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys

import pytest

from acpls.catalog import Entry, dated, known_agents, known_entries, lent_to
from acpls.settings import AgentSpec, parse

DEMO = AgentSpec("demo")


def lines(entry: Entry) -> list[str]:
    return [" ".join([way.spec.command, *way.spec.args]) for way in entry.ways]


def test_the_list_is_dated() -> None:
    assert dt.date.fromisoformat(dated()) >= dt.date(2026, 1, 1)


@pytest.mark.parametrize("entry", known_entries().values(), ids=known_entries())
def test_each_agent_is_a_plain_program_of_a_measured_version(entry: Entry) -> None:
    assert entry.ways[0].kind == "program"
    assert re.fullmatch(r"[a-z-]+", entry.ways[0].spec.command)
    assert set(entry.protocols) <= {1, 2}
    assert entry.protocols
    assert entry.title
    assert entry.remark
    assert not entry.problems
    # Packages are pinned to what was measured.
    for way in entry.ways[1:]:
        assert any(word.endswith(entry.version) for word in way.spec.args)


def test_an_agent_has_each_way_to_start_it() -> None:
    assert lines(known_entries()["claude"]) == [
        "claude-agent-acp",
        "npx --yes @agentclientprotocol/claude-agent-acp@0.101.0",
    ]
    assert lines(known_entries()["gemini"]) == [
        "gemini --acp",
        "npx --yes --package @google/gemini-cli@0.61.0 gemini --acp",
    ]
    assert lines(known_entries()["agentao"]) == [
        "agentao --acp --stdio",
        "uvx agentao==0.5.17 --acp --stdio",
    ]
    assert lines(known_entries()["hermes"]) == [
        "hermes-acp",
        "uvx --from hermes-agent[acp]==0.19.0 hermes-acp",
    ]


def test_an_entry_of_the_settings_without_a_command_is_completed() -> None:
    layers = [{"agents": {"gemini": {"env": {"A": "1"}}}}]
    found, warnings = parse(layers, DEMO, lent_to(layers))
    assert warnings == ()
    assert found.agents == {"gemini": AgentSpec("gemini", ("--acp",), {"A": "1"})}


@pytest.mark.parametrize(
    "layers",
    [
        [{"agents": {"claude": {}}}],
        [{"agents": {"claude": {"args": ["x"]}}}, None, {"agents": {"pi": {"command": "pi"}}}],
        [{"agents.claude.protocol": 2}],
    ],
)
def test_the_list_is_lent_to_settings_that_need_it(layers: list[object]) -> None:
    assert lent_to(layers) == known_agents()


@pytest.mark.parametrize(
    "layers",
    [
        [],
        [None, 3, "agents", {"agents": None}, {"agents": 3}],
        [{"agents": {"demo": {"protocol": 1}}}],
        [{"agents": {"pi": {"args": ["x"]}}}, {"agents.pi.command": "pi"}],
        [{"agents": {"pi": 3}}],
    ],
)
def test_the_list_is_not_lent_to_settings_that_do_not_need_it(layers: list[object]) -> None:
    assert lent_to(layers) == {}


def test_the_list_is_only_read_when_it_is_needed() -> None:
    code = """
import sys, tomllib
loads, read = tomllib.loads, []
tomllib.loads = lambda text: read.append(text) or loads(text)
from acpls.catalog import lent_to, login_command
lent_to([{"agents": {"pi": {"command": "pi"}}}])
print(len(read))
lent_to([{"agents": {"pi": {}}}])
print(len(read))
print(sorted({"pydantic", "anyio", "asyncio", "rich", "subprocess"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["0", "1", "[]"]
