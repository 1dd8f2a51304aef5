"""The text index of PostgreSQL: codes of our terms in arrays, with a GIN index over them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

from plastic_memories.adapters.sql.rows import user_params
from plastic_memories.adapters.sql.sql_session import Params, Row
from plastic_memories.adapters.sql.text_index import TextPartition

# A term that more rows than this hold costs more than it tells.
_COMMON_SHARE = 0.1
# A term that more than half of all rows hold counts, as in FTS5, for next to nothing.
_LEAST_WEIGHT = 1e-6
_NO_LIMIT = 2**62


class _Session(Protocol):
    def fetch(self, statement: str, params: Params) -> list[Row]: ...

    def execute(self, statement: str, params: Params) -> int: ...

    def execute_many(self, statement: str, rows: Iterable[Params]) -> None: ...


class PostgresTextIndex:
    """One of the two indexes: `memory` or `messages`."""

    def __init__(self, kind: str, session: _Session) -> None:
        self._kind = kind
        self._session = session

    def put(self, rows: Iterable[tuple[int, TextPartition, list[str]]]) -> None:
        """Index rows that are not in the index yet: id, partition and terms of each."""
        sizes: defaultdict[TextPartition, list[int]] = defaultdict(list)
        params: list[Params] = []
        for row_id, partition, terms in rows:
            sizes[partition].append(len(terms))
            codes = [_code(partition, term) for term in terms]
            more = {"row_id": row_id, "length": len(terms), "codes": codes}
            params.append({**_partition_params(partition), **more})
        if not params:
            return
        self._session.execute_many(f"put_{self._kind}_terms", params)
        for partition, lengths in sizes.items():
            more = {"kind": self._kind, "documents": len(lengths), "terms": sum(lengths)}
            self._session.execute("add_to_text_partition", {**_partition_params(partition), **more})

    def remove(self, row_id: int, partition: TextPartition, text: str) -> None:
        """Take a row out of the index if it is in."""
        params = {**user_params(partition.user), "row_id": row_id}
        self._session.execute(f"drop_{self._kind}_terms", params)

    def erase_words(self, partition: TextPartition, texts: Iterable[str]) -> None:
        """Nothing is left of a row that was removed but what vacuum has still to clear."""

    def search(
        self,
        statement: str,
        partitions: Sequence[TextPartition],
        terms: Sequence[str],
        params: Mapping[str, Any],
    ) -> list[Row]:
        """Run a search by its name: best first, by BM25 over these partitions."""
        if not partitions or not terms:
            return []
        held = self._count(partitions, terms, _NO_LIMIT)
        codes = [code for code, number in held.items() if number]
        if not codes:
            return []
        documents, length = self._sizes(partitions)
        weights = [_weight(documents, held[code]) for code in codes]
        ranking = {"codes": codes, "weights": weights, "average_length": length / documents}
        return self._session.fetch(statement, {**params, **ranking})

    def document_counts(
        self, partition: TextPartition, terms: Sequence[str], most: int
    ) -> dict[str, int]:
        """Return how many rows of a partition hold each term; counts no further than `most`."""
        held = self._count([partition], terms, most)
        return {term: held[_code(partition, term)] for term in terms}

    def without_common_terms(
        self, partitions: Sequence[TextPartition], terms: Sequence[str], documents: int
    ) -> list[str]:
        """Leave out the terms that too many rows of a large partition hold, if others remain."""
        held = self._count(partitions, terms, _NO_LIMIT)
        frequency = {term: sum(held[_code(part, term)] for part in partitions) for term in terms}
        known = [term for term in terms if frequency[term]]
        rare = [term for term in known if frequency[term] <= documents * _COMMON_SHARE]
        return rare or sorted(known, key=lambda term: frequency[term])[:1]

    def _count(
        self, partitions: Sequence[TextPartition], terms: Sequence[str], most: int
    ) -> dict[int, int]:
        codes = dict.fromkeys(_code(part, term) for part in partitions for term in terms)
        if not codes:
            return {}
        params = {**user_params(partitions[0].user), "codes": list(codes), "most": most}
        rows = self._session.fetch(f"count_{self._kind}_terms", params)
        return {row["code"]: row["n"] for row in rows}

    def _sizes(self, partitions: Sequence[TextPartition]) -> tuple[int, int]:
        """Return how many rows partitions have, and how many terms these have together."""
        names = [partition.name for partition in partitions]
        params = {**user_params(partitions[0].user), "kind": self._kind, "partitions": names}
        [row] = self._session.fetch("text_partition_sizes", params)
        return row["documents"], row["terms"]


def _partition_params(partition: TextPartition) -> dict[str, Any]:
    return {**user_params(partition.user), "partition_id": partition.name}


def _code(partition: TextPartition, term: str) -> int:
    """Return the number of a term in a partition: nobody else's terms have it."""
    digest = blake2b(f"{partition.name}x{term}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _weight(documents: int, holding: int) -> float:
    return max(math.log((documents - holding + 0.5) / (holding + 0.5)), _LEAST_WEIGHT)
