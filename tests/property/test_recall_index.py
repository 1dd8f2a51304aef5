"""The arrays of ranking against a plain index, whatever happens in whatever order."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.adapters.recall.growing_array import GrowableArray
from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.postings import (
    PostingsLevel,
    add_to_levels,
    document_frequency,
)
from plastic_memories.adapters.recall.text_score import VisibleTextIndex
from plastic_memories.language.questions.question import word_pair_codes
from plastic_memories.language.text.tokens import index_terms, term_code, term_codes
from plastic_memories.model.entry import IndexEntry
from plastic_memories.model.owner import Viewpoint
from plastic_memories.rules.ranking.hybrid_weights import LEARNED_WEIGHTS
from plastic_memories.rules.ranking.score_parts import Floats
from plastic_memories.rules.ranking.vector_codec import unpack_vectors
from plastic_memories.testing.samples import MINE, NOW
from recall_parts import OWN, SHARED, Told, by_memory, entry, everything, plain_bm25, vector

WORDS = ("茶", "海鲜", "tea", "green", "the", "咖啡", "morning")
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
vectors = st.one_of(
    st.none(),
    st.tuples(*[st.integers(-5, 5)] * 3).filter(any).map(lambda row: vector(*row)),
)
partitions = st.sampled_from([OWN, SHARED])
# What happens to a partition; the number says which of its memories is meant.
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), partitions, texts, vectors),
        st.tuples(st.just("reword"), st.integers(0, 30), texts, vectors),
        st.tuples(st.just("embed"), st.integers(0, 30), vectors),
        st.tuples(st.just("weigh"), st.integers(0, 30), st.floats(0, 1)),
        st.tuples(st.just("remove"), st.integers(0, 30)),
        st.just(("refresh",)),
    ),
    max_size=40,
)


def _do(told: Told, step: tuple, new_id: int) -> None:
    known = sorted(
        (one.memory_id, part) for part in told.rows for _, one in told.rows[part].values()
    )
    if step[0] == "add":
        told.put(entry(new_id, step[2], vector=step[3]), partition=step[1])
    elif known:
        memory_id, partition = known[step[1] % len(known)]
        before: IndexEntry = told.all()[memory_id]
        if step[0] == "remove":
            told.take(memory_id, partition)
        elif step[0] == "reword":
            told.put(
                replace(before, terms=term_codes(index_terms(step[2])), vector=step[3]),
                partition=partition,
            )
        elif step[0] == "embed":
            told.put(replace(before, vector=step[2]), partition=partition)
        else:
            told.put(replace(before, importance=step[2]), partition=partition)


def _after(steps: list[tuple]) -> tuple[Told, OwnerIndex]:
    told, index = Told(), OwnerIndex(MINE)
    for number, step in enumerate(steps):
        if step[0] == "refresh":
            index.refresh(told)
        else:
            _do(told, step, number + 1)
    index.refresh(told)
    return told, index


def scored(index: OwnerIndex, terms: dict[int, float]) -> Floats:
    """Return the bm25 scores of all entries for weighted terms."""
    found = VisibleTextIndex(index, everything(index), LEARNED_WEIGHTS).gains(terms)
    return np.bincount(found.entry, found.weighted_gains(list(terms.values())), len(index))


@given(steps)
def test_it_holds_what_is_there_and_nothing_else(steps: list[tuple]) -> None:
    told, index = _after(steps)

    assert by_memory(index, index["importance"]) == {
        memory_id: one.importance for memory_id, one in told.all().items()
    }
    shared = {
        memory_id for memory_id, is_shared in by_memory(index, index["shared"]).items() if is_shared
    }
    assert shared == set(told.rows[SHARED])


@given(steps, texts.filter(bool))
def test_words_are_scored_by_the_book(steps: list[tuple], asked: str) -> None:
    told, index = _after(steps)
    terms = {
        term_code(word): 0.5 + number for number, word in enumerate(dict.fromkeys(asked.split()))
    }

    scores = scored(index, terms)

    expected = plain_bm25(told.all().values(), terms, LEARNED_WEIGHTS)
    assert by_memory(index, scores) == pytest.approx(expected)


@given(steps)
def test_every_vector_is_compared_with_its_own_memory(steps: list[tuple]) -> None:
    told, index = _after(steps)
    question = np.array([0.6, 0.0, 0.8], np.float32)
    rows = {
        memory_id: unpack_vectors(one.vector)[0]
        for memory_id, one in told.all().items()
        if one.vector
    }
    cosines = {
        memory_id: float(row @ question / np.linalg.norm(row)) for memory_id, row in rows.items()
    }

    near = index.vectors.similarity(question, len(index), LEARNED_WEIGHTS.passage)

    if near is None:
        assert not cosines
        return
    expected = {memory_id: cosines.get(memory_id, math.nan) for memory_id in told.all()}
    # A question is compared in small whole numbers.
    assert by_memory(index, near) == pytest.approx(expected, abs=0.01, nan_ok=True)


@given(steps)
def test_reading_in_pieces_is_the_same_as_reading_at_once(steps: list[tuple]) -> None:
    told, index = _after(steps)
    afresh = OwnerIndex(MINE)
    afresh.refresh(told)
    terms = {term_code(word): 1.0 for word in WORDS}

    in_pieces, at_once = (by_memory(one, scored(one, terms)) for one in (index, afresh))

    assert in_pieces == pytest.approx(at_once)


@given(steps)
def test_what_is_known_is_not_asked_for_again(steps: list[tuple]) -> None:
    told, index = _after(steps)
    told.asked.clear()

    index.refresh(told)

    assert told.asked == [told.revision, told.revision]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_neighbours_are_those_of_the_conversation(said: list[tuple[str, bool]]) -> None:
    told, index = Told(), OwnerIndex(MINE)
    for number, (session, refresh) in enumerate(said, 1):
        told.put(entry(number, "tea", session_id=session))
        if refresh:
            index.refresh(told)
    index.refresh(told)

    sessions = [session for session, _ in said]
    ids = index["memory_id"].tolist()
    for position, memory_id in enumerate(ids):
        line = [
            number
            for number, session in enumerate(sessions, 1)
            if session == sessions[memory_id - 1]
        ]
        at = line.index(memory_id)
        before, after = int(index["before"][position]), int(index["after"][position])
        assert (ids[before] if before >= 0 else None) == (line[at - 1] if at else None)
        assert (ids[after] if after >= 0 else None) == (
            line[at + 1] if at + 1 < len(line) else None
        )


@given(st.lists(st.integers(1, 5), min_size=1, max_size=120))
def test_levels_stay_few_and_hold_every_entry_once(batches: list[int]) -> None:
    levels: list[PostingsLevel] = []
    for total in np.cumsum(batches):
        codes = np.arange(total, dtype=np.uint32) * 4
        levels = add_to_levels(levels, codes, np.arange(total + 1))

    spans = [(level.first, level.end) for level in levels]
    assert spans[0][0] == 0
    assert spans[-1][1] == sum(batches)
    assert all(one[1] == other[0] for one, other in pairwise(spans))
    assert len(levels) <= 1 + np.log2(sum(batches))


@given(st.lists(st.sampled_from(["green", "tea", "the", "海鲜", "morning"]), max_size=12))
def test_pairs_of_words_are_found_as_a_question_asks_for_them(words: list[str]) -> None:
    text = " ".join(words)
    told, index = Told(), OwnerIndex(MINE)
    told.put(entry(1, text))
    index.refresh(told)

    pairs = np.array(word_pair_codes(text), np.uint32)
    assert (document_frequency(index.levels, pairs) > 0).all()


@given(st.lists(st.lists(st.integers(-100, 100), max_size=40), max_size=10))
def test_a_growing_column_holds_what_was_put_in(batches: list[list[int]]) -> None:
    column = GrowableArray(np.int64)

    for batch in batches:
        column.extend(np.array(batch, np.int64))

    assert column.array.tolist() == [number for batch in batches for number in batch]
    assert column.nbytes >= 8 * len(column)


def test_a_growing_matrix_keeps_its_rows() -> None:
    rows = np.arange(120, dtype=np.float32).reshape(40, 3)
    matrix = GrowableArray(np.float32, 3)

    for start in range(0, 40, 7):
        matrix.extend(rows[start : start + 7])

    assert np.array_equal(matrix.array, rows)


@given(st.integers(0, 10), st.integers(0, 10))
def test_what_has_expired_is_not_seen(now: int, expires: int) -> None:
    told, index = Told(), OwnerIndex(MINE)
    told.put(entry(1, "tea", expires_at=NOW + expires), entry(2, "tea"))
    index.refresh(told)

    sight = index.visible_entries(Viewpoint(MINE), NOW + now)

    assert sight.mask.tolist() == [expires > now, True]
