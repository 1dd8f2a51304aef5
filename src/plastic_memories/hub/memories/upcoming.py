"""What comes up: birthdays, anniversaries, plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.hub.transactions.reader_lines import lines_for
from plastic_memories.model.memory import MemoryType, Status
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.occurrences import Upcoming, upcoming

_DATED = frozenset({MemoryType.EVENT, MemoryType.PROFILE})


@dataclass(frozen=True, slots=True)
class LookAhead:
    ledger: Ledger

    async def __call__(self, view: Viewpoint, days: int) -> list[Upcoming]:
        """Return what is dated within so many days, counted where the user lives, soonest first."""
        now = self.ledger.clock.now()

        def work(stores: Stores) -> list[Upcoming]:
            zone = ZoneInfo(stores.personas.settings(view.owner.user).time_zone)
            wanted = MemoryFilter(
                statuses={Status.ACTIVE},
                types=_DATED,
                realm=view.realm,
                bot_id=None if view.all_bots else view.bot_id,
                only_app=view.only_app or None,
                not_expired_at=now,
            )
            rows = lines_for(stores, view).memories(stores.memories.find(view.owner, wanted))
            return upcoming(rows, datetime.fromtimestamp(now, zone).date(), days)

        return await self.ledger.read(work)
