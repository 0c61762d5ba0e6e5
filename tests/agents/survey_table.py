"""The table of the survey in docs/agents.md: rows that are kept, replaced and put in order."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from survey_agents import Surveyed

HEAD = (
    "| Agent | Package and version | Protocol | Starts in s | Prompt answered | Edits seen "
    "| Remarks | Run on |"
)
RULE = "|---|---|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Row:
    """What was seen of an agent; the fields are the columns."""

    name: str
    version: str
    protocol: str
    starts: str
    answered: str
    edits: str
    remarks: str
    date: str

    def line(self) -> str:
        """The row as it stands in the table."""
        return f"| {' | '.join(astuple(self))} |"


def merged(page: str, rows: Mapping[str, Row], agents: Sequence[Surveyed]) -> str:
    """The page with these rows in its table; those of other agents stay as they are."""
    before, _, rest = page.partition(HEAD)
    _, _, *lines = rest.split("\n")
    old = list(takewhile(lambda line: line.startswith("|"), lines))
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in old}
    table = [HEAD, RULE]
    for agent in agents:
        nothing = Row(agent.name, agent.version, "-", "-", "-", "-", "not run: not yet", "-")
        row = rows[agent.name].line() if agent.name in rows else kept.get(agent.name)
        table.append(row or nothing.line())
    return before + "\n".join([*table, *lines[len(old) :]])
