"""An index in memory is never older than the database, and shows nobody another reader's rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plastic_memories.adapters.recall.hybrid import hybrid_engine
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.model.memory import Memory, Scope, Status
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    memory,
    store_memories,
)
from recall_parts import Options, Parts, asking, contents

TEA = "I like oolong tea"
Change = Callable[[Stores, Memory], Any]


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[StorageBackend]:
    async with open_sqlite(Options(tmp_path / "pm.db")) as opened:
        yield opened


@pytest.fixture
async def another(storage: StorageBackend, tmp_path: Path) -> AsyncIterator[StorageBackend]:
    """The same file, opened as another process would."""
    async with open_sqlite(Options(tmp_path / "pm.db")) as opened:
        yield opened


@pytest.fixture
def engine(storage: StorageBackend) -> RecallEngine:
    return hybrid_engine(Parts(storage))


def _becomes(**given: Any) -> Change:
    return lambda stores, row: stores.memories.save(replace(row, **given))


def _forgotten(stores: Stores, row: Memory) -> None:
    stores.memories.erase(row.owner, [row.id], NOW)


def _corrected(stores: Stores, row: Memory) -> None:
    stores.memories.save(replace(row, status=Status.REVOKED))
    stores.memories.add(replace(row, id=0, content="I like green tea", supersedes_id=row.id))


CHANGES: dict[str, tuple[Status, Change, list[str]]] = {
    "revoked": (Status.ACTIVE, _becomes(status=Status.REVOKED), []),
    "forgotten": (Status.ACTIVE, _forgotten, []),
    "expired": (Status.ACTIVE, _becomes(expires_at=NOW), []),
    "still good": (Status.ACTIVE, _becomes(expires_at=NOW + 1), [TEA]),
    "reworded": (Status.ACTIVE, _becomes(content="tea without milk"), ["tea without milk"]),
    "corrected": (Status.ACTIVE, _corrected, ["I like green tea"]),
    "confirmed": (Status.CANDIDATE, _becomes(status=Status.ACTIVE), [TEA]),
    "rejected": (Status.CANDIDATE, _becomes(status=Status.REVOKED), []),
}


@pytest.mark.parametrize("where", ["here", "in another process"])
@pytest.mark.parametrize("what", CHANGES)
async def test_a_change_is_seen_by_the_very_next_recall(
    storage: StorageBackend, another: StorageBackend, engine: RecallEngine, what: str, where: str
) -> None:
    before, change, expected = CHANGES[what]
    [row, _] = await store_memories(storage, memory(TEA, status=before), memory("about coffee"))
    first = contents(await engine.find(asking("tea")))

    writer = storage if where == "here" else another
    await writer.write(lambda stores: change(stores, row))

    assert first == ([TEA] if before is Status.ACTIVE else [])
    assert contents(await engine.find(asking("tea"))) == expected


@pytest.mark.parametrize("scope", [Scope.PERSONA, Scope.GLOBAL])
async def test_what_another_process_wrote_is_found_at_once(
    another: StorageBackend, engine: RecallEngine, scope: Scope
) -> None:
    assert contents(await engine.find(asking("tea"))) == []

    await store_memories(another, memory(TEA, scope=scope))

    assert contents(await engine.find(asking("tea"))) == [TEA]


async def test_time_alone_makes_a_memory_expire(
    storage: StorageBackend, engine: RecallEngine
) -> None:
    await store_memories(storage, memory(TEA, expires_at=NOW + 5))

    assert contents(await engine.find(asking("tea", now=NOW + 4))) == [TEA]
    assert contents(await engine.find(asking("tea", now=NOW + 5))) == []


async def test_an_erased_persona_is_empty_and_can_begin_again(
    storage: StorageBackend, engine: RecallEngine
) -> None:
    await store_memories(storage, memory(TEA))
    await engine.find(asking("tea"))

    await storage.write(lambda stores: stores.personas.erase(MINE, NOW))
    erased = contents(await engine.find(asking("tea")))
    await store_memories(storage, memory("tea again"))

    assert erased == []
    assert contents(await engine.find(asking("tea"))) == ["tea again"]


async def test_an_index_that_had_to_go_is_read_again(storage: StorageBackend) -> None:
    engine = hybrid_engine(Parts(storage, recall_cache_bytes=1))
    await store_memories(storage, memory(TEA), memory("tea of another", OTHER_USER))

    for _ in range(2):
        assert contents(await engine.find(asking("tea"))) == [TEA]
        theirs = await engine.find(asking("tea", Viewpoint(OTHER_USER)))
        assert contents(theirs) == ["tea of another"]


PLACES: dict[str, tuple[dict[str, Any], Viewpoint]] = {
    "no bot": ({}, Viewpoint(MINE)),
    "bot 1": ({"bot_id": "b1"}, Viewpoint(MINE, "b1")),
    "bot 2": ({"bot_id": "b2"}, Viewpoint(MINE, "b2")),
    "story": ({"realm": Realm.STORY}, Viewpoint(MINE, realm=Realm.STORY)),
    "ooc": ({"realm": Realm.OOC}, Viewpoint(MINE, realm=Realm.OOC)),
    "persona": ({"owner": OTHER_PERSONA}, Viewpoint(OTHER_PERSONA)),
    "user": ({"owner": OTHER_USER}, Viewpoint(OTHER_USER)),
    "tenant": ({"owner": OTHER_TENANT}, Viewpoint(OTHER_TENANT)),
}


async def test_readers_who_share_an_index_see_only_their_own(
    storage: StorageBackend, engine: RecallEngine
) -> None:
    await store_memories(
        storage, *(memory(f"tea of {name}", **row) for name, (row, _) in PLACES.items())
    )

    for _ in range(2):
        for name, (_, view) in PLACES.items():
            assert contents(await engine.find(asking("tea", view))) == [f"tea of {name}"]


async def test_a_session_and_an_app_are_seen_from_inside_only(
    storage: StorageBackend, engine: RecallEngine
) -> None:
    await store_memories(
        storage,
        memory("tea in session", scope=Scope.SESSION, session_id="s1"),
        memory("tea in app", scope=Scope.APP, source_app="ide"),
    )
    inside = {
        "tea in session": Viewpoint(MINE, session_id="s1"),
        "tea in app": Viewpoint(MINE, source_app="ide"),
    }

    for content, view in inside.items():
        assert contents(await engine.find(asking("tea", view))) == [content]
    for view in (Viewpoint(MINE), Viewpoint(MINE, session_id="ide", source_app="s1")):
        assert contents(await engine.find(asking("tea", view))) == []


@pytest.mark.parametrize("reader", [OTHER_USER, OTHER_TENANT], ids=str)
async def test_what_personas_share_stays_with_the_user(
    storage: StorageBackend, engine: RecallEngine, reader: Owner
) -> None:
    await store_memories(storage, memory(TEA, scope=Scope.GLOBAL))

    assert contents(await engine.find(asking("tea", Viewpoint(OTHER_PERSONA)))) == [TEA]
    assert contents(await engine.find(asking("tea", Viewpoint(reader)))) == []


async def test_the_neighbour_of_a_hit_is_not_shown_to_another_bot(
    storage: StorageBackend, engine: RecallEngine
) -> None:
    await store_memories(
        storage,
        memory("where is the kettle", session_id="s"),
        memory("on the shelf of bot one", session_id="s", bot_id="b1"),
        memory("on the table", session_id="s"),
    )

    assert "on the shelf of bot one" not in contents(await engine.find(asking("kettle")))


async def test_near_misses_name_nobody_elses_rows(
    storage: StorageBackend, engine: RecallEngine
) -> None:
    mine = await store_memories(storage, *(memory(f"tea number {n}") for n in range(5)))
    await store_memories(storage, *(memory(f"tea of bot {n}", bot_id="b1") for n in range(5)))

    found = await engine.find(asking("tea", limit=2, explain=True))

    told = {hit.memory.id for hit in found.hits} | {miss.memory.id for miss in found.near_misses}
    assert told == {row.id for row in mine}
    assert all(miss.reason for miss in found.near_misses)
