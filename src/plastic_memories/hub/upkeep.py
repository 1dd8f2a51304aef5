"""What the hub does by itself: expire, prune, write down what was recalled."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from plastic_memories.errors import Unavailable
from plastic_memories.hub.chain import refresh_slot
from plastic_memories.hub.ledger import Ledger, record_memory
from plastic_memories.hub.touches import Touches
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.memory import Memory
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle import ended

logger = logging.getLogger(__name__)
_DAY_S = 86_400.0
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    message_days: float | None = 90
    messages_per_persona: int | None = None
    audit_days: float | None = 365


@dataclass(frozen=True, slots=True)
class KeepUp:
    ledger: Ledger
    touches: Touches
    retention: Retention
    interval_s: float = 15.0

    async def forever(self) -> None:
        """Sweep again and again; a failed round is logged and tried at the next one."""
        while True:
            try:
                await self.once()
            except Unavailable as error:
                logger.warning("upkeep", extra={"fields": {"err": error.message}})
            await asyncio.sleep(self.interval_s)

    async def once(self) -> dict[str, int]:
        """Do one round; return how much of what was done."""
        now = self.ledger.clock.now()
        return {
            "touched": await self.touches.flush(self.ledger.storage),
            "expired": await self._expire(now),
            "pruned": await self._prune(now),
        }

    async def _expire(self, now: float) -> int:
        total = 0
        while True:
            due = await self.ledger.read(lambda stores: stores.upkeep.due(now, _AT_ONCE))
            if not due:
                return total
            await self.ledger.write(lambda stores: _expire(stores, now))
            total += len(due)

    async def _prune(self, now: float) -> int:
        keep = self.retention
        before = now - keep.message_days * _DAY_S if keep.message_days is not None else 0.0
        total = 0
        while True:
            pruned = await self.ledger.write(
                lambda stores: stores.upkeep.prune_messages(
                    before, keep.messages_per_persona, _AT_ONCE
                )
            )
            total += pruned
            if pruned < _AT_ONCE:
                break
        if keep.audit_days is not None:
            oldest = now - keep.audit_days * _DAY_S
            await self.ledger.write(lambda stores: stores.upkeep.prune_audit(oldest))
        return total


def _expire(stores: Stores, now: float) -> None:
    """Write down that rows have expired; asked again here, inside the transaction."""
    for memory in stores.upkeep.due(now, _AT_ONCE):
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
