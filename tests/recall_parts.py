"""Parts for tests of hybrid recall: partitions that tell what a test says, and a plain index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.language.text.tokens import index_terms, is_question, term_codes
from plastic_memories.model.entry import (
    EntryVisibility,
    IndexEntry,
    Partition,
    PartitionChanges,
    partitions_for,
)
from plastic_memories.model.memory import Scope
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.model.recall import Findings, RecallQuery
from plastic_memories.ports.embedder import QueryEmbedder, QueryVector
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.rules.ranking.hybrid_weights import HybridWeights
from plastic_memories.rules.ranking.vector_codec import normalise_rows, pack_vectors
from plastic_memories.testing.samples import MINE, NOW

PLACE = EntryVisibility("", "", Realm.REAL, Scope.PERSONA, "")
OWN, SHARED = partitions_for(MINE)


@dataclass(frozen=True)
class Options:
    """The settings that an embedded database asks for."""

    db_path: Path
    busy_timeout_ms: int = 5000
    write_group: int = 16


def entry(memory_id: int, text: str = "", **given: Any) -> IndexEntry:
    fields: dict[str, Any] = {
        "place": PLACE,
        "session_id": "",
        "speaker": "",
        "happened_at": NOW + memory_id,
        "expires_at": None,
        "importance": 0.5,
        "ageless": False,
        "vector": None,
    }
    terms = term_codes(index_terms(text), asks=is_question(text))
    return IndexEntry(memory_id=memory_id, terms=terms, **{**fields, **given})


def vector(*numbers: float) -> bytes:
    return pack_vectors(normalise_rows(np.array([numbers])))


@dataclass
class Told:
    """Both partitions of an owner as a storage would tell them, from memory."""

    rows: dict[Partition, dict[int, tuple[int, IndexEntry]]] = field(
        default_factory=lambda: {OWN: {}, SHARED: {}}
    )
    revision: int = 0
    removed: dict[Partition, int] = field(default_factory=lambda: {OWN: 0, SHARED: 0})
    asked: list[int] = field(default_factory=list)

    @property
    def entries(self) -> Told:
        return self

    def put(self, *entries: IndexEntry, partition: Partition = OWN) -> None:
        for one in entries:
            self.revision += 1
            self.rows[partition][one.memory_id] = (self.revision, one)

    def take(self, memory_id: int, partition: Partition = OWN) -> None:
        self.revision += 1
        self.removed[partition] = self.revision
        del self.rows[partition][memory_id]

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        self.asked.append(known)
        rows = self.rows[partition]
        changed = [one for revision, one in rows.values() if revision > known]
        if known == 0 or self.removed[partition] <= known:
            return PartitionChanges(self.revision, changed)
        return PartitionChanges(self.revision, changed, list(rows))

    def all(self) -> dict[int, IndexEntry]:
        return {one.memory_id: one for rows in self.rows.values() for _, one in rows.values()}


def index_of(*entries: IndexEntry) -> OwnerIndex:
    """Return an index that knows these entries."""
    told, index = Told(), OwnerIndex(MINE)
    told.put(*entries)
    index.refresh(told)
    return index


def everything(index: OwnerIndex) -> VisibleEntries:
    return VisibleEntries.from_mask(index["alive"].copy())


def plain_bm25(
    entries: Iterable[IndexEntry], terms: Mapping[int, float], weights: HybridWeights
) -> dict[int, float]:
    """Score entries by the book, one after another."""
    texts = {one.memory_id: np.frombuffer(one.terms, np.uint32).tolist() for one in entries}
    mean = max(1.0, sum(map(len, texts.values())) / max(1, len(texts)))
    counts = {memory_id: Counter(text) for memory_id, text in texts.items()}
    scores = dict.fromkeys(texts, 0.0)
    for term, weight in terms.items():
        holding = sum(1 for held in counts.values() if held[term])
        idf = math.log(1 + max(0.0, len(texts) - holding + 0.5) / (holding + 0.5))
        for memory_id, held in counts.items():
            often, size = held[term], len(texts[memory_id])
            norm = weights.saturation * (1 - weights.length + weights.length * size / mean)
            scores[memory_id] += (
                weight * idf * often * (weights.saturation + 1) / (often + norm) if often else 0.0
            )
    return scores


def by_memory(index: OwnerIndex, values: Any) -> dict[int, float]:
    """Return numbers by position as numbers by memory, of what is alive."""
    alive = np.flatnonzero(index["alive"])
    return {int(index["memory_id"][at]): float(values[at]) for at in alive}


@dataclass(frozen=True)
class Fixed:
    """An embedder of questions that always gives the same answer."""

    answer: QueryVector = field(default_factory=QueryVector)

    async def query_vector(self, text: str, deadline_s: float, *, tenant_id: str) -> QueryVector:
        return self.answer

    async def embed_recent(self, owner: Owner, deadline_s: float) -> None:
        """Embed nothing: it has no entries."""


@dataclass(frozen=True)
class Parts:
    """What a hybrid engine is built from; questions have no vectors unless a test gives some."""

    storage: StorageBackend
    query_embedder: QueryEmbedder = field(default_factory=Fixed)
    recall_cache_bytes: int = 10_000_000


def contents(findings: Findings) -> list[str]:
    return [hit.memory.content for hit in findings.hits]


def asking(text: str, view: Viewpoint | None = None, **more: Any) -> RecallQuery:
    return RecallQuery(viewpoint=view or Viewpoint(MINE), text=text, **{"now": NOW, **more})
