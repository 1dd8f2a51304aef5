"""List upcoming events: birthdays, anniversaries, plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.reader_lines import reader_lines
from plastic_memories.model.memory import MemoryType, Status
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.occurrences import UpcomingEvent, upcoming_events

_DATED_TYPES = frozenset({MemoryType.EVENT, MemoryType.PROFILE})


@dataclass(frozen=True, slots=True)
class ListUpcomingEvents:
    storage: AuditedStorage

    async def __call__(self, view: Viewpoint, days: int) -> list[UpcomingEvent]:
        """Return the events of the next `days` days in the user's time zone, soonest first."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> list[UpcomingEvent]:
            zone = ZoneInfo(stores.personas.settings(view.owner.user).time_zone)
            wanted = MemoryFilter(
                statuses={Status.ACTIVE},
                types=_DATED_TYPES,
                realm=view.realm,
                bot_id=None if view.all_bots else view.bot_id,
                only_app=view.only_app or None,
                not_expired_at=now,
            )
            rows = reader_lines(stores, view).visible_memories(
                stores.memories.find(view.owner, wanted)
            )
            return upcoming_events(rows, datetime.fromtimestamp(now, zone).date(), days)

        return await self.storage.read(work)
