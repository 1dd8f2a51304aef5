"""Operations on the chain of a memory's versions, shared by several use cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plastic_memories.errors import NotFound
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, Scope, Status
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.slot_values import build_slot
from plastic_memories.rules.lifecycle.transitions import end_memory


def visible_memory(stores: Stores, view: Viewpoint, memory_id: int) -> Memory:
    """Return a memory this viewpoint may change; raise `NotFound` for any other."""
    memory = stores.memories.get(view.owner, memory_id)
    if memory is None or not is_visible(view, memory):
        raise NotFound(f"There is no memory {memory_id} here.")
    return memory


def is_visible(view: Viewpoint, memory: Memory) -> bool:
    """Return whether a memory of the viewpoint's owner belongs to its bot and app."""
    is_narrow = memory.scope in (Scope.APP, Scope.SESSION)
    if view.only_app and is_narrow and memory.source_app != view.only_app:
        return False
    return view.all_bots or memory.bot_id == view.bot_id


def add_replacing(stores: Stores, new: Memory, replaced: Sequence[Memory], now: float) -> Memory:
    """Store a new version and end the versions it replaces; the chain keeps its root."""
    for row in replaced:
        stores.memories.save(end_memory(row, now))
    if replaced:
        new = replace(new, supersedes_id=replaced[0].id, root_id=replaced[0].root_id)
    added = stores.memories.add(new)
    for row in replaced:
        stores.memories.save(end_memory(row, now, superseded_by=added.id))
    return added


def active_in_slot(stores: Stores, memory: Memory) -> list[Memory]:
    """Return the active rows that share the memory's slot: type, bot and realm."""
    wanted = MemoryFilter(
        statuses={Status.ACTIVE}, types={memory.type}, bot_id=memory.bot_id, realm=memory.realm
    )
    return stores.memories.find(memory.owner, wanted)


def active_with_key(stores: Stores, memory: Memory) -> list[Memory]:
    """Return the active rows with the memory's key, scope, bot and realm: at most one."""
    live = stores.memories.find_same_key(memory.owner, memory)
    return [row for row in live if row.status is Status.ACTIVE]


def replaceable_by(stores: Stores, candidate: Memory) -> list[Memory]:
    """Return the active rows that confirming this candidate may replace, newest first."""
    if candidate.is_slot:
        return active_in_slot(stores, candidate)
    rivals = active_with_key(stores, candidate)
    if candidate.supersedes_id is None or any(r.id == candidate.supersedes_id for r in rivals):
        return rivals
    # The candidate went to the inbox because of a row whose key is spelled differently.
    named = stores.memories.get(candidate.owner, candidate.supersedes_id)
    if named is None or named.status is not Status.ACTIVE or named.bot_id != candidate.bot_id:
        return rivals
    return [*rivals, named]


def refresh_slot(stores: Stores, caller: Caller, memory: Memory, now: float) -> None:
    """Rebuild the slot of a slot-type memory from its active rows."""
    if not memory.is_slot:
        return
    slot = build_slot(active_in_slot(stores, memory), now)
    if slot is not None:
        stores.slots.put(slot)
    elif not stores.slots.clear(memory.owner, memory.bot_id, memory.realm, memory.type.value):
        return
    record_event(
        stores, caller, "slots.update", memory.owner.persona_id, now, slot_name=memory.type.value
    )
