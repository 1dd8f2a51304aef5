"""Fit the heads with numpy alone: the same examples and seed give the same weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plastic_memories.language.gate.features import BUCKET_BITS, ngram_buckets
from plastic_memories.language.gate.heads import KIND_BUCKET_BITS, KIND_OUTPUTS

Floats = NDArray[np.float32]
_BATCH, _HIDDEN = 256, 64
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8


@dataclass
class Adam:
    """The optimiser of one array."""

    weights: Floats
    rate: float
    decay: float = 0.0

    def __post_init__(self) -> None:
        self.first = np.zeros_like(self.weights)
        self.second = np.zeros_like(self.weights)
        self.steps = 0

    def step(self, gradient: NDArray[Any]) -> None:
        self.steps += 1
        self.first += (1 - _BETA_1) * (gradient - self.first)
        self.second += (1 - _BETA_2) * (gradient * gradient - self.second)
        first = self.first / (1 - _BETA_1**self.steps)
        second = self.second / (1 - _BETA_2**self.steps)
        self.weights -= self.rate * (first / (np.sqrt(second) + _EPSILON))
        self.weights -= self.rate * self.decay * self.weights


@dataclass(frozen=True)
class SparseTexts:
    """The buckets of many texts, one after the other."""

    buckets: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> SparseTexts:
        rows = [ngram_buckets(text).astype(np.int64) for text in texts]
        lengths = np.array([len(row) for row in rows])
        return cls(np.concatenate(rows), np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)

    def sums(self, weights: Floats, shift: int = 0) -> Floats:
        """Return the sum of the weights of each text's buckets, over the root of their number."""
        gathered = weights[self.buckets >> shift]
        sums: Floats = np.add.reduceat(gathered, self.starts) / np.sqrt(self.lengths)
        return sums.astype(np.float32)

    def gradient(self, errors: Floats, size: int, shift: int = 0) -> NDArray[np.float64]:
        spread = np.repeat(errors / np.sqrt(self.lengths), self.lengths)
        return np.bincount(self.buckets >> shift, weights=spread, minlength=size)


@dataclass(frozen=True)
class Targets:
    """What the heads shall answer for each text, and how much each answer weighs.

    The kind after the last one is nothing.
    """

    lasting: Floats
    kinds: NDArray[np.int64]
    weights: Floats
    kind_weights: Floats

    def unweighted(self) -> Targets:
        ones = np.ones_like(self.weights)
        return replace(self, weights=ones, kind_weights=ones)

    def of(self, rows: NDArray[Any]) -> Targets:
        return Targets(
            self.lasting[rows], self.kinds[rows], self.weights[rows], self.kind_weights[rows]
        )


@dataclass
class Momentum:
    """Gradient descent with momentum. Rare buckets move little: that is the regularisation."""

    weights: NDArray[np.float64]
    rate: float
    momentum: float = 0.95
    decay: float = 1e-6

    def __post_init__(self) -> None:
        self.velocity = np.zeros_like(self.weights)

    def step(self, gradient: NDArray[Any]) -> None:
        self.velocity *= self.momentum
        self.velocity -= self.rate * (gradient + self.decay * self.weights)
        self.weights += self.velocity


def fit_ngram_lasting(
    texts: SparseTexts, targets: Targets, steps: int = 200, rate: float = 40.0
) -> tuple[Floats, float]:
    size = 1 << BUCKET_BITS
    weights = Momentum(np.zeros(size), rate)
    bias = Momentum(np.zeros(1), rate / 10)
    share = targets.weights / targets.weights.sum()
    for _ in range(steps):
        logits = texts.sums(weights.weights.astype(np.float32)) + bias.weights[0]
        errors = (_sigmoid(logits) - targets.lasting) * share
        weights.step(texts.gradient(errors, size))
        bias.step(errors.sum())
    return weights.weights.astype(np.float32), float(bias.weights[0])


def fit_ngram_kinds(
    texts: SparseTexts, targets: Targets, steps: int = 100, rate: float = 60.0
) -> tuple[Floats, Floats]:
    """Return weights (buckets, kinds) and biases, from texts whose kind is known."""
    size, shift = 1 << KIND_BUCKET_BITS, BUCKET_BITS - KIND_BUCKET_BITS
    columns = [Momentum(np.zeros(size), rate) for _ in range(KIND_OUTPUTS)]
    bias = Momentum(np.zeros(KIND_OUTPUTS), rate / 10)
    share = targets.kind_weights / targets.kind_weights.sum()
    wanted = np.eye(KIND_OUTPUTS, dtype=np.float32)[targets.kinds]
    for _ in range(steps):
        logits = [texts.sums(one.weights.astype(np.float32), shift) for one in columns]
        shares = _softmax(np.stack(logits, axis=1) + bias.weights.astype(np.float32))
        errors = (shares - wanted) * share[:, None]
        for kind, column in enumerate(columns):
            column.step(texts.gradient(errors[:, kind], size, shift))
        bias.step(errors.sum(axis=0))
    weights = np.stack([one.weights for one in columns], axis=1)
    return weights.astype(np.float32), bias.weights.astype(np.float32)


@dataclass(frozen=True)
class VectorHead:
    """One hidden layer over vectors; the first output is lasting, the others are the kinds."""

    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    def outputs(self, vectors: Floats) -> Floats:
        inner = np.maximum(vectors @ self.hidden + self.hidden_bias, 0)
        result: Floats = inner @ self.output + self.output_bias
        return result


def side_by_side(lasting: VectorHead, kinds: Sequence[VectorHead]) -> VectorHead:
    """Return one head: lasting by the first, the kinds by the mean of the others."""
    averaged = [np.pad(one.output[:, 1:], ((0, 0), (1, 0))) / len(kinds) for one in kinds]
    first = np.pad(lasting.output[:, :1], ((0, 0), (0, KIND_OUTPUTS)))
    bias = np.mean([one.output_bias[1:] for one in kinds], axis=0)
    return VectorHead(
        np.concatenate([one.hidden for one in (lasting, *kinds)], axis=1),
        np.concatenate([one.hidden_bias for one in (lasting, *kinds)]),
        np.concatenate((first, *averaged)).astype(np.float32),
        np.concatenate((lasting.output_bias[:1], bias)).astype(np.float32),
    )


def fit_vector_head(
    vectors: Floats, targets: Targets, seed: int, *, epochs: int = 8, dropout: float = 0.2
) -> VectorHead:
    rng, hidden = np.random.default_rng(seed), _HIDDEN
    sizes = ((vectors.shape[1], hidden), (hidden,), (hidden, 1 + KIND_OUTPUTS), (1 + KIND_OUTPUTS,))
    scales = (1.4 * (2 / vectors.shape[1]) ** 0.5 * 8, 0.0, (2 / hidden) ** 0.5, 0.0)
    parts = [
        Adam((rng.standard_normal(size) * scale).astype(np.float32), 1e-3, 1e-2)
        for size, scale in zip(sizes, scales, strict=True)
    ]
    scaled = replace(
        targets,
        weights=targets.weights / targets.weights.mean(),
        kind_weights=targets.kind_weights / targets.kind_weights.mean(),
    )
    for _ in range(epochs):
        order = rng.permutation(len(vectors))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            kept = (rng.random((len(rows), hidden)) > dropout).astype(np.float32)
            _step(parts, vectors[rows], kept / (1 - dropout), scaled.of(rows))
    return VectorHead(*(part.weights for part in parts))


def _step(parts: list[Adam], batch: Floats, kept: Floats, targets: Targets) -> None:
    hidden, hidden_bias, output, output_bias = parts
    before = batch @ hidden.weights + hidden_bias.weights
    inner = np.maximum(before, 0) * kept
    errors = _errors(inner @ output.weights + output_bias.weights, targets) / len(batch)
    back = (errors @ output.weights.T) * (before > 0) * kept
    output.step(inner.T @ errors)
    output_bias.step(errors.sum(axis=0))
    hidden.step(batch.T @ back)
    hidden_bias.step(back.sum(axis=0))


def _errors(outputs: Floats, targets: Targets) -> Floats:
    first = (_sigmoid(outputs[:, 0]) - targets.lasting) * targets.weights
    wanted = np.eye(KIND_OUTPUTS, dtype=np.float32)[targets.kinds]
    kinds = (_softmax(outputs[:, 1:]) - wanted) * targets.kind_weights[:, None]
    return np.concatenate((first[:, None], kinds), axis=1)


def fit_logistic(features: Floats, labels: Floats, weights: Floats, steps: int = 3000) -> Floats:
    """Return one weight for each column, and the bias last."""
    inputs = np.column_stack((features, np.ones(len(features)))).astype(np.float32)
    fitted = Adam(np.zeros(inputs.shape[1], dtype=np.float32), 0.01)
    share = weights / weights.sum()
    for _ in range(steps):
        fitted.step(inputs.T @ ((_sigmoid(inputs @ fitted.weights) - labels) * share))
    return fitted.weights


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), dtype=np.float32)


def _softmax(logits: Floats) -> Floats:
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), dtype=np.float32)
