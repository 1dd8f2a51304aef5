"""/goals/*"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from plastic_memories.http.context import (
    CallerDep,
    HubDep,
    KeyedRoute,
    OptionsDep,
    WriterDep,
    check_length,
)
from plastic_memories.http.envelope import FAILURES, reply
from plastic_memories.model.goal import Goal, GoalStatus
from plastic_memories.wire import personas as wire
from plastic_memories.wire.envelope import Answer
from plastic_memories.wire.text import Name

router = APIRouter(prefix="/goals", tags=["goals"], route_class=KeyedRoute, responses=FAILURES)


@router.post("/create", response_model=Answer[wire.CreatedGoal])
async def create(
    body: wire.CreateGoal, request: Request, caller: WriterDep, hub: HubDep, options: OptionsDep
) -> Response:
    """Note a goal of the user."""
    check_length(body.details, options.max_content_chars, "details")
    goal = await hub.goals.create(
        caller, caller.owner(body.persona_id), body.title, body.details or ""
    )
    return reply(request, wire.CreatedGoal(status="ok", goal_id=goal.id))


@router.get("/list", response_model=Answer[wire.GoalList])
async def list_goals(
    request: Request,
    caller: CallerDep,
    hub: HubDep,
    persona_id: Name,
    status: GoalStatus | None = None,
) -> Response:
    """Show goals with what is linked to them, oldest first."""
    found = await hub.goals.find(caller.owner(persona_id), status)
    return reply(request, wire.GoalList(items=[_goal(goal) for goal in found]))


@router.post("/update_status", response_model=Answer[wire.UpdatedGoal])
async def update_status(
    body: wire.UpdateGoal, request: Request, caller: WriterDep, hub: HubDep
) -> Response:
    """Say how a goal stands."""
    owner = caller.owner(body.persona_id)
    updated = await hub.goals.set_status(caller, owner, body.goal_id, body.status)
    return reply(request, wire.UpdatedGoal(status="ok", updated=updated))


@router.post("/link", response_model=Answer[wire.LinkedGoal])
async def link(
    body: wire.LinkGoal, request: Request, caller: WriterDep, hub: HubDep, options: OptionsDep
) -> Response:
    """Tie a note, and a memory if one is named, to a goal."""
    check_length(body.note, options.max_content_chars, "note")
    owner = caller.owner(body.persona_id)
    made = await hub.goals.link(caller, owner, body.goal_id, body.memory_id, body.note or "")
    return reply(request, wire.LinkedGoal(status="ok", link_id=made.id))


def _goal(goal: Goal) -> wire.GoalOut:
    return wire.GoalOut(
        id=goal.id,
        title=goal.title,
        details=goal.details,
        status=goal.status,
        links=[
            wire.GoalLinkOut(
                id=link.id, memory_id=link.memory_id, note=link.note, created_at=link.created_at
            )
            for link in goal.links
        ],
        created_at=goal.created_at,
        updated_at=goal.updated_at,
    )
