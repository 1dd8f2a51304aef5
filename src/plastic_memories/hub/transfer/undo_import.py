"""Take back what an import added."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import refresh_slot
from plastic_memories.hub.transfer.import_record import ROWS_ADDED, check_import
from plastic_memories.model.event import Event
from plastic_memories.model.goal import GoalStatus
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

_PAGE = 500
# One transaction holds up every other writer.
_BATCH = 100


@dataclass(frozen=True, slots=True)
class UndoneImport:
    """What was taken back, and the ids of what stays because it is used since."""

    import_id: int
    counts: Counter[str] = field(default_factory=Counter)
    kept: Mapping[str, list[int]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class UndoImport:
    storage: AuditedStorage

    async def __call__(self, caller: Caller, import_id: int) -> UndoneImport:
        """Erase what an import added, in short transactions; a second time finds nothing.

        A memory that was confirmed, edited or merged since stays, and so does a message that
        another memory was learned from. Goals are dropped, not erased.
        """
        added = await self._rows_added(caller, import_id)
        for owner, _, _ in added:
            caller.owner(owner.persona_id)  # a bound key must not reach another persona
        undone = UndoneImport(import_id)
        # Memories before the messages they came from, and personas when they are empty.
        for kind in ("memories", "messages", "goals", "personas"):
            for owner, named, ids in added:
                if named == kind:
                    await self._take_back(caller, undone, owner, kind, ids)
        now = self.storage.clock.now()
        counts = dict(+undone.counts)
        await self.storage.write(
            lambda stores: record_event(
                stores, caller, "import.undo", "", now, import_id=import_id, counts=counts
            )
        )
        return undone

    async def _rows_added(
        self, caller: Caller, import_id: int
    ) -> list[tuple[Owner, str, Sequence[int]]]:
        """Return what the import has added, in order: owner, kind of row, and ids."""
        await self.storage.read(lambda stores: check_import(stores, caller, import_id))
        events = await self._events_from(caller, import_id)
        user = caller.user
        return [
            (Owner(user.tenant_id, user.user_id, event.persona_id), kind, batch)
            for event in events
            if event.event == ROWS_ADDED and event.data.get("import_id") == import_id
            for kind, ids in event.data["added"].items()
            for batch in _batches(ids)
        ]

    async def _events_from(self, caller: Caller, import_id: int) -> list[Event]:
        events: list[Event] = []
        after = import_id - 1
        while True:
            page = await self.storage.read(
                lambda stores, after=after: stores.audit.find(  # type: ignore[misc]
                    caller.user, after_id=after, limit=_PAGE
                )
            )
            events += page
            if len(page) < _PAGE:
                return events
            after = page[-1].id

    async def _take_back(
        self, caller: Caller, undone: UndoneImport, owner: Owner, kind: str, ids: Sequence[int]
    ) -> None:
        now = self.storage.clock.now()

        def work(stores: Stores) -> tuple[int, list[int]]:
            batch = _Batch(stores, caller, owner, undone.import_id, now)
            steps = {
                "memories": batch.erase_memories,
                "messages": batch.erase_messages,
                "goals": batch.drop_goals,
                "personas": batch.erase_persona,
            }
            return steps[kind](ids)

        number, kept = await self.storage.write(work)
        undone.counts[kind] += number
        if kept:
            undone.kept[kind].extend(kept)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Rows of one owner, in one transaction. Each step returns how many went, and what stays."""

    stores: Stores
    caller: Caller
    owner: Owner
    import_id: int
    now: float

    def erase_memories(self, ids: Sequence[int]) -> tuple[int, list[int]]:
        rows = self.stores.memories.find(self.owner, MemoryFilter(ids=set(ids)))
        going = [row for row in rows if not self._is_changed(row)]
        for row in going:
            self._unlink_older(row)
        self.stores.memories.erase(self.owner, [row.id for row in going], self.now)
        for row in going:
            if row.is_slot:
                refresh_slot(self.stores, self.caller, row, self.now)
        gone = {row.id for row in going}
        return len(gone), sorted(row.id for row in rows if row.id not in gone)

    def _is_changed(self, row: Memory) -> bool:
        """Return whether somebody has done something with a memory since the import."""
        later = self.stores.audit.find(
            self.owner.user, after_id=self.import_id, memory_id=row.id, limit=_PAGE
        )
        return any(event.event not in ("memory.expire", ROWS_ADDED) for event in later)

    def _unlink_older(self, row: Memory) -> None:
        older = self.stores.memories.get(self.owner, row.supersedes_id or 0)
        if older is not None and older.superseded_by == row.id:
            self.stores.memories.save(replace(older, superseded_by=None))

    def erase_messages(self, ids: Sequence[int]) -> tuple[int, list[int]]:
        learned = self.stores.memories.find(self.owner, MemoryFilter(source_message_ids=set(ids)))
        used = {number for row in learned for number in row.source_message_ids} & set(ids)
        going = MessageFilter(ids=set(ids) - used)
        gone = self.stores.messages.erase(self.owner, going, self.now) if going.ids else []
        return len(gone), sorted(used)

    def drop_goals(self, ids: Sequence[int]) -> tuple[int, list[int]]:
        goals = [self.stores.goals.get(self.owner, number) for number in ids]
        going = [goal for goal in goals if goal and goal.status is not GoalStatus.DROPPED]
        for goal in going:
            self.stores.goals.save(replace(goal, status=GoalStatus.DROPPED, updated_at=self.now))
        return len(going), []

    def erase_persona(self, ids: Sequence[int]) -> tuple[int, list[int]]:
        stores, owner = self.stores, self.owner
        if stores.personas.get(owner) is None:
            return 0, []
        goals = [goal for goal in stores.goals.find(owner, None) if not _is_dropped(goal.status)]
        is_used = (
            stores.memories.find(owner, MemoryFilter(limit=1))
            or stores.messages.find(owner, MessageFilter(limit=1))
            or goals
        )
        if not is_used:
            stores.personas.erase(owner, self.now)
        return int(not is_used), []


def _is_dropped(status: GoalStatus) -> bool:
    return status is GoalStatus.DROPPED


def _batches(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    return (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
