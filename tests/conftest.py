"""Fixtures that every test may use."""

from __future__ import annotations

import pytest

pytest_plugins = ["missing"]


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of the product."""
    return "asyncio"
