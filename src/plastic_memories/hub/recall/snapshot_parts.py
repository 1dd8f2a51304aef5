"""Runs the parts of an answer: in one snapshot if all goes well, else side by side."""

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
    """Do all works one after another in one snapshot; return what is finished in time.

    One thread does it all: threads that take turns cost more than they save here. What raises or
    comes late is left out; its caller asks for it by itself.
    """
    done: dict[str, Any] = {}
    try:
        async with asyncio.timeout(patience_s):
            works = await preparing
            await storage.read(lambda stores: _run_parts(stores, query, works, done))
    # Whatever it was, it is met again, and named, when the rest is asked for.
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
    """Do one work in a snapshot of its own."""
    return await storage.read(lambda stores: work(stores, with_session_realm(stores, query)))


def with_session_realm(stores: Stores, query: RecallQuery) -> RecallQuery:
    """Return the query as seen from the realm of its session, if that is what it asks for.

    It is read in the snapshot of the work that needs it: by itself it would cost a thread's turn.
    """
    if not query.realm_of_session:
        return query
    view = query.viewpoint
    realm = stores.sessions.realm_of(view.owner, view.session_id, view.bot_id) or Realm.REAL
    return replace(query, viewpoint=replace(view, realm=realm), realm_of_session=False)


async def gather_until(
    searches: Mapping[str, Awaitable[Any]], deadline_s: float
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Run searches at the same time; return what finished, and the names of what did not."""
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
