"""The built-in recall engines keep the published contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from embedding_parts import hashed
from plastic_memories.adapters.recall.hybrid import hybrid_engine
from plastic_memories.adapters.recall.keyword import keyword_engine
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.model.owner import Owner
from plastic_memories.ports.embedder import QueryVector
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing import RecallEngineContract
from recall_parts import Options, Parts


@dataclass(frozen=True)
class Hashed:
    """Vectors that tell words apart, and nothing else."""

    async def query_vector(self, text: str, deadline_s: float, *, tenant_id: str) -> QueryVector:
        return QueryVector(hashed([text])[0])

    async def embed_recent(self, owner: Owner, deadline_s: float) -> None:
        """Embed nothing: it has no entries."""


class TestKeyword(RecallEngineContract):
    @pytest.fixture
    async def storage(self, tmp_path: Path) -> AsyncIterator[StorageBackend]:
        async with open_sqlite(Options(tmp_path / "pm.db")) as storage:
            yield storage

    def build(self, storage: StorageBackend) -> RecallEngine:
        return keyword_engine(Parts(storage))


class TestHybrid(TestKeyword):
    def build(self, storage: StorageBackend) -> RecallEngine:
        return hybrid_engine(Parts(storage))


class TestHybridWithVectors(TestKeyword):
    def build(self, storage: StorageBackend) -> RecallEngine:
        return hybrid_engine(Parts(storage, Hashed()))
