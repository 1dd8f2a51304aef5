"""Routes for health, capabilities, metrics and audit."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from plastic_memories import logs
from plastic_memories.errors import (
    NotAuthenticated,
    TooManyRequests,
    Unavailable,
)
from plastic_memories.http.caller_context import (
    ReadCall,
    authenticate_key,
    keyed_endpoint,
    request_key,
)
from plastic_memories.http.envelope import FAILURES, success_response
from plastic_memories.http.hub_opener import open_hub_of
from plastic_memories.http.options import HttpOptions
from plastic_memories.http.routing import Routes, plain_endpoint
from plastic_memories.hub.hub import Hub
from plastic_memories.model.memory import SLOT_TYPES, MemoryType, Scope, Status
from plastic_memories.model.owner import Realm
from plastic_memories.wire import operations as wire

guarded = Routes(keyed_endpoint, tags=["operations"], responses=FAILURES)
public = Routes(plain_endpoint, tags=["operations"], responses={s: FAILURES[s] for s in (500, 503)})


@public.get("/health", answers=wire.HealthResponse)
async def health(request: Request) -> Response:
    """Return whether the hub works; with a key, also its components and their problems."""
    hub, options = await _hub_and_options(request)
    try:
        storage = dict(await hub.storage.backend.describe())
        backlog = await hub.embedding.backlog()
        unindexed = await hub.storage.read(lambda stores: stores.messages.count_unindexed())
    except Unavailable as error:
        storage, backlog, unindexed = {"error": error.message}, 0, 0
    answer: dict[str, Any] = {"status": "degraded" if storage.get("error") else "ok"}
    if await _has_key(request):
        answer |= {
            "version": options.version,
            "db_path": storage.get("db_path"),
            "components": {
                **options.plugged_in,
                "storage": storage,
                "embedder": hub.embedding.describe(),
                "log": logs.describe(),
            },
            "embedding_backlog": backlog,
            "message_index_backlog": unindexed,
        }
    return success_response(request, wire.HealthResponse.model_construct(**answer))


async def _hub_and_options(request: Request) -> tuple[Hub, HttpOptions]:
    return await open_hub_of(request), request.app.state.options


async def _has_key(request: Request) -> bool:
    text = request_key(request.headers)
    if not text:
        return False
    try:
        await authenticate_key(request, text)
    except (NotAuthenticated, TooManyRequests, Unavailable):
        return False
    return True


@public.get(
    "/capabilities",
    answers=wire.CapabilitiesResponse,
    responses={401: FAILURES[401], 429: FAILURES[429]},
)
async def capabilities(request: Request) -> Response:
    """Return the installed parts, and the valid types, scopes and limits."""
    hub, options = await _hub_and_options(request)
    await _metrics_tenant(request)
    answer = wire.CapabilitiesResponse(
        version=options.version,
        plugged_in=dict(options.plugged_in),
        types=[kind.value for kind in MemoryType],
        slot_types=sorted(kind.value for kind in SLOT_TYPES),
        statuses=[status.value for status in Status],
        scopes=[scope.value for scope in Scope],
        realms=[realm.value for realm in Realm],
        limits=_limits(options),
        features=[
            "recall",
            "slots",
            "goals",
            "export",
            "import",
            "audit",
            "events",
            "jobs",
            "sessions",
            "branches",
            "upcoming",
        ],  # fmt: skip,
        templates=hub.personas.templates.names(),
        embedder=hub.embedding.loaded_model(),
    )
    return success_response(request, answer)


async def _metrics_tenant(request: Request) -> str | None:
    """Return the tenant of the caller's key; None for any caller, where that is allowed."""
    _, options = await _hub_and_options(request)
    text = request_key(request.headers)
    if text or not options.metrics_public:
        return (await authenticate_key(request, text)).tenant_id
    return None


def _limits(options: HttpOptions) -> dict[str, Any]:
    return {
        "query_chars": options.max_query_chars,
        "content_chars": options.max_content_chars,
        "body_bytes": options.max_body_bytes,
        "import_bytes": options.max_import_bytes,
        "import_entries": options.max_import_entries,
        "card_entries": options.max_card_entries,
        "list_default": 50,
        "list_max": 200,
        "messages_per_append": 100,
        "items_per_write": 500,
        "metadata_bytes": 4096,
        "rate": None if options.rate is None else list(options.rate),
    }


@public.get(
    "/metrics",
    answers=wire.MetricsResponse,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        401: FAILURES[401],
        429: FAILURES[429],
    },
)
async def metrics(request: Request) -> Response:
    """Return the tenant's metrics: Prometheus text, or JSON for `Accept: application/json`."""
    hub, _ = await _hub_and_options(request)
    tenant = await _metrics_tenant(request)
    await hub.job_runner.record_queue_depth(tenant)
    await hub.embedding.record_backlog(tenant)
    if "application/json" in request.headers.get("accept", ""):
        return success_response(request, wire.MetricsResponse(samples=hub.meter.samples(tenant)))
    return PlainTextResponse(
        hub.meter.render(tenant), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


@guarded.get("/audit", answers=wire.AuditResponse)
async def audit(query: wire.AuditQuery, call: ReadCall) -> Response:
    """Return who changed what, when, by which key, in order."""
    found = await call.hub.browse.audit_events(
        call.caller,
        since=query.since,
        after_id=query.after_id,
        memory_id=query.memory_id,
        limit=query.limit,
    )
    bound = call.caller.key.limits.persona_id
    items = [
        wire.AuditRow(
            id=event.id,
            event=event.event,
            ts=event.ts,
            by=event.key_label,
            request_id=event.request_id,
            data=dict(event.data),
            persona_id=event.persona_id,
            memory_id=event.memory_id,
        )
        for event in found
        if bound in ("", event.persona_id)
    ]
    last = found[-1].id if len(found) == query.limit else None
    return call.reply(wire.AuditResponse(items=items, next_after_id=last))
