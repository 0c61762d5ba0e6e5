"""The scenarios of questions in a real Neovim with the configuration of this repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from nvim import neovim
from nvim_hands import NvimHands
from scenarios import of
from scenarios_about import ABOUT
from scenarios_dialogs import DIALOGS
from scenarios_forms import FORMS
from scenarios_questions import QUESTIONS
from sitting import Scenario, Sitting

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.editors,
    pytest.mark.needs("nvim", found=neovim()),
    pytest.mark.timeout(60),
]

PLAYED = of("neovim", [*QUESTIONS, *ABOUT, *DIALOGS, *FORMS])


@pytest.mark.parametrize("scenario", PLAYED, ids=lambda scenario: scenario.name)
def test_neovim(tmp_path: Path, scenario: Scenario) -> None:
    Sitting.play(tmp_path, scenario, NvimHands)
