"""From ids and filters to the users, personas and sessions that a request is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.errors import BadRequest, NotAllowed, NotFound
from plastic_memories.http.caller_context import is_user_id
from plastic_memories.http.doors.mem0.mem0_items import APP, PERSONA, Fields
from plastic_memories.http.doors.mem0.mem0_route import Call
from plastic_memories.http.doors.mem0.memory_ids import Reference
from plastic_memories.hub.memories.search import Wanted
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.rules.lifecycle.filter_conditions import (
    condition_from,
    exact_value,
    named_values,
    required_values,
)

_MOST_USERS = 20


@dataclass(frozen=True, slots=True)
class Reach:
    """The places to look in, and what is asked of a memory there."""

    places: Sequence[tuple[Caller, Viewpoint]]
    wanted: Wanted

    @property
    def views(self) -> list[Viewpoint]:
        return [view for _, view in self.places]


async def reach_of(call: Call, filters: dict[str, Any]) -> Reach:
    """Return what filters reach: without an agent every persona, without a run every session."""
    holds = condition_from(filters)
    callers = [call.caller(name) for name in _users(filters)]
    run, app = _one(filters, "run_id"), _one(filters, "app_id")
    places = [
        (caller, view_of(call, owner, run, app))
        for caller in callers
        for owner in await _owners(call, caller, required_values(filters, "agent_id"))
    ]

    wanted = Wanted(
        lambda row: holds(Fields(row)),
        session_id=exact_value(filters, "run_id") or None,
        source_app=exact_value(filters, "app_id") or None,
    )
    return Reach(places, wanted)


def _users(filters: dict[str, Any]) -> list[str]:
    named = named_values(filters, "user_id")
    if len(named) > _MOST_USERS:
        raise BadRequest(f"Filters may name at most {_MOST_USERS} users at a time.")
    return named or [""]


def _one(filters: dict[str, Any], field: str) -> str:
    values = required_values(filters, field) or []
    return values[0] if len(values) == 1 else ""


async def _owners(call: Call, caller: Caller, agents: list[str] | None) -> list[Owner]:
    known = [persona.owner for persona in await call.hub.personas.all(caller.user)]
    bound = call.key.limits.persona_id
    if agents is None:
        return [owner for owner in known if bound in ("", owner.persona_id)]
    for name in agents:
        caller.owner(name)  # a key that is bound to one persona may not name another
    return [owner for owner in known if owner.persona_id in agents]


def view_of(call: Call, owner: Owner, run_id: str = "", app_id: str = "") -> Viewpoint:
    """Return where the door stands: it speaks for no bot, so it sees no bot's memories."""
    bound = call.key.limits.source_app
    if bound and app_id and app_id != bound:
        raise NotAllowed("This key is bound to another app.")
    return Viewpoint(owner, session_id=run_id, source_app=bound or app_id or APP, only_app=bound)


def place_of(call: Call, reference: Reference) -> tuple[Caller, Viewpoint]:
    """Return where a named memory lies; what the key may not see does not exist for it."""
    try:
        caller = call.caller(reference.user_id)
        owner = caller.owner(reference.persona_id)
    except (NotAllowed, BadRequest):
        raise NotFound("Memory not found") from None
    return caller, view_of(call, owner)


def home_of(call: Call, filters: dict[str, Any]) -> tuple[Caller, Viewpoint]:
    """Return where new memories go: one user, one persona, at most one session."""
    users = _users(filters)
    if len(users) > 1:
        raise BadRequest("Memories are added for one user at a time.")
    caller = call.caller(users[0])
    agent = _one(filters, "agent_id") or call.key.limits.persona_id or PERSONA
    run, app = _one(filters, "run_id"), _one(filters, "app_id")
    if not all(is_user_id(name) for name in (agent, run or "-", app or "-")):
        raise BadRequest("agent_id, run_id and app_id take at most 200 characters of text.")
    owner = caller.owner(call.hub.screening.identifier(agent))
    return caller, view_of(call, owner, run, app)
