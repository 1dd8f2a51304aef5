"""Undo a change that the hub made by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from plastic_memories.errors import Conflict, NotFound
from plastic_memories.hub.memories.consolidate import UNDO_EVENT
from plastic_memories.hub.transactions.audit_events import app_of, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import visible_memory
from plastic_memories.model.event import Event
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, Status
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.corrected_memories import restored_memory, was_corrected


@dataclass(frozen=True, slots=True)
class UndoChange:
    storage: AuditedStorage

    async def __call__(self, caller: Caller, view: Viewpoint, audit_id: int) -> Memory:
        """Undo one event of the audit log; consolidation never changes that memory again."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> Memory:
            event = _find_event(stores, view, audit_id)
            assert event.memory_id is not None, "every change of these kinds names its row"
            memory = visible_memory(stores, view, event.memory_id)
            if _is_undone(stores, event):
                raise Conflict(f"Change {audit_id} is undone already.")
            restored = _UNDO[event.event](stores, event, memory, now)
            record_event(
                stores, caller, UNDO_EVENT, view.owner.persona_id, now,
                memory_id=restored.id, undone=audit_id, status=restored.status.value,
                **app_of(restored),
            )  # fmt: skip
            return restored

        return await self.storage.write(work)


def _find_event(stores: Stores, view: Viewpoint, audit_id: int) -> Event:
    found = stores.audit.find(view.owner.user, after_id=audit_id - 1, limit=1)
    is_here = found and found[0].id == audit_id and found[0].persona_id == view.owner.persona_id
    if not is_here:
        raise NotFound(f"There is no change {audit_id} here.")
    if found[0].event not in _UNDO:
        raise Conflict(f"Change {audit_id} was not made by the hub itself.")
    return found[0]


def _is_undone(stores: Stores, event: Event) -> bool:
    later = stores.audit.find(event.user, after_id=event.id, memory_id=event.memory_id)
    return any(
        change.event == UNDO_EVENT and change.data.get("undone") == event.id for change in later
    )


def _changed_conflict(memory: Memory) -> Conflict:
    return Conflict(f"Memory {memory.id} has changed since.", {"status": memory.status.value})


def _unmerge(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    survivor = stores.memories.get(memory.owner, event.data["into"])
    restored = _restore_row(stores, event, memory, now)
    if survivor is None:
        return restored
    added = set(event.data["added_sources"])
    if added:
        survivor = stores.memories.set_sources(survivor, set(survivor.source_message_ids) - added)
    if survivor.importance == event.data["importance"] != event.data["importance_was"]:
        stores.memories.save(replace(survivor, importance=event.data["importance_was"]))
    return restored


def _unresolve(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    newer = stores.memories.get(memory.owner, event.data["into"])
    restored = _restore_row(stores, event, memory, now)
    if newer is not None and newer.supersedes_id == memory.id:
        stores.memories.save(replace(newer, supersedes_id=event.data["supersedes_was"]))
    return restored


def _restore_row(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    """Restore a memory's status, and detach its versions from the row it was merged into."""
    if memory.status is not Status.REVOKED or memory.superseded_by != event.data["into"]:
        raise _changed_conflict(memory)
    restored = replace(
        memory, status=Status(event.data["was"]), superseded_by=None, updated_at=now,
        root_id=event.data["root_was"],
    )  # fmt: skip
    _check_key_free(stores, restored)
    for version_id in event.data["versions"]:
        version = stores.memories.get(memory.owner, version_id)
        if version is not None:
            stores.memories.save(replace(version, root_id=restored.root_id))
    stores.memories.save(restored)
    return restored


def _unask(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    if memory.status is not Status.CANDIDATE:
        raise _changed_conflict(memory)
    previous = event.data["supersedes_was"]
    restored = replace(memory, status=Status.ACTIVE, supersedes_id=previous, updated_at=now)
    _check_key_free(stores, restored)
    stores.memories.save(restored)
    return restored


def _unarchive(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    if memory.status is not Status.REVOKED or memory.superseded_by is not None:
        raise _changed_conflict(memory)
    if event.data["sources"] and not memory.source_message_ids:
        raise Conflict("What it was learned from was taken back meanwhile.")
    restored = replace(memory, status=Status.ACTIVE, updated_at=now)
    _check_key_free(stores, restored)
    stores.memories.save(restored)
    return restored


def _unweigh(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    if memory.importance != event.data["importance"]:
        raise _changed_conflict(memory)
    restored = replace(memory, importance=event.data["importance_was"], updated_at=now)
    stores.memories.save(restored)
    return restored


def _uncorrect(stores: Stores, event: Event, memory: Memory, now: float) -> Memory:
    if not was_corrected(memory, event.data["message_id"]):
        raise _changed_conflict(memory)
    restored = restored_memory(memory, now)
    _check_key_free(stores, restored)
    stores.memories.save(restored)
    return restored


def _check_key_free(stores: Stores, restored: Memory) -> None:
    """Raise `Conflict` if another active memory has the same key now."""
    if restored.status is not Status.ACTIVE:
        return
    live = stores.memories.find_same_key(restored.owner, restored)
    rivals = [row.id for row in live if row.status is Status.ACTIVE and row.id != restored.id]
    if rivals:
        raise Conflict("Another memory has taken its place.", {"active_memory_id": rivals[0]})


_UNDO: dict[str, Callable[[Stores, Event, Memory, float], Memory]] = {
    "memory.merge": _unmerge,
    "memory.resolve": _unresolve,
    "memory.ask": _unask,
    "memory.archive": _unarchive,
    "memory.weigh": _unweigh,
    "memory.correct": _uncorrect,
}
