"""What is put in order as time passes: expiry, retention, counts, files of jobs."""

from __future__ import annotations

from plastic_memories.hub.upkeep import Retention, UpkeepLoop
from plastic_memories.wiring.services.erasure import ErasureServices
from plastic_memories.wiring.services.formation import FormationServices
from plastic_memories.wiring.services.recall import RecallServices
from plastic_memories.wiring.services.service_context import ServiceContext


def build_upkeep(
    context: ServiceContext,
    formation: FormationServices,
    recall: RecallServices,
    erasure: ErasureServices,
) -> UpkeepLoop:
    settings = context.settings
    retention = Retention(
        message_days=settings.message_retention_days or None,
        messages_per_persona=settings.message_max_per_persona,
        audit_days=settings.audit_retention_days,
    )
    return UpkeepLoop(
        context.storage,
        recall.counts,
        retention,
        formation.job_runner,
        erasure.pending_forgets.queue_due,
    )
