"""The routes of mem0's open-source server."""

from __future__ import annotations

from typing import Any

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mem0 import entities, memories
from plastic_memories.http.doors.mem0.mem0_items import Json, item
from plastic_memories.http.doors.mem0.mem0_route import Reading, Writing, as_mem0
from plastic_memories.http.routing import Routes
from plastic_memories.wire import mem0 as wire

router = Routes(as_mem0, in_document=False)
_SEARCHED = 20
_LISTED = 100
# Shown only if there is something to show, as there.
_PROMOTED = ("user_id", "agent_id", "run_id", "actor_id", "expiration_date", "metadata")


@router.post("/memories")
async def add(call: Writing, body: wire.Add) -> Any:
    """Take in messages."""
    _, results = await memories.add(call, body)
    return {"results": results}


@router.get("/memories")
async def list_memories(call: Reading, asked: wire.ListQuery) -> Any:
    """Return memories, newest first."""
    size = asked.top_k or asked.limit or _LISTED
    page = await memories.listed(call, asked, size=size)
    return {"results": [_item(item(one)) for one in page.found]}


@router.get("/memories/{memory_id}")
async def get(call: Reading, memory_id: str) -> Any:
    """Return one memory, or null."""
    try:
        found = await memories.one(call, memory_id)
    except NotFound:
        return None
    return {**_item(item(found)), "score": None}


@router.put("/memories/{memory_id}")
async def update(call: Writing, memory_id: str, body: wire.Update) -> Any:
    """Change a memory."""
    await memories.update(call, memory_id, body)
    return {"message": "Memory updated successfully!"}


@router.delete("/memories/{memory_id}")
async def delete(call: Writing, memory_id: str) -> Any:
    """Forget a memory."""
    await memories.delete(call, memory_id)
    return {"message": "Memory deleted successfully"}


@router.delete("/memories")
async def delete_all(call: Writing, asked: wire.ListQuery) -> Any:
    """Forget all memories of a user, an agent or a run."""
    await memories.delete_all(call, asked.all_filters())
    return {"message": "All relevant memories deleted"}


@router.get("/memories/{memory_id}/history")
async def history(call: Reading, memory_id: str) -> Any:
    """Return what happened to a memory, oldest first."""
    try:
        return await memories.past(call, memory_id)
    except NotFound:
        return []


@router.post("/search")
async def search(call: Reading, body: wire.Search) -> Any:
    """Return the memories that bear on a query, best first."""
    found = await memories.search(call, body, _SEARCHED)
    return {"results": [_item(one) for one in found]}


@router.get("/entities")
async def list_entities(call: Reading) -> Any:
    """Return who has memories."""
    found = await entities.entities(call)
    return [{name: value for name, value in one.items() if name != "name"} for one in found]


@router.delete("/entities/{kind}/{name:path}")
async def delete_entity(call: Writing, kind: str, name: str) -> Any:
    """Forget all of a user, an agent or a run."""
    await entities.delete_entity(call, kind, name)
    return {"message": "Entity deleted"}


@router.post("/reset")
async def reset(call: Writing) -> Any:
    """Erase everything; the key must have been made for it."""
    await memories.reset(call)
    return {"message": "All memories reset"}


def _item(made: Json) -> Json:
    """Leave out what the open-source server does not know, and what it shows only if given."""
    hidden = {"app_id", "categories", *(name for name in _PROMOTED[:-1] if made[name] is None)}
    return {name: value for name, value in made.items() if name not in hidden}
