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
from plastic_memories.ports.embedder import QueryEmbedder, QueryVector
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


@dataclass(frozen=True)
class WithVectors(Context):
    """Vectors that tell words apart, and nothing else."""

    recall_cache_bytes: int = 1_000_000

    @property
    def query_embedder(self) -> QueryEmbedder:
        return self

    async def query_vector(
        self, text: str, deadline_s: float, *, tenant_id: str = ""
    ) -> QueryVector:
        return QueryVector(hashed([text])[0])


@dataclass(frozen=True)
class WithoutVectors(WithVectors):
    async def query_vector(
        self, text: str, deadline_s: float, *, tenant_id: str = ""
    ) -> QueryVector:
        return QueryVector()


class TestKeyword(RecallEngineContract):
    @pytest.fixture
    async def storage(self, tmp_path: Path) -> AsyncIterator[StorageBackend]:
        async with open_sqlite(Options(tmp_path / "pm.db")) as storage:
            yield storage

    def build(self, storage: StorageBackend) -> RecallEngine:
        return keyword_engine(Context(storage))


class TestHybrid(TestKeyword):
    def build(self, storage: StorageBackend) -> RecallEngine:
        return hybrid_engine(WithoutVectors(storage))


class TestHybridWithVectors(TestKeyword):
    def build(self, storage: StorageBackend) -> RecallEngine:
        return hybrid_engine(WithVectors(storage))
