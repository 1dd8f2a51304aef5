"""The built-in recall engine keeps the published contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from plastic_memories.adapters.recall.keyword import keyword_engine
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing import RecallEngineContract


@dataclass(frozen=True)
class Options:
    db_path: Path
    busy_timeout_ms: int = 5000
    write_group: int = 16


@dataclass(frozen=True)
class Context:
    storage: StorageBackend


class TestKeyword(RecallEngineContract):
    @pytest.fixture
    async def storage(self, tmp_path: Path) -> AsyncIterator[StorageBackend]:
        async with open_sqlite(Options(tmp_path / "pm.db")) as storage:
            yield storage

    def build(self, storage: StorageBackend) -> RecallEngine:
        return keyword_engine(Context(storage))
