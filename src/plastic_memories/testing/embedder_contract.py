"""Contract tests for embedders; a plug-in's test class inherits them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from plastic_memories.ports.embedder import Embedder
from plastic_memories.testing.samples import HOSTILE_TEXTS

PASSAGES = (
    "我对海鲜过敏",
    "他每天早上在公园里跑步",
    "My sister plays the violin in an orchestra",
    "The train to Rome leaves at nine",
)
# Rounding error when the same text is embedded in another batch.
_CLOSE = 1e-3


class EmbedderContract:
    """Inherit it and provide a loaded embedder: `class TestMine(EmbedderContract)`."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        raise NotImplementedError("Override this fixture with the embedder under test.")

    def test_it_names_its_model_and_dimension(self, embedder: Embedder) -> None:
        assert embedder.model.strip()
        assert embedder.dimension > 0

    def test_every_text_gets_one_row_of_unit_length(self, embedder: Embedder) -> None:
        rows = embedder.embed(PASSAGES, purpose="passage")

        assert rows.shape == (len(PASSAGES), embedder.dimension)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=_CLOSE)

    def test_no_text_gives_no_row(self, embedder: Embedder) -> None:
        assert embedder.embed([], purpose="passage").shape == (0, embedder.dimension)

    def test_the_company_a_text_is_in_changes_nothing(self, embedder: Embedder) -> None:
        together = embedder.embed([*PASSAGES, "x" * 3000], purpose="passage")
        alone = [embedder.embed([text], purpose="passage")[0] for text in PASSAGES]

        assert np.allclose(together[: len(PASSAGES)], alone, atol=_CLOSE)

    def test_many_texts_come_back_in_their_order(self, embedder: Embedder) -> None:
        texts = [PASSAGES[number % len(PASSAGES)] + "!" * (number % 7) for number in range(150)]

        rows = embedder.embed(texts, purpose="passage")

        picked = [0, 1, 63, 64, 65, 127, 149]
        alone = embedder.embed([texts[number] for number in picked], purpose="passage")
        assert np.allclose(rows[picked], alone, atol=_CLOSE)

    @pytest.mark.parametrize("text", PASSAGES)
    def test_a_question_is_nearest_to_its_own_words(self, embedder: Embedder, text: str) -> None:
        rows = embedder.embed(PASSAGES, purpose="passage")
        [asked] = embedder.embed([text], purpose="query")

        assert PASSAGES[int(np.argmax(rows @ asked))] == text

    def test_no_text_breaks_it(self, embedder: Embedder) -> None:
        texts = ["a\0b", "\ud83c", "长" * 32_000, *HOSTILE_TEXTS, PASSAGES[0]]

        rows = embedder.embed(texts, purpose="passage")

        assert np.isfinite(rows).all()
        assert np.allclose(rows[-1], embedder.embed(PASSAGES[:1], purpose="passage"), atol=_CLOSE)

    def test_several_threads_get_the_same_as_one(self, embedder: Embedder) -> None:
        expected = embedder.embed(PASSAGES, purpose="passage")

        with ThreadPoolExecutor(4) as threads:
            found = list(
                threads.map(lambda _: embedder.embed(PASSAGES, purpose="passage"), range(24))
            )

        assert all(np.allclose(rows, expected, atol=_CLOSE) for rows in found)
