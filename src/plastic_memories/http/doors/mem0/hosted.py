"""Routes of mem0's hosted API, versions 1 to 3."""

from __future__ import annotations

from typing import Any

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mem0 import entities, memories
from plastic_memories.http.doors.mem0.mem0_call import (
    Mem0Call,
    Mem0ReadCall,
    Mem0WriteCall,
    mem0_endpoint,
)
from plastic_memories.http.doors.mem0.mem0_items import Json, memory_item
from plastic_memories.http.routing import Routes
from plastic_memories.wire import mem0 as wire

router = Routes(mem0_endpoint, in_document=False)
_DEFAULT_TOP_K = 10
_DEFAULT_PAGE_SIZE = 100
_ALL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@router.get("/v1/ping/")
async def ping(call: Mem0ReadCall) -> Any:
    """Confirm that the key is valid."""
    return {
        "status": "ok",
        "org_id": call.key.tenant_id,
        "project_id": call.key.tenant_id,
        "user_email": None,
    }


@router.post("/v3/memories/add/")
async def add(call: Mem0WriteCall, body: wire.Mem0AddRequest) -> Any:
    """Add messages. The work is done when this returns: clients need not poll the event."""
    event_id, response = await memories.add(call, body)
    return {
        "message": "Memories have been processed.",
        "status": "SUCCEEDED",
        "event_id": event_id,
        **response,
    }


@router.post("/v1/memories/")
async def add_v1(call: Mem0WriteCall, body: wire.Mem0AddRequest) -> Any:
    """Add messages (older clients)."""
    _, response = await memories.add(call, body)
    return response


@router.get("/v1/event/{event_id}/")
async def event(call: Mem0ReadCall, event_id: str) -> Any:
    """Return the outcome of an `add` call."""
    left = await memories.event_results(call, event_id)
    return {"id": event_id, "event_type": "ADD", "status": "SUCCEEDED", "results": left}


@router.post("/v3/memories/search/")
async def search(call: Mem0ReadCall, body: wire.Mem0SearchRequest) -> Any:
    """Return the memories relevant to a query, best first."""
    return {"results": await memories.search(call, body, _DEFAULT_TOP_K)}


@router.post("/v2/memories/search/")
@router.post("/v1/memories/search/")
async def search_bare_list(call: Mem0ReadCall, body: wire.Mem0SearchRequest) -> Any:
    """Return the same as a bare list (older clients)."""
    return await memories.search(call, body, _DEFAULT_TOP_K)


@router.post("/v3/memories/")
async def list_memories(
    call: Mem0ReadCall, body: wire.Mem0ListRequest, query: wire.Mem0PageQuery
) -> Any:
    """Return memories, newest first, one page at a time."""
    return await _page(call, body, query)


@router.post("/v2/memories/")
async def list_page_or_all(
    call: Mem0ReadCall, body: wire.Mem0ListRequest, query: wire.Mem0PageQuery
) -> Any:
    """Return the same; without a page, as a bare list of all."""
    return await _page_or_all(call, body, query)


@router.get("/v1/memories/")
async def list_by_query_string(call: Mem0ReadCall, query: wire.Mem0ListQuery) -> Any:
    """Return the same, with all parameters in the query string."""
    return await _page_or_all(call, query, query)


async def _page_or_all(
    call: Mem0Call, body: wire.Mem0ListRequest, query: wire.Mem0PageQuery
) -> Any:
    if query.page is not None or query.page_size is not None:
        return await _page(call, body, query)
    return [memory_item(one) for one in (await memories.list_memories(call, body)).items]


async def _page(call: Mem0Call, body: wire.Mem0ListRequest, query: wire.Mem0PageQuery) -> Json:
    number, size = query.page or 1, query.page_size or _DEFAULT_PAGE_SIZE
    start = (number - 1) * size
    page = await memories.list_memories(call, body, start, size)
    has_more = start + size < page.count
    return {
        "count": page.count,
        "next": _page_url(call, number + 1, size) if has_more else None,
        "previous": _page_url(call, number - 1, size) if number > 1 else None,
        "results": [memory_item(one) for one in page.items],
    }


def _page_url(call: Mem0Call, page: int, size: int) -> str:
    return str(call.request.url.include_query_params(page=page, page_size=size))


@router.get("/v1/memories/{memory_id}/")
async def get(call: Mem0ReadCall, memory_id: str) -> Any:
    """Return one memory."""
    return memory_item(await memories.get_memory(call, memory_id))


@router.put("/v1/memories/{memory_id}/")
async def update(call: Mem0WriteCall, memory_id: str, body: wire.Mem0UpdateRequest) -> Any:
    """Change a memory; return the new version."""
    changed = memory_item(await memories.update(call, memory_id, body))
    return {**changed, "text": changed["memory"]}


@router.delete("/v1/memories/{memory_id}/")
async def delete(call: Mem0WriteCall, memory_id: str) -> Any:
    """Forget a memory."""
    await memories.delete(call, memory_id)
    return {"message": "Memory deleted successfully!"}


@router.delete("/v1/memories/")
async def delete_all(call: Mem0WriteCall, query: wire.Mem0ListQuery) -> Any:
    """Forget all memories of a user, an agent, an app or a run."""
    await memories.delete_all(call, query.merged_filters())
    return {"message": "Memories deleted successfully!"}


@router.get("/v1/memories/{memory_id}/history/")
async def history(call: Mem0ReadCall, memory_id: str) -> Any:
    """Return the changes of a memory, oldest first."""
    return await memories.memory_history(call, memory_id)


@router.put("/v1/batch/")
async def batch_update(call: Mem0WriteCall, body: wire.Mem0BatchRequest) -> Any:
    """Change several memories, or none if one of them does not exist."""
    for each in body.memories:
        await memories.get_memory(call, each.memory_id)
    for each in body.memories:
        await memories.update(call, each.memory_id, each)
    return {"message": f"Successfully updated {len(body.memories)} memories"}


@router.delete("/v1/batch/")
async def batch_delete(call: Mem0WriteCall, body: wire.Mem0BatchRequest) -> Any:
    """Forget several memories, or none if one of them does not exist."""
    named = list(dict.fromkeys(each.memory_id for each in body.memories))
    for memory_id in named:
        await memories.get_memory(call, memory_id)
    for memory_id in named:
        await memories.delete(call, memory_id)
    return {"message": f"Successfully deleted {len(named)} memories"}


@router.get("/v1/entities/")
@router.get("/v2/entities/")
async def list_entities(call: Mem0ReadCall) -> Any:
    """Return all entities with memories, on one page."""
    found = await entities.entity_list(call)
    return {"count": len(found), "next": None, "previous": None, "results": found}


@router.delete("/v1/entities/{kind}/{name:path}/")
@router.delete("/v2/entities/{kind}/{name:path}/")
async def delete_entity(call: Mem0WriteCall, kind: str, name: str) -> Any:
    """Forget everything of a user, an agent, an app or a run."""
    await entities.delete_entity(call, kind, name)
    return {"message": "Entity deleted successfully!"}


@router.api_route(_ALL_METHODS, "/v1/exports/{rest:path}")
@router.api_route(_ALL_METHODS, "/v1/summary/{rest:path}")
@router.api_route(_ALL_METHODS, "/v1/feedback/{rest:path}")
@router.api_route(_ALL_METHODS, "/v2/profiles/{rest:path}")
@router.api_route(_ALL_METHODS, "/v2/entities/user/{name}/profile/")
@router.api_route(_ALL_METHODS, "/api/v1/orgs/{rest:path}")
@router.api_route(_ALL_METHODS, "/api/v1/webhooks/{rest:path}")
async def not_supported(call: Mem0ReadCall) -> Any:
    """Reject features of mem0's own cloud, and name what to use instead."""
    raise NotFound(
        "The hub does not have this: it replaces mem0's memories, not its cloud. "
        "Instead of exports use GET /export, instead of profiles GET /persona/profile, "
        "instead of webhooks the WebSocket /ws/events."
    )
