"""Sample owners, memories and messages for the contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.memory import Draft, Memory, MemoryType, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.rules.lifecycle.transitions import memory_from_draft

NOW = 1_700_000_000.0
DAY = 86_400.0

MINE = Owner("home", "lin", "xiaoyu")
OTHER_PERSONA = Owner("home", "lin", "butler")
OTHER_USER = Owner("home", "chen", "xiaoyu")
OTHER_TENANT = Owner("acme", "lin", "xiaoyu")
# Each differs from MINE in one part only.
STRANGERS = (OTHER_PERSONA, OTHER_USER, OTHER_TENANT)

# Texts that look like SQL, LIKE, FTS5, regular expressions, JSON or a path, or are hard to parse.
HOSTILE_TEXTS = (
    "",
    "   ",
    '"',
    "'",
    "%",
    "_",
    "*",
    "\\",
    "tea*",
    "tea OR",
    "NOT tea",
    "NEAR(tea, 2)",
    "terms:tea",
    "-tea",
    "^tea",
    "(tea",
    "tea) AND (1=1",
    "'; DROP TABLE memory_items; --",
    "{tea}",
    "[tea",
    '{"$ne": null}',
    "%%%%",
    "\x00",
    "tea\x00tea",
    "\n\t\r",
    "\u200b",
    "🍵",
    "？！，。",
    "é́́́",
    "茶" * 3000,
    "tea " * 3000,
)


def memory(content: str = "I like oolong tea", owner: Owner = MINE, **given: Any) -> Memory:
    """Return an active memory without an id; by default its key is its content."""
    status = given.pop("status", Status.ACTIVE)
    kind = given.pop("type", MemoryType.FACT)
    key = given.pop("key", content)
    row = memory_from_draft(owner, Draft(type=kind, key=key, content=content), NOW)
    return replace(row, status=status, **given)


def message(content: str = "hello", owner: Owner = MINE, **given: Any) -> Message:
    """Return a message of the user that is not stored yet."""
    fields = {"role": Role.USER, "ts": NOW, "created_at": NOW, **given}
    return Message(owner=owner, content=content, **fields)


def viewpoint_of(owner: Owner = MINE, **given: Any) -> Viewpoint:
    return Viewpoint(owner, **given)


async def create_personas(storage: StorageBackend, *owners: Owner) -> None:
    """Create personas."""

    def work(stores: Stores) -> None:
        for owner in owners:
            stores.personas.ensure(owner, NOW)

    await storage.write(work)


async def store_memories(storage: StorageBackend, *memories: Memory) -> list[Memory]:
    """Store memories, each with its persona, in one transaction."""

    def work(stores: Stores) -> list[Memory]:
        for row in memories:
            stores.personas.ensure(row.owner, NOW)
        return stores.memories.add_all(memories)

    return await storage.write(work)


async def store_messages(storage: StorageBackend, *messages: Message) -> list[int]:
    """Store messages, each with its persona, in one transaction; return their ids."""

    def work(stores: Stores) -> list[int]:
        for one in messages:
            stores.personas.ensure(one.owner, NOW)
        return [stores.messages.append([one])[0].message_id for one in messages]

    return await storage.write(work)


async def search_contents(
    storage: StorageBackend,
    text: str,
    view: Viewpoint | None = None,
    *,
    limit: int = 50,
    now: float = NOW,
) -> list[str]:
    """Return the contents that a search for a text finds, best first."""
    terms = query_terms(text)
    matches = await storage.read(
        lambda stores: stores.memory_search.search(view or viewpoint_of(), terms, limit, now)
    )
    return contents(matches.memories)


async def core_contents(
    storage: StorageBackend, view: Viewpoint | None = None, now: float = NOW
) -> list[str]:
    """Return the contents that are recalled for any query, oldest first."""
    rows = await storage.read(lambda stores: stores.memory_search.core(view or viewpoint_of(), now))
    return contents(rows)


def contents(rows: Sequence[Memory] | Sequence[Message]) -> list[str]:
    return [row.content for row in rows]
