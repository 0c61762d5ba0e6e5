"""Agents that are known: a bundled, dated list, registry files, and lines to copy.

Nothing is fetched and nothing is started here. The list is read when somebody asks for it,
which the server does only for an agent of the settings that has no command.

Invariant: any registry file gives entries and problems, never an exception.
"""

from __future__ import annotations

from acpls.catalog.entries import Entry, Way
from acpls.catalog.known import dated, known_agents, known_entries, lent_to
from acpls.catalog.lines import login_command, shell_line, toml_table, toml_value
from acpls.catalog.registry import read_registry

__all__ = [
    "Entry",
    "Way",
    "dated",
    "known_agents",
    "known_entries",
    "lent_to",
    "login_command",
    "read_registry",
    "shell_line",
    "toml_table",
    "toml_value",
]
