"""Run the parts of a recall: in one snapshot if possible, otherwise concurrently."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.owner import Realm
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.storage import Stores

logger = logging.getLogger(__name__)
SnapshotWork = Callable[[Stores, RecallQuery], Any]


async def in_one_snapshot(
    storage: AuditedStorage,
    query: RecallQuery,
    preparing: Awaitable[Mapping[str, SnapshotWork]],
    patience_s: float,
) -> dict[str, Any]:
    """Run all works in sequence in one snapshot; return the results that were ready in time.

    They share one thread: switching threads costs more than it saves here. A work that raises
    or is late is left out; the caller runs it by itself.
    """
    done: dict[str, Any] = {}
    try:
        async with asyncio.timeout(patience_s):
            works = await preparing
            await storage.read(lambda stores: _run_parts(stores, query, works, done))
    # The caller runs the missing parts again, so the same error comes back and is reported there.
    except Exception as error:  # noqa: BLE001
        fields = {"part": "snapshot", "done": list(done), "why": type(error).__name__}
        logger.warning("memory.recall", extra={"fields": fields})
    return dict(done)


def _run_parts(
    stores: Stores, query: RecallQuery, works: Mapping[str, SnapshotWork], done: dict[str, Any]
) -> None:
    query = with_session_realm(stores, query)
    for name, work in works.items():
        done[name] = work(stores, query)


async def in_own_snapshot(storage: AuditedStorage, query: RecallQuery, work: SnapshotWork) -> Any:
    """Run one work in a snapshot of its own."""
    return await storage.read(lambda stores: work(stores, with_session_realm(stores, query)))


def with_session_realm(stores: Stores, query: RecallQuery) -> RecallQuery:
    """Return the query with the realm of its session, if it asks for that.

    The realm is read in the snapshot of the work that needs it: a separate read would cost
    another thread switch.
    """
    if not query.realm_of_session:
        return query
    view = query.viewpoint
    realm = stores.sessions.realm_of(view.owner, view.session_id, view.bot_id) or Realm.REAL
    return replace(query, viewpoint=replace(view, realm=realm), realm_of_session=False)


async def gather_until(
    searches: Mapping[str, Awaitable[Any]], deadline_s: float
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Run searches concurrently; return the finished ones, and the names of the others."""
    if not searches:
        return {}, ()
    tasks = {name: asyncio.ensure_future(search) for name, search in searches.items()}
    await asyncio.wait(tasks.values(), timeout=deadline_s)
    done: dict[str, Any] = {}
    missing: list[str] = []
    for name, task in tasks.items():
        if not task.done():
            task.cancel()
            missing.append(name)
        elif error := task.exception():
            logger.error("memory.recall", exc_info=error, extra={"fields": {"part": name}})
            missing.append(name)
        else:
            done[name] = task.result()
    return done, tuple(missing)
