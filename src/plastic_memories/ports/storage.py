"""The storage a hub stands on: one bundle of small stores, one transaction at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from plastic_memories.model.event import Event
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.audit_log import AuditLog
from plastic_memories.ports.stores.card_store import CardStore
from plastic_memories.ports.stores.entry_store import EntryStore, TalkEntryStore
from plastic_memories.ports.stores.goal_store import GoalStore
from plastic_memories.ports.stores.job_store import FormationBacklog, JobStore
from plastic_memories.ports.stores.key_store import ConsoleSessionStore, KeyStore
from plastic_memories.ports.stores.memory_search import MemorySearch
from plastic_memories.ports.stores.memory_store import MemoryStore
from plastic_memories.ports.stores.message_store import (
    CorrectionStore,
    MessageSearch,
    MessageStore,
)
from plastic_memories.ports.stores.page_store import PageStore
from plastic_memories.ports.stores.persona_store import PersonaStore
from plastic_memories.ports.stores.session_store import BranchStore, SessionStore
from plastic_memories.ports.stores.slot_store import SlotStore
from plastic_memories.ports.stores.tombstone_store import PendingForgetStore, TombstoneStore
from plastic_memories.ports.stores.vector_store import VectorStore

T = TypeVar("T")


class Upkeep(Protocol):
    """What the server does by itself, for all owners at once."""

    def expired_memories(self, now: float, limit: int) -> list[Memory]:
        """Return rows whose expiry has come and whose status does not say so yet."""
        ...

    def owners(self, after: int, limit: int) -> list[tuple[int, Owner]]:
        """Return owners in a fixed order, each with the number after which the next ones come."""
        ...

    def prune_messages(self, before_ts: float, max_per_persona: int | None, limit: int) -> int:
        """Erase at most `limit` messages past their retention; return how many.

        What is part of a session goes only after it was archived.
        """
        ...

    def prune_audit(self, before_ts: float) -> int: ...

    def rebuild_index(self, owner: Owner) -> Mapping[str, int]:
        """Make the owner's indexes anew from its rows; return how many entries of which."""
        ...

    def check(self) -> list[str]:
        """Return what is wrong with the stored data, one line each; empty means sound."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Return how many rows of each kind there are."""
        ...


class Stores(Protocol):
    """Every store, inside one transaction (or one snapshot, for a read).

    A bundle and no more: each of its stores is small, and made when it is first used.
    """

    @property
    def memories(self) -> MemoryStore: ...
    @property
    def memory_search(self) -> MemorySearch: ...
    @property
    def entries(self) -> EntryStore: ...
    @property
    def talk_entries(self) -> TalkEntryStore: ...
    @property
    def vectors(self) -> VectorStore: ...
    @property
    def slots(self) -> SlotStore: ...
    @property
    def tombstones(self) -> TombstoneStore: ...
    @property
    def pending_forgets(self) -> PendingForgetStore: ...
    @property
    def messages(self) -> MessageStore: ...
    @property
    def message_search(self) -> MessageSearch: ...
    @property
    def corrections(self) -> CorrectionStore: ...
    @property
    def personas(self) -> PersonaStore: ...
    @property
    def cards(self) -> CardStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def branches(self) -> BranchStore: ...
    @property
    def jobs(self) -> JobStore: ...
    @property
    def formation(self) -> FormationBacklog: ...
    @property
    def goals(self) -> GoalStore: ...
    @property
    def pages(self) -> PageStore: ...
    @property
    def keys(self) -> KeyStore: ...
    @property
    def console_sessions(self) -> ConsoleSessionStore: ...
    @property
    def audit(self) -> AuditLog: ...
    @property
    def upkeep(self) -> Upkeep: ...


@dataclass(frozen=True, slots=True)
class Residue:
    """Where bytes of what was erased still lie, in words for people."""

    pending: tuple[str, ...] = ()  # held up now: a later `scrub` removes them
    kept: tuple[str, ...] = ()  # until the engine's own vacuum or recycling of its log


class StorageBackend(Protocol):
    """Runs a piece of work in one transaction, on a thread of its own.

    Work is plain synchronous code over `Stores`. What stands or falls together is one piece
    of work. It may be run again after a rollback, so it has no effect but on its stores.
    Driver errors leave as `Unavailable`; whatever else the work raises comes back unchanged,
    with everything it did undone.

    The promises are executable: `plastic_memories.testing.StorageContract`.
    """

    async def read(self, work: Callable[[Stores], T]) -> T:
        """Run work on a snapshot; it sees every write that was acknowledged before."""
        ...

    async def write(self, work: Callable[[Stores], T]) -> T:
        """Run work in a transaction of its own; durable when this returns."""
        ...

    async def scrub(self) -> Residue:
        """Remove the bytes of what was erased from files and logs; return what still holds some.

        It is called after the write that erased. It ends within a few seconds, whoever reads or
        writes meanwhile: what is held up is named, and asked for again later.
        """
        ...

    async def describe(self) -> Mapping[str, Any]:
        """Return what is underneath, for people: name, version, place.

        `error` says why it cannot store anything now; it is empty, or left out, if it can.
        """
        ...


@runtime_checkable
class CommitFeed(Protocol):
    """A storage that other processes write to as well, and that tells what they have committed."""

    def follow(self) -> AsyncIterator[Sequence[Event]]:
        """Yield the events that others have recorded, from now on; after an outage also the missed.

        It ends only when it is cancelled: while the storage is away, it waits.
        """
        ...
