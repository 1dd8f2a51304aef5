"""What ranking reads, in an SQL database: two tables, clustered by partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from plastic_memories.adapters.sql.rows import user_params
from plastic_memories.adapters.sql.sql_session import Params, Row, SqlSession
from plastic_memories.language.text.tokens import is_question, term_codes
from plastic_memories.model.entry import (
    Audience,
    EntryVisibility,
    IndexEntry,
    Partition,
    PartitionChanges,
    TalkVisibility,
    partition_of,
)
from plastic_memories.model.memory import Memory, Scope
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.rules.conversation.audience import (
    ASSISTANT,
    INDEXED_ROLES,
    audience_of,
)
from plastic_memories.rules.prompt.always_told import is_exempt_from_decay
from plastic_memories.rules.ranking.talk_importance import talk_importance


class PartitionRevisions:
    """The numbers of changes to the partitions of one table, in one transaction."""

    def __init__(self, session: SqlSession, table: str = "") -> None:
        self._session = session
        self._table = table  # "" or "talk_", as the statements are named
        self._known: dict[tuple[Partition, bool], int] = {}

    def get(self, params: Params) -> Row | None:
        return self._session.fetch_one(f"get_{self._table}partition", params)

    def next(self, partition: Partition, *, removed: bool) -> int:
        """Return the number of a change to this partition; `removed`: it takes something away.

        All changes of a transaction share one: nobody sees the first of them without the last.
        """
        change = partition, removed
        if change not in self._known:
            params = {**partition_params(partition), "removed": removed}
            if not self._session.execute(f"next_{self._table}revision", params):
                self._session.execute(f"first_{self._table}revision", params)
            row = self.get(params)
            assert row is not None
            self._known[change] = int(row["revision"])
        return self._known[change]


class SqlEntryStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._revisions = PartitionRevisions(session)

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        params = partition_params(partition)
        now = self._revisions.get(params)
        if now is None or now["revision"] <= known:
            return PartitionChanges(known)
        params["known"] = known
        entries = [_entry(row) for row in self._session.fetch_tuples("changed_entries", params)]
        if known == 0 or now["removed"] <= known:
            return PartitionChanges(now["revision"], entries)
        present = [row["memory_id"] for row in self._session.fetch("present_entries", params)]
        return PartitionChanges(now["revision"], entries, present)

    def put(self, memories: Iterable[tuple[Memory, list[str]]], *, same_text: bool = False) -> None:
        """Add the entries of active memories, or bring them up to date: each with its terms.

        A vector stays as long as the terms are the same, or the text is said to be.
        """
        rows = (self._params(memory, terms, same_text) for memory, terms in memories)
        self._session.execute_many("put_entry", rows)

    def _params(self, memory: Memory, terms: list[str], same_text: bool) -> Params:
        partition = partition_of(memory)
        happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
        return {
            **partition_params(partition),
            "memory_id": memory.id,
            "revision": self.next_revision(partition, removed=False),
            "bot_id": memory.bot_id,
            "branch_id": memory.branch_id,
            "realm": memory.realm,
            "scope": memory.scope,
            "scope_ref": memory.scope_ref,
            "session_id": memory.session_id,
            "speaker": memory.speaker,
            "happened_at": happened,
            "expires_at": memory.expires_at,
            "importance": memory.importance,
            "ageless": int(is_exempt_from_decay(memory)),
            "same_text": same_text,
            "terms": term_codes(terms, asks=is_question(memory.content)),
        }

    def remove(self, memory: Memory) -> None:
        partition = partition_of(memory)
        params = {**partition_params(partition), "memory_id": memory.id}
        if self._session.execute("remove_entry", params):
            self.next_revision(partition, removed=True)

    def next_revision(self, partition: Partition, *, removed: bool) -> int:
        return self._revisions.next(partition, removed=removed)


class SqlTalkEntryStore:
    """The entries of messages; what has no visible text has none."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._revisions = PartitionRevisions(session, "talk_")

    def changes_since(self, owner: Owner, known: int = 0) -> PartitionChanges:
        params = partition_params(_talk_partition(owner))
        now = self._revisions.get(params)
        if now is None or now["revision"] <= known:
            return PartitionChanges(known)
        params["known"] = known
        rows = self._session.fetch_tuples("changed_talk_entries", params)
        entries = [_talk_entry(row) for row in rows]
        if known == 0 or now["removed"] <= known:
            return PartitionChanges(now["revision"], entries)
        present = [row["message_id"] for row in self._session.fetch("present_talk_entries", params)]
        return PartitionChanges(now["revision"], entries, present)

    def count_changes(self, owner: Owner, known: int, limit: int) -> int:
        params = partition_params(_talk_partition(owner))
        now = self._revisions.get(params)
        if now is None or now["revision"] <= known:
            return 0
        more = {"known": known, "limit": limit}
        row = self._session.fetch_one("count_talk_changes", {**params, **more})
        return int(row["n"]) if row else 0

    def put(
        self, messages: Iterable[tuple[Message, list[str]]], *, same_text: bool = False
    ) -> None:
        """Add the entries of messages, or bring them up to date: each with its terms.

        A vector stays as long as the terms are the same, or the text is said to be.
        """
        rows = [
            self._params(message, text, terms, same_text)
            for message, terms in messages
            if message.role in INDEXED_ROLES and (text := message.visible_text)
        ]
        if rows:
            self._session.execute_many("put_talk_entry", rows)

    def _params(self, message: Message, text: str, terms: list[str], same_text: bool) -> Params:
        partition = _talk_partition(message.owner)
        return {
            **partition_params(partition),
            "message_id": message.id,
            "revision": self._revisions.next(partition, removed=False),
            "bot_id": message.bot_id,
            "branch_id": message.branch_id,
            "source_app": message.source_app,
            "realm": message.realm,
            "audience": audience_of(message.message_type),
            "session_id": message.session_id,
            "role": message.role,
            "speaker": message.speaker,
            "happened_at": message.ts,
            "importance": talk_importance(message),
            "same_text": same_text,
            "terms": term_codes(terms, asks=is_question(text)),
        }

    def move(self, message: Message) -> None:
        partition = _talk_partition(message.owner)
        params = {
            **partition_params(partition),
            "message_id": message.id,
            "revision": self._revisions.next(partition, removed=False),
            "bot_id": message.bot_id,
            "session_id": message.session_id,
        }
        self._session.execute("move_talk_entry", params)

    def remove(self, owner: Owner, message_ids: Sequence[int]) -> None:
        partition = _talk_partition(owner)
        ids = self._session.dialect.array(message_ids)
        params = {**partition_params(partition), "ids": ids}
        if self._session.execute("remove_talk_entries", params):
            self._revisions.next(partition, removed=True)

    def next_revision(self, partition: Partition, *, removed: bool) -> int:
        return self._revisions.next(partition, removed=removed)


def _talk_partition(owner: Owner) -> Partition:
    return Partition(owner.user, owner.persona_id)


def partition_params(partition: Partition) -> dict[str, Any]:
    return {**user_params(partition.user), "partition_id": partition.persona_id}


def _entry(row: Sequence[Any]) -> IndexEntry:
    # By position: a partition may have a hundred thousand of these.
    (
        memory_id, bot_id, branch_id, realm, scope, scope_ref, session_id, speaker,
        happened_at, expires_at, importance, ageless, terms, vector,
    ) = row  # fmt: skip
    return IndexEntry(
        memory_id=memory_id,
        place=_entry_place(bot_id, branch_id, realm, scope, scope_ref),
        session_id=session_id,
        speaker=speaker,
        happened_at=happened_at,
        expires_at=expires_at,
        importance=importance,
        ageless=bool(ageless),
        terms=terms,
        vector=vector,
    )


@lru_cache(maxsize=1024)
def _entry_place(
    bot_id: str, branch_id: str, realm: str, scope: str, scope_ref: str
) -> EntryVisibility:
    return EntryVisibility(bot_id, branch_id, Realm(realm), Scope(scope), scope_ref)


def _talk_entry(row: Sequence[Any]) -> IndexEntry:
    (
        message_id, bot_id, source_app, realm, audience, session_id, role, speaker,
        happened_at, importance, terms, vector,
    ) = row  # fmt: skip
    by_assistant = role == Role.ASSISTANT
    own_session, member = "", ""
    if audience == Audience.PRIVATE:
        own_session, member = session_id, ASSISTANT if by_assistant else speaker
    return IndexEntry(
        memory_id=message_id,
        place=_talk_place(bot_id, realm, source_app, audience, own_session, member),
        session_id=session_id,
        # Without a name, the role says who spoke.
        speaker=speaker or role,
        happened_at=happened_at,
        expires_at=None,
        importance=importance,
        ageless=False,
        by_assistant=by_assistant,
        terms=terms,
        vector=vector,
    )


@lru_cache(maxsize=4096)
def _talk_place(
    bot_id: str, realm: str, source_app: str, audience: str, session_id: str, member: str
) -> TalkVisibility:
    return TalkVisibility(bot_id, Realm(realm), source_app, Audience(audience), session_id, member)
