"""Calls to /health, /capabilities, /metrics, /user/settings, /memory/rebuild and /audit."""

from __future__ import annotations

from ..models import AuditEntry, Capabilities, Health, Rebuilt, UserSettings
from ..protocol import Call, get, post, record, records, result, text, without_none
from .context import CallContext


class OperationCalls(CallContext):
    __slots__ = ()

    def health(self) -> Call[Health]:
        return get("/health", result(Health))

    def capabilities(self) -> Call[Capabilities]:
        return get("/capabilities", result(Capabilities))

    def metrics(self) -> Call[str]:
        return get("/metrics", text)

    def user_settings(self) -> Call[UserSettings]:
        return get("/user/settings", record(UserSettings, "settings"))

    def user_settings_update(
        self, time_zone: str | None, language: str | None
    ) -> Call[UserSettings]:
        body = without_none(time_zone=time_zone, language=language)
        return post("/user/settings", record(UserSettings, "settings"), body)

    def rebuild(self, persona_id: str | None) -> Call[Rebuilt]:
        return post("/memory/rebuild", result(Rebuilt), self.persona_fields(persona_id))

    def audit(self, since: float | None, memory_id: int | None) -> Call[list[AuditEntry]]:
        return get("/audit", records(AuditEntry), without_none(since=since, memory_id=memory_id))
