"""Real clients, installed by `make test-clients` in environments of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def clients() -> Path:
    """The folder with one environment for each client."""
    given = os.environ.get("PLASTIC_MEMORIES_CLIENTS")
    if given is None:
        pytest.fail("Run these tests with `make test-clients`: it installs the clients.")
    return Path(given)
