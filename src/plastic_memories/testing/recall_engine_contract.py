"""Contract tests for recall engines; a plug-in's test class inherits them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import pytest

from plastic_memories.errors import Unavailable
from plastic_memories.model.memory import Scope, Status
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.model.recall import Findings, RecallQuery
from plastic_memories.ports.recall_engine import RecallEngine, SnapshotEngine
from plastic_memories.ports.storage import Residue, StorageBackend, Stores
from plastic_memories.testing.samples import (
    HOSTILE_TEXTS,
    MINE,
    NOW,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    STRANGERS,
    memory,
    store_memories,
    viewpoint_of,
)

T = TypeVar("T")
REALMS = (Realm.REAL, Realm.STORY)
CONTENT_AND_QUESTION = (
    ("我对海鲜过敏", "海鲜"),
    ("I like oolong tea", "what tea?"),
    ("用 Rust 写了个 CLI 工具", "rust 工具"),
)


class BrokenStorage:
    """A storage that is down."""

    async def read(self, work: Callable[[Stores], T]) -> T:
        raise Unavailable("The database does not answer.")

    async def write(self, work: Callable[[Stores], T]) -> T:
        raise Unavailable("The database cannot write now.")

    async def scrub(self) -> Residue:
        raise Unavailable("The database cannot write now.")

    async def describe(self) -> Mapping[str, Any]:
        raise Unavailable("The database does not answer.")


class SilentStorage(BrokenStorage):
    """A storage that never answers."""

    async def read(self, work: Callable[[Stores], T]) -> T:
        await asyncio.Event().wait()
        raise AssertionError("Nothing sets that event.")


class RecallEngineContract:
    """Inherit it and provide a storage and a factory that builds an engine on one."""

    @pytest.fixture
    def storage(self) -> StorageBackend:
        raise NotImplementedError("Override this fixture with an empty storage.")

    def build(self, storage: StorageBackend) -> RecallEngine:
        raise NotImplementedError("Override this method: return the engine under test.")

    @pytest.fixture
    def engine(self, storage: StorageBackend) -> RecallEngine:
        return self.build(storage)

    @pytest.mark.parametrize(("content", "asked"), CONTENT_AND_QUESTION)
    async def test_what_bears_on_the_text_comes_first(
        self, storage: StorageBackend, engine: RecallEngine, content: str, asked: str
    ) -> None:
        await store_memories(storage, memory("an unrelated remark"), memory(content))

        findings = await engine.find(_query(asked))

        assert _contents(findings)[:1] == [content]
        assert findings.degraded == ()

    @pytest.mark.parametrize(("content", "asked"), CONTENT_AND_QUESTION)
    async def test_what_is_asked_in_other_words_is_found_as_well(
        self, storage: StorageBackend, engine: RecallEngine, content: str, asked: str
    ) -> None:
        await store_memories(storage, memory("the sun shines"), memory(content))

        findings = await engine.find(replace(_query("sun"), rephrasings=(asked,)))

        assert {*_contents(findings)} == {"the sun shines", content}

    async def test_hits_come_best_first_and_within_the_limit(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        await store_memories(storage, *(memory(f"tea {'honey ' * n}".strip()) for n in range(8)))

        findings = await engine.find(replace(_query("honey tea"), limit=3))

        scores = [hit.score for hit in findings.hits]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)

    async def test_only_some_may_be_found_and_none_scores_less(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        texts = (f"茶 tea {'honey ' * n}{n}" for n in range(8))
        rows = await store_memories(storage, *(memory(text) for text in texts))
        some = frozenset({rows[0].id, rows[3].id})
        asked = _query("honey tea 茶")
        free = {hit.memory.id: hit.score for hit in (await engine.find(asked)).hits}

        found = await engine.find(replace(asked, limit=5, only_memory_ids=some))

        assert {hit.memory.id for hit in found.hits} == some
        for hit in found.hits:
            assert hit.score >= free[hit.memory.id] - 1e-6
        assert (await engine.find(replace(asked, only_memory_ids=frozenset()))).hits == []

    async def test_no_memory_is_found_twice(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        await store_memories(storage, memory("tea, tea and tea", scope=Scope.GLOBAL), memory("tea"))

        findings = await engine.find(_query("tea tea"))

        ids = [hit.memory.id for hit in findings.hits]
        assert len(ids) == len(set(ids))

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    async def test_no_text_makes_it_fail(
        self, storage: StorageBackend, engine: RecallEngine, text: str
    ) -> None:
        await store_memories(storage, memory("I like oolong tea"))

        findings = await engine.find(_query(text))

        assert findings.degraded == ()
        assert set(_contents(findings)) <= {"I like oolong tea"}

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_finds_nothing(
        self, storage: StorageBackend, engine: RecallEngine, stranger: Owner
    ) -> None:
        await store_memories(storage, memory(), memory("coffee", stranger))

        findings = await engine.find(_query("oolong tea", viewpoint_of(stranger, all_bots=True)))

        assert "I like oolong tea" not in _contents(findings)

    @pytest.mark.parametrize(
        "given",
        [
            {"status": Status.CANDIDATE},
            {"status": Status.REVOKED},
            {"status": Status.EXPIRED},
            {"expires_at": NOW},
            {"bot_id": "bot-1"},
            {"realm": Realm.STORY},
            {"scope": Scope.SESSION, "session_id": "s-1"},
            {"scope": Scope.APP, "source_app": "ide"},
            {"owner": OTHER_PERSONA},
            {"owner": OTHER_USER, "scope": Scope.GLOBAL},
            {"owner": OTHER_TENANT, "scope": Scope.GLOBAL},
        ],
        ids=str,
    )
    async def test_what_the_viewpoint_may_not_see_is_not_found(
        self, storage: StorageBackend, engine: RecallEngine, given: dict[str, Any]
    ) -> None:
        await store_memories(storage, memory("oolong tea", **given), memory("my own remark"))

        findings = await engine.find(_query("oolong tea"))

        assert "oolong tea" not in _contents(findings)

    async def test_a_change_is_seen_by_the_very_next_search(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        before = await engine.find(_query("oolong tea"))
        [row] = await store_memories(storage, memory())
        written = await engine.find(_query("oolong tea"))
        await storage.write(lambda s: s.memories.save(replace(row, content="jasmine, no oolong")))
        changed = await engine.find(_query("oolong tea"))
        await storage.write(lambda s: s.memories.save(replace(row, status=Status.REVOKED)))
        revoked = await engine.find(_query("oolong tea"))

        found = [_contents(findings) for findings in (before, written, changed, revoked)]
        assert found == [[], ["I like oolong tea"], ["jasmine, no oolong"], []]

    async def test_what_is_forgotten_is_not_found_again(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        [row, _] = await store_memories(storage, memory(), memory("tea for two"))
        await engine.find(_query("tea"))

        await storage.write(lambda s: s.memories.erase(row.owner, [row.id], NOW))

        assert _contents(await engine.find(_query("tea"))) == ["tea for two"]

    async def test_time_alone_makes_a_memory_expire(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        await store_memories(storage, memory(expires_at=NOW + 1))

        last, over = [await engine.find(replace(_query("tea"), now=NOW + s)) for s in (0, 1)]

        assert (len(last.hits), len(over.hits)) == (1, 0)

    @pytest.mark.parametrize(
        ("given", "view"),
        [
            ({"bot_id": "bot-1"}, {"bot_id": "bot-1"}),
            ({"bot_id": "bot-1"}, {"all_bots": True}),
            ({"realm": Realm.STORY}, {"realm": Realm.STORY}),
            ({"scope": Scope.SESSION, "session_id": "s-1"}, {"session_id": "s-1"}),
            ({"scope": Scope.APP, "source_app": "ide"}, {"source_app": "ide"}),
            ({"scope": Scope.GLOBAL, "owner": OTHER_PERSONA}, {}),
        ],
        ids=str,
    )
    async def test_readers_in_turn_see_each_their_own(
        self,
        storage: StorageBackend,
        engine: RecallEngine,
        given: dict[str, Any],
        view: dict[str, Any],
    ) -> None:
        await store_memories(storage, memory("oolong tea", **given))
        stranger = viewpoint_of(OTHER_USER, **view)

        for _ in range(2):
            inside = await engine.find(_query("oolong tea", viewpoint_of(**view)))
            outside = await engine.find(_query("oolong tea", stranger))
            assert (_contents(inside), _contents(outside)) == (["oolong tea"], [])

    async def test_a_search_in_a_snapshot_looks_from_the_viewpoint_it_is_given(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        if not isinstance(engine, SnapshotEngine):
            pytest.skip("This engine searches by itself only.")
        real, story = (memory(f"oolong tea, {realm}", realm=realm) for realm in REALMS)
        await store_memories(storage, real, story)

        for view in (viewpoint_of(realm=realm) for realm in REALMS):
            search = await engine.prepare(_query("oolong tea", view))
            for row in (real, story):
                given = viewpoint_of(realm=row.realm)
                findings = await storage.read(partial(_run_search, search, given))
                assert _contents(findings) == [row.content]

    async def test_many_may_ask_at_once(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        await store_memories(storage, memory(), memory("green tea", OTHER_USER))
        views = [viewpoint_of(owner) for owner in (MINE, OTHER_USER)] * 8

        found = await asyncio.gather(*(engine.find(_query("tea", view)) for view in views))

        assert [_contents(one) for one in found] == [["I like oolong tea"], ["green tea"]] * 8

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    async def test_nothing_that_was_said_before_makes_it_fail(
        self, storage: StorageBackend, engine: RecallEngine, text: str
    ) -> None:
        await store_memories(storage, memory("I like oolong tea"))
        before = (("user", text), ("assistant", text))

        findings = await engine.find(replace(_query("oolong tea"), recent=before))

        assert _contents(findings) == ["I like oolong tea"]
        assert findings.degraded == ()

    async def test_a_hit_says_who_found_it_and_what_its_score_is_made_of(
        self, storage: StorageBackend, engine: RecallEngine
    ) -> None:
        await store_memories(storage, memory())

        [hit] = (await engine.find(replace(_query("oolong tea"), explain=True))).hits

        assert hit.found_by
        assert hit.parts

    async def test_a_broken_storage_is_named_and_not_raised(self) -> None:
        findings = await self.build(BrokenStorage()).find(_query("tea"))

        assert list(findings.hits) == []
        assert findings.degraded

    async def test_a_silent_storage_is_named_at_the_deadline(self) -> None:
        query = replace(_query("tea"), deadline_s=0.01)

        findings = await self.build(SilentStorage()).find(query)

        assert list(findings.hits) == []
        assert findings.degraded


def _query(text: str, view: Viewpoint | None = None) -> RecallQuery:
    return RecallQuery(viewpoint=view or viewpoint_of(), text=text, now=NOW)


def _run_search(
    search: Callable[[Stores, Viewpoint], Findings], view: Viewpoint, stores: Stores
) -> Findings:
    return search(stores, view)


def _contents(findings: Findings) -> list[str]:
    return [hit.memory.content for hit in findings.hits]
