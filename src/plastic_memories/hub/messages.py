"""Keep what was said, for its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.hub.ledger import Ledger
from plastic_memories.hub.record import record
from plastic_memories.hub.screening import Screening
from plastic_memories.model.key import Caller
from plastic_memories.model.message import Message, Stored
from plastic_memories.model.owner import Owner
from plastic_memories.ports.message_store import MessageFilter
from plastic_memories.ports.storage import Stores


@dataclass(frozen=True, slots=True)
class KeepMessages:
    ledger: Ledger
    screening: Screening

    async def append(
        self, caller: Caller, owner: Owner, messages: Sequence[Message]
    ) -> list[Stored]:
        """Store messages, masked where they hold secrets; a known client id stores nothing new."""
        now = self.ledger.clock.now()
        masked = [replace(self.screening.message(message), created_at=now) for message in messages]

        def work(stores: Stores) -> list[Stored]:
            stores.personas.ensure(owner, now)
            stored = stores.messages.append(masked)
            new = [row.message_id for row in stored if not row.deduped]
            if new:
                record(stores, caller, "messages.append", owner.persona_id, now, message_ids=new)
            return stored

        return await self.ledger.write(work)

    async def find(self, owner: Owner, wanted: MessageFilter) -> list[Message]:
        """Return the owner's messages, newest first, hidden ones included: they are theirs."""
        return await self.ledger.read(lambda stores: stores.messages.find(owner, wanted))

    async def purge(self, caller: Caller, owner: Owner, wanted: MessageFilter) -> int:
        """Erase messages for good; return how many."""
        now = self.ledger.clock.now()

        def work(stores: Stores) -> int:
            erased = stores.messages.erase(owner, wanted, now)
            if erased:
                record(stores, caller, "messages.purge", owner.persona_id, now, deleted=len(erased))
            return len(erased)

        return await self.ledger.write(work)
