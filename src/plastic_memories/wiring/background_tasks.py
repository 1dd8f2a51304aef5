"""What a hub does by itself: upkeep, embedding, pages, jobs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from plastic_memories.errors import Unavailable
from plastic_memories.hub.hub import Hub
from plastic_memories.ports.storage import CommitFeed, StorageBackend
from plastic_memories.settings import Settings
from plastic_memories.worker.loop import Worker

logger = logging.getLogger(__name__)
# How many times as long as a job took the worker inside a server leaves it to its callers.
_SLEEP_FACTOR = 6.0
# A hub that ends waits at most so long for each of its tasks.
_STOP_TIMEOUT_S = 10.0


@asynccontextmanager
async def running_tasks(
    hub: Hub, settings: Settings, storage: StorageBackend
) -> AsyncIterator[None]:
    """Run the hub's own tasks; at the end stop them and write down what they still hold."""
    tasks = _start_tasks(hub, settings)
    if isinstance(storage, CommitFeed):
        tasks.append(asyncio.create_task(_follow_commits(storage, hub), name="commits"))
    try:
        yield
    finally:
        await hub.proxied_conversation.drain()
        await stop_tasks(tasks)
        await hub.embedding.close()
        hub.pages.close()
        await _flush_recall_counts(hub)


def _start_tasks(hub: Hub, settings: Settings) -> list[asyncio.Task[None]]:
    loops = {"upkeep": hub.upkeep.run_forever(), "embedding": hub.embedding.run_forever()}
    if settings.markdown != "off":
        everybody = settings.markdown == "sync"
        loops["pages"] = hub.page_sync.run_forever(settings.markdown_poll_s, everybody=everybody)
    if settings.formation and settings.worker == "inside":
        worker = Worker(
            hub.job_runner, hub.consolidate, settings.worker_poll_s, sleep_factor=_SLEEP_FACTOR
        )
        loops["worker"] = worker.run_forever()
    return [asyncio.create_task(loop, name=name) for name, loop in loops.items()]


async def _follow_commits(feed: CommitFeed, hub: Hub) -> None:
    """Pass on what other processes have committed, as if it had been committed here."""
    async for events in feed.follow():
        hub.storage.sink.publish(events)
        hub.storage.on_commit()
        hub.sessions.wakeup.notify()


async def stop_tasks(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for them, within a time; log what has failed there."""
    for task in tasks:
        task.cancel()
    done, _ = await asyncio.wait(tasks, timeout=_STOP_TIMEOUT_S)
    for task in done:
        if not task.cancelled() and (error := task.exception()):
            logger.error("hub.stop", exc_info=error, extra={"fields": {"task": task.get_name()}})


async def _flush_recall_counts(hub: Hub) -> None:
    """Store the last recall counts; on a full disk they are lost, and harm nobody."""
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(_STOP_TIMEOUT_S):
            await hub.recall.recall_counts.flush(hub.storage.backend)
