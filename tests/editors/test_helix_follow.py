"""The scenarios of following in a real Helix with the configuration of this repository."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from helix import Helix, helix
from scenarios import of
from scenarios_follow import FOLLOW
from sitting import Sitting

if TYPE_CHECKING:
    from pathlib import Path

    from sitting import Scenario

pytestmark = [
    pytest.mark.editors,
    pytest.mark.needs("hx", found=helix()),
    pytest.mark.timeout(60),
]

PLAYED = of("helix", FOLLOW)


@pytest.mark.parametrize("scenario", PLAYED, ids=lambda scenario: scenario.name)
def test_helix(tmp_path: Path, scenario: Scenario) -> None:
    program = helix()
    assert program is not None
    Sitting.play(tmp_path, scenario, partial(Helix, program))
