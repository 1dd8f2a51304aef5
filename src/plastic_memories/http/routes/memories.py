"""Routes under /memory: write, update, forget, list."""

from __future__ import annotations

import time
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from plastic_memories.errors import InvalidInput
from plastic_memories.http.caller_context import ApiCall, ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.erasure.forget import ForgetRequest
from plastic_memories.hub.memories.browse import ListFilter, MemoryListPage, MemoryVersion
from plastic_memories.hub.memories.review import Correction
from plastic_memories.hub.memories.write import BatchWriteOutcome
from plastic_memories.model.event import Event
from plastic_memories.model.memory import Draft, Status
from plastic_memories.model.message import Message
from plastic_memories.wire import erasure
from plastic_memories.wire import memories as wire
from plastic_memories.wire.fields import BotRequest

router = Routes(keyed_endpoint, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.post("/write", answers=wire.WriteOneResponse | wire.WriteManyResponse)
async def write(body: wire.WriteRequest, call: WriteCall) -> Response:
    """Remember one statement, a batch of them, or what a conversation says."""
    if isinstance(body, wire.WriteManyRequest):
        return call.reply(await _write_many(body, call))
    if isinstance(body, wire.WriteConversationRequest):
        return call.reply(await write_conversation(body, call))
    return call.reply(await write_one(body, call))


async def write_one(body: wire.WriteOneRequest, call: ApiCall) -> wire.WriteOneResponse:
    """Store one statement."""
    owner = call.owner(body.persona_id)
    draft = _item_draft(body, call)
    if body.temporary:
        return wire.WriteOneResponse(
            status="skipped", updated=False, memory_id=None, memory_status=None
        )
    written = await call.hub.write.write_one(call.caller, owner, draft)
    memory = written.memory
    call.hub.meter.count(
        call.caller.user.tenant_id, "memory_writes", status=memory.status if memory else "skipped"
    )
    return wire.WriteOneResponse(
        status="ok" if memory else "skipped",
        updated=written.updated,
        memory_id=memory.id if memory else None,
        memory_status=memory.status if memory else None,
    )


async def _write_many(body: wire.WriteManyRequest, call: ApiCall) -> wire.WriteManyResponse:
    owner = call.owner(body.persona_id)
    drafts: list[tuple[int, Draft]] = []
    skipped: list[tuple[int, str]] = []
    for index, fields in enumerate(body.items):
        try:
            item = wire.MemoryBody.model_validate(fields)
            if item.temporary:
                skipped.append((index, "temporary"))
            else:
                drafts.append((index, _item_draft(item, call)))
        except ValidationError as error:
            skipped.append((index, _first_problem(error)))
        except InvalidInput as error:
            skipped.append((index, error.message))
    result = await call.hub.write.write_many(call.caller, owner, [draft for _, draft in drafts])
    skipped += [(drafts[index][0], reason) for index, reason in result.skipped]
    return _write_many_response(result, sorted(skipped))


async def write_conversation(
    body: wire.WriteConversationRequest, call: ApiCall
) -> wire.WriteManyResponse:
    """Extract and store memories from a conversation."""
    owner = call.owner(body.persona_id)
    now = call.now()
    for message in body.messages:
        call.check_length(message.content, "content")
    messages = [
        Message(
            owner=owner,
            role=message.role,
            content=message.content,
            ts=now if message.ts is None else message.ts,
            speaker=message.speaker or "",
            session_id=body.session_key,
            source_app=call.app(body.source_app),
            bot_id=body.bot_id or "",
        )
        for message in body.messages
    ]
    result = await call.hub.learn_from_conversation(
        call.caller, owner, messages, confirm=body.confirm, keep_rest=body.keep_rest
    )
    return _write_many_response(result, list(result.skipped))


def _item_draft(item: wire.MemoryBody, call: ApiCall) -> Draft:
    call.check_length(item.content, "content")
    item.source_app = call.app(item.source_app)
    return item.to_draft(call.now())


def _write_many_response(
    result: BatchWriteOutcome, skipped: list[tuple[int, str]]
) -> wire.WriteManyResponse:
    items = [
        wire.WriteItemRow(
            memory_id=one.memory.id, memory_status=one.memory.status, key=one.memory.key
        )
        for one in result.written
        if one.memory is not None
    ]
    return wire.WriteManyResponse(
        status="ok",
        written=len(items),
        items=items,
        skipped=[wire.SkippedItemRow(index=index, reason=reason) for index, reason in skipped],
        job_id=result.job_id,
    )


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


@router.post("/update", answers=wire.UpdateMemoryResponse)
async def update(body: wire.UpdateMemoryRequest, call: WriteCall) -> Response:
    """Correct a memory: store a new version of it."""
    call.check_length(body.content, "content")
    correction = Correction(**body.changes, changed_fields=body.changes.keys())
    done = await call.hub.review.correct(call.caller, call.view(body), body.memory_id, correction)
    answer = wire.UpdateMemoryResponse(
        status="ok",
        updated=done.updated,
        memory_id=done.memory.id,
        memory_status=done.memory.status,
        memory=wire.memory_row(done.memory),
    )
    return call.reply(answer)


@router.post("/forget", answers=erasure.ForgetMemoryResponse)
async def forget(body: erasure.ForgetMemoryRequest, call: WriteCall) -> Response:
    """Forget for good, with a receipt; `never_again` keeps it from being learned again."""
    call.check_length(body.query, "query", call.options.max_query_chars)
    request = ForgetRequest(
        type=body.type,
        key=body.key,
        memory_ids=body.named_ids,
        query=body.query,
        dry_run=body.dry_run,
        never_again=body.never_again,
        include_messages=body.include_messages,
    )
    outcome = await call.hub.forget(call.caller, call.view(body), request)
    answer = erasure.ForgetMemoryResponse(
        status="dry_run" if body.dry_run else "ok",
        deleted=0 if body.dry_run else len(outcome.memory_ids),
        memory_ids=list(outcome.memory_ids),
        receipt=dict(outcome.receipt),
    )
    return call.reply(answer)


@router.get("/forget/pending", answers=erasure.PendingForgetsResponse)
async def pending_forgets(query: BotRequest, call: ReadCall) -> Response:
    """Return what "forget that" in the chat has hidden, as long as it can be undone."""
    found = await call.hub.pending_forgets.list_pending(call.view(query))
    items = [
        erasure.PendingForgetRow(
            forget_id=one.pending.id,
            message_id=one.pending.message_id,
            memory_ids=sorted(one.pending.revoked),
            message_ids=sorted(one.pending.hidden),
            texts=list(one.texts),
            requested_at=one.pending.requested_at,
            final_at=one.pending.final_at,
        )
        for one in found
    ]
    return call.reply(erasure.PendingForgetsResponse(items=items))


@router.post("/forget/undo", answers=erasure.UndoForgetResponse)
async def undo_forget(body: erasure.UndoForgetRequest, call: WriteCall) -> Response:
    """Undo what "forget that" in the chat has hidden, before it is final."""
    undone = await call.hub.pending_forgets.undo(call.caller, call.view(body), body.forget_id)
    answer = erasure.UndoForgetResponse(
        status="ok",
        forget_id=undone.id,
        memory_ids=sorted(undone.revoked),
        message_ids=sorted(undone.hidden),
    )
    return call.reply(answer)


@router.get("/list", answers=wire.ListMemoriesResponse)
async def list_memories(query: wire.ListMemoriesQuery, call: ReadCall) -> Response:
    """Return what the persona knows, one page at a time: its own rows and the global ones."""
    list_filter = ListFilter(
        status=None if query.status == "all" else Status(query.status),
        type=query.type,
        scope=query.scope,
        realm=query.realm,
        containing=query.q or None,
        key_prefix=query.key_prefix or None,
        event_type=query.event_type,
        min_importance=query.min_importance,
        since=query.since,
        until=query.until,
        source_app=query.source_app or None,
        order=query.sort,
        after=query.position,
        limit=query.limit,
    )
    session_id = query.session_key
    view = call.view(query, session_id=session_id, only_session=bool(session_id))
    page = await call.hub.browse.list_page(view, list_filter)
    cursor = query.cursor_at(page.next_position) if page.next_position else None
    return call.reply(wire.ListMemoriesResponse(items=_memory_list_rows(page), next_cursor=cursor))


@router.get("/get", answers=wire.MemoryListRow)
async def get(query: wire.GetMemoryQuery, call: ReadCall) -> Response:
    """Return one memory, whatever its status."""
    [row] = _memory_list_rows(await call.hub.browse.get_memory(call.view(query), query.memory_id))
    return call.reply(row)


def _memory_list_rows(page: MemoryListPage) -> list[wire.MemoryListRow]:
    return [wire.memory_list_row(row, page.replaces.get(row.id, ())) for row in page.memories]


@router.get("/history", answers=wire.MemoryHistoryResponse)
async def history(query: wire.GetMemoryQuery, call: ReadCall) -> Response:
    """Return every version of a memory, oldest first: who changed it, when, and how."""
    versions = await call.hub.browse.history(call.view(query), query.memory_id)
    items = [_version_row(version) for version in versions]
    return call.reply(wire.MemoryHistoryResponse(memory_id=query.memory_id, items=items))


def _version_row(version: MemoryVersion) -> wire.MemoryVersionRow:
    changes = [change_row(event) for event in version.changes]
    return wire.MemoryVersionRow.model_construct(
        **wire.memory_row_fields(version.memory), changes=changes
    )


def change_row(event: Event) -> wire.ChangeRow:
    fields: dict[str, Any] = dict(event.data)
    return wire.ChangeRow(
        id=event.id,
        event=event.event,
        ts=event.ts,
        by=event.key_label,
        request_id=event.request_id,
        data=fields,
    )


@router.post("/rebuild", answers=wire.RebuildIndexResponse)
async def rebuild(body: wire.RebuildIndexRequest, call: WriteCall) -> Response:
    """Rebuild the text index and the vectors of a persona, without downtime."""
    owner = call.owner(body.persona_id)
    started = time.perf_counter()
    counts = await call.hub.storage.write(lambda stores: stores.upkeep.rebuild_index(owner))
    call.hub.embedding.wake()
    seconds = round(time.perf_counter() - started, 3)
    return call.reply(wire.RebuildIndexResponse(status="ok", counts=dict(counts), seconds=seconds))
