"""Routes for reviewing memories: /memory/confirm, reject, revoke, undo."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response

from plastic_memories.errors import Conflict, InvalidInput, NotFound
from plastic_memories.http.caller_context import ApiCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.memories.review import ReviewOutcome
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions
from plastic_memories.wire import memories as wire
from plastic_memories.wire.envelope import ErrorBody

router = Routes(keyed_endpoint, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.post("/confirm", answers=wire.ReviewResponse | wire.ReviewManyResponse)
async def confirm(body: wire.ConfirmMemoryRequest, call: WriteCall) -> Response:
    """Confirm one or more candidates."""
    call.check_length(body.content, "content")
    options = ConfirmOptions(supersedes_id=body.supersedes_id, coexist=body.coexist)
    view = call.view(body)

    async def one(memory_id: int) -> ReviewOutcome:
        return await call.hub.review.confirm(call.caller, view, memory_id, options, body.content)

    return await _review_response(call, body, one)


@router.post("/reject", answers=wire.ReviewResponse | wire.ReviewManyResponse)
async def reject(body: wire.RejectMemoryRequest, call: WriteCall) -> Response:
    """Reject one or more candidates."""
    view = call.view(body)

    async def one(memory_id: int) -> ReviewOutcome:
        return await call.hub.review.reject(
            call.caller, view, memory_id, never_again=body.never_again
        )

    return await _review_response(call, body, one)


@router.post("/revoke", answers=wire.ReviewResponse)
async def revoke(body: wire.RevokeMemoryRequest, call: WriteCall) -> Response:
    """Revoke a memory; only its history keeps it."""
    done = await call.hub.review.revoke(call.caller, call.view(body), body.memory_id)
    return call.reply(_review_one_response(done))


@router.post("/undo", answers=wire.ReviewResponse)
async def undo(body: wire.UndoChangeRequest, call: WriteCall) -> Response:
    """Undo a change that the hub made by itself; `GET /audit` shows its number."""
    memory = await call.hub.undo(call.caller, call.view(body), body.audit_id)
    return call.reply(_review_one_response(ReviewOutcome(memory, updated=True)))


async def _review_response(
    call: ApiCall, body: wire.ReviewRequest, one: Callable[[int], Awaitable[ReviewOutcome]]
) -> Response:
    if body.memory_id is not None:
        return call.reply(_review_one_response(await one(body.memory_id)))
    items = await _review_items(list(dict.fromkeys(body.memory_ids or ())), one)
    updated = any(item.updated for item in items)
    return call.reply(wire.ReviewManyResponse(status="ok", updated=updated, items=items))


async def _review_items(
    memory_ids: Sequence[int], one: Callable[[int], Awaitable[ReviewOutcome]]
) -> list[wire.ReviewItemRow]:
    """Review them in order; a failure of one does not stop the rest."""
    items: list[wire.ReviewItemRow] = []
    for memory_id in memory_ids:
        try:
            done = await one(memory_id)
        except (Conflict, NotFound, InvalidInput) as error:
            problem = ErrorBody(code=error.code, message=error.message, detail=error.detail)
            item = wire.ReviewItemRow(
                memory_id=memory_id, updated=False, memory_status=None, error=problem
            )
        else:
            status = done.memory.status
            item = wire.ReviewItemRow(
                memory_id=memory_id, updated=done.updated, memory_status=status
            )
        items.append(item)
    return items


def _review_one_response(done: ReviewOutcome) -> wire.ReviewResponse:
    return wire.ReviewResponse(
        status="ok",
        updated=done.updated,
        memory_id=done.memory.id,
        memory_status=done.memory.status,
    )
