"""Messages in an SQL database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.rows import (
    message_of,
    message_params,
    owner_params,
    visible_message_of,
)
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.adapters.sql.statement_builder import select
from plastic_memories.adapters.sql.stores.entry_store import SqlTalkEntryStore
from plastic_memories.adapters.sql.text_index import TextIndex
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.message import (
    AppendOutcome,
    CorrectedIds,
    Message,
    MessageCorrection,
)
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.message_store import MessageFilter

_CURSOR_KEY = "talk_unindexed_upto"


class SqlMessageStore:
    def __init__(
        self,
        session: SqlSession,
        index: TextIndex | None,
        partitions: PartitionLookup,
        talk: SqlTalkEntryStore,
    ) -> None:
        self._session = session
        self._index = index
        self._partitions = partitions
        self._talk = talk

    def append(self, messages: Sequence[Message]) -> list[AppendOutcome]:
        stored: list[Message] = []
        outcomes = [self._append(message, stored) for message in messages]
        self._index_messages(stored)
        return outcomes

    def find(self, owner: Owner, wanted: MessageFilter) -> list[Message]:
        sql, params = select(self._session.dialect, "messages", wanted)
        return [
            message_of(row) for row in self._session.fetch(sql, {**owner_params(owner), **params})
        ]

    def edit(self, message: Message) -> None:
        before = self.find(message.owner, MessageFilter(ids=[message.id]))
        if not before:
            return
        # What was hidden in the old text says nothing about the new one.
        is_same = before[0].content == message.content
        edited = before[0] if is_same else replace(message, hidden_at=None, hidden_spans=())
        self._unindex(before)
        self._session.execute("edit_message", message_params(edited))
        self._erase_words(before)
        self._index_messages([edited])

    def set_visibility(self, messages: Sequence[Message]) -> int:
        changed = 0
        for message in messages:
            before = self.find(message.owner, MessageFilter(ids=[message.id]))
            hidden = (message.hidden_at, message.hidden_spans)
            if not before or (before[0].hidden_at, before[0].hidden_spans) == hidden:
                continue
            self._unindex(before)
            self._session.execute("set_message_visibility", message_params(message))
            self._erase_words(before)
            after = replace(before[0], hidden_at=hidden[0], hidden_spans=hidden[1])
            self._index_messages([after])
            changed += 1
        return changed

    def move(self, message: Message) -> None:
        params = message_params(message)
        known = self._session.fetch_one("known_message", params)
        if known is not None and known["id"] != message.id:
            params["client_msg_id"] = ""
        self._session.execute("move_message", params)
        self._talk.move(message)

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
        self._session.execute("drop_corrected", params)
        return ids

    def reindex(self, owner: Owner, *, keep_vectors: bool = False) -> int:
        """Make the index entries of this owner's messages anew; return how many."""
        visible = self.find(owner, MessageFilter(hidden=False))
        self._unindex(visible, and_talk=not keep_vectors)
        self._index_messages(visible, same_text=keep_vectors)
        return len(visible)

    def index_older(self, limit: int) -> int:
        """Index the next messages stored before an upgrade, newest first; return how many."""
        upto = self._unindexed_upto()
        if not upto:
            return 0
        rows = self._session.fetch("unindexed_talk", {"upto": upto, "limit": limit})
        messages = [message_of(row) for row in rows]
        self._talk.put([(row, index_terms(row.visible_text)) for row in messages])
        left = messages[-1].id - 1 if messages else 0
        if left > 0:
            self._session.execute("set_meta", {"key": _CURSOR_KEY, "value": str(left)})
        else:
            self._session.execute("drop_meta", {"key": _CURSOR_KEY})
        return len(messages)

    def count_unindexed(self, tenant_id: str | None = None) -> int:
        upto = self._unindexed_upto()
        if not upto:
            return 0
        params = {"upto": upto, "tenant_id": tenant_id}
        row = self._session.fetch_one("count_unindexed_talk", params)
        return int(row["n"]) if row else 0

    def _unindexed_upto(self) -> int:
        row = self._session.fetch_one("get_meta", {"key": _CURSOR_KEY})
        return int(row["value"]) if row else 0

    def _append(self, message: Message, stored: list[Message]) -> AppendOutcome:
        params = message_params(message)
        known = self._session.fetch_one("known_message", params)
        if known is not None:
            return AppendOutcome(known["id"], deduped=True)
        message_id = self._session.insert("add_message", params)
        stored.append(replace(message, id=message_id, hidden_at=None, hidden_spans=()))
        return AppendOutcome(message_id, deduped=False)

    def _index_messages(self, messages: Sequence[Message], *, same_text: bool = False) -> None:
        """Index what is visible of one owner's messages: words are read once, for both indexes."""
        visible = [message for message in messages if message.hidden_at is None]
        partition = self._partitions.of_persona(visible[0].owner) if visible else None
        if partition is None:
            return
        rows = [(message, index_terms(message.visible_text)) for message in visible]
        self._talk.put(rows, same_text=same_text)
        if self._index is not None:
            self._index.put([(message.id, partition, terms) for message, terms in rows])

    def _unindex(self, messages: Sequence[Message], *, and_talk: bool = True) -> None:
        if messages and and_talk:
            self._talk.remove(messages[0].owner, [message.id for message in messages])
        if self._index is None or not messages:
            return
        partition = self._partitions.of_persona(messages[0].owner)
        if partition is None:
            return
        for message in messages:
            self._index.remove(message.id, partition, message.visible_text)

    def _erase_words(self, messages: Sequence[Message]) -> None:
        partition = self._partitions.of_persona(messages[0].owner) if messages else None
        if self._index is not None and partition:
            self._index.erase_words(partition, [message.content for message in messages])


class SqlCorrectionStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, owner: Owner, message_id: int, corrected: CorrectedIds) -> None:
        pairs = [*((one, 0) for one in corrected.message_ids)]
        pairs += [(0, one) for one in corrected.memory_ids]
        for old_message_id, memory_id in sorted(pairs):
            params = {"old_message_id": old_message_id, "memory_id": memory_id}
            params |= {**owner_params(owner), "message_id": message_id}
            self._session.execute("add_correction", params)

    def find(self, owner: Owner, message_id: int) -> CorrectedIds:
        rows = self._session.fetch("corrections_by", self._params(owner, [message_id]))
        return CorrectedIds(
            frozenset(row["old_message_id"] for row in rows if row["old_message_id"]),
            frozenset(row["memory_id"] for row in rows if row["memory_id"]),
        )

    def find_correcting(self, owner: Owner, old_message_ids: Collection[int]) -> set[int]:
        rows = self._session.fetch("corrections_of", self._params(owner, old_message_ids))
        return {row["message_id"] for row in rows}

    def newest(self, owner: Owner, limit: int) -> list[MessageCorrection]:
        rows = self._session.fetch("newest_corrections", {**owner_params(owner), "limit": limit})
        return [MessageCorrection(row["old_message_id"], visible_message_of(row)) for row in rows]

    def remove(self, owner: Owner, message_ids: Collection[int]) -> set[int]:
        params = self._params(owner, message_ids)
        rows = self._session.fetch("corrections_by", params)
        if rows:
            self._session.execute("remove_corrections", params)
        return {row["memory_id"] for row in rows if row["memory_id"]}

    def _params(self, owner: Owner, ids: Collection[int]) -> dict[str, object]:
        return {**owner_params(owner), "ids": self._session.dialect.array(ids)}
