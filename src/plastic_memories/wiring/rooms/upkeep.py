"""What is put in order as time passes: expiry, retention, counts, files of jobs."""

from __future__ import annotations

from plastic_memories.hub.upkeep import Retention, UpkeepLoop
from plastic_memories.wiring.rooms.formation import FormationRoom
from plastic_memories.wiring.rooms.recall import RecallRoom
from plastic_memories.wiring.rooms.room_context import RoomContext


def build_upkeep(context: RoomContext, formation: FormationRoom, recall: RecallRoom) -> UpkeepLoop:
    settings = context.settings
    retention = Retention(
        message_days=settings.message_retention_days,
        messages_per_persona=settings.message_max_per_persona,
        audit_days=settings.audit_retention_days,
    )
    return UpkeepLoop(context.storage, recall.counts, retention, formation.job_runner)
