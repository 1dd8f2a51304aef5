"""The embedder in the background: fills in, falls ill, recovers, and is in nobody's way."""

from __future__ import annotations

import asyncio
import threading
import unicodedata
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from embedding_hub import PACE, Model, ask, embedding_with, filled, reached, until, vectors
from embedding_parts import hashed
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.errors import InvalidInput, Unavailable
from plastic_memories.hub.vectors.embedding import EmbeddingService, EmbeddingTimings
from plastic_memories.language.text.background_sentences import BACKGROUND_SENTENCES
from plastic_memories.language.text.passages import split_passages
from plastic_memories.ports.embedder import EmbedderChoice, Vectors
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.rules.ranking.vector_codec import pack_vectors, unpack_vectors
from plastic_memories.settings import load_settings
from plastic_memories.testing.samples import MINE, NOW, OTHER_USER, memory, store_memories


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncGenerator[StorageBackend]:
    settings = load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path)})
    async with open_sqlite(settings) as opened:
        yield opened


async def test_what_is_there_gets_its_own_vector(storage: StorageBackend) -> None:
    rows = await store_memories(storage, *(memory(f"fact {'x' * n}") for n in range(150)))
    [other] = await store_memories(storage, memory("of another user", owner=OTHER_USER))

    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)

    mine = [pack_vectors(hashed([row.content])) for row in rows]
    assert await vectors(storage) == dict(zip([row.id for row in rows], mine, strict=True))
    assert await vectors(storage, OTHER_USER) == {other.id: pack_vectors(hashed([other.content]))}


async def test_a_long_text_has_a_vector_for_each_passage(storage: StorageBackend) -> None:
    text = " ".join(f"This is sentence number {number} of a long story." for number in range(12))
    await store_memories(storage, memory("short"), memory(text))

    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)

    short, long = (await vectors(storage)).values()
    assert len(unpack_vectors(short or b"")) == 1
    assert 1 < len(unpack_vectors(long or b"")) == len(split_passages(text))
    assert np.array_equal(
        unpack_vectors(long or b"")[0], unpack_vectors(pack_vectors(hashed([text])))[0]
    )


async def test_a_write_wakes_it(storage: StorageBackend) -> None:
    patient = EmbeddingTimings(settle_s=0, poll_s=3600)
    async with embedding_with(storage, Model(), patient) as embedding:
        await reached(embedding, "ready")
        [row] = await store_memories(storage, memory("喝茶"))

        embedding.wake()
        await filled(embedding)

        assert (await vectors(storage))[row.id] == pack_vectors(hashed(["喝茶"]))


async def test_what_another_process_wrote_is_found_without_being_told(
    storage: StorageBackend,
) -> None:
    async with embedding_with(storage, Model()) as embedding:
        await reached(embedding, "ready")
        await store_memories(storage, memory("喝茶"))

        await filled(embedding)

        assert None not in (await vectors(storage)).values()


async def test_a_question_gets_a_vector_and_is_remembered(storage: StorageBackend) -> None:
    model = Model()
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")

        first = await ask(embedding, "喝什么？", 10)
        second = await ask(embedding, "喝什么？", 10)

        assert first.vector is not None
        assert np.array_equal(first.vector, hashed(["喝什么？"])[0])
        assert second.vector is first.vector
        assert [texts for texts in model.seen if "喝什么？" in texts] == [["喝什么？"]]


async def test_questions_that_come_together_are_embedded_together(
    storage: StorageBackend,
) -> None:
    model = Model()
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")

        found = await asyncio.gather(*(ask(embedding, f"question {n % 20}", 10) for n in range(40)))

        assert all(one.vector is not None for one in found)
        assert sum(len(texts) for texts in model.seen) == 20
        assert len(model.seen) < 20


@pytest.mark.parametrize("piece", ["ﷺ", "我的猫叫什么？", "What is my cat called? ", "㌀ cat 猫"])
async def test_a_question_is_embedded_as_far_as_a_model_reads_it(
    storage: StorageBackend, piece: str
) -> None:
    model = Model()
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")

        found = await ask(embedding, piece * 2000, 10)
        again = await ask(embedding, piece * 2001, 10)

    [[embedded]] = model.seen
    assert again.vector is found.vector is not None
    assert (piece * 2000).startswith(embedded)
    assert 1950 < len(unicodedata.normalize("NFKC", embedded)) <= 2000


async def test_a_short_question_does_not_wait_for_the_long_ones_of_others(
    storage: StorageBackend,
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def pause(texts: Sequence[str]) -> None:
        if "first" in texts:
            begun.set()
            go_on.wait()

    model = Model()
    model.before = pause
    long = [f"{letter}ﷺ" * 100 for letter in "abc"]
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")
        asked = [asyncio.create_task(ask(embedding, "first", 10))]
        await asyncio.to_thread(begun.wait)
        asked += [asyncio.create_task(ask(embedding, text, 10)) for text in [*long, "我的猫？"]]
        await asyncio.sleep(0)
        go_on.set()
        found = await asyncio.gather(*asked)

    assert all(one.vector is not None for one in found)
    assert model.seen == [["first"], ["我的猫？", long[0]], [long[1]], [long[2]]]


@pytest.mark.parametrize("piece", ["长问题", "a long one ", "长 question "])
async def test_where_too_many_wait_the_longest_goes(
    storage: StorageBackend, monkeypatch: pytest.MonkeyPatch, piece: str
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def pause(texts: Sequence[str]) -> None:
        begun.set()
        go_on.wait()

    model = Model()
    long = [piece * number for number in (60, 50, 40)]
    monkeypatch.setattr("plastic_memories.hub.vectors.query_vectors._MAX_QUEUED", 4)
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")
        model.before = pause
        # What the embedder has already is the longest of all, and stays.
        asked = [asyncio.create_task(ask(embedding, piece * 80, 10))]
        await asyncio.to_thread(begun.wait)
        late = await asyncio.gather(*(ask(embedding, text, 0.01) for text in long))
        asked += [asyncio.create_task(ask(embedding, text, 10)) for text in ("猫?", "cat 猫")]
        longer = await ask(embedding, piece * 70, 10)
        go_on.set()
        found = await asyncio.gather(*asked)
        await until(lambda: _were_seen(model, 4))

    assert {one.reason for one in late} == {"the embedder was too slow"}
    assert all(one.vector is not None for one in found)
    assert longer.reason == "too many questions wait for the embedder"
    assert model.seen == [[piece * 80], ["猫?", "cat 猫", long[2]]]


async def test_whoever_is_sent_away_is_told_at_once(
    storage: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def pause(texts: Sequence[str]) -> None:
        begun.set()
        go_on.wait()

    model = Model()
    monkeypatch.setattr("plastic_memories.hub.vectors.query_vectors._MAX_QUEUED", 2)
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")
        model.before = pause
        asked = [asyncio.create_task(ask(embedding, "first", 60))]
        await asyncio.to_thread(begun.wait)
        long = asyncio.create_task(ask(embedding, "很长的 question" * 9, 60))
        await asyncio.sleep(0)
        asked.append(asyncio.create_task(ask(embedding, "猫？", 60)))

        sent_away = await asyncio.wait_for(long, 10)
        go_on.set()
        found = await asyncio.gather(*asked)

    assert sent_away.reason == "too many questions wait for the embedder"
    assert all(one.vector is not None for one in found)


async def test_an_answer_to_a_question_that_is_no_vector_is_a_failure_and_nobody_waits(
    storage: StorageBackend,
) -> None:
    model = Model()
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")
        model.after = lambda _, rows: cast("Vectors", rows.tolist())

        found = await ask(embedding, "喝 tea", 10)

    assert found.reason == "The embedder returned vectors of another shape."


async def test_until_it_is_loaded_there_are_reasons_instead_of_vectors(
    storage: StorageBackend,
) -> None:
    loading = threading.Event()

    def loaded() -> Model:
        loading.wait()
        return Model()

    embedding = EmbeddingService(
        storage, EmbedderChoice("fake", "a test", loaded), PrometheusMeter(), PACE
    )
    task = asyncio.create_task(embedding.run_forever())

    found = await ask(embedding, "tea", 10)
    loading.set()
    await reached(embedding, "ready")

    assert (found.vector, found.reason) == (None, "the embedder is loading")
    assert (await ask(embedding, "tea", 10)).vector is not None
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await embedding.close()


async def test_with_none_nothing_waits_and_nothing_is_missing(storage: StorageBackend) -> None:
    await store_memories(storage, memory("喝茶"))
    embedding = EmbeddingService(storage, EmbedderChoice("none", "a test"), PrometheusMeter())

    await embedding.run_forever()

    found = await ask(embedding, "tea", 10)
    assert (found.vector, found.reason, await embedding.backlog()) == (None, "", 0)


async def test_one_that_cannot_be_loaded_is_tried_again(storage: StorageBackend) -> None:
    tries: list[int] = []

    def loaded() -> Model:
        tries.append(1)
        if len(tries) < 3:
            raise Unavailable("not yet")
        return Model()

    embedding = EmbeddingService(
        storage, EmbedderChoice("fake", "a test", loaded), PrometheusMeter(), PACE
    )
    task = asyncio.create_task(embedding.run_forever())

    await reached(embedding, "ready")

    assert len(tries) == 3
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await embedding.close()


async def test_one_that_fails_is_seen_to_fail_and_recovers(storage: StorageBackend) -> None:
    def refuse(texts: Sequence[str]) -> None:
        raise Unavailable("out of order")

    model = Model()
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")
        model.before = refuse
        await store_memories(storage, memory("喝茶"))
        embedding.wake()
        await reached(embedding, "failing")
        seen = embedding.describe()
        asked = await ask(embedding, "tea", 10)

        model.before = lambda _: None
        await filled(embedding)

        assert (seen["status"], seen["error"]) == ("failing", "out of order")
        assert (asked.vector, asked.reason) == (None, "the embedder is failing")
        assert embedding.error == ""
        counted = {
            sample["labels"].get("status")
            for sample in embedding.meter.samples(MINE.user.tenant_id)
            if sample["name"] == "vector_operations_total"
        }
        assert counted == {"failed", "ok"}


async def test_a_question_that_fails_does_not_raise_and_the_embedder_recovers(
    storage: StorageBackend,
) -> None:
    def explode(texts: Sequence[str]) -> None:
        if "tea" in texts:
            raise ZeroDivisionError

    model = Model()
    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "ready")
        model.before = explode

        found = await ask(embedding, "tea", 10)

        assert (found.vector, found.reason) == (None, "The embedder raised ZeroDivisionError.")
        await reached(embedding, "ready")
        assert (await ask(embedding, "coffee", 10)).vector is not None


async def test_one_that_hangs_holds_up_nobody(storage: StorageBackend) -> None:
    stuck, free = threading.Event(), threading.Event()

    def hang(texts: Sequence[str]) -> None:
        if "slow" in texts:
            stuck.set()
            free.wait()

    model = Model()
    pace = EmbeddingTimings(
        settle_s=0, poll_s=0.02, first_retry_s=0.01, last_retry_s=0.02, query_s=0.05
    )
    async with embedding_with(storage, model, pace) as embedding:
        await reached(embedding, "ready")
        model.before = hang

        found = await ask(embedding, "slow", 0.01)
        await asyncio.to_thread(stuck.wait)
        await store_memories(storage, memory("喝茶"))
        embedding.wake()
        await filled(embedding)

        assert (found.vector, found.reason) == (None, "the embedder was too slow")
        assert None not in (await vectors(storage)).values()
        free.set()


async def test_a_batch_that_hangs_is_given_up_and_done_again(storage: StorageBackend) -> None:
    free = threading.Event()

    def hang(texts: Sequence[str]) -> None:
        if "喝茶" in texts:
            free.wait()

    model = Model()
    model.before = hang
    pace = EmbeddingTimings(
        settle_s=0, poll_s=0.02, first_retry_s=0.01, last_retry_s=0.02, batch_s=0.05
    )
    await store_memories(storage, memory("喝茶"))
    async with embedding_with(storage, model, pace) as embedding:
        await reached(embedding, "failing")
        free.set()

        await filled(embedding)

        assert None not in (await vectors(storage)).values()


async def test_a_vector_that_points_nowhere_is_not_stored(storage: StorageBackend) -> None:
    def spoil(texts: Sequence[str], rows: Vectors) -> Vectors:
        rows[[number for number, text in enumerate(texts) if "odd" in text]] = np.nan
        return rows

    model = Model()
    model.after = spoil
    odd, fine, odder = await store_memories(storage, *map(memory, ("odd one", "fine", "odder")))
    async with embedding_with(storage, model) as embedding:
        await until(lambda: _only_set_aside(embedding, 2))

        found = await vectors(storage)

        assert (found[odd.id], found[odder.id]) == (None, None)
        assert found[fine.id] is not None
        assert embedding.status == "ready"


async def test_a_text_that_is_refused_does_not_hold_up_the_others(
    storage: StorageBackend,
) -> None:
    def refuse(texts: Sequence[str]) -> None:
        if any("odd" in text for text in texts):
            raise InvalidInput("too odd")

    model = Model()
    model.before = refuse
    rows = await store_memories(storage, *(memory(f"fact {n}") for n in range(20)), memory("odd"))
    async with embedding_with(storage, model) as embedding:
        await until(lambda: _only_set_aside(embedding, 1))

        found = await vectors(storage)

        assert [memory_id for memory_id, vector in found.items() if vector is None] == [rows[-1].id]


async def test_one_that_returns_nothing_usable_is_ill_and_no_text_is_blamed(
    storage: StorageBackend,
) -> None:
    model = Model()
    await store_memories(storage, memory("喝茶"))
    model.after = lambda _, rows: rows * np.float32(0)

    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "failing")
        seen = embedding.describe()
        model.after = lambda _, rows: rows
        await filled(embedding)

    assert seen["set_aside"] == 0
    assert None not in (await vectors(storage)).values()


async def test_vectors_of_another_length_are_not_stored(storage: StorageBackend) -> None:
    model = Model()
    model.after = lambda texts, rows: rows if tuple(texts) == BACKGROUND_SENTENCES else rows[:, :10]
    await store_memories(storage, memory("喝茶"))

    async with embedding_with(storage, model) as embedding:
        await reached(embedding, "failing")

        assert embedding.error == "The embedder returned vectors of another shape."
    assert set((await vectors(storage)).values()) == {None}


async def test_forgotten_while_it_is_embedded_stays_forgotten(storage: StorageBackend) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def pause(texts: Sequence[str]) -> None:
        begun.set()
        go_on.wait()

    model = Model()
    model.before = pause
    gone, kept = await store_memories(storage, memory("the secret"), memory("the rest"))
    async with embedding_with(storage, model) as embedding:
        await asyncio.to_thread(begun.wait)
        await storage.write(lambda stores: stores.memories.erase(MINE, [gone.id], NOW))
        go_on.set()
        await filled(embedding)

    assert set(await vectors(storage)) == {kept.id}
    assert await storage.read(lambda stores: stores.vectors.count_stored()) == 1


async def test_called_off_in_the_middle_the_next_start_goes_on(storage: StorageBackend) -> None:
    begun = threading.Event()
    go_on = threading.Event()

    def pause(texts: Sequence[str]) -> None:
        if len(model.seen) == 1:
            begun.set()
            go_on.wait()

    model = Model()
    model.before = pause
    await store_memories(storage, *(memory(f"fact {n}") for n in range(200)))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(embedding_with(storage, model))
        await asyncio.to_thread(begun.wait)
        go_on.set()

    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)

    assert None not in (await vectors(storage)).values()


async def _were_seen(model: Model, number: int) -> bool:
    return sum(map(len, model.seen)) >= number


async def _only_set_aside(embedding: EmbeddingService, number: int) -> bool:
    left = await embedding.backlog()
    return left == embedding.describe()["set_aside"] == number
