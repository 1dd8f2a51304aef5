"""Entities of mem0: the users, agents, apps and runs that have memories."""

from __future__ import annotations

from collections.abc import Iterator

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mem0.mem0_call import Mem0Call
from plastic_memories.http.doors.mem0.mem0_items import DEFAULT_APP, DEFAULT_PERSONA, Json, iso_time
from plastic_memories.http.doors.mem0.memories import delete_all
from plastic_memories.model.persona import PersonaMemoryCount

_FIELDS = {"user": "user_id", "agent": "agent_id", "app": "app_id", "run": "run_id"}


async def entity_list(call: Mem0Call) -> list[Json]:
    """Return all entities with memories: of the key's user, or of all users of an app key."""
    counts: dict[tuple[str, str], list[PersonaMemoryCount]] = {}
    for count in await _holdings(call):
        for name in _entity_names(count) if count.memories else ():
            counts.setdefault(name, []).append(count)
    order = list(_FIELDS)
    found = sorted(counts.items(), key=lambda pair: (order.index(pair[0][0]), pair[0][1]))
    return [
        {
            "id": name,
            "name": name,
            "type": kind,
            "total_memories": sum(one.memories for one in parts),
            "created_at": iso_time(min(one.first_at for one in parts)),
            "updated_at": iso_time(max(one.last_at for one in parts)),
        }
        for (kind, name), parts in found
    ]


async def delete_entity(call: Mem0Call, kind: str, name: str) -> None:
    """Forget everything of one user, agent, app or run; do nothing if it has no memories."""
    if kind not in _FIELDS:
        raise NotFound(f"Entities are of the type {', '.join(_FIELDS)}.")
    if kind == "user":
        await delete_all(call, {"user_id": name})
        return
    concerned = [
        one.owner.user_id for one in await _holdings(call) if (kind, name) in _entity_keys(one)
    ]
    for user_id in dict.fromkeys(concerned):
        await delete_all(call, {"user_id": user_id, _FIELDS[kind]: name})


async def _holdings(call: Mem0Call) -> list[PersonaMemoryCount]:
    limits = call.key.limits
    counts = await call.hub.search.holdings(call.key.tenant_id, call.key_user_id, limits.source_app)
    return [one for one in counts if limits.persona_id in ("", one.owner.persona_id)]


def _entity_names(count: PersonaMemoryCount) -> Iterator[tuple[str, str]]:
    """Yield the entities that these memories belong to, as mem0 counts them."""
    defaults = {("agent", DEFAULT_PERSONA), ("app", DEFAULT_APP)}
    return (name for name in _entity_keys(count) if name not in defaults)


def _entity_keys(count: PersonaMemoryCount) -> list[tuple[str, str]]:
    named = {
        "user": count.owner.user_id,
        "agent": count.owner.persona_id,
        "app": count.source_app,
        "run": count.session_id,
    }
    return [(kind, name) for kind, name in named.items() if name]
