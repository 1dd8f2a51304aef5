"""Who uses a hub, for whoever may act for several users; and what they never want learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.errors import NotFound
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.console import Person, TombstoneMark
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores

_MAX_MARKS = 500


@dataclass(frozen=True, slots=True)
class UserDirectory:
    storage: AuditedStorage

    async def find(self, tenant_id: str, user_id: str | None, text: str) -> Sequence[Person]:
        """Return users of a tenant, last seen first; only `user_id`, if one is given."""
        return await self.storage.read(
            lambda stores: stores.console_sessions.find_people(tenant_id, user_id, text, 100)
        )

    async def never_again(self, owner: Owner) -> Sequence[TombstoneMark]:
        """Return the marks of what is never to be learned again, newest first."""
        return await self.storage.read(lambda stores: stores.tombstones.all(owner, _MAX_MARKS))

    async def lift_mark(self, caller: Caller, owner: Owner, digest: str) -> None:
        """Remove a mark: what it stands for may be learned again."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> None:
            if not stores.tombstones.lift_mark(owner, digest):
                raise NotFound("There is no such mark.")
            record_event(stores, caller, "memory.allow_again", owner.persona_id, now)

        await self.storage.write(work)
