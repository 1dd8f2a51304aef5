"""Routes for health, capabilities, metrics, export, import and audit."""

from __future__ import annotations

import codecs
import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from plastic_memories import logs
from plastic_memories.errors import (
    BadRequest,
    BodyTooLarge,
    NotAuthenticated,
    TooManyRequests,
    Unavailable,
)
from plastic_memories.http.caller_context import (
    ReadCall,
    WriteCall,
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
_MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "markdown": "text/markdown",
    "bundle": "application/zip",
}
_ZIP_START = b"PK\x03\x04"
# Exceptions of the library for a damaged, encrypted or unusually packed archive.
_UNREADABLE_ERRORS = (
    UnicodeDecodeError,
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


@public.get("/health", answers=wire.HealthResponse)
async def health(request: Request) -> Response:
    """Return whether the hub works; with a key, also its components and their problems."""
    hub, options = await _hub_and_options(request)
    try:
        storage = dict(await hub.storage.backend.describe())
        backlog = await hub.embedding.backlog()
    except Unavailable as error:
        storage, backlog = {"error": error.message}, 0
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


@guarded.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {kind: {} for kind in _MEDIA_TYPES.values()}}},
)
async def export(query: wire.ExportQuery, call: ReadCall) -> Response:
    """Stream everything the user owns, as one file."""
    if query.persona_id is not None:
        call.owner(query.persona_id)
    kind = query.format
    suffix = {"jsonl": "jsonl", "markdown": "md", "bundle": "zip"}[kind]
    headers = {"Content-Disposition": f'attachment; filename="plastic_memories.{suffix}"'}
    transfer = call.hub.transfer
    if kind == "bundle":
        whole = await transfer.export_bundle(call.caller, query.persona_id)
        return Response(whole, media_type=_MEDIA_TYPES[kind], headers=headers)
    lines = transfer.export_lines if kind == "jsonl" else transfer.export_markdown
    return StreamingResponse(
        lines(call.caller, query.persona_id), media_type=_MEDIA_TYPES[kind], headers=headers
    )


@guarded.post("/export/file", answers=wire.WriteExportResponse)
async def export_file(call: WriteCall) -> Response:
    """Export everything the user owns to a file in the archive; the newest five are kept."""
    exported = await call.hub.exports.write(call.caller)
    return call.reply(
        wire.WriteExportResponse(status="ok", path=exported.path, exported_at=exported.exported_at)
    )


@guarded.get("/export/files", answers=wire.ExportFilesResponse)
async def export_files(call: ReadCall) -> Response:
    """List the user's exports in the archive, newest first."""
    limits = call.caller.key.limits
    # Each holds everything of the user: a key bound to a part of it may see none.
    is_bound = bool(limits.persona_id or limits.source_app)
    found = [] if is_bound else await call.hub.exports.list_exports(call.caller.user)
    items = [wire.ExportFileRow(path=one.path, exported_at=one.exported_at) for one in found]
    return call.reply(wire.ExportFilesResponse(items=items))


@guarded.post(
    "/import",
    answers=wire.ImportResponse,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/x-ndjson": {"schema": {"type": "string", "minLength": 1}},
                "application/zip": {
                    "schema": {"type": "string", "format": "binary", "minLength": 1}
                },
            },
        }
    },
)
async def import_(query: wire.ImportQuery, call: WriteCall) -> Response:
    """Import an export (JSON lines, or the bundle); a dry run reports what would happen.

    Statuses are kept for the user's own export from this hub, and with `trust` for any other.
    Otherwise global memories and those in every prompt wait for confirmation.
    """
    body = await call.request.body()
    if not body:
        raise BadRequest("Send the export as the body.")
    lines = _import_lines(body, call.options.max_import_bytes)
    report = await call.hub.transfer.import_lines(
        call.caller, lines, dry_run=query.dry_run, trust=query.trust
    )
    answer = wire.ImportResponse(
        status="ok",
        dry_run=query.dry_run,
        trusted=report.is_trusted,
        counts=dict(report.counts),
        conflicts=[dict(conflict) for conflict in report.conflicts],
        skipped=[dict(skip) for skip in report.skipped],
    )
    return call.reply(answer)


def _import_lines(body: bytes, limit: int) -> Iterator[str]:
    """Yield the lines of a body; they are decoded one by one, which takes far less memory."""
    try:
        if body.startswith(_ZIP_START):
            body = _unpack(body, limit)
        start = len(codecs.BOM_UTF8) if body.startswith(codecs.BOM_UTF8) else 0
        while start <= len(body):
            end = body.find(b"\n", start)
            end = len(body) if end < 0 else end
            yield body[start:end].decode()
            start = end + 1
    except _UNREADABLE_ERRORS:
        raise BadRequest("The body is neither JSON lines in UTF-8 nor a bundle.") from None


def _unpack(body: bytes, limit: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        entry = archive.getinfo("export.jsonl")
        # A small archive can unpack to any size.
        if entry.file_size > limit:
            raise BodyTooLarge(
                f"The bundle holds more than {limit} bytes; "
                "PLASTIC_MEMORIES_MAX_IMPORT_BYTES is the limit.",
                {"limit": limit, "setting": "PLASTIC_MEMORIES_MAX_IMPORT_BYTES"},
            )
        return archive.read(entry)


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
