"""POST /memory/recall"""

from __future__ import annotations

import time

from starlette.responses import Response

from plastic_memories.http.caller_context import ApiCall, ReadCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.model.owner import Realm
from plastic_memories.model.recall import RecallQuery, Recollection
from plastic_memories.wire.recall import RecallRequest, RecallResponse, recall_response

router = Routes(keyed_endpoint, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.post("/recall", answers=RecallResponse)
async def recall(body: RecallRequest, call: ReadCall) -> Response:
    """Recall memories relevant to a message, ready for a prompt."""
    return call.reply(recall_response(await run_recall(body, call)))


async def run_recall(body: RecallRequest, call: ApiCall) -> Recollection:
    """Recall, and record metrics."""
    for text in (body.query, *body.also):
        call.check_length(text, "query", call.options.max_query_chars)
    started = time.perf_counter()
    query = RecallQuery(
        viewpoint=call.view(
            body,
            session_id=body.session_key,
            only_session=body.only_session,
            source_app=body.source_app,
            realm=body.realm or Realm.REAL,
            branch_id=body.branch_id or "",
        ),
        text=body.query,
        now=call.now() if body.now is None else body.now,
        realm_of_session=body.realm is None and bool(body.session_id),
        limit=body.limit,
        budget_tokens=body.budget_tokens,
        recent=tuple((one.role.value, one.content) for one in body.recent_messages),
        rephrasings=tuple(body.also),
        types=body.memory_types,
        quotes_messages=body.quotes_messages,
        exclude_message_ids=frozenset(body.exclude_message_ids),
        explain=body.explain,
        deadline_s=body.deadline_ms / 1000 if body.deadline_ms else call.options.recall_deadline_s,
    )
    found = await call.hub.recall(query, body.parts)
    record_recall(call, found, time.perf_counter() - started)
    return found


def record_recall(call: ApiCall, found: Recollection, seconds: float) -> None:
    """Record a recall in the metrics."""
    tenant = call.caller.user.tenant_id
    status = "degraded" if found.degraded else "ok"
    call.hub.meter.count(
        tenant, "memory_recall_requests", intent_type=found.intent.type.value, status=status
    )
    call.hub.meter.observe(tenant, "memory_recall_latency_seconds", seconds)
    call.hub.meter.observe(tenant, "memory_recall_count", len(found.hits))
