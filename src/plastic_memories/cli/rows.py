"""Memories as the commands ask for them and show them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from plastic_memories.cli.screen import Screen, one_line, when
from plastic_memories_client import AsyncPlasticMemoriesClient, MemoryItem

_PAGE = 200


async def memories(
    client: AsyncPlasticMemoriesClient, limit: int | None = None, **wanted: Any
) -> AsyncIterator[MemoryItem]:
    """Yield a persona's memories, newest first, page after page."""
    options: Any = {**wanted, "limit": min(limit or _PAGE, _PAGE)}
    left = limit
    async for item in client.iter_memory(**options):
        if left is not None:
            if left == 0:
                return
            left -= 1
        yield item


async def by_ids(client: AsyncPlasticMemoriesClient, memory_ids: Iterable[int]) -> list[MemoryItem]:
    """Return the memories with these ids, whatever their status."""
    return [await client.memory_get(memory_id) for memory_id in memory_ids]


def show(screen: Screen, items: Sequence[MemoryItem], *, status: bool = True) -> None:
    """Print memories as a table; columns that would say nothing are left out."""
    scored = any(item.score is not None for item in items)
    with_bot = any(item.bot_id for item in items)
    columns = [
        "#",
        *(["score"] if scored else []),
        *(["status"] if status else []),
        "type",
        "key",
        *(["bot"] if with_bot else []),
        "content",
        "when",
    ]
    rows = [
        [
            item.id,
            *([f"{item.score:.2f}" if item.score else "–"] if scored else []),
            *([item.status] if status else []),
            item.type,
            one_line(item.key, 40),
            *([item.bot_id] if with_bot else []),
            one_line(item.content, 200),
            when(item.updated_at),
        ]
        for item in items
    ]
    screen.table(columns, rows)


def dumped(item: MemoryItem) -> dict[str, Any]:
    """Return a memory for a program."""
    return item.model_dump(mode="json")
