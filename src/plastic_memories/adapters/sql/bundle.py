"""Every store over one session; each is made when it is first used."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.adapters.sql.stores.card_store import SqlCardStore
from plastic_memories.adapters.sql.stores.entry_store import SqlEntryStore, SqlTalkEntryStore
from plastic_memories.adapters.sql.stores.goal_store import SqlGoalStore
from plastic_memories.adapters.sql.stores.job_store import SqlFormationBacklog, SqlJobStore
from plastic_memories.adapters.sql.stores.keys_and_audit import (
    SqlAuditLog,
    SqlConsoleSessionStore,
    SqlKeyStore,
)
from plastic_memories.adapters.sql.stores.memory_search import SqlMemorySearch
from plastic_memories.adapters.sql.stores.memory_store import SqlMemoryStore
from plastic_memories.adapters.sql.stores.message_search import SqlMessageSearch
from plastic_memories.adapters.sql.stores.message_store import (
    SqlCorrectionStore,
    SqlMessageStore,
)
from plastic_memories.adapters.sql.stores.page_store import SqlPageStore
from plastic_memories.adapters.sql.stores.persona_store import SqlPersonaStore
from plastic_memories.adapters.sql.stores.session_store import SqlBranchStore, SqlSessionStore
from plastic_memories.adapters.sql.stores.slot_store import SqlSlotStore
from plastic_memories.adapters.sql.stores.tombstone_store import (
    SqlPendingForgetStore,
    SqlTombstoneStore,
)
from plastic_memories.adapters.sql.stores.vector_store import SqlVectorStore
from plastic_memories.adapters.sql.text_index import TextIndex
from plastic_memories.adapters.sql.upkeep import SqlUpkeep


class SqlStores:
    """The stores of one transaction: what it was told, it need not ask."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    @property
    def session(self) -> SqlSession:
        """Return what runs the statements, for the engine's own."""
        return self._session

    @cached_property
    def memories(self) -> SqlMemoryStore:
        return SqlMemoryStore(self._session, self._memory_index, self._partitions, self.entries)

    @cached_property
    def memory_search(self) -> SqlMemorySearch:
        return SqlMemorySearch(self._session, self._memory_index, self._partitions)

    @cached_property
    def entries(self) -> SqlEntryStore:
        return SqlEntryStore(self._session)

    @cached_property
    def talk_entries(self) -> SqlTalkEntryStore:
        return SqlTalkEntryStore(self._session)

    @cached_property
    def vectors(self) -> SqlVectorStore:
        return SqlVectorStore(self._session, self.entries, self.talk_entries)

    @cached_property
    def slots(self) -> SqlSlotStore:
        return SqlSlotStore(self._session)

    @cached_property
    def tombstones(self) -> SqlTombstoneStore:
        return SqlTombstoneStore(self._session)

    @cached_property
    def pending_forgets(self) -> SqlPendingForgetStore:
        return SqlPendingForgetStore(self._session)

    @cached_property
    def messages(self) -> SqlMessageStore:
        return SqlMessageStore(
            self._session, self._message_index, self._partitions, self.talk_entries
        )

    @cached_property
    def message_search(self) -> SqlMessageSearch:
        return SqlMessageSearch(self._session, self._message_index, self._partitions)

    @cached_property
    def corrections(self) -> SqlCorrectionStore:
        return SqlCorrectionStore(self._session)

    @cached_property
    def personas(self) -> SqlPersonaStore:
        return SqlPersonaStore(self._session, self.memories, self.messages, self._partitions)

    @cached_property
    def cards(self) -> SqlCardStore:
        return SqlCardStore(self._session)

    @cached_property
    def sessions(self) -> SqlSessionStore:
        return SqlSessionStore(self._session)

    @cached_property
    def branches(self) -> SqlBranchStore:
        return SqlBranchStore(self._session)

    @cached_property
    def jobs(self) -> SqlJobStore:
        return SqlJobStore(self._session)

    @cached_property
    def formation(self) -> SqlFormationBacklog:
        return SqlFormationBacklog(self._session)

    @cached_property
    def goals(self) -> SqlGoalStore:
        return SqlGoalStore(self._session)

    @cached_property
    def pages(self) -> SqlPageStore:
        return SqlPageStore(self._session)

    @cached_property
    def keys(self) -> SqlKeyStore:
        return SqlKeyStore(self._session)

    @cached_property
    def console_sessions(self) -> SqlConsoleSessionStore:
        return SqlConsoleSessionStore(self._session)

    @cached_property
    def audit(self) -> SqlAuditLog:
        return SqlAuditLog(self._session)

    @cached_property
    def upkeep(self) -> SqlUpkeep:
        return SqlUpkeep(self._session, self.memories, self.messages)

    def for_next_work(self) -> Self:
        """Start the next piece of work of the same transaction: it has recorded nothing yet."""
        self.__dict__.pop("audit", None)
        return self

    @cached_property
    def _partitions(self) -> PartitionLookup:
        return PartitionLookup(self._session)

    @cached_property
    def _memory_index(self) -> TextIndex | None:
        return self._session.text_index("memory")

    @cached_property
    def _message_index(self) -> TextIndex | None:
        return self._session.text_index("messages")
