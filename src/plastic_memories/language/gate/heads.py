"""Score texts with the two trained heads: over n-grams, and over the vectors of one embedder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plastic_memories.language.gate.features import BUCKET_BITS, ngram_buckets
from plastic_memories.language.gate.kinds import KINDS, StatementKind

Floats = NDArray[np.float32]
WEIGHTS_FILE = "weights.npz"
# The kinds of statements, and nothing.
KIND_OUTPUTS = len(KINDS) + 1
# The kinds need fewer buckets: only statements are told apart.
KIND_BUCKET_BITS = 14
_KIND_SHIFT = BUCKET_BITS - KIND_BUCKET_BITS
_PLACES = {kind: place for place, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Assessment:
    """How likely a text says something lasting about its speaker, and of which kind."""

    lasting: float
    kinds: Floats  # a share for each of KINDS, then that of nothing; they sum to 1

    def share(self, *kinds: StatementKind) -> float:
        return float(sum(self.kinds[_PLACES[kind]] for kind in kinds))

    @property
    def kind(self) -> StatementKind:
        return KINDS[int(np.argmax(self.kinds[: len(KINDS)]))]


@dataclass(frozen=True, slots=True)
class GateHeads:
    """The weights of both heads. Their scores depend on the text and its vector alone."""

    arrays: Mapping[str, NDArray[Any]]

    @property
    def embedder_model(self) -> str:
        """The model whose vectors the second head understands."""
        return str(self.arrays["embedder_model"])

    def lasting_score(self, text: str) -> float:
        """Return the probability of a lasting statement by n-grams alone, in microseconds."""
        return _sigmoid(self._ngram_logit(ngram_buckets(text)))

    def assess(self, text: str, vector: Floats | None = None) -> Assessment:
        """Score a text by both heads, or by its n-grams if it has no vector."""
        buckets = ngram_buckets(text)
        logit, kinds = self._ngram_logit(buckets), self._ngram_kinds(buckets)
        if vector is None:
            return Assessment(_sigmoid(logit), _softmax(kinds))
        outputs = self._vector_outputs(vector)
        by_ngrams, by_vector, bias = (float(part) for part in self.arrays["mix"])
        both = by_ngrams * logit + by_vector * float(outputs[0]) + bias
        share = float(self.arrays["kind_mix"])
        return Assessment(_sigmoid(both), _softmax(kinds * (1 - share) + outputs[1:] * share))

    def assess_all(self, texts: Sequence[str], vectors: Floats | None) -> list[Assessment]:
        """Score texts; `vectors` has one row for each of them."""
        rows: Sequence[Floats | None] = [None] * len(texts) if vectors is None else list(vectors)
        return [self.assess(text, row) for text, row in zip(texts, rows, strict=True)]

    def vector_logit(self, vector: Floats) -> float:
        """Return the answer of the second head alone, as a logit."""
        return float(self._vector_outputs(vector)[0])

    def _scale(self, name: str) -> float:
        return float(self.arrays[name])

    def _ngram_logit(self, buckets: NDArray[np.intp]) -> float:
        total = int(self.arrays["ngram_weights"][buckets].sum(dtype=np.int64))
        scaled = total * self._scale("ngram_scale") / math.sqrt(len(buckets))
        return scaled + self._scale("ngram_bias")

    def _ngram_kinds(self, buckets: NDArray[np.intp]) -> Floats:
        rows = self.arrays["kind_weights"][buckets >> _KIND_SHIFT].sum(axis=0, dtype=np.int32)
        scaled = rows * self.arrays["kind_scales"] / math.sqrt(len(buckets))
        logits: Floats = scaled.astype(np.float32) + self.arrays["kind_bias"]
        return logits

    def _vector_outputs(self, vector: Floats) -> Floats:
        hidden = vector @ self.arrays["hidden_weights"].astype(np.float32)
        hidden = hidden * self.arrays["hidden_scales"] + self.arrays["hidden_bias"]
        outputs = np.maximum(hidden, 0) @ self.arrays["output_weights"].astype(np.float32)
        scaled: Floats = outputs * self.arrays["output_scales"] + self.arrays["output_bias"]
        return scaled


@cache
def trained_heads() -> GateHeads:
    """Return the heads that this package ships."""
    file = files("plastic_memories.language.gate").joinpath(WEIGHTS_FILE)
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as stored:
        return GateHeads({name: stored[name] for name in stored.files})


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(logit, -30.0), 30.0)))


def _softmax(logits: Floats) -> Floats:
    exponents = np.exp(logits - logits.max())
    shares: Floats = exponents / exponents.sum()
    return shares
