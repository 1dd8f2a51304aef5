"""/memory/confirm, reject, revoke, undo: a person's word on what is remembered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response

from plastic_memories.errors import Conflict, InvalidInput, NotFound
from plastic_memories.http.caller_context import Call, Writing, keyed
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.memories.review import Reviewed
from plastic_memories.rules.lifecycle.transitions import ConfirmRequest
from plastic_memories.wire import memories as wire
from plastic_memories.wire.envelope import Problem

router = Routes(keyed, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.post("/confirm", answers=wire.Reviewed | wire.ReviewedMany)
async def confirm(body: wire.ConfirmRequest, call: Writing) -> Response:
    """Say yes to a candidate, or to several."""
    call.check_length(body.content, "content")
    wish = ConfirmRequest(supersedes_id=body.supersedes_id, coexist=body.coexist)
    view = call.view(body)

    async def one(memory_id: int) -> Reviewed:
        return await call.hub.review.confirm(call.caller, view, memory_id, wish, body.content)

    return await _answer(call, body, one)


@router.post("/reject", answers=wire.Reviewed | wire.ReviewedMany)
async def reject(body: wire.RejectRequest, call: Writing) -> Response:
    """Say no to a candidate, or to several."""
    view = call.view(body)

    async def one(memory_id: int) -> Reviewed:
        return await call.hub.review.reject(
            call.caller, view, memory_id, never_again=body.never_again
        )

    return await _answer(call, body, one)


@router.post("/revoke", answers=wire.Reviewed)
async def revoke(body: wire.RevokeRequest, call: Writing) -> Response:
    """Take a memory back; it stays in its history only."""
    done = await call.hub.review.revoke(call.caller, call.view(body), body.memory_id)
    return call.reply(_reviewed(done))


@router.post("/undo", answers=wire.Reviewed)
async def undo(body: wire.UndoRequest, call: Writing) -> Response:
    """Undo a change that the hub made by itself; `GET /audit` shows its number."""
    memory = await call.hub.undo(call.caller, call.view(body), body.audit_id)
    return call.reply(_reviewed(Reviewed(memory, updated=True)))


async def _answer(
    call: Call, body: wire.OneOrMany, one: Callable[[int], Awaitable[Reviewed]]
) -> Response:
    if body.memory_id is not None:
        return call.reply(_reviewed(await one(body.memory_id)))
    items = await _each(list(dict.fromkeys(body.memory_ids or ())), one)
    updated = any(item.updated for item in items)
    return call.reply(wire.ReviewedMany(status="ok", updated=updated, items=items))


async def _each(
    memory_ids: Sequence[int], one: Callable[[int], Awaitable[Reviewed]]
) -> list[wire.ReviewedOne]:
    """Answer them in their order; what stands against one does not stop the rest."""
    items: list[wire.ReviewedOne] = []
    for memory_id in memory_ids:
        try:
            done = await one(memory_id)
        except (Conflict, NotFound, InvalidInput) as error:
            problem = Problem(code=error.code, message=error.message, detail=error.detail)
            item = wire.ReviewedOne(
                memory_id=memory_id, updated=False, memory_status=None, error=problem
            )
        else:
            status = done.memory.status
            item = wire.ReviewedOne(memory_id=memory_id, updated=done.updated, memory_status=status)
        items.append(item)
    return items


def _reviewed(done: Reviewed) -> wire.Reviewed:
    return wire.Reviewed(
        status="ok",
        updated=done.updated,
        memory_id=done.memory.id,
        memory_status=done.memory.status,
    )
