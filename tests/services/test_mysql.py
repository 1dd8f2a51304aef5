"""MariaDB keeps the published contract of a storage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from plastic_memories.adapters.mysql.backend import open_mysql
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing import StorageContract

pytestmark = pytest.mark.external


@dataclass(frozen=True)
class MysqlTestOptions:
    database_url: str
    database_connections: int = 10


class TestMysql(StorageContract):
    @pytest.fixture
    async def storage(self, mysql_url: str) -> AsyncIterator[StorageBackend]:
        async with open_mysql(MysqlTestOptions(mysql_url)) as storage:
            yield storage
