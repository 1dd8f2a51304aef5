"""POST /memory/recall"""

from __future__ import annotations

import time

from fastapi import APIRouter, Request, Response

from plastic_memories.http.context import (
    CallerDep,
    HubDep,
    KeyedRoute,
    OptionsDep,
    check_length,
    viewpoint,
)
from plastic_memories.http.envelope import FAILURES, reply
from plastic_memories.hub.hub import Hub
from plastic_memories.model.key import Caller
from plastic_memories.model.recall import RecallQuery, Recollection
from plastic_memories.wire.envelope import Answer
from plastic_memories.wire.recall import RecallAnswer, RecallRequest, recall_answer

router = APIRouter(prefix="/memory", tags=["memory"], route_class=KeyedRoute, responses=FAILURES)
_EVERYTHING = ("profile", "memory", "snippets")


@router.post("/recall", response_model=Answer[RecallAnswer])
async def recall(
    body: RecallRequest, request: Request, caller: CallerDep, hub: HubDep, options: OptionsDep
) -> Response:
    """Bring back what bears on a message, ready for a prompt."""
    check_length(body.query, options.max_query_chars, "query")
    started = time.perf_counter()
    query = RecallQuery(
        viewpoint=viewpoint(
            caller,
            body,
            session_id=body.session_id,
            source_app=body.source_app,
            realm=body.realm,
            branch_id=body.branch_id,
        ),
        text=body.query,
        now=hub.ledger.clock.now() if body.now is None else body.now,
        limit=body.limit,
        budget_tokens=body.budget_tokens,
        recent=tuple((one.role.value, one.content) for one in body.recent_messages),
        exclude_message_ids=frozenset(body.exclude_message_ids),
        explain=body.explain,
        deadline_s=body.deadline_ms / 1000 if body.deadline_ms else options.recall_deadline_s,
    )
    found = await hub.recall(query, _EVERYTHING if body.include is None else body.include)
    _measure(hub, caller, found, time.perf_counter() - started)
    return reply(request, recall_answer(found))


def _measure(hub: Hub, caller: Caller, found: Recollection, seconds: float) -> None:
    tenant = caller.user.tenant_id
    status = "degraded" if found.degraded else "ok"
    hub.meter.count(
        tenant, "memory_recall_requests", intent_type=found.intent.type.value, status=status
    )
    hub.meter.observe(tenant, "memory_recall_latency_seconds", seconds)
    hub.meter.observe(tenant, "memory_recall_count", len(found.hits))
