"""Messages in an SQL database."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Sequence

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.rows import (
    message_of,
    message_params,
    owner_params,
    view_params,
)
from plastic_memories.adapters.sql.session import Params, Row, SqlSession
from plastic_memories.adapters.sql.statement_builder import select
from plastic_memories.adapters.sql.text_index import TextIndex, TextIndexUnavailable
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.message import AppendOutcome, Message, TermDocumentCounts
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.stores.message_store import MessageFilter

logger = logging.getLogger(__name__)
# Without the index, this many of the newest messages are searched.
_MAX_SCANNED = 1000
# A word that so many messages hold is common. One that fewer hold is, beside so many messages,
# rare enough to search for: to count on would change little and take long.
_MAX_TERM_COUNT = 2_000
_MAX_MESSAGE_COUNT = 20_000
_ALL_TIME = (-math.inf, math.inf)


class SqlMessageStore:
    def __init__(
        self, session: SqlSession, index: TextIndex | None, partitions: PartitionLookup
    ) -> None:
        self._session = session
        self._index = index
        self._partitions = partitions

    def append(self, messages: Sequence[Message]) -> list[AppendOutcome]:
        return [self._append(message) for message in messages]

    def find(self, owner: Owner, wanted: MessageFilter) -> list[Message]:
        sql, params = select(self._session.dialect, "messages", wanted)
        return [
            message_of(row) for row in self._session.fetch(sql, {**owner_params(owner), **params})
        ]

    def recent(
        self, view: Viewpoint, since_ts: float, limit: int, until_ts: float = math.inf
    ) -> list[Message]:
        params = {**view_params(view), "since_ts": since_ts, "until_ts": until_ts, "limit": limit}
        return [message_of(row) for row in self._session.fetch("recent_messages", params)]

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
                return [message_of(row) for row in rows]
        except TextIndexUnavailable as error:
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)}})
        since, until = within or _ALL_TIME
        newest = self.recent(view, since, _MAX_SCANNED, until)
        return _containing_terms(newest, frozenset(terms))[:limit]

    def term_statistics(self, owner: Owner, terms: Sequence[str]) -> TermDocumentCounts:
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
        return [message_of(row) for rows in found for row in rows]

    def edit(self, message: Message) -> None:
        before = self.find(message.owner, MessageFilter(ids=[message.id]))
        if not before:
            return
        self._unindex(before)
        params = {**owner_params(message.owner), "id": message.id, "content": message.content}
        self._session.execute("edit_message", params)
        self._erase_words(before)
        if before[0].hidden_at is None:
            self._index_message(message.owner, message.id, message.content)

    def move(self, message: Message) -> None:
        params = message_params(message)
        known = self._session.fetch_one("known_message", params)
        if known is not None and known["id"] != message.id:
            params["client_msg_id"] = ""
        self._session.execute("move_message", params)

    def hide(self, owner: Owner, message_ids: Collection[int], now: float) -> int:
        own = self.find(owner, MessageFilter(ids=message_ids, hidden=False))
        self._unindex(own)
        ids = self._session.dialect.array([message.id for message in own])
        params = {**owner_params(owner), "now": now, "ids": ids}
        return self._session.execute("hide_messages", params)

    def erase(self, owner: Owner, wanted: MessageFilter, now: float) -> list[int]:
        ids = self.drop(owner, wanted)
        self.record_erased(owner, ids, now)
        return ids

    def record_erased(self, owner: Owner, message_ids: Collection[int], now: float) -> None:
        for message_id in message_ids:
            noted = {**owner_params(owner), "kind": "message", "row_id": message_id, "now": now}
            self._session.execute("note_erasure", noted)

    def find_erased(self, owner: Owner, message_ids: Collection[int]) -> set[int]:
        params = {
            **owner_params(owner),
            "kind": "message",
            "ids": self._session.dialect.array(message_ids),
        }
        return {row["row_id"] for row in self._session.fetch("erased_among", params)}

    def drop(self, owner: Owner, wanted: MessageFilter) -> list[int]:
        """Remove messages without a note: their time was over, nobody asked to forget them."""
        gone = self.find(owner, wanted)
        self._unindex(gone)
        self._erase_words(gone)
        ids = [message.id for message in gone]
        params = {**owner_params(owner), "ids": self._session.dialect.array(ids)}
        self._session.execute("drop_messages", params)
        return ids

    def reindex(self, owner: Owner) -> int:
        """Make the index entries of this owner's messages anew; return how many."""
        visible = self.find(owner, MessageFilter(hidden=False))
        self._unindex(visible)
        for message in visible:
            self._index_message(message.owner, message.id, message.content)
        return len(visible)

    def _count_documents(
        self, partition: str, terms: Sequence[str]
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
        partition: str,
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

    def _append(self, message: Message) -> AppendOutcome:
        params = message_params(message)
        known = self._session.fetch_one("known_message", params)
        if known is not None:
            return AppendOutcome(known["id"], deduped=True)
        message_id = self._session.insert("add_message", params)
        self._index_message(message.owner, message_id, message.content)
        return AppendOutcome(message_id, deduped=False)

    def _index_message(self, owner: Owner, message_id: int, content: str) -> None:
        partition = self._partitions.of_persona(owner)
        if self._index is not None and partition:
            self._index.put([(message_id, partition, index_terms(content))])

    def _unindex(self, messages: Sequence[Message]) -> None:
        if self._index is None or not messages:
            return
        partition = self._partitions.of_persona(messages[0].owner)
        if partition is None:
            return
        for message in messages:
            self._index.remove(message.id, partition, message.content)

    def _erase_words(self, messages: Sequence[Message]) -> None:
        partition = self._partitions.of_persona(messages[0].owner) if messages else None
        if self._index is not None and partition:
            self._index.erase_words(partition, [message.content for message in messages])


def _containing_terms(messages: Sequence[Message], terms: frozenset[str]) -> list[Message]:
    """Return the messages that hold any of the terms, those that hold more first."""
    shared = {row.id: len(terms.intersection(index_terms(row.content))) for row in messages}
    return sorted((row for row in messages if shared[row.id]), key=lambda row: -shared[row.id])
