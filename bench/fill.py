"""Fill a database through the storage port, for cases too large for HTTP."""

from __future__ import annotations

import asyncio
import time
from itertools import islice
from pathlib import Path

from rich.progress import Progress

from bench.corpus import sentences
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import memory_from_draft
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_storage

_BATCH = 5000


def fill(data: Path, users: int, per_user: int, progress: Progress) -> None:
    """Store `per_user` memories for each of `users` users, persona `p`, unless they exist."""
    done = data / "filled"
    if done.exists():
        return
    asyncio.run(_fill(data, users, per_user, progress))
    done.touch()


async def _fill(data: Path, users: int, per_user: int, progress: Progress) -> None:
    settings = load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(data)})
    texts = sentences(users + per_user)
    total = users * per_user
    task = progress.add_task(f"{total:,} memories of {users:,} users", total=total)
    async with open_storage(settings) as storage:
        # Interleave the users, as a server sees them: no user's rows are adjacent.
        for first in range(0, total, _BATCH):
            numbers = range(first, min(first + _BATCH, total))
            batch = list(zip(numbers, islice(texts, len(numbers)), strict=True))
            await storage.write(lambda stores, batch=batch: _add(stores, batch, users))
            progress.update(task, advance=len(batch))
    progress.remove_task(task)


def _add(stores: Stores, batch: list[tuple[int, str]], users: int) -> None:
    now = time.time()
    rows: list[Memory] = []
    for number, text in batch:
        owner = Owner("default", f"user{number % users}", "p")
        stores.personas.ensure(owner, now)
        draft = Draft(
            type=MemoryType.NOTE,
            key=f"n{number}",
            content=text,
            source_type=SourceType.IMPORTED,
        )
        rows.append(memory_from_draft(owner, draft, now, Status.ACTIVE))
    stores.memories.add_all(rows)
