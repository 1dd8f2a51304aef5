"""Fetch memories for the commands, and print them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from plastic_memories.cli.output import Screen, local_time_text, one_line
from plastic_memories_client import AsyncPlasticMemoriesClient, MemoryItem

_PAGE_SIZE = 200


async def iterate_memories(
    client: AsyncPlasticMemoriesClient, limit: int | None = None, **wanted: Any
) -> AsyncIterator[MemoryItem]:
    """Yield a persona's memories, newest first, page after page."""
    filters: Any = {**wanted, "limit": min(limit or _PAGE_SIZE, _PAGE_SIZE)}
    left = limit
    async for item in client.iter_memory(**filters):
        if left is not None:
            if left == 0:
                return
            left -= 1
        yield item


async def fetch_memories(
    client: AsyncPlasticMemoriesClient, memory_ids: Iterable[int]
) -> list[MemoryItem]:
    """Return the memories with these ids, whatever their status."""
    return [await client.memory_get(memory_id) for memory_id in memory_ids]


def print_memories(screen: Screen, items: Sequence[MemoryItem], *, status: bool = True) -> None:
    """Print memories as a table without empty columns."""
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
            local_time_text(item.updated_at),
        ]
        for item in items
    ]
    screen.table(columns, rows)


def print_scores(screen: Screen, accounts: Sequence[Mapping[str, Any]]) -> None:
    """Print the parts of each score, the largest first."""
    columns = ["#", "score", "made of", "found by", "left out"]
    table = [
        [
            one["memory_id"],
            f"{one['score']:.3f}",
            _score_parts_text(one["parts"]),
            ", ".join(one["found_by"]),
            one["left_out"],
        ]
        for one in accounts
    ]
    screen.table(columns, table)


def _score_parts_text(parts: Mapping[str, float]) -> str:
    """Return the parts of a score on one line, without parts that are zero.

    >>> _score_parts_text({"words": 0.1, "time": 0.0, "meaning": 0.5, "repeat": -0.25})
    'meaning 0.500, repeat -0.250, words 0.100'
    """
    ordered = sorted(parts.items(), key=lambda part: -abs(part[1]))
    return ", ".join(f"{name} {value:.3f}" for name, value in ordered if round(value, 3))


def memory_json(item: MemoryItem) -> dict[str, Any]:
    """Return a memory as JSON data."""
    return item.model_dump(mode="json")
