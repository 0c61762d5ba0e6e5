"""The table of the survey: what is kept of it, and that docs/agents.md has all of it."""

from __future__ import annotations

from pathlib import Path

from survey_agents import AGENTS
from survey_table import HEAD, RULE, Row, merged

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
ONE, TWO, *_ = AGENTS
SEEN = Row(ONE.name, ONE.version, "2", "0.5", "yes", "one hunk", "asked nothing", "2026-11-30")


def test_a_row_is_put_in_and_the_rest_of_the_page_stays() -> None:
    page = f"Before.\n\n{HEAD}\n{RULE}\n\nAfter.\n"
    empty = f"| {TWO.name} | {TWO.version} | - | - | - | - | not run: not yet | - |"
    table = f"{HEAD}\n{RULE}\n{SEEN.line()}\n{empty}\n"
    assert merged(page, {ONE.name: SEEN}, [ONE, TWO]) == f"Before.\n\n{table}\nAfter.\n"


def test_what_was_not_driven_again_keeps_its_row() -> None:
    page = merged(f"{HEAD}\n{RULE}\n", {ONE.name: SEEN}, [ONE, TWO])
    other = Row(TWO.name, TWO.version, "1", "3.0", "yes", "no", "has no model", "2026-12-01")
    both = merged(page, {TWO.name: other}, [ONE, TWO])
    assert both == f"{HEAD}\n{RULE}\n{SEEN.line()}\n{other.line()}\n"


def test_the_page_has_a_row_for_each_agent() -> None:
    rows = PAGE.read_text(encoding="utf-8").partition(f"{HEAD}\n{RULE}\n")[2].splitlines()
    named = [tuple(cell.strip() for cell in row.split("|")[1:3]) for row in rows]
    assert named == [(agent.name, agent.version) for agent in AGENTS]
