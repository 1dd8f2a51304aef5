"""Resolve ids and filters to the users, personas and sessions of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.errors import BadRequest, NotAllowed, NotFound
from plastic_memories.http.caller_context import is_user_id
from plastic_memories.http.doors.mem0.mem0_call import Mem0Call
from plastic_memories.http.doors.mem0.mem0_items import DEFAULT_APP, DEFAULT_PERSONA, FilterFields
from plastic_memories.http.doors.mem0.memory_ids import MemoryReference
from plastic_memories.hub.memories.search import SearchFilter
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.rules.lifecycle.filter_conditions import (
    exact_value,
    mentioned_values,
    parse_filters,
    required_values,
)

_MAX_USERS = 20


@dataclass(frozen=True, slots=True)
class RequestScope:
    """The viewpoints to search, and the filter for the memories there."""

    places: Sequence[tuple[Caller, Viewpoint]]
    search_filter: SearchFilter

    @property
    def views(self) -> list[Viewpoint]:
        return [view for _, view in self.places]


async def resolve_scope(call: Mem0Call, filters: dict[str, Any]) -> RequestScope:
    """Return the scope of filters: without an agent every persona, without a run every session."""
    matches = parse_filters(filters)
    callers = [call.caller(name) for name in _user_ids(filters)]
    run, app = _single_value(filters, "run_id"), _single_value(filters, "app_id")
    places = [
        (caller, scope_viewpoint(call, owner, run, app))
        for caller in callers
        for owner in await _owners(call, caller, required_values(filters, "agent_id"))
    ]

    search_filter = SearchFilter(
        lambda row: matches(FilterFields(row)),
        session_id=exact_value(filters, "run_id") or None,
        source_app=exact_value(filters, "app_id") or None,
    )
    return RequestScope(places, search_filter)


def _user_ids(filters: dict[str, Any]) -> list[str]:
    named = mentioned_values(filters, "user_id")
    if len(named) > _MAX_USERS:
        raise BadRequest(f"Filters may name at most {_MAX_USERS} users at a time.")
    return named or [""]


def _single_value(filters: dict[str, Any], field: str) -> str:
    values = required_values(filters, field) or []
    return values[0] if len(values) == 1 else ""


async def _owners(call: Mem0Call, caller: Caller, agents: list[str] | None) -> list[Owner]:
    known = [persona.owner for persona in await call.hub.personas.list_personas(caller.user)]
    bound = call.key.limits.persona_id
    if agents is None:
        return [owner for owner in known if bound in ("", owner.persona_id)]
    for name in agents:
        caller.owner(name)  # a key bound to one persona may not name another
    return [owner for owner in known if owner.persona_id in agents]


def scope_viewpoint(call: Mem0Call, owner: Owner, run_id: str = "", app_id: str = "") -> Viewpoint:
    """Return the viewpoint of a request. It has no bot, so it sees no bot's memories."""
    bound = call.key.limits.source_app
    if bound and app_id and app_id != bound:
        raise NotAllowed("This key is bound to another app.")
    return Viewpoint(
        owner, session_id=run_id, source_app=bound or app_id or DEFAULT_APP, only_app=bound
    )


def resolve_reference(call: Mem0Call, reference: MemoryReference) -> tuple[Caller, Viewpoint]:
    """Return the viewpoint of a memory id; raise `NotFound` for what the key may not see."""
    try:
        caller = call.caller(reference.user_id)
        owner = caller.owner(reference.persona_id)
    except (NotAllowed, BadRequest):
        raise NotFound("Memory not found") from None
    return caller, scope_viewpoint(call, owner)


def resolve_write_target(call: Mem0Call, filters: dict[str, Any]) -> tuple[Caller, Viewpoint]:
    """Return where new memories go: one user, one persona, at most one session."""
    users = _user_ids(filters)
    if len(users) > 1:
        raise BadRequest("Memories are added for one user at a time.")
    caller = call.caller(users[0])
    agent = _single_value(filters, "agent_id") or call.key.limits.persona_id or DEFAULT_PERSONA
    run, app = _single_value(filters, "run_id"), _single_value(filters, "app_id")
    if not all(is_user_id(name) for name in (agent, run or "-", app or "-")):
        raise BadRequest("agent_id, run_id and app_id take at most 200 characters of text.")
    owner = caller.owner(call.hub.screening.screen_identifier(agent))
    return caller, scope_viewpoint(call, owner, run, app)
