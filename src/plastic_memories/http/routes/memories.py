"""/memory/*: write, correct, forget, look at."""

from __future__ import annotations

import time
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from plastic_memories.errors import InvalidInput
from plastic_memories.http.caller_context import Call, Reading, Writing, keyed
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.erasure.forget import ForgetRequest
from plastic_memories.hub.memories.browse import Page, Version, Wanted
from plastic_memories.hub.memories.review import Correction
from plastic_memories.hub.memories.write import BatchResult
from plastic_memories.model.event import Event
from plastic_memories.model.memory import Draft, Status
from plastic_memories.model.message import Message
from plastic_memories.wire import memories as wire

router = Routes(keyed, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.post("/write", answers=wire.WrittenOne | wire.WrittenMany)
async def write(body: wire.WriteRequest, call: Writing) -> Response:
    """Remember one thing, many things, or what a conversation holds."""
    if isinstance(body, wire.WriteMany):
        return call.reply(await _write_many(body, call))
    if isinstance(body, wire.WriteTalk):
        return call.reply(await write_talk(body, call))
    return call.reply(await write_one(body, call))


async def write_one(body: wire.WriteOne, call: Call) -> wire.WrittenOne:
    """Remember one thing that somebody states."""
    owner = call.owner(body.persona_id)
    draft = _draft(body, call)
    if body.temporary:
        return wire.WrittenOne(status="skipped", updated=False, memory_id=None, memory_status=None)
    written = await call.hub.write.one(call.caller, owner, draft)
    memory = written.memory
    call.hub.meter.count(
        call.caller.user.tenant_id, "memory_writes", status=memory.status if memory else "skipped"
    )
    return wire.WrittenOne(
        status="ok" if memory else "skipped",
        updated=written.updated,
        memory_id=memory.id if memory else None,
        memory_status=memory.status if memory else None,
    )


async def _write_many(body: wire.WriteMany, call: Call) -> wire.WrittenMany:
    owner = call.owner(body.persona_id)
    drafts: list[tuple[int, Draft]] = []
    skipped: list[tuple[int, str]] = []
    for index, fields in enumerate(body.items):
        try:
            item = wire.Item.model_validate(fields)
            if item.temporary:
                skipped.append((index, "temporary"))
            else:
                drafts.append((index, _draft(item, call)))
        except ValidationError as error:
            skipped.append((index, _first_problem(error)))
        except InvalidInput as error:
            skipped.append((index, error.message))
    result = await call.hub.write.many(call.caller, owner, [draft for _, draft in drafts])
    skipped += [(drafts[index][0], reason) for index, reason in result.skipped]
    return _many(result, sorted(skipped))


async def write_talk(body: wire.WriteTalk, call: Call) -> wire.WrittenMany:
    """Remember what a conversation holds."""
    owner = call.owner(body.persona_id)
    now = call.now()
    for message in body.messages:
        call.check_length(message.content, "content")
    talk = [
        Message(
            owner=owner,
            role=message.role,
            content=message.content,
            ts=now if message.ts is None else message.ts,
            speaker=message.speaker or "",
            session_id=body.session_id or "",
            source_app=call.app(body.source_app),
            bot_id=body.bot_id or "",
        )
        for message in body.messages
    ]
    result = await call.hub.learn_from_conversation(call.caller, owner, talk, confirm=body.confirm)
    return _many(result, list(result.skipped))


def _draft(item: wire.Item, call: Call) -> Draft:
    call.check_length(item.content, "content")
    item.source_app = call.app(item.source_app)
    return item.draft(call.now())


def _many(result: BatchResult, skipped: list[tuple[int, str]]) -> wire.WrittenMany:
    items = [
        wire.WrittenItem(
            memory_id=one.memory.id, memory_status=one.memory.status, key=one.memory.key
        )
        for one in result.written
        if one.memory is not None
    ]
    return wire.WrittenMany(
        status="ok",
        written=len(items),
        items=items,
        skipped=[wire.SkippedItem(index=index, reason=reason) for index, reason in skipped],
        job_id=result.job_id,
    )


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


@router.post("/update", answers=wire.Updated)
async def update(body: wire.UpdateRequest, call: Writing) -> Response:
    """Correct a memory: a new version takes its place."""
    call.check_length(body.content, "content")
    correction = Correction(
        content=body.content,
        tags=None if body.tags is None else tuple(body.tags),
        importance=body.importance,
        pinned=body.pinned,
        scope=body.scope,
        expires_at=body.expires_at,
        given=body.given,
    )
    done = await call.hub.review.correct(call.caller, call.view(body), body.memory_id, correction)
    answer = wire.Updated(
        status="ok",
        updated=done.updated,
        memory_id=done.memory.id,
        memory_status=done.memory.status,
        memory=wire.row(done.memory),
    )
    return call.reply(answer)


@router.post("/forget", answers=wire.Forgotten)
async def forget(body: wire.ForgetRequest, call: Writing) -> Response:
    """Forget for good, with a receipt; `never_again` keeps it from being learned anew."""
    call.check_length(body.query, "query", call.options.max_query_chars)
    wish = ForgetRequest(
        type=body.type,
        key=body.key,
        memory_ids=body.ids,
        query=body.query,
        dry_run=body.dry_run,
        never_again=body.never_again,
        include_messages=body.include_messages,
    )
    gone = await call.hub.forget(call.caller, call.view(body), wish)
    answer = wire.Forgotten(
        status="dry_run" if body.dry_run else "ok",
        deleted=0 if body.dry_run else len(gone.memory_ids),
        memory_ids=list(gone.memory_ids),
        receipt=dict(gone.receipt),
    )
    return call.reply(answer)


@router.get("/list", answers=wire.MemoryPage)
async def list_memories(asked: wire.ListQuery, call: Reading) -> Response:
    """Show memories, newest first, a page at a time."""
    wanted = Wanted(
        status=None if asked.status == "all" else Status(asked.status),
        type=asked.type,
        scope=asked.scope,
        realm=asked.realm,
        containing=asked.q or None,
        before_id=int(asked.cursor) if asked.cursor else None,
        limit=asked.limit,
    )
    session_id = asked.session_id or ""
    view = call.view(asked, session_id=session_id, only_session=bool(session_id))
    page = await call.hub.browse.page(view, wanted)
    cursor = None if page.next_before_id is None else str(page.next_before_id)
    return call.reply(wire.MemoryPage(items=_rows(page), next_cursor=cursor))


@router.get("/get", answers=wire.ListedRow)
async def get(asked: wire.OneQuery, call: Reading) -> Response:
    """Show one memory, whatever its status."""
    [row] = _rows(await call.hub.browse.one(call.view(asked), asked.memory_id))
    return call.reply(row)


def _rows(page: Page) -> list[wire.ListedRow]:
    return [wire.listed_row(row, page.replaces.get(row.id, ())) for row in page.memories]


@router.get("/history", answers=wire.History)
async def history(asked: wire.OneQuery, call: Reading) -> Response:
    """Show every version of a memory, oldest first: who changed it, when, and how."""
    versions = await call.hub.browse.history(call.view(asked), asked.memory_id)
    items = [_version(version) for version in versions]
    return call.reply(wire.History(memory_id=asked.memory_id, items=items))


def _version(version: Version) -> wire.VersionRow:
    changes = [change(event) for event in version.changes]
    return wire.VersionRow.model_construct(**wire.row_fields(version.memory), changes=changes)


def change(event: Event) -> wire.Change:
    fields: dict[str, Any] = dict(event.data)
    return wire.Change(
        id=event.id,
        event=event.event,
        ts=event.ts,
        by=event.key_label,
        request_id=event.request_id,
        data=fields,
    )


@router.post("/rebuild", answers=wire.Rebuilt)
async def rebuild(body: wire.RebuildRequest, call: Writing) -> Response:
    """Make text index and vectors of a persona anew, while everything goes on."""
    owner = call.owner(body.persona_id)
    started = time.perf_counter()
    counts = await call.hub.ledger.write(lambda stores: stores.upkeep.rebuild_index(owner))
    call.hub.embedding.wake()
    seconds = round(time.perf_counter() - started, 3)
    return call.reply(wire.Rebuilt(status="ok", counts=dict(counts), seconds=seconds))
