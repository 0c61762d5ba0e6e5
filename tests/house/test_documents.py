"""docs/protocol.md tells the truth about settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from acpls.settings import KEYS, AgentSpec, parse
from acpls.settings.keys import Each

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"
DEMO = AgentSpec("demo")


def rows() -> dict[str, str]:
    """The settings of the table, each with its last column."""
    section = PROTOCOL.read_text("utf-8").split("\n## Settings\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([\w.]+)` \|.*\| ([^|]*) \|$", section, flags=re.MULTILINE))


@pytest.mark.parametrize("key", rows())
def test_a_setting_has_an_effect_where_the_table_says_so(key: str) -> None:
    # No setting takes a list of lists, so each that has an effect has to complain.
    _, warnings = parse(({key.replace("NAME", "demo"): [[]]},), DEMO)
    (warning,) = warnings
    assert ("has no effect" in warning) is (rows()[key] == "not yet")
    assert "unknown" not in warning


def test_the_table_has_every_setting() -> None:
    assert dotted(KEYS) == set(rows())


# Rows of the table that describe all that lies below them.
WHOLE = {"mcpServers", "agents.NAME.mcpServers"}


def dotted(node: object, path: str = "") -> set[str]:
    """Every key that a value can be given for; ``NAME`` where the user chooses it."""
    if path.lstrip(".") in WHOLE:
        return {path.lstrip(".")}
    if isinstance(node, Mapping):
        return {key for name in node for key in dotted(node[name], f"{path}.{name}")}
    if isinstance(node, Each) and isinstance(node.of, Mapping):
        return {f"{path}.NAME".lstrip(".")} | dotted(node.of, f"{path}.NAME")
    return {path.lstrip(".")}
