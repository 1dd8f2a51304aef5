"""Time the parts of a recall separately: embedding, the text query, the vector query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.settings import load_settings
from plastic_memories.wiring import embedder_choice

_LIMIT = 10
_PASSAGE = 0.5
_OWNER = Owner("default", "user0", "p")
_Part = Callable[[str], Any]


class BareParts:
    """Times the parts of recalls, one question at a time."""

    def __init__(self, parts: dict[str, _Part]) -> None:
        self._parts = parts
        self._took: dict[str, list[float]] = {name: [] for name in parts}

    def time_question(self, question: str) -> None:
        """Run each part for a question, one after another."""
        for name, part in self._parts.items():
            started = time.perf_counter()
            part(question)
            self._took[name].append(time.perf_counter() - started)

    def medians_ms(self) -> dict[str, float]:
        """Return the median of each part, and their sum."""
        found = {name: round(1000 * median(took), 3) for name, took in self._took.items()}
        return {**found, "sum": round(sum(found.values()), 3)}


@contextmanager
def bare_parts(data: Path, questions: Sequence[str]) -> Iterator[BareParts]:
    """Open the parts on a filled database with vectors, for these questions.

    No server, no threads, no ranking, no writes: the lower bound for the same work.
    """
    settings = load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(data)})
    threadpool_limits(1, user_api="blas")
    choice = embedder_choice(settings)
    if choice.load is None:
        raise SystemExit("There is no embedder here: its part of a recall cannot be measured.")
    embedder = choice.load()
    vectors = {text: embedder.embed([text], purpose="query")[0] for text in questions}
    db = connect(str(settings.db_path), settings.busy_timeout_ms, read_only=True)
    with closing(db), db:
        stores = SqliteStores(db, indexed=True)
        index = OwnerIndex(_OWNER)
        index.refresh(stores)

        def by_text(text: str) -> None:
            stores.memory_search.search(Viewpoint(_OWNER), query_terms(text), _LIMIT, time.time())

        def by_vector(text: str) -> None:
            near = index.vectors.similarity(vectors[text], len(index), _PASSAGE)
            if near is not None:
                np.argpartition(-near, _LIMIT)

        yield BareParts(
            {
                "embedding": lambda text: embedder.embed([text], purpose="query"),
                "text": by_text,
                "vectors": by_vector,
            }
        )
