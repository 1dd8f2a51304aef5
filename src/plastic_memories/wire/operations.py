"""Request and response bodies of health, capabilities, metrics, audit."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from plastic_memories.wire.fields import IdParam, PageSize, RequestBody, ResponseBody
from plastic_memories.wire.memories import ChangeRow


class HealthResponse(ResponseBody):
    status: str


class CapabilitiesResponse(ResponseBody):
    version: str
    plugged_in: dict[str, str]
    types: list[str]
    slot_types: list[str]
    statuses: list[str]
    scopes: list[str]
    realms: list[str]
    limits: dict[str, Any]
    features: list[str]
    templates: list[str]
    embedder: dict[str, Any]


class MetricsResponse(ResponseBody):
    samples: list[dict[str, Any]]


class AuditQuery(RequestBody):
    since: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] = 0
    memory_id: IdParam | None = None
    after_id: Annotated[int, Field(ge=0, le=2**62)] = 0
    limit: PageSize = 50


class AuditRow(ChangeRow):
    persona_id: str
    memory_id: int | None


class AuditResponse(ResponseBody):
    items: list[AuditRow]
    next_after_id: int | None
