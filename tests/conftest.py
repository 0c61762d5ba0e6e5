"""Fixtures that every test may use."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest_plugins = ["missing"]


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What servers keep for their next run is kept elsewhere, and never the user's own."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of the product."""
    return "asyncio"


# The same examples each time, so that a change is judged by itself; new ones by hand, with
# HYPOTHESIS_PROFILE=searching.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
