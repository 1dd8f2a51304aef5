"""All parts of a recall in one snapshot; a part that does not go well there costs only itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from harness import Api
from plastic_memories.adapters.recall.hybrid import HybridEngine, hybrid_engine
from plastic_memories.adapters.recall.keyword import KeywordEngine
from plastic_memories.hub.recall.recall import Recall
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.recall import Findings, RecallQuery, Recollection
from plastic_memories.ports.storage import StorageBackend, Stores
from recall_parts import Parts

ME = Viewpoint(Owner("default", "userA", "p1"))
TEA = "我喜欢 jasmine tea"
PARTS = {
    "structure": ("memory_search", "core"),
    "snippets": ("message_search", "recent"),
    "index": ("entries", "changes_since"),
}
# A real constraint holds in every realm, so it is not among these.
TOLD = {"real": (TEA, "你好"), "story": ("我喜欢 elven tea", "骑士来了", "我对银过敏")}


@dataclass
class Hindered:
    """A storage that counts its reads, and of which one method of one store is hindered."""

    storage: StorageBackend
    store: str = ""
    method: str = ""
    by: Callable[[], None] = lambda: None
    reads: int = 0

    async def read(self, work: Callable[[Any], Any]) -> Any:
        self.reads += 1
        return await self.storage.read(lambda stores: work(_Stores(stores, self)))

    async def write(self, work: Callable[[Any], Any]) -> Any:
        return await self.storage.write(work)

    async def describe(self) -> Mapping[str, Any]:
        return await self.storage.describe()


class _Stores:
    def __init__(self, stores: Stores, hindered: Hindered) -> None:
        self._stores, self._hindered = stores, hindered

    def __getattr__(self, name: str) -> Any:
        store = getattr(self._stores, name)
        return _Store(store, self._hindered) if name == self._hindered.store else store


class _Store:
    def __init__(self, store: Any, hindered: Hindered) -> None:
        self._store, self._hindered = store, hindered

    def __getattr__(self, name: str) -> Any:
        if name == self._hindered.method:
            self._hindered.by()
        return getattr(self._store, name)


@pytest.fixture
def stuck() -> Iterator[Callable[[], None]]:
    """Something that does not come back before the end of the test."""
    end = threading.Event()
    yield lambda: (end.wait(), None)[1]
    end.set()


async def recall_of(api: Api, storage: Callable[[StorageBackend], Any]) -> Recall:
    """Store a constraint, a fact and a message; return a recall whose parts share a storage."""
    await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.remember(TEA, "note", "a")
    await api.say("你好", ts=1_749_999_000)
    assert api.hub is not None
    recall = api.hub.recall
    shared = storage(recall.storage.backend)
    storage = AuditedStorage(shared, recall.storage.sink, recall.storage.clock)
    return replace(recall, storage=storage, engine=hybrid_engine(Parts(shared)))


async def ask(recall: Recall, deadline_s: float = 10.0) -> Recollection:
    query = RecallQuery(viewpoint=ME, text="tea", now=1_750_000_000, deadline_s=deadline_s)
    return await recall(query)


def there(found: Recollection) -> set[str]:
    """Say which parts of an answer are there; words stand in for the index."""
    marks = {
        "structure": "海鲜" in found.stable_block.text,
        "snippets": [message.content for message in found.snippets] == ["你好"],
        "index": found.hits[0].memory.content == TEA,
    }
    return {name for name, is_there in marks.items() if is_there}


async def test_one_snapshot_is_enough(api: Api) -> None:
    recall = await recall_of(api, Hindered)

    found = await ask(recall)

    assert (there(found), found.degraded) == (set(PARTS), ())
    assert recall.storage.backend.reads == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_fails_costs_only_itself(api: Api, part: str) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    recall = await recall_of(api, lambda storage: Hindered(storage, *PARTS[part], fail))

    found = await ask(recall)

    assert found.degraded == (part,)
    assert there(found) == {*PARTS} - ({part} - {"index"})


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_hangs_costs_only_itself(
    api: Api, part: str, stuck: Callable[[], None]
) -> None:
    recall = await recall_of(api, lambda storage: Hindered(storage, *PARTS[part], stuck))

    found = await ask(recall, deadline_s=2)

    assert found.degraded == (part,)
    assert there(found) == {*PARTS} - ({part} - {"index"})


async def test_an_engine_that_cannot_prepare_is_asked_as_any_other(api: Api) -> None:
    class Unprepared(HybridEngine):
        async def prepare(self, query: RecallQuery) -> Callable[[Stores, Viewpoint], Findings]:
            raise RuntimeError("a bug")

    recall = await recall_of(api, Hindered)
    good = recall.engine
    assert isinstance(good, HybridEngine)
    engine = Unprepared(recall.storage.backend, good._embedder, good._cache)

    found = await ask(replace(recall, engine=engine))

    assert (there(found), found.degraded) == (set(PARTS), ())


async def test_what_is_not_asked_for_is_not_read(api: Api) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    recall = await recall_of(api, lambda storage: Hindered(storage, *PARTS["index"], fail))

    found = await recall(RecallQuery(viewpoint=ME, text="tea", now=1_750_000_000), ("profile",))

    assert found.degraded == ()
    assert recall.storage.backend.reads == 1  # type: ignore[attr-defined]


async def in_sessions(api: Api, storage: Callable[[StorageBackend], Any]) -> Recall:
    """Tell something in each realm; the session `story` is one, and of `real` nothing was said."""
    recall = await recall_of(api, storage)
    tea, said, allergy = TOLD["story"]
    await api.did("/sessions/update", session_id="story", realm="story")
    await api.remember(allergy, "profile", "constraint.allergy.silver", realm="story")
    await api.remember(tea, "note", "b", realm="story")
    await api.say(said, ts=1_749_999_000, session_id="story")
    return recall


async def ask_in(recall: Recall, session_id: str, deadline_s: float = 10.0) -> Recollection:
    view = replace(ME, session_id=session_id)
    query = RecallQuery(viewpoint=view, text="tea", now=1_750_000_000, deadline_s=deadline_s)
    return await recall(replace(query, realm_of_session=True))


def everything(found: Recollection) -> str:
    rows = [hit.memory.content for hit in found.hits] + [row.content for row in found.snippets]
    return "\n".join(
        (found.injection_block, found.stable_block.text, found.profile_markdown, *rows)
    )


def realms_in(found: Recollection) -> dict[str, int]:
    """Say how much of each realm an answer tells."""
    text = everything(found)
    return {realm: sum(one in text for one in told) for realm, told in TOLD.items()}


def only(realm: str) -> dict[str, int]:
    return {one: len(told) if one == realm else 0 for one, told in TOLD.items()}


@pytest.mark.parametrize("session_id", TOLD)
async def test_the_realm_of_a_session_is_read_in_the_same_snapshot(
    api: Api, session_id: str
) -> None:
    recall = await in_sessions(api, Hindered)

    found = await ask_in(recall, session_id)

    assert realms_in(found) == only(session_id)
    assert found.degraded == ()
    assert recall.storage.backend.reads == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("session_id", TOLD)
@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_is_asked_for_by_itself_stays_in_the_realm(
    api: Api, part: str, session_id: str
) -> None:
    failures = iter([RuntimeError("once")])

    def fail_once() -> None:
        for failure in failures:
            raise failure

    recall = await in_sessions(api, lambda storage: Hindered(storage, *PARTS[part], fail_once))

    found = await ask_in(recall, session_id)

    assert realms_in(found) == only(session_id)
    assert found.degraded == ()


@pytest.mark.parametrize("session_id", TOLD)
async def test_an_engine_without_snapshots_is_told_the_realm(api: Api, session_id: str) -> None:
    recall = await in_sessions(api, Hindered)
    engine = KeywordEngine(recall.storage.backend)

    found = await ask_in(replace(recall, engine=engine), session_id)

    assert realms_in(found) == only(session_id)
    assert found.degraded == ()


async def test_without_the_realm_nothing_is_told(api: Api) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    recall = await in_sessions(api, lambda storage: Hindered(storage, "sessions", "realm_of", fail))

    found = await ask_in(recall, "story")

    assert set(found.degraded) == {"structure", "snippets", "search"}
    assert everything(found).strip() == ""


async def test_a_realm_that_is_late_is_named_at_the_deadline(
    api: Api, stuck: Callable[[], None]
) -> None:
    recall = await in_sessions(
        api, lambda storage: Hindered(storage, "sessions", "realm_of", stuck)
    )

    found = await ask_in(recall, "story", deadline_s=0.2)

    assert set(found.degraded) == {"structure", "snippets", "search"}
    assert everything(found).strip() == ""
