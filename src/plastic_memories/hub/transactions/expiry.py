"""End expired memories at the start of each write transaction."""

from __future__ import annotations

from plastic_memories.hub.transactions.audit_events import hub_caller, record_memory
from plastic_memories.hub.transactions.version_chain import refresh_slot
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import end_memory

EXPIRY_BATCH = 500


def end_expired(stores: Stores, now: float) -> None:
    """Set status `expired` on due memories, and refresh the slots that held them."""
    for memory in stores.upkeep.expired_memories(now, EXPIRY_BATCH):
        done = end_memory(memory, now)
        stores.memories.save(done)
        caller = hub_caller(memory.owner.user)
        refresh_slot(stores, caller, done, now)
        record_memory(stores, caller, "memory.expire", done, now)
