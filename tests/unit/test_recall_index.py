"""What ranking keeps in memory: the index of an owner, its vectors, and the cache of indexes."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from plastic_memories.adapters.recall.index_cache import IndexCache
from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.vector_rows import VectorRows
from plastic_memories.errors import Unavailable
from plastic_memories.model.entry import EntryVisibility
from plastic_memories.model.memory import Scope
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.rules.ranking.vector_codec import normalise_rows, pack_vectors
from plastic_memories.testing.samples import MINE, NOW
from recall_parts import Told, entry, index_of, vector


def _whoever(number: int) -> Owner:
    return Owner("home", f"user{number}", "p1")


def _size() -> int:
    return OwnerIndex(MINE).nbytes


def test_much_that_is_dead_is_cleared_away() -> None:
    told, index = Told(), OwnerIndex(MINE)
    told.put(*(entry(number, f"tea {number}", vector=vector(1, 2)) for number in range(1, 201)))
    index.refresh(told)

    for number in range(1, 151):
        told.take(number)
    index.refresh(told)

    assert index["memory_id"].tolist() == list(range(151, 201))
    assert index["alive"].all()
    assert index.levels[-1].end == 50


def test_a_little_that_is_dead_is_left_where_it_is() -> None:
    told, index = Told(), OwnerIndex(MINE)
    told.put(*(entry(number, "tea") for number in range(1, 201)))
    index.refresh(told)

    told.take(7)
    index.refresh(told)

    assert len(index) == 200
    assert np.flatnonzero(~index["alive"]).tolist() == [6]


@pytest.mark.parametrize(
    ("place", "view", "seen"),
    [
        (EntryVisibility("", "", Realm.REAL, Scope.PERSONA, ""), Viewpoint(MINE), True),
        (EntryVisibility("bot", "", Realm.REAL, Scope.PERSONA, ""), Viewpoint(MINE), False),
        (EntryVisibility("bot", "", Realm.REAL, Scope.PERSONA, ""), Viewpoint(MINE, "bot"), True),
        (
            EntryVisibility("bot", "", Realm.REAL, Scope.PERSONA, ""),
            Viewpoint(MINE, all_bots=True),
            True,
        ),
        (EntryVisibility("", "", Realm.STORY, Scope.PERSONA, ""), Viewpoint(MINE), False),
        (
            EntryVisibility("", "", Realm.STORY, Scope.PERSONA, ""),
            Viewpoint(MINE, realm=Realm.STORY),
            True,
        ),
        (EntryVisibility("", "", Realm.REAL, Scope.SESSION, "s1"), Viewpoint(MINE), False),
        (
            EntryVisibility("", "", Realm.REAL, Scope.SESSION, "s1"),
            Viewpoint(MINE, session_id="s1"),
            True,
        ),
        (EntryVisibility("", "", Realm.REAL, Scope.SESSION, ""), Viewpoint(MINE), False),
        (
            EntryVisibility("", "", Realm.REAL, Scope.APP, "ide"),
            Viewpoint(MINE, source_app="web"),
            False,
        ),
        (
            EntryVisibility("", "", Realm.REAL, Scope.APP, "ide"),
            Viewpoint(MINE, source_app="ide"),
            True,
        ),
    ],
)
def test_who_may_see_an_entry_is_asked_for_every_reader(
    place: EntryVisibility, view: Viewpoint, seen: bool
) -> None:
    index = index_of(entry(1, "tea"), entry(2, "tea", place=place))

    assert index.visible_entries(view, NOW).mask[1] == seen


def test_an_index_is_for_one_thread_at_a_time() -> None:
    index = OwnerIndex(MINE)
    inside, over = threading.Event(), threading.Event()

    def read() -> None:
        with index.lock(1):
            inside.set()
            over.wait()

    reader = threading.Thread(target=read)
    reader.start()
    inside.wait()
    with pytest.raises(Unavailable), index.lock(0):
        pass
    over.set()
    reader.join()

    with index.lock(0):
        assert len(index) == 0


def test_vectors_of_another_model_push_the_former_out() -> None:
    rows = VectorRows()
    rows.put([(0, vector(1, 0)), (1, vector(0, 1))])

    rows.put([(0, vector(1, 0, 0))])

    assert rows.similarity(np.array([1, 0], np.float32), 2, 0.5) is None
    near = rows.similarity(np.array([1, 0, 0], np.float32), 2, 0.5)
    assert near is not None
    assert near.tolist() == pytest.approx([1, math.nan], nan_ok=True)


def test_of_a_long_text_the_nearest_stretch_counts_for_a_share() -> None:
    rows = VectorRows()
    whole_and_stretch = pack_vectors(normalise_rows(np.array([[0.0, 1.0], [1.0, 0.0]])))
    rows.put([(0, whole_and_stretch), (1, vector(0, 1))])

    near = rows.similarity(np.array([1, 0], np.float32), 2, 0.25)

    assert near is not None
    assert near.tolist() == pytest.approx([0.25, 0])


def test_vectors_that_were_replaced_give_their_room_back() -> None:
    rows = VectorRows()
    for number in range(100):
        rows.put([(position, vector(1, number)) for position in range(10)])

    assert rows.nbytes < 100 * 2 * 10
    near = rows.similarity(np.array([1, 0], np.float32), 10, 0.5)
    assert near is not None
    assert near.max() < 0.05


def test_without_vectors_nothing_is_alike() -> None:
    rows = VectorRows()
    rows.put([(0, vector(1, 0)), (1, vector(1, 0)), (2, None)])

    assert rows.pairwise_similarity([0, 1, 2]).round(2).tolist() == [
        [1, 1, 0],
        [1, 1, 0],
        [0, 0, 0],
    ]


def test_the_cache_gives_everybody_their_own_index() -> None:
    cache = IndexCache(1_000_000)

    assert cache.get(_whoever(1)) is cache.get(_whoever(1))
    assert cache.get(_whoever(1)) is not cache.get(_whoever(2))


def test_whoever_was_not_asked_for_the_longest_time_goes_first() -> None:
    cache = IndexCache(3 * _size())
    first = [cache.get(_whoever(number)) for number in range(3)]
    for index in (first[1], first[2], cache.get(_whoever(0))):
        cache.update_size(index)

    cache.update_size(cache.get(_whoever(3)))

    kept = [cache.get(_whoever(number)) is first[number] for number in (0, 2)]
    assert kept == [True, True]
    assert cache.get(_whoever(1)) is not first[1]


def test_one_index_stays_however_large_it_is() -> None:
    cache = IndexCache(1)
    index = cache.get(MINE)

    cache.update_size(index)

    assert cache.get(MINE) is index


def test_an_index_that_was_let_go_takes_up_no_room() -> None:
    cache = IndexCache(2 * _size())
    let_go = cache.get(_whoever(0))
    for number in (1, 2, 3):
        cache.update_size(cache.get(_whoever(number)))
    kept = cache.get(_whoever(2)), cache.get(_whoever(3))

    cache.update_size(let_go)
    cache.update_size(kept[1])

    assert (cache.get(_whoever(2)), cache.get(_whoever(3))) == kept


def test_an_index_that_grew_makes_others_go() -> None:
    cache = IndexCache(4 * _size())
    small, large = cache.get(_whoever(0)), cache.get(MINE)
    cache.update_size(small)
    cache.update_size(large)
    told = Told()
    told.put(*(entry(number, "green tea in the morning") for number in range(1, 200)))

    large.refresh(told)
    cache.update_size(large)

    assert cache.get(MINE) is large
    assert cache.get(_whoever(0)) is not small
