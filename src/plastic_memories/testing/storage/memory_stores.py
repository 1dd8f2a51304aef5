"""What every memory store must keep, find, change and forget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.model.memory import (
    Memory,
    MemoryOutline,
    MemoryType,
    Scope,
    SourceType,
    Status,
)
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter, MemoryOrder, MemoryPosition
from plastic_memories.testing.samples import (
    HOSTILE_TEXTS,
    MINE,
    NOW,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    STRANGERS,
    contents,
    memory,
    message,
    search_contents,
    store_memories,
    store_messages,
)

EVERYTHING = MemoryFilter()
FULL = memory(
    "每天早上喝乌龙茶",
    type=MemoryType.EVENT,
    key="habit.tea",
    tags=("茶", "morning"),
    scope=Scope.APP,
    realm=Realm.STORY,
    source_type=SourceType.MODEL_INFERRED,
    source_ref="chat:7",
    source_app="ide",
    bot_id="bot-1",
    session_id="s-1",
    branch_id="b-1",
    speaker="Lin",
    quote="我每天早上喝乌龙茶",
    confidence=0.75,
    importance=0.25,
    pinned=True,
    expires_at=NOW + 10,
    occurred_at=NOW - 10.5,
    metadata={"deep": {"list": [1, None, "茶"]}},
    attributes={"date": "2024-02-29"},
    idempotency_key="once",
)
# One row of each pair fits the filter, the other does not.
FILTER_CASES: tuple[tuple[MemoryFilter, dict[str, Any], dict[str, Any]], ...] = (
    (MemoryFilter(statuses={Status.REVOKED}), {"status": Status.REVOKED}, {}),
    (MemoryFilter(types={MemoryType.NOTE}), {"type": MemoryType.NOTE}, {}),
    (MemoryFilter(key="k"), {"key": "k"}, {"key": "K"}),
    (MemoryFilter(key_prefix="a_b."), {"key": "a_b.c"}, {"key": "A_b.c"}),
    (MemoryFilter(key_prefix="a_b."), {"key": "a_b.c"}, {"key": "axb.c"}),
    (
        MemoryFilter(event_type="plan"),
        {"attributes": {"event_type": "plan"}},
        {"attributes": {"title": "plan"}},
    ),
    (MemoryFilter(min_importance=0.5), {"importance": 0.5}, {"importance": 0.4}),
    (MemoryFilter(created_since=NOW), {"created_at": NOW}, {"created_at": NOW - 1}),
    (MemoryFilter(created_before=NOW), {"created_at": NOW - 1}, {"created_at": NOW}),
    (MemoryFilter(scope=Scope.GLOBAL), {"scope": Scope.GLOBAL}, {}),
    (
        MemoryFilter(scope=Scope.SESSION, scope_ref="s-1"),
        {"scope": Scope.SESSION, "session_id": "s-1"},
        {"scope": Scope.SESSION, "session_id": "s-2"},
    ),
    (MemoryFilter(realm=Realm.STORY), {"realm": Realm.STORY}, {}),
    (MemoryFilter(bot_id="bot-1"), {"bot_id": "bot-1"}, {"bot_id": "bot-2"}),
    (MemoryFilter(bot_id=""), {}, {"bot_id": "bot-1"}),
    (MemoryFilter(session_id="晚上"), {"session_id": "晚上"}, {}),
    (MemoryFilter(source_app="ide"), {"source_app": "ide"}, {"source_app": "chat"}),
    (MemoryFilter(is_superseded=False), {}, {"superseded_by": 7}),
    (MemoryFilter(only_app="ide"), {"source_app": "chat"}, {"scope": Scope.APP}),
    *(
        (
            MemoryFilter(only_app="ide"),
            {"scope": scope, "session_id": "s-1", "source_app": "ide"},
            {"scope": scope, "session_id": "s-1", "source_app": "chat"},
        )
        for scope in (Scope.APP, Scope.SESSION)
    ),
    (
        MemoryFilter(for_session="s-1"),
        {"scope": Scope.SESSION, "session_id": "s-1"},
        {"scope": Scope.SESSION, "session_id": "s-2"},
    ),
    (MemoryFilter(for_session=""), {}, {"scope": Scope.SESSION, "session_id": "s-2"}),
    (MemoryFilter(learned_in="s-1"), {"session_id": "s-1"}, {"session_id": "s-2"}),
    (MemoryFilter(learned_in="s-1"), {}, {"session_id": "s-2"}),
    (MemoryFilter(idempotency_key="once"), {"idempotency_key": "once"}, {}),
    (MemoryFilter(not_expired_at=NOW), {"expires_at": NOW + 1}, {"expires_at": NOW}),
    (MemoryFilter(unchanged_since=NOW), {"updated_at": NOW}, {"updated_at": NOW + 1}),
)


class MemoryStoreContract:
    """Add, get, find, save, erase, touch: for the owner's rows, and for no other's."""

    async def test_what_was_added_comes_back_whole(self, storage: StorageBackend) -> None:
        [message_id] = await store_messages(storage, message())

        [added] = await store_memories(storage, replace(FULL, source_message_ids=(message_id,)))

        assert added.id > 0
        assert added.root_id == added.id
        kept = replace(FULL, source_message_ids=(message_id,), id=added.id, root_id=added.id)
        assert await _get(storage, MINE, added.id) == kept

    async def test_a_later_version_keeps_its_root(self, storage: StorageBackend) -> None:
        [first] = await store_memories(storage, memory("tea", status=Status.REVOKED))

        [second] = await store_memories(storage, memory("coffee", root_id=first.id))

        assert second.root_id == first.id
        chain = await _find(storage, MINE, MemoryFilter(root_ids={first.id}))
        assert contents(chain) == ["coffee", "tea"]

    async def test_rows_come_newest_first_page_by_page(self, storage: StorageBackend) -> None:
        rows = await store_memories(storage, *(memory(f"fact {n}") for n in range(5)))

        first = await _find(storage, MINE, MemoryFilter(limit=2))
        second = await _find(storage, MINE, MemoryFilter(limit=2, before_id=first[-1].id))

        assert [row.id for row in (*first, *second)] == [row.id for row in rows[:0:-1]]

    @pytest.mark.parametrize(
        ("order", "expected"),
        [
            (MemoryOrder.NEWEST, ["third", "second", "first"]),
            (MemoryOrder.OLDEST, ["first", "second", "third"]),
            (MemoryOrder.IMPORTANCE, ["second", "third", "first"]),
        ],
    )
    async def test_any_order_comes_page_by_page(
        self, storage: StorageBackend, order: MemoryOrder, expected: list[str]
    ) -> None:
        given = (("first", 0.1), ("second", 0.9), ("third", 0.1))
        await store_memories(storage, *(memory(text, importance=much) for text, much in given))

        seen: list[Memory] = []
        for _ in given:
            last = MemoryPosition(seen[-1].id, seen[-1].importance) if seen else None
            seen += await _find(storage, MINE, MemoryFilter(order=order, after=last, limit=1))

        assert contents(seen) == expected

    @pytest.mark.parametrize(("wanted", "fitting", "other"), FILTER_CASES)
    async def test_a_memory_filter_lets_through_what_fits(
        self,
        storage: StorageBackend,
        wanted: MemoryFilter,
        fitting: dict[str, Any],
        other: dict[str, Any],
    ) -> None:
        await store_memories(storage, memory("fits", **fitting), memory("does not", **other))

        assert contents(await _find(storage, MINE, wanted)) == ["fits"]

    async def test_outlines_say_what_the_rows_say_and_when_the_first_was_made(
        self, storage: StorageBackend
    ) -> None:
        [first] = await store_memories(storage, replace(FULL, status=Status.REVOKED))
        changed = replace(FULL, idempotency_key="", root_id=first.id, created_at=NOW + 60)
        [second] = await store_memories(storage, changed)
        await store_memories(storage, *(memory("别人的", owner=other) for other in STRANGERS))

        outlines = await storage.read(
            lambda stores: stores.memory_search.outlines(MINE, EVERYTHING)
        )

        assert [row.id for row in outlines] == [second.id, first.id]
        assert [row.made_at for row in outlines] == [first.created_at] * 2
        for row, whole in zip(outlines, (second, first), strict=True):
            same = set(MemoryOutline.__slots__) - {"made_at"}
            assert {n: getattr(row, n) for n in same} == {n: getattr(whole, n) for n in same}

    async def test_an_empty_collection_lets_nothing_through(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory())

        for name in ("statuses", "types", "ids", "root_ids", "source_message_ids"):
            nothing: dict[str, Any] = {name: ()}
            assert await _find(storage, MINE, MemoryFilter(**nothing)) == []

    async def test_a_collection_of_any_size_lets_through_what_it_names(
        self, storage: StorageBackend
    ) -> None:
        rows = await store_memories(storage, *(memory(f"fact {n}") for n in range(40)))

        for size in (1, 2, 5, 40):
            ids = {row.id for row in rows[:size]}
            found_rows = await _find(storage, MINE, MemoryFilter(ids=ids))
            assert {row.id for row in found_rows} == ids

    async def test_erasing_nothing_erases_nothing_else(self, storage: StorageBackend) -> None:
        [added] = await store_memories(storage, memory())

        await storage.write(lambda stores: stores.memories.erase(MINE, [], NOW))

        assert await _get(storage, MINE, added.id) == added

    async def test_rows_are_found_by_the_message_they_came_from(
        self, storage: StorageBackend
    ) -> None:
        one, other = await store_messages(storage, message("a"), message("b"))
        await store_memories(
            storage,
            memory("from one", source_message_ids=(one,)),
            memory("from both", source_message_ids=(one, other)),
            memory("from none"),
        )

        wanted = MemoryFilter(source_message_ids={other})
        assert contents(await _find(storage, MINE, wanted)) == ["from both"]

    @pytest.mark.parametrize("text", ["%", "_", "\\", "100%", "a_b", "'", '"', "茶", "50\\%"])
    async def test_containing_is_taken_literally(self, storage: StorageBackend, text: str) -> None:
        await store_memories(
            storage, memory(f"here {text} it is", key="1"), memory("plain", key="2")
        )

        rows = await _find(storage, MINE, MemoryFilter(containing=text))

        assert contents(rows) == [f"here {text} it is"]

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    async def test_any_text_is_remembered_as_it_is(
        self, storage: StorageBackend, text: str
    ) -> None:
        row = memory(text, key=text[:50], tags=(text[:50],), metadata={"text": text})

        [added] = await store_memories(storage, row)

        assert await _get(storage, MINE, added.id) == added
        assert added.content == text
        assert contents(await _find(storage, MINE, MemoryFilter(key=text[:50]))) == [text]
        await _find(storage, MINE, MemoryFilter(containing=text))

    async def test_a_saved_row_has_its_new_state(self, storage: StorageBackend) -> None:
        [added] = await store_memories(storage, memory("tea", tags=("old",)))
        changed = replace(
            added,
            content="coffee",
            tags=("new",),
            quote="said so",
            confidence=0.1,
            importance=0.9,
            pinned=True,
            expires_at=NOW + 5,
            metadata={"n": 1},
            attributes={"value": "coffee"},
            updated_at=NOW + 1,
        )

        await storage.write(lambda stores: stores.memories.save(changed))

        assert await _get(storage, MINE, added.id) == changed
        assert await search_contents(storage, "coffee") == ["coffee"]
        assert await search_contents(storage, "tea old") == []

    async def test_a_touched_row_is_otherwise_the_same(self, storage: StorageBackend) -> None:
        [added] = await store_memories(storage, memory())

        await storage.write(lambda s: s.memory_search.touch([(MINE, added.id)], NOW + 1))
        await storage.write(lambda s: s.memory_search.touch([(MINE, added.id)], NOW + 2))

        touched = replace(added, last_recalled_at=NOW + 2, recall_count=2)
        assert await _get(storage, MINE, added.id) == touched

    async def test_an_erased_row_is_nowhere(self, storage: StorageBackend) -> None:
        [message_id] = await store_messages(storage, message())
        gone, stays = await store_memories(
            storage,
            memory("green tea", scope=Scope.GLOBAL, source_message_ids=(message_id,)),
            memory("black tea"),
        )

        await storage.write(lambda stores: stores.memories.erase(MINE, [gone.id], NOW))

        assert await _get(storage, MINE, gone.id) is None
        assert contents(await _find(storage, MINE, EVERYTHING)) == ["black tea"]
        assert await storage.read(lambda s: s.memory_search.find_global(MINE, EVERYTHING)) == []
        from_it = MemoryFilter(source_message_ids={message_id})
        assert await _find(storage, MINE, from_it) == []
        assert await search_contents(storage, "tea green") == ["black tea"]
        assert await _get(storage, MINE, stays.id) == stays

    async def test_an_id_is_never_given_twice(self, storage: StorageBackend) -> None:
        [first] = await store_memories(storage, memory())
        await storage.write(lambda stores: stores.memories.erase(MINE, [first.id], NOW))

        [second] = await store_memories(storage, memory())

        assert second.id > first.id

    async def test_every_persona_finds_what_is_stored_for_all_of_them(
        self, storage: StorageBackend
    ) -> None:
        shared = memory("海鲜", type=MemoryType.PROFILE, key="constraint.allergy.seafood")
        shared = replace(shared, owner=MINE.for_all_personas, scope=Scope.GLOBAL, told_to="p")
        other = replace(MINE, persona_id="another persona")

        def add(stores: Stores) -> Memory:
            stores.personas.ensure(MINE, NOW)
            return stores.memories.add(shared)

        added = await storage.write(add)

        def lookups(stores: Stores) -> list[list[Memory]]:
            rows = stores.memories
            one = rows.get(other, added.id)
            return [
                [one] if one else [],
                rows.find(other, MemoryFilter(key=shared.key)),
                rows.find_same_key(other, shared),
            ]

        assert await storage.read(lookups) == [[added]] * 3

    async def test_global_rows_of_all_personas_are_found_together(
        self, storage: StorageBackend
    ) -> None:
        await store_memories(
            storage,
            memory("mine", scope=Scope.GLOBAL),
            memory("local"),
            memory("butler's", OTHER_PERSONA, scope=Scope.GLOBAL),
            memory("butler's story", OTHER_PERSONA, scope=Scope.GLOBAL, realm=Realm.STORY),
            memory("of another user", OTHER_USER, scope=Scope.GLOBAL),
            memory("of another tenant", OTHER_TENANT, scope=Scope.GLOBAL),
        )

        rows = await storage.read(lambda s: s.memory_search.find_global(MINE, EVERYTHING))

        assert contents(rows) == ["butler's", "mine"]

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_reads_no_memory(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        [message_id] = await store_messages(storage, message())
        [mine] = await store_memories(
            storage, memory(source_message_ids=(message_id,), idempotency_key="once")
        )
        await store_memories(
            storage, memory("a stranger's", stranger, key="x", status=Status.REVOKED)
        )

        assert await _get(storage, stranger, mine.id) is None
        for wanted in (
            MemoryFilter(ids={mine.id}),
            MemoryFilter(root_ids={mine.id}),
            MemoryFilter(key=mine.key),
            MemoryFilter(idempotency_key="once"),
            MemoryFilter(source_message_ids={message_id}),
            MemoryFilter(containing="tea"),
            MemoryFilter(statuses={Status.ACTIVE}),
        ):
            assert await _find(storage, stranger, wanted) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_changes_no_memory(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        [mine] = await store_memories(storage, memory())
        await store_memories(storage, memory("a stranger's", stranger))
        forged = replace(mine, owner=stranger, content="forged", status=Status.REVOKED)

        await storage.write(lambda stores: stores.memories.save(forged))
        await storage.write(lambda stores: stores.memories.erase(stranger, [mine.id], NOW))
        await storage.write(lambda stores: stores.memory_search.touch([(stranger, mine.id)], NOW))

        assert await _get(storage, MINE, mine.id) == mine
        assert await search_contents(storage, "tea") == [mine.content]
        assert await storage.read(lambda stores: stores.upkeep.check()) == []

    async def test_a_redacted_row_keeps_its_place_and_no_word(
        self, storage: StorageBackend
    ) -> None:
        [row] = await store_memories(storage, memory("I keep a quokka", key="pet.quokka"))
        ended = replace(row, status=Status.REVOKED)
        await storage.write(lambda s: s.memories.save(ended))

        await storage.write(lambda s: s.memories.redact(ended))

        [left] = await storage.read(lambda s: s.memories.find(MINE, EVERYTHING))
        assert (left.id, left.type, left.status) == (row.id, row.type, Status.REVOKED)
        assert "quokka" not in str(left)
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_an_active_row_is_not_redacted(self, storage: StorageBackend) -> None:
        [row] = await store_memories(storage, memory("I keep a quokka"))

        await storage.write(lambda s: s.memories.redact(row))

        [left] = await storage.read(lambda s: s.memories.find(MINE, EVERYTHING))
        assert left.content == "I keep a quokka"

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_redacts_nothing(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        [row] = await store_memories(storage, memory("mine", status=Status.REVOKED))

        await storage.write(lambda s: s.memories.redact(replace(row, owner=stranger)))

        [left] = await storage.read(lambda s: s.memories.find(MINE, EVERYTHING))
        assert left.content == "mine"


async def _get(storage: StorageBackend, owner: Owner, memory_id: int) -> Memory | None:
    return await storage.read(lambda stores: stores.memories.get(owner, memory_id))


async def _find(storage: StorageBackend, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
    return await storage.read(lambda stores: stores.memories.find(owner, wanted))
