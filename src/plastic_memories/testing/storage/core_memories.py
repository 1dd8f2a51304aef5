"""What is recalled whatever the query is."""

from __future__ import annotations

from typing import Any

import pytest

from plastic_memories.model.memory import SLOT_TYPES, MemoryType, Scope, Status
from plastic_memories.model.owner import Realm
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing.samples import (
    NOW,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    core_contents,
    memory,
    store_memories,
    viewpoint_of,
)

OWN_CORE_ROWS: tuple[dict[str, Any], ...] = (
    {"type": MemoryType.PERSONA},
    {"type": MemoryType.RULE},
    *({"type": kind} for kind in sorted(SLOT_TYPES)),
    {"type": MemoryType.PROFILE, "key": "basic_info.job"},
    {"type": MemoryType.FACT, "pinned": True},
)
# These reach every persona of the user.
SHARED_CORE_ROWS: tuple[dict[str, Any], ...] = (
    {"type": MemoryType.CONSTRAINTS},
    {"type": MemoryType.CONSTRAINTS, "status": Status.CANDIDATE},
    {"type": MemoryType.PROFILE, "key": "constraint.allergy.seafood"},
    {"type": MemoryType.PROFILE, "key": "basic_info.name"},
    {"type": MemoryType.PROFILE, "key": "basic_info.nickname"},
)
PRIVATE_CORE_ROWS: tuple[dict[str, Any], ...] = (
    {"type": MemoryType.PERSONA},
    {"type": MemoryType.RULE},
    {"type": MemoryType.IDENTITY},
    {"type": MemoryType.VALUES},
    {"type": MemoryType.PREFERENCES},
    {"type": MemoryType.PROFILE, "key": "basic_info.job"},
    {"type": MemoryType.PROFILE, "key": "relationship.mother"},
    {"type": MemoryType.FACT, "pinned": True},
)
CANDIDATE_TYPES = sorted(set(MemoryType) - {MemoryType.CONSTRAINTS})
ALLERGY: dict[str, Any] = {"type": MemoryType.PROFILE, "key": "constraint.allergy.seafood"}


class CoreMemoryContract:
    """Constraints, identity and what is pinned: always there, and never too far."""

    @pytest.mark.parametrize("given", OWN_CORE_ROWS, ids=str)
    async def test_an_own_row_is_always_recalled(
        self, storage: StorageBackend, given: dict[str, Any]
    ) -> None:
        await store_memories(storage, memory("core", **given), memory("an ordinary fact"))

        assert await core_contents(storage) == ["core"]

    @pytest.mark.parametrize("given", SHARED_CORE_ROWS, ids=str)
    async def test_constraints_and_name_reach_every_persona_of_the_user(
        self, storage: StorageBackend, given: dict[str, Any]
    ) -> None:
        await store_memories(storage, memory("core", **given))

        assert await core_contents(storage) == ["core"]
        assert await core_contents(storage, viewpoint_of(OTHER_PERSONA)) == ["core"]
        assert await core_contents(storage, viewpoint_of(OTHER_USER)) == []
        assert await core_contents(storage, viewpoint_of(OTHER_TENANT)) == []

    @pytest.mark.parametrize("given", PRIVATE_CORE_ROWS, ids=str)
    async def test_everything_else_stays_with_its_persona(
        self, storage: StorageBackend, given: dict[str, Any]
    ) -> None:
        await store_memories(storage, memory("core", **given))

        assert await core_contents(storage, viewpoint_of(OTHER_PERSONA)) == []

    @pytest.mark.parametrize("kind", CANDIDATE_TYPES)
    async def test_a_waiting_candidate_is_left_out_unless_it_is_a_constraint(
        self, storage: StorageBackend, kind: MemoryType
    ) -> None:
        row = memory("waits", type=kind, status=Status.CANDIDATE, pinned=True)
        await store_memories(storage, row)

        assert await core_contents(storage) == []

    @pytest.mark.parametrize("status", [Status.REVOKED, Status.EXPIRED])
    async def test_an_ended_row_is_left_out(self, storage: StorageBackend, status: Status) -> None:
        await store_memories(
            storage,
            memory("ended", type=MemoryType.CONSTRAINTS, status=status),
            memory("ended", status=status, **ALLERGY),
        )

        assert await core_contents(storage) == []

    async def test_a_row_past_its_expiry_is_left_out(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("soon over", expires_at=NOW, **ALLERGY))

        assert await core_contents(storage, now=NOW - 1) == ["soon over"]
        assert await core_contents(storage, now=NOW) == []

    async def test_rows_come_oldest_first(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("one", pinned=True),
            memory("two", OTHER_PERSONA, **ALLERGY),
            memory("three", type=MemoryType.RULE),
        )

        assert await core_contents(storage) == ["one", "two", "three"]

    @pytest.mark.parametrize("realm", [Realm.STORY, Realm.HYPOTHETICAL, Realm.OOC])
    async def test_a_constraint_of_a_story_stays_in_it(
        self, storage: StorageBackend, realm: Realm
    ) -> None:
        await store_memories(storage, memory("the hero fears water", realm=realm, **ALLERGY))

        assert await core_contents(storage, viewpoint_of(realm=realm)) == ["the hero fears water"]
        assert await core_contents(storage) == []
        assert await core_contents(storage, viewpoint_of(OTHER_PERSONA)) == []
        assert await core_contents(storage, viewpoint_of(OTHER_PERSONA, realm=realm)) == []

    async def test_a_real_allergy_holds_inside_a_story(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("no seafood", **ALLERGY))

        assert await core_contents(storage, viewpoint_of(realm=Realm.STORY)) == ["no seafood"]
        story_elsewhere = viewpoint_of(OTHER_PERSONA, realm=Realm.STORY)
        assert await core_contents(storage, story_elsewhere) == ["no seafood"]

    async def test_the_core_of_a_bot_is_its_own(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("no bot", **ALLERGY),
            memory("one", bot_id="bot-1", **ALLERGY),
            memory("two", bot_id="bot-2", pinned=True),
        )

        assert await core_contents(storage) == ["no bot"]
        assert await core_contents(storage, viewpoint_of(bot_id="bot-1")) == ["one"]
        assert await core_contents(storage, viewpoint_of(OTHER_PERSONA, bot_id="bot-1")) == ["one"]
        assert await core_contents(storage, viewpoint_of(OTHER_PERSONA)) == ["no bot"]
        assert await core_contents(storage, viewpoint_of(all_bots=True)) == ["no bot", "one", "two"]

    async def test_it_depends_on_neither_session_nor_app(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("whole", **ALLERGY),
            memory("narrow", scope=Scope.SESSION, session_id="s-1", **ALLERGY),
            memory("narrow", scope=Scope.APP, source_app="ide", **ALLERGY),
        )

        assert await core_contents(storage) == ["whole"]
        assert await core_contents(storage, viewpoint_of(session_id="s-1", source_app="ide")) == [
            "whole"
        ]
