"""What the services of every theme may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from plastic_memories.hub.formation.jobs import FormationOptions
from plastic_memories.hub.formation.unread_clauses import UnreadClauses
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.ports.meter import Meter
from plastic_memories.runtime.wakeup import WakeUp
from plastic_memories.settings import Settings
from plastic_memories.wiring.plugin_choice import HubPlugins


@dataclass(frozen=True, slots=True)
class ServiceContext:
    settings: Settings
    storage: AuditedStorage
    screening: Screening
    plugins: HubPlugins
    meter: Meter
    unread_clauses: UnreadClauses
    # Wakes the worker of this process when a job is queued.
    wakeup: WakeUp = field(default_factory=WakeUp)

    @property
    def has_model(self) -> bool:
        """Return whether jobs read conversations with a language model."""
        return self.plugins.extractor is not None and self.settings.formation

    @property
    def formation(self) -> FormationOptions:
        settings = self.settings
        return FormationOptions(
            enabled=settings.formation,
            threshold=settings.formation_threshold,
            idle_s=settings.formation_idle_s,
            schedule_s=settings.formation_schedule_s,
            max_retries=settings.job_max_retries,
            backoff_s=settings.job_backoff_s,
            lease_s=settings.job_lease_s,
            concurrency=settings.job_concurrency,
        )
