"""Ends what has expired, in the transaction that comes by."""

from __future__ import annotations

from plastic_memories.hub.chain import refresh_slot
from plastic_memories.hub.record import record_memory
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.memory import Memory
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle import ended

EXPIRED_AT_ONCE = 500


def end_expired(stores: Stores, now: float) -> None:
    """Write status `expired` where the time has come, and clear the slots that held it."""
    for memory in stores.upkeep.due(now, EXPIRED_AT_ONCE):
        done = ended(memory, now)
        stores.memories.save(done)
        caller = _the_hub(memory)
        refresh_slot(stores, caller, done, now)
        record_memory(stores, caller, "memory.expire", done, now)


def _the_hub(memory: Memory) -> Caller:
    """The hub itself as a caller, so that the log says who did it."""
    user = memory.owner.user
    key = ApiKey(id=0, digest="", tenant_id=user.tenant_id, user_id=user.user_id, label="(the hub)")
    return Caller(user=user, key=key)
