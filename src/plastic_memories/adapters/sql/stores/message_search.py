"""Finds messages in an SQL database, with the text index and without."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Sequence

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.rows import owner_params, view_params, visible_message_of
from plastic_memories.adapters.sql.sql_session import Params, Row, SqlSession
from plastic_memories.adapters.sql.text_index import TextIndex, TextIndexUnavailable, TextPartition
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.entry import Listener
from plastic_memories.model.message import Message, TermDocumentCounts
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.rules.conversation.audience import audience_of

logger = logging.getLogger(__name__)
# Without the index, this many of the newest messages are searched.
_MAX_SCANNED = 1000
# A word that so many messages hold is common. One that fewer hold is, beside so many messages,
# rare enough to search for: to count on would change little and take long.
_MAX_TERM_COUNT = 2_000
_MAX_MESSAGE_COUNT = 20_000
_ALL_TIME = (-math.inf, math.inf)


class SqlMessageSearch:
    def __init__(
        self, session: SqlSession, index: TextIndex | None, partitions: PartitionLookup
    ) -> None:
        self._session = session
        self._index = index
        self._partitions = partitions

    def recent(
        self, view: Viewpoint, since_ts: float, limit: int, until_ts: float = math.inf
    ) -> list[Message]:
        params = {**view_params(view), "since_ts": since_ts, "until_ts": until_ts, "limit": limit}
        return [visible_message_of(row) for row in self._session.fetch("recent_messages", params)]

    def visible(self, view: Viewpoint, message_ids: Collection[int]) -> list[Message]:
        ids = self._session.dialect.array(message_ids)
        rows = self._session.fetch("messages_by_id", {**view_params(view), "ids": ids})
        return [visible_message_of(row) for row in rows]

    def listener(self, view: Viewpoint) -> Listener:
        if not view.session_id:
            return Listener(view)
        row = self._session.fetch_one("last_heard", view_params(view))
        if row is None:
            return Listener(view, audience_of(view.session_id), is_known=False)
        audience = audience_of(row["message_type"] or view.session_id)
        return Listener(view, audience, row["speaker"])

    def search(
        self,
        view: Viewpoint,
        terms: Sequence[str],
        limit: int,
        within: tuple[float, float] | None = None,
    ) -> list[Message]:
        partition = self._partitions.of_persona(view.owner)
        if partition is None or not terms:
            return []
        params = {**view_params(view), "limit": limit}
        try:
            if self._index is not None:
                rows = self._search_rows(self._index, partition, terms, params, within)
                return [visible_message_of(row) for row in rows]
        except TextIndexUnavailable as error:
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)}})
        since, until = within or _ALL_TIME
        newest = self.recent(view, since, _MAX_SCANNED, until)
        return _containing_terms(newest, frozenset(terms))[:limit]

    def document_counts(self, owner: Owner, terms: Sequence[str]) -> TermDocumentCounts:
        partition = self._partitions.of_persona(owner)
        if partition is None or not terms:
            return TermDocumentCounts(0, {})
        holding, counted = self._count_documents(partition, terms)
        # Beside a hundred times as many every word is as rare as can be: no need to count on.
        most = min(_MAX_MESSAGE_COUNT, 100 * max(holding.values()))
        row = self._session.fetch_one("count_messages", {**owner_params(owner), "limit": most})
        return TermDocumentCounts(int(row["n"]) if row else 0, holding, counted)

    def neighbours(self, view: Viewpoint, message: Message) -> list[Message]:
        params = {**view_params(view), "session_id": message.session_id, "id": message.id}
        found = [self._session.fetch(name, params) for name in ("said_before", "said_after")]
        return [visible_message_of(row) for rows in found for row in rows]

    def _count_documents(
        self, partition: TextPartition, terms: Sequence[str]
    ) -> tuple[dict[str, int], int | None]:
        """Return how many messages hold each term, and at which number the counting stopped."""
        try:
            if self._index is not None:
                return self._index.document_counts(
                    partition, terms, _MAX_TERM_COUNT
                ), _MAX_TERM_COUNT
        except TextIndexUnavailable as error:
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)}})
        # Without the index nobody knows: each word may be rare, and is searched for.
        return dict.fromkeys(terms, 1), None

    def _search_rows(
        self,
        index: TextIndex,
        partition: TextPartition,
        terms: Sequence[str],
        params: Params,
        within: tuple[float, float] | None,
    ) -> list[Row]:
        if within is None:
            return index.search("search_messages", [partition], terms, params)
        timed = {**params, "since_ts": within[0], "until_ts": within[1]}
        ids = self._session.fetch_one("ids_between", timed)
        if ids is None or ids["first_id"] is None:
            return []
        return index.search("search_messages_of", [partition], terms, {**timed, **ids})


def _containing_terms(messages: Sequence[Message], terms: frozenset[str]) -> list[Message]:
    """Return the messages that hold any of the terms, those that hold more first."""
    shared = {row.id: len(terms.intersection(index_terms(row.content))) for row in messages}
    return sorted((row for row in messages if shared[row.id]), key=lambda row: -shared[row.id])
