"""Routes under /goals."""

from __future__ import annotations

from starlette.responses import Response

from plastic_memories.http.caller_context import ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.model.goal import Goal
from plastic_memories.wire import personas as wire

router = Routes(keyed_endpoint, prefix="/goals", tags=["goals"], responses=FAILURES)


@router.post("/create", answers=wire.CreateGoalResponse)
async def create(body: wire.CreateGoalRequest, call: WriteCall) -> Response:
    """Create a goal of the user."""
    call.check_length(body.details, "details")
    goal = await call.hub.goals.create(
        call.caller, call.owner(body.persona_id), body.title, body.details or ""
    )
    return call.reply(wire.CreateGoalResponse(status="ok", goal_id=goal.id))


@router.get("/list", answers=wire.GoalListResponse)
async def list_goals(query: wire.GoalQuery, call: ReadCall) -> Response:
    """Return goals with their links, oldest first."""
    found = await call.hub.goals.find(call.owner(query.persona_id), query.status)
    return call.reply(wire.GoalListResponse(items=[_goal_row(goal) for goal in found]))


@router.post("/update_status", answers=wire.UpdateGoalResponse)
async def update_status(body: wire.UpdateGoalRequest, call: WriteCall) -> Response:
    """Set the status of a goal."""
    owner = call.owner(body.persona_id)
    updated = await call.hub.goals.set_status(call.caller, owner, body.goal_id, body.status)
    return call.reply(wire.UpdateGoalResponse(status="ok", updated=updated))


@router.post("/link", answers=wire.LinkGoalResponse)
async def link(body: wire.LinkGoalRequest, call: WriteCall) -> Response:
    """Link a note, and a memory if one is named, to a goal."""
    call.check_length(body.note, "note")
    view = call.view(body)
    created = await call.hub.goals.link(
        call.caller, view, body.goal_id, body.memory_id, body.note or ""
    )
    return call.reply(wire.LinkGoalResponse(status="ok", link_id=created.id))


def _goal_row(goal: Goal) -> wire.GoalRow:
    return wire.GoalRow(
        id=goal.id,
        title=goal.title,
        details=goal.details,
        status=goal.status,
        links=[
            wire.GoalLinkRow(
                id=link.id, memory_id=link.memory_id, note=link.note, created_at=link.created_at
            )
            for link in goal.links
        ],
        created_at=goal.created_at,
        updated_at=goal.updated_at,
    )
