"""Operations on memories that both mem0 APIs share; the routes give them their shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plastic_memories.errors import BadRequest, NotAllowed, NotFound
from plastic_memories.formats.export_lines import EARLIEST, LATEST
from plastic_memories.http.doors.mem0 import memory_ids
from plastic_memories.http.doors.mem0.mem0_call import Mem0Call
from plastic_memories.http.doors.mem0.mem0_items import (
    Json,
    add_response,
    deletion_event,
    end_of_day,
    history_events,
    memory_item,
)
from plastic_memories.http.doors.mem0.request_scope import (
    RequestScope,
    resolve_reference,
    resolve_scope,
    resolve_write_target,
)
from plastic_memories.hub.conversation.ingest import IngestAttributes
from plastic_memories.hub.erasure.forget import ForgetRequest
from plastic_memories.hub.memories.review import Correction
from plastic_memories.hub.memories.search import FoundMemory, SearchPage
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.filter_conditions import time_span
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions
from plastic_memories.wire import mem0 as wire

_FORGET_BATCH = 200
_IDS = ("user_id", "agent_id", "run_id", "app_id")
_ROLES = {role.value: role for role in Role}


async def add(call: Mem0Call, body: wire.Mem0AddRequest) -> tuple[str, Json]:
    """Add messages; return the id of the event, and the response."""
    caller, target = resolve_write_target(call, body.merged_filters())
    for message in body.messages:
        call.check_length(message.content, call.options.max_content_chars)
    messages = [
        _message(message, target, call.now() if body.timestamp is None else body.timestamp)
        for message in body.messages
        if message.content.strip()
    ]
    if not messages:
        raise BadRequest("The messages hold no text.")
    attributes = IngestAttributes(
        metadata=body.metadata or {},
        expires_at=end_of_day(body.expiration_date),
        said_at=body.timestamp,
    )
    ingest = call.hub.ingest.store_verbatim if body.infer is False else call.hub.ingest.extract
    result = await ingest(caller, target.owner, messages, attributes)
    roots = [one.memory.root_id for one in result.outcomes]
    return memory_ids.encode_id(target.owner, *roots), add_response(result)


def _message(message: wire.Mem0MessageBody, target: Viewpoint, ts: float) -> Message:
    return Message(
        owner=target.owner,
        role=_ROLES.get(message.role.lower(), Role.USER),
        content=message.content,
        ts=ts,
        speaker=message.name or "",
        session_id=target.session_id,
        source_app=target.source_app,
    )


async def search(call: Mem0Call, body: wire.Mem0SearchRequest, default_limit: int) -> list[Json]:
    """Return the memories relevant to the query, best first."""
    call.check_length(body.query, call.options.max_query_chars)
    scope = await resolve_scope(call, _combined_filters(body.merged_filters(), body.categories))
    if not scope.views:
        return []
    query = RecallQuery(
        viewpoint=scope.views[0],
        text=body.query,
        now=_timestamp(body.reference_date, call.now()),
        limit=body.top_k or body.limit or default_limit,
        deadline_s=call.options.recall_deadline_s,
    )
    found = await call.hub.search.search_best(query, scope.views, scope.search_filter)
    threshold = body.threshold or 0.0
    return [memory_item(one) for one in found if (one.score or 0.0) >= threshold]


def _timestamp(given: str | float | None, now: float) -> float:
    if given is None:
        return now
    try:
        at = time_span(given)[0]
    except (TypeError, ValueError, OverflowError):
        at = LATEST + 1.0
    if not EARLIEST <= at <= LATEST:
        raise BadRequest("reference_date takes a date, a time, or seconds since 1970.")
    return at


def _combined_filters(
    filters: wire.Filters,
    categories: Sequence[str] | None,
    start: str | None = None,
    end: str | None = None,
) -> wire.Filters:
    """Return the filters combined with the request's categories and dates."""
    parts: list[wire.Filters] = [filters] if filters else []
    if categories:
        parts.append({"categories": {"in": list(categories)}})
    if start:
        parts.append({"created_at": {"gte": start}})
    if end:
        parts.append({"created_at": {"lte": end}})
    return {"AND": parts} if len(parts) > 1 else (parts[0] if parts else {})


async def list_memories(
    call: Mem0Call, body: wire.Mem0ListRequest, start: int = 0, size: int | None = None
) -> SearchPage:
    """Return one page (or all) of the matching memories, newest first."""
    filters = _combined_filters(
        body.merged_filters(), body.categories, body.start_date, body.end_date
    )
    scope = await resolve_scope(call, filters)
    return await call.hub.search.list_page(
        scope.views,
        scope.search_filter,
        start=start,
        size=size,
        with_expired=bool(body.show_expired),
    )


async def get_memory(call: Mem0Call, memory_id: str) -> FoundMemory:
    """Return the current version of a memory."""
    reference = memory_ids.decode_id(memory_id)
    _, view = resolve_reference(call, reference)
    return await call.hub.search.get_memory(view, _row_id(reference))


def _row_id(reference: memory_ids.MemoryReference) -> int:
    if len(reference.rows) != 1:
        raise NotFound("Memory not found")
    return reference.rows[0]


async def event_results(call: Mem0Call, event_id: str) -> list[Json]:
    """Return the memories of one `add` call that still exist."""
    reference = memory_ids.decode_id(event_id)
    _, view = resolve_reference(call, reference)
    left: list[Json] = []
    for row in reference.rows:
        try:
            left.append(memory_item(await call.hub.search.get_memory(view, row)))
        except NotFound:
            continue
    return left


async def update(call: Mem0Call, memory_id: str, body: wire.Mem0UpdateRequest) -> FoundMemory:
    """Store a new version of a memory. It is active at once: the caller stated it."""
    changed = {"expires_at"} if "expiration_date" in body.model_fields_set else set()
    if body.metadata is not None:
        changed.add("metadata")
    if body.text is None and not changed:
        raise BadRequest("At least one of text, metadata or expiration_date must be given.")
    if body.text is not None:
        call.check_length(body.text, call.options.max_content_chars)
    caller, view = resolve_reference(call, memory_ids.decode_id(memory_id))
    before = (await get_memory(call, memory_id)).memory
    correction = Correction(
        content=body.text,
        metadata=body.metadata or {},
        expires_at=end_of_day(body.expiration_date),
        changed_fields=changed,
    )
    done = await call.hub.review.correct(caller, view, before.id, correction)
    if done.memory.status is Status.CANDIDATE:
        options = ConfirmOptions(supersedes_id=before.id)
        await call.hub.review.confirm(caller, view, done.memory.id, options)
    return await get_memory(call, memory_id)


async def delete(call: Mem0Call, memory_id: str) -> None:
    """Forget a memory with all its versions."""
    caller, view = resolve_reference(call, memory_ids.decode_id(memory_id))
    found = await get_memory(call, memory_id)
    await call.hub.forget(caller, view, ForgetRequest(memory_ids=[found.memory.id], receipt=False))


async def memory_history(call: Mem0Call, memory_id: str) -> list[Json]:
    """Return the history of a memory; of a forgotten one, only its deletion."""
    reference = memory_ids.decode_id(memory_id)
    caller, view = resolve_reference(call, reference)
    row = _row_id(reference)
    try:
        return history_events(await call.hub.search.versions(view, row))
    except NotFound:
        changes = await call.hub.browse.audit_events(
            caller, since=0.0, after_id=0, memory_id=row, limit=1000
        )
        own = [one for one in changes if one.persona_id == reference.persona_id]
        gone = [one.ts for one in own if one.event == "memory.forget"]
        if not gone:
            raise
        return [deletion_event(memory_id, gone[-1])]


async def delete_all(call: Mem0Call, filters: wire.Filters) -> None:
    """Forget all matching memories; with ids alone as filters, the messages too."""
    if not filters:
        raise BadRequest("At least one of user_id, agent_id, run_id or filters must be given.")
    scope = await resolve_scope(call, filters)
    # Only a filter that names an entity alone covers its messages as well.
    names_entity = all(name in _IDS and isinstance(value, str) for name, value in filters.items())
    request = ForgetRequest(include_messages=names_entity, receipt=False)
    for caller, view in scope.places:
        await _forget_in_batches(call, caller, view, scope, request)
        if names_entity:
            messages = MessageFilter(
                session_id=view.session_id or None, source_app=view.source_app, bot_id=""
            )
            await call.hub.messages.purge(caller, view.owner, messages)


async def _forget_in_batches(
    call: Mem0Call, caller: Caller, view: Viewpoint, scope: RequestScope, request: ForgetRequest
) -> None:
    left = await call.hub.search.list_ids(view, scope.search_filter)
    while left:
        batch = replace(request, memory_ids=left[:_FORGET_BATCH])
        try:
            done = await call.hub.forget(caller, view, batch)
        except NotFound:
            # Some went with an earlier batch: memories made from forgotten messages go too.
            before, left = len(left), await call.hub.search.list_ids(view, scope.search_filter)
            if len(left) >= before:
                raise
        else:
            gone = set(done.memory_ids)
            left = [memory_id for memory_id in left if memory_id not in gone]


async def reset(call: Mem0Call) -> None:
    """Erase everything of the key's user, or, with an app key, of its tenant."""
    limits = call.key.limits
    if not limits.allow_reset or limits.source_app:
        raise NotAllowed(
            "This key may not reset. Make one that may: plastic-memories keys create --allow-reset"
        )
    counts = await call.hub.search.holdings(call.key.tenant_id, call.key_user_id)
    for owner in dict.fromkeys(one.owner for one in counts):
        if limits.persona_id in ("", owner.persona_id):
            caller = call.caller(owner.user_id)
            await call.hub.personas.delete(caller, owner, owner.persona_id)
