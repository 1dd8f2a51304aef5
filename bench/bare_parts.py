"""What a recall is made of, each part alone: embedding, the text query, the vector query."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.sqlite.backend import SqliteStores
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.rules.text import query_terms
from plastic_memories.settings import load
from plastic_memories.wiring import embedder_choice

_LIMIT = 10
_PASSAGE = 0.5
_OWNER = Owner("default", "user0", "p")


def bare_parts(data: Path, questions: Sequence[str]) -> dict[str, float]:
    """Time each part on a filled database with vectors: the median of all questions, in ms.

    No server, no threads, nothing ranked or written: what the same work costs at the least.
    """
    settings = load({"PLASTIC_MEMORIES_DATA_DIR": str(data)})
    threadpool_limits(1, user_api="blas")
    choice = embedder_choice(settings)
    if choice.load is None:
        raise SystemExit("There is no embedder here: its part of a recall cannot be measured.")
    embedder = choice.load()
    embedder.embed(["warm up", "热身"], purpose="query")
    vectors = [embedder.embed([text], purpose="query")[0] for text in questions]
    db = connect(str(settings.db_path), settings.busy_timeout_ms, read_only=True)
    with db:
        stores = SqliteStores(db, indexed=True)
        index = OwnerIndex(_OWNER)
        index.refresh(stores)

        def by_text(text: str) -> None:
            stores.memories.search(Viewpoint(_OWNER), query_terms(text), _LIMIT, time.time())

        def by_vector(vector: Any) -> None:
            near = index.vectors.similarity(vector, len(index), _PASSAGE)
            if near is not None:
                np.argpartition(-near, _LIMIT)

        found = {
            "embedding": _median_ms(
                lambda text: embedder.embed([text], purpose="query"), questions
            ),
            "text": _median_ms(by_text, questions),
            "vectors": _median_ms(by_vector, vectors),
        }
    db.close()
    return {**found, "sum": round(sum(found.values()), 3)}


def _median_ms(part: Callable[[Any], Any], asked: Sequence[Any]) -> float:
    took = []
    for one in asked:
        started = time.perf_counter()
        part(one)
        took.append(time.perf_counter() - started)
    return round(1000 * median(took), 3)
