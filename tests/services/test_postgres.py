"""PostgreSQL keeps the published contract of a storage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from plastic_memories.adapters.postgres.backend import open_postgres
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing import StorageContract

pytestmark = pytest.mark.external


@dataclass(frozen=True)
class PostgresTestOptions:
    database_url: str
    database_connections: int = 10


class TestPostgres(StorageContract):
    @pytest.fixture
    async def storage(self, postgres_url: str) -> AsyncIterator[StorageBackend]:
        async with open_postgres(PostgresTestOptions(postgres_url)) as storage:
            yield storage
