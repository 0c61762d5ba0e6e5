"""What a person meets: lists of scenarios, which every editor that is driven goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scenarios_bytes import BYTES
from scenarios_client import CLIENT
from scenarios_edits import EDITS
from scenarios_files import FILES
from scenarios_meanwhile import MEANWHILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitting import Scenario

# The review.
ALL: Final = [*EDITS, *MEANWHILE, *CLIENT, *FILES, *BYTES]


def of(editor: str, scenarios: Iterable[Scenario] = ALL) -> list[Scenario]:
    """Those that are for this editor."""
    return [scenario for scenario in scenarios if editor not in scenario.not_in]
