"""Finds memories in an SQL database, with the text index and without."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.rows import memory_of, outline_of, owner_params, view_params
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.adapters.sql.statement_builder import OUTLINE, select
from plastic_memories.adapters.sql.text_index import TextIndex, TextIndexUnavailable
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.memory import Memory, MemoryOutline, MemoryType, Status
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.recall import TextMatches
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.ranking.searchable_text import searchable_text

logger = logging.getLogger(__name__)
# With this many rows it pays to look up how common each term is before searching for it.
_LARGE_PARTITION = 2000
# Without the index, this many of the newest rows are searched.
_MAX_SCANNED = 5000


class SqlMemorySearch:
    def __init__(
        self, session: SqlSession, index: TextIndex | None, partitions: PartitionLookup
    ) -> None:
        self._session = session
        self._index = index
        self._partitions = partitions

    def outlines(self, owner: Owner, wanted: MemoryFilter) -> list[MemoryOutline]:
        sql, params = select(self._session.dialect, "memory_items", wanted, columns=OUTLINE)
        rows = self._session.fetch_tuples(sql, {**owner_params(owner), **params})
        return [outline_of(owner, row) for row in rows]

    def find_global(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        sql, params = select(self._session.dialect, "memory_items", wanted, all_personas=True)
        rows = self._session.fetch(sql, {**owner_params(owner), **params})
        return [memory_of(row) for row in rows]

    def core(self, view: Viewpoint, now: float) -> list[Memory]:
        rows = self._session.fetch("core_memories", {**view_params(view), "now": now})
        return [memory_of(row) for row in rows]

    def search(self, view: Viewpoint, terms: Sequence[str], limit: int, now: float) -> TextMatches:
        if not terms:
            return TextMatches()
        if self._index is None:
            return self._scan(view, terms, limit, now)
        try:
            return self._search(self._index, view, terms, limit, now)
        except TextIndexUnavailable as error:
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)}})
            return self._scan(view, terms, limit, now)

    def visible(self, view: Viewpoint, memory_ids: Collection[int], now: float) -> list[Memory]:
        params = {**view_params(view), "now": now, "ids": self._session.dialect.array(memory_ids)}
        return [memory_of(row) for row in self._session.fetch("seen_memory", params)]

    def ids_in_session(self, view: Viewpoint) -> list[int]:
        params = {**view_params(view), "only_session": True}
        return [row["id"] for row in self._session.fetch("ids_in_session", params)]

    def ids_of_types(self, owner: Owner, types: Collection[MemoryType]) -> list[int]:
        wanted = MemoryFilter(statuses={Status.ACTIVE}, types=types)
        ids: list[int] = []
        for all_personas in (False, True):
            sql, params = select(
                self._session.dialect, "memory_items", wanted,
                columns="id", all_personas=all_personas,
            )  # fmt: skip
            rows = self._session.fetch_tuples(sql, {**owner_params(owner), **params})
            ids += [row[0] for row in rows]
        return ids

    def touch(self, recalled: Sequence[tuple[Owner, int]], now: float) -> None:
        for owner, memory_id in recalled:
            self._session.execute(
                "touch_memory", {**owner_params(owner), "id": memory_id, "now": now}
            )

    def _search(
        self, index: TextIndex, view: Viewpoint, terms: Sequence[str], limit: int, now: float
    ) -> TextMatches:
        own = self._partitions.of_persona(view.owner)
        shared = self._partitions.of_user(view.owner.user)
        partitions = [part for part in (own, shared) if part]
        documents = self._count_up_to_large(view)
        if documents >= _LARGE_PARTITION:
            terms = index.without_common_terms(partitions, terms, documents)
        params = {**view_params(view), "now": now, "limit": limit}
        rows = index.search("search_memory", partitions, terms, params)
        return TextMatches([memory_of(row) for row in rows], [row["score"] for row in rows])

    def _count_up_to_large(self, view: Viewpoint) -> int:
        """Count the active rows, but no further than it takes to call them many."""
        row = self._session.fetch_one(
            "count_active",
            {**owner_params(view.owner), "limit": _LARGE_PARTITION},
        )
        return int(row["n"]) if row else 0

    def _scan(self, view: Viewpoint, terms: Sequence[str], limit: int, now: float) -> TextMatches:
        """Search without an index: the newest visible rows are looked at one by one."""
        params = {**view_params(view), "now": now, "limit": _MAX_SCANNED}
        rows = [memory_of(row) for row in self._session.fetch("scan_memory", params)]
        wanted = frozenset(terms)
        scored = [
            (len(wanted.intersection(index_terms(searchable_text(row)))), row) for row in rows
        ]
        found = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:limit]
        return TextMatches(
            [row for _, row in found], [float(score) for score, _ in found], degraded=True
        )
