"""Routes for export and import."""

from __future__ import annotations

import codecs
import io
import zipfile
import zlib
from collections.abc import Iterator

from starlette.responses import Response, StreamingResponse

from plastic_memories.errors import BadRequest, BodyTooLarge
from plastic_memories.http.caller_context import ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.wire import transfer as wire

router = Routes(keyed_endpoint, tags=["operations"], responses=FAILURES)
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


@router.get(
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


@router.post("/export/file", answers=wire.WriteExportResponse)
async def export_file(call: WriteCall) -> Response:
    """Export everything the user owns to a file in the archive; the newest five are kept."""
    exported = await call.hub.exports.write(call.caller)
    return call.reply(
        wire.WriteExportResponse(status="ok", path=exported.path, exported_at=exported.exported_at)
    )


@router.get("/export/files", answers=wire.ExportFilesResponse)
async def export_files(call: ReadCall) -> Response:
    """List the user's exports in the archive, newest first."""
    limits = call.caller.key.limits
    # Each holds everything of the user: a key bound to a part of it may see none.
    is_bound = bool(limits.persona_id or limits.source_app)
    found = [] if is_bound else await call.hub.exports.list_exports(call.caller.user)
    items = [wire.ExportFileRow(path=one.path, exported_at=one.exported_at) for one in found]
    return call.reply(wire.ExportFilesResponse(items=items))


@router.post(
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
        call.caller,
        lines,
        dry_run=query.dry_run,
        trust=query.trust,
        import_id=query.import_id,
    )
    answer = wire.ImportResponse(
        status="ok",
        dry_run=query.dry_run,
        trusted=report.is_trusted,
        import_id=report.import_id,
        counts=dict(report.counts),
        conflicts=[dict(conflict) for conflict in report.conflicts],
        skipped=[dict(skip) for skip in report.skipped],
    )
    return call.reply(answer)


@router.post("/import/undo", answers=wire.UndoImportResponse)
async def undo_import(body: wire.UndoImportRequest, call: WriteCall) -> Response:
    """Take back what an import added, except what was changed or used since."""
    undone = await call.hub.undo_import(call.caller, body.import_id)
    return call.reply(
        wire.UndoImportResponse(
            status="ok",
            import_id=undone.import_id,
            counts=dict(+undone.counts),
            kept=dict(undone.kept),
        )
    )


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
