"""Routes of mem0's open-source server."""

from __future__ import annotations

from typing import Any

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mem0 import entities, memories
from plastic_memories.http.doors.mem0.mem0_call import Mem0ReadCall, Mem0WriteCall, mem0_endpoint
from plastic_memories.http.doors.mem0.mem0_items import Json, memory_item
from plastic_memories.http.routing import Routes
from plastic_memories.wire import mem0 as wire

router = Routes(mem0_endpoint, in_document=False)
_DEFAULT_TOP_K = 20
_DEFAULT_LIST_LIMIT = 100
# Shown only with a value, as in mem0's server.
_OPTIONAL_FIELDS = ("user_id", "agent_id", "run_id", "actor_id", "expiration_date", "metadata")


@router.post("/memories")
async def add(call: Mem0WriteCall, body: wire.Mem0AddRequest) -> Any:
    """Add messages."""
    _, response = await memories.add(call, body)
    return response


@router.get("/memories")
async def list_memories(call: Mem0ReadCall, query: wire.Mem0ListQuery) -> Any:
    """Return memories, newest first."""
    size = query.top_k or query.limit or _DEFAULT_LIST_LIMIT
    page = await memories.list_memories(call, query, size=size)
    return {"results": [_open_source_item(memory_item(one)) for one in page.items]}


@router.get("/memories/{memory_id}")
async def get(call: Mem0ReadCall, memory_id: str) -> Any:
    """Return one memory, or null."""
    try:
        found = await memories.get_memory(call, memory_id)
    except NotFound:
        return None
    return {**_open_source_item(memory_item(found)), "score": None}


@router.put("/memories/{memory_id}")
async def update(call: Mem0WriteCall, memory_id: str, body: wire.Mem0UpdateRequest) -> Any:
    """Change a memory."""
    await memories.update(call, memory_id, body)
    return {"message": "Memory updated successfully!"}


@router.delete("/memories/{memory_id}")
async def delete(call: Mem0WriteCall, memory_id: str) -> Any:
    """Forget a memory."""
    await memories.delete(call, memory_id)
    return {"message": "Memory deleted successfully"}


@router.delete("/memories")
async def delete_all(call: Mem0WriteCall, query: wire.Mem0ListQuery) -> Any:
    """Forget all memories of a user, an agent or a run."""
    await memories.delete_all(call, query.merged_filters())
    return {"message": "All relevant memories deleted"}


@router.get("/memories/{memory_id}/history")
async def history(call: Mem0ReadCall, memory_id: str) -> Any:
    """Return the changes of a memory, oldest first."""
    try:
        return await memories.memory_history(call, memory_id)
    except NotFound:
        return []


@router.post("/search")
async def search(call: Mem0ReadCall, body: wire.Mem0SearchRequest) -> Any:
    """Return the memories relevant to a query, best first."""
    found = await memories.search(call, body, _DEFAULT_TOP_K)
    return {"results": [_open_source_item(one) for one in found]}


@router.get("/entities")
async def list_entities(call: Mem0ReadCall) -> Any:
    """Return all entities with memories."""
    found = await entities.entity_list(call)
    return [{name: value for name, value in one.items() if name != "name"} for one in found]


@router.delete("/entities/{kind}/{name:path}")
async def delete_entity(call: Mem0WriteCall, kind: str, name: str) -> Any:
    """Forget everything of a user, an agent or a run."""
    await entities.delete_entity(call, kind, name)
    return {"message": "Entity deleted"}


@router.post("/reset")
async def reset(call: Mem0WriteCall) -> Any:
    """Erase everything; the key must allow it."""
    await memories.reset(call)
    return {"message": "All memories reset"}


def _open_source_item(item: Json) -> Json:
    """Return an item without hosted fields, and without optional fields that have no value."""
    hidden = {
        "app_id",
        "categories",
        *(name for name in _OPTIONAL_FIELDS[:-1] if item[name] is None),
    }
    return {name: value for name, value in item.items() if name not in hidden}
