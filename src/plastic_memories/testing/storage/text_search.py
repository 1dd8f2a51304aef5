"""What a search must find, and what it must never find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.memory import MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.recall import TextMatches
from plastic_memories.ports.storage import StorageBackend
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
    viewpoint_of,
)

FINDABLE = (
    ("我对海鲜过敏", "海鲜"),
    ("我对海鲜过敏", "我能吃海鲜吗？"),
    ("她养了一只猫", "猫"),
    ("I like oolong tea", "what tea?"),
    ("I like oolong tea", "TEA"),
    ("She was running in the park", "runs"),
    ("They have two puppies", "puppy"),
    ("He is happy", "happiness"),
    ("用 Rust 写了个 CLI 工具", "rust"),
    ("用 Rust 写了个 CLI 工具", "工具"),
    ("周末去 Café Müller 喝咖啡", "cafe"),
    ("周末去 Café Müller 喝咖啡", "咖啡"),
    ("ＡＢＣ公司", "abc"),
    ("毎朝コーヒーを飲む", "コーヒー"),
    ("Order 4711 is late", "4711"),
    ("生日礼物想要🎁", "🎁"),
)
LOOKALIKES = (("I saw a steam train", "tea"), ("He reads scarlet novels", "car"))


class TextSearchContract:
    """Search, from one viewpoint: everything it may see, and nothing else."""

    @pytest.mark.parametrize(("content", "query"), FINDABLE)
    async def test_what_was_added_is_found(
        self, storage: StorageBackend, content: str, query: str
    ) -> None:
        await store_memories(storage, memory(content), memory("an unrelated remark"))

        assert await search_contents(storage, query) == [content]

    @pytest.mark.parametrize(("content", "query"), LOOKALIKES)
    async def test_a_part_of_a_word_is_not_the_word(
        self, storage: StorageBackend, content: str, query: str
    ) -> None:
        await store_memories(storage, memory(content))

        assert await search_contents(storage, query) == []

    async def test_tags_and_worded_keys_are_found(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("red and round", tags=("apple",)),
            memory("不能吃", type=MemoryType.PROFILE, key="constraint.allergy.seafood"),
        )

        assert await search_contents(storage, "apples") == ["red and round"]
        assert await search_contents(storage, "seafood allergy") == ["不能吃"]

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    async def test_query_text_is_never_syntax(self, storage: StorageBackend, text: str) -> None:
        await store_memories(storage, memory("I like oolong"), memory("nothing of that", key="2"))

        assert await search_contents(storage, text) == []

    @pytest.mark.parametrize("term", HOSTILE_TEXTS[2:], ids=range(2, len(HOSTILE_TEXTS)))
    async def test_a_term_is_never_syntax(self, storage: StorageBackend, term: str) -> None:
        await store_memories(storage, memory("I like oolong"), memory("nothing of that", key="2"))

        matches = await storage.read(
            lambda s: s.memory_search.search(viewpoint_of(), [term], 10, NOW)
        )

        assert list(matches.memories) == []

    async def test_no_terms_find_nothing(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory())

        assert await search_contents(storage, "") == []

    async def test_a_persona_nobody_has_named_finds_nothing(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory())

        assert await search_contents(storage, "tea", viewpoint_of(Owner("new", "new", "new"))) == []

    async def test_the_better_match_comes_first(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("jasmine tea with honey in a blue cup"),
            *(memory(f"tea number {n}") for n in range(5)),
        )

        best = await search_contents(storage, "jasmine tea honey", limit=1)

        assert best == ["jasmine tea with honey in a blue cup"]

    async def test_no_more_than_the_limit_is_found(self, storage: StorageBackend) -> None:
        await store_memories(storage, *(memory(f"tea {n}") for n in range(5)))

        assert len(await search_contents(storage, "tea", limit=3)) == 3

    async def test_every_match_has_its_score(self, storage: StorageBackend) -> None:
        await store_memories(storage, *(memory(f"tea {'honey ' * n}".strip()) for n in range(5)))

        matches = await _search(storage, "tea honey")

        assert len(matches.scores) == len(matches.memories) == 5
        assert list(matches.scores) == sorted(matches.scores, reverse=True)

    @pytest.mark.parametrize("status", [Status.CANDIDATE, Status.REVOKED, Status.EXPIRED])
    async def test_only_active_rows_are_found(
        self, storage: StorageBackend, status: Status
    ) -> None:
        [added] = await store_memories(storage, memory())

        await storage.write(lambda s: s.memories.save(replace(added, status=status)))
        assert await search_contents(storage, "tea") == []

        await storage.write(lambda s: s.memories.save(added))
        assert await search_contents(storage, "tea") == [added.content]

    async def test_an_expired_row_is_not_found(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory(expires_at=NOW))

        assert await search_contents(storage, "tea", now=NOW - 1) == ["I like oolong tea"]
        assert await search_contents(storage, "tea", now=NOW) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_search_by_a_stranger_finds_nothing(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await store_memories(storage, memory(), memory("coffee", stranger))

        assert await search_contents(storage, "tea", viewpoint_of(stranger)) == []
        assert await search_contents(storage, "tea", viewpoint_of(stranger, all_bots=True)) == []

    async def test_a_global_row_is_found_by_every_persona_of_the_user(
        self, storage: StorageBackend
    ) -> None:
        row = memory(scope=Scope.GLOBAL)
        strangers = [memory("coffee", owner) for owner in STRANGERS]
        await store_memories(storage, row, *strangers)

        assert await search_contents(storage, "tea") == [row.content]
        assert await search_contents(storage, "tea", viewpoint_of(OTHER_PERSONA)) == [row.content]
        assert await search_contents(storage, "tea", viewpoint_of(OTHER_USER)) == []
        assert await search_contents(storage, "tea", viewpoint_of(OTHER_TENANT)) == []

    async def test_a_story_is_not_found_by_another_persona(self, storage: StorageBackend) -> None:
        row = memory("the dragon drinks tea", scope=Scope.GLOBAL, realm=Realm.STORY)
        await store_memories(storage, row, memory("coffee", OTHER_PERSONA))

        assert await search_contents(storage, "tea", viewpoint_of(realm=Realm.STORY)) == [
            row.content
        ]
        assert (
            await search_contents(storage, "tea", viewpoint_of(OTHER_PERSONA, realm=Realm.STORY))
            == []
        )
        assert await search_contents(storage, "tea", viewpoint_of(OTHER_PERSONA)) == []

    @pytest.mark.parametrize("realm", [Realm.STORY, Realm.HYPOTHETICAL, Realm.OOC])
    async def test_realms_do_not_see_each_other(
        self, storage: StorageBackend, realm: Realm
    ) -> None:
        await store_memories(storage, memory("real tea"), memory("other tea", realm=realm))

        assert await search_contents(storage, "tea") == ["real tea"]
        assert await search_contents(storage, "tea", viewpoint_of(realm=realm)) == ["other tea"]

    async def test_bots_do_not_find_each_others_rows(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("tea without a bot"),
            memory("tea of one", bot_id="bot-1"),
            memory("tea of two", bot_id="bot-2", scope=Scope.GLOBAL),
        )

        assert await search_contents(storage, "tea") == ["tea without a bot"]
        assert await search_contents(storage, "tea", viewpoint_of(bot_id="bot-1")) == ["tea of one"]
        assert (
            await search_contents(storage, "tea", viewpoint_of(OTHER_PERSONA, bot_id="bot-1")) == []
        )
        assert len(await search_contents(storage, "tea", viewpoint_of(all_bots=True))) == 3

    @pytest.mark.parametrize(
        ("scope", "place"),
        [(Scope.SESSION, {"session_id": "s-1"}), (Scope.APP, {"source_app": "ide"})],
    )
    async def test_a_narrow_scope_is_found_in_its_place_only(
        self, storage: StorageBackend, scope: Scope, place: dict[str, Any]
    ) -> None:
        await store_memories(storage, memory(scope=scope, **place))

        assert await search_contents(storage, "tea", viewpoint_of(**place)) == ["I like oolong tea"]
        assert await search_contents(storage, "tea") == []
        elsewhere: dict[str, Any] = dict.fromkeys(place, "elsewhere")
        assert await search_contents(storage, "tea", viewpoint_of(**elsewhere)) == []

    async def test_a_reader_of_one_app_does_not_find_what_another_keeps_of_a_session(
        self, storage: StorageBackend
    ) -> None:
        place: dict[str, Any] = {"scope": Scope.SESSION, "session_id": "s-1"}
        await store_memories(
            storage,
            memory("tea in the chat", source_app="chat", **place),
            memory("tea in the ide", source_app="ide", **place),
            memory("tea for all", source_app="chat"),
        )
        view = viewpoint_of(session_id="s-1", source_app="ide", only_app="ide")

        assert sorted(await search_contents(storage, "tea", view)) == [
            "tea for all",
            "tea in the ide",
        ]
        assert len(await search_contents(storage, "tea", viewpoint_of(session_id="s-1"))) == 3

    async def test_a_reader_of_one_session_sees_what_was_said_there(
        self, storage: StorageBackend
    ) -> None:
        here, there = await store_messages(
            storage, message(session_id="s-1"), message(session_id="s-2")
        )
        await store_memories(
            storage,
            memory("tea said here", session_id="s-1"),
            memory("tea said there", session_id="s-2", source_message_ids=(there,)),
            memory("tea said in both", session_id="s-2", source_message_ids=(here, there)),
            memory("tea nobody said", scope=Scope.GLOBAL),
        )
        view = viewpoint_of(session_id="s-1", only_session=True)

        expected = ["tea nobody said", "tea said here", "tea said in both"]
        ids = await storage.read(lambda stores: stores.memory_search.ids_in_session(view))
        rows = await storage.read(lambda stores: stores.memory_search.visible(view, ids, NOW))
        assert sorted(contents(rows)) == expected
        assert sorted(await search_contents(storage, "tea", view)) == expected
        assert len(await search_contents(storage, "tea", viewpoint_of(session_id="s-1"))) == 4

    async def test_rows_of_a_type_are_the_personas_own_and_the_shared(
        self, storage: StorageBackend
    ) -> None:
        [own, _, shared, _, _] = await store_memories(
            storage,
            memory("own", type=MemoryType.NOTE),
            memory("of another type", type=MemoryType.FACT),
            memory("shared", type=MemoryType.NOTE, scope=Scope.GLOBAL, owner=OTHER_PERSONA),
            memory("hers", type=MemoryType.NOTE, owner=OTHER_PERSONA),
            memory("revoked", type=MemoryType.NOTE, status=Status.REVOKED),
        )

        ids = await storage.read(
            lambda stores: stores.memory_search.ids_of_types(MINE, {MemoryType.NOTE})
        )

        assert sorted(ids) == sorted([own.id, shared.id])

    async def test_a_narrow_scope_without_a_place_is_found_nowhere(
        self, storage: StorageBackend
    ) -> None:
        await store_memories(storage, memory(scope=Scope.SESSION))

        assert await search_contents(storage, "tea") == []


async def _search(storage: StorageBackend, text: str) -> TextMatches:
    terms = query_terms(text)
    return await storage.read(lambda s: s.memory_search.search(viewpoint_of(), terms, 10, NOW))
