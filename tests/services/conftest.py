"""The real servers of these tests, each started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.postgres_server import PostgresServer, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """A database of its own with the schema and nothing in it."""
    with postgres.database() as url:
        yield url
