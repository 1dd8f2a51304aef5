"""Train both heads, quantise them, and write them as one file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.gate.examples import Example
from bench.gate.fitting import (
    Floats,
    SparseTexts,
    Targets,
    VectorHead,
    fit_logistic,
    fit_ngram_kinds,
    fit_ngram_lasting,
    fit_vector_head,
    side_by_side,
)
from bench.gate.vectors import VectorCache
from plastic_memories.language.gate.heads import GateHeads
from plastic_memories.language.gate.kinds import KINDS, StatementKind

Arrays = dict[str, NDArray[Any]]
_SEED = 20_261_118
# Unlabelled sentences that a first model is sure about are chatter for the second.
_NOTHING = -1.1
# How much of the kinds is by vectors; and how many small heads are averaged for them.
_KIND_MIX = 0.9
_KIND_HEADS = 4
# A kind that a person gave, against one found by words; and how many of the latter there are.
_WRITTEN_KIND = 10.0
_STATED, _CHATTER = 3_000, 10_000
# Clipped rather than rounded: a few large weights would make all others coarse.
_CLIP_QUANTILE = 0.9999
_ENGLISH = frozenset({"msc_persona", "byu_chitchat", "written_en"})


def train_heads(examples: Sequence[Example], vectors: VectorCache) -> Arrays:
    """Return the weights of both heads.

    A first head over vectors judges the unlabelled sentences: what it takes for nothing is chatter
    for the final heads.
    """
    vectors.embed(one.text for one in examples)
    known = [one for one in examples if one.lasting is not None]
    fitted = [one for one in known if not one.is_held]
    first = fit_vector_head(_rows(fitted, vectors), _targets(fitted), _SEED)
    unknown = [one for one in examples if one.lasting is None and not one.is_held]
    logits = first.outputs(_rows(unknown, vectors))[:, 0]
    found = [replace(unknown[index], lasting=0) for index in np.flatnonzero(logits < _NOTHING)]
    return _train_all([*known, *found], vectors)


def write_arrays(arrays: Arrays, file: Path) -> None:
    """Write the arrays as an .npz file whose bytes depend on them alone."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            content = io.BytesIO()
            np.save(content, arrays[name], allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.getvalue())


def _train_all(examples: Sequence[Example], vectors: VectorCache) -> Arrays:
    """Fit the heads, then, on conversations that were held back, how to mix them."""
    arrays = _fit([one for one in examples if not one.is_held], vectors)
    return arrays | _mixture(arrays, [one for one in examples if one.is_held], vectors)


def _fit(examples: Sequence[Example], vectors: VectorCache) -> Arrays:
    targets, rows = _targets(examples), _rows(examples, vectors)
    weights, bias = fit_ngram_lasting(SparseTexts.of([one.text for one in examples]), targets)
    chosen = _rows_for_kinds(examples)
    kind_texts = SparseTexts.of([examples[row].text for row in chosen])
    kinds, kind_bias = fit_ngram_kinds(kind_texts, targets.of(chosen))
    lasting_head = fit_vector_head(rows, targets, _SEED)
    repeated = np.repeat(chosen, targets.kind_weights[chosen].astype(np.int64))
    wanted = targets.of(repeated).unweighted()
    kind_heads = [
        fit_vector_head(rows[repeated], wanted, seed, epochs=10, dropout=0.5)
        for seed in range(_SEED, _SEED + _KIND_HEADS)
    ]
    head = side_by_side(lasting_head, kind_heads)
    arrays: Arrays = {
        **_quantised_vector("ngram_weights", "ngram_scale", weights),
        "ngram_bias": np.float32(bias),
        **_quantised_columns("kind_weights", "kind_scales", kinds),
        "kind_bias": kind_bias,
        **_quantised_head(head),
        "kind_mix": np.float32(_KIND_MIX),
        "embedder_model": np.array(vectors.model),
    }
    return {name: np.asarray(array) for name, array in arrays.items()}


def _rows(examples: Sequence[Example], vectors: VectorCache) -> Floats:
    return vectors.rows([one.text for one in examples])


def _targets(examples: Sequence[Example]) -> Targets:
    """Return the targets; lasting and not lasting weigh the same in each language."""
    lasting = np.array([one.lasting for one in examples], dtype=np.float32)
    weights = np.array([one.weight for one in examples], dtype=np.float32)
    english = np.array([one.corpus in _ENGLISH for one in examples])
    for language in (english, ~english):
        for label in (lasting == 1, lasting == 0):
            group = language & label
            weights[group] *= len(examples) / max(1.0, 4 * float(weights[group].sum()))
    kinds = np.array([KINDS.index(one.kind) if one.kind else len(KINDS) for one in examples])
    by_hand = np.array([one.corpus.startswith("written") for one in examples])
    kind_weights = np.where(by_hand, _WRITTEN_KIND, 1.0).astype(np.float32)
    return Targets(lasting, kinds, weights, kind_weights)


def _rows_for_kinds(examples: Sequence[Example]) -> NDArray[np.int64]:
    """Return what the kinds are learned from: all that was written here, and some of the corpora.

    The words of a fact show its kind only weakly; all of them would drown the written sentences.
    """
    rng = np.random.default_rng(_SEED)
    written, stated, nothing = [], [], []
    for row, one in enumerate(examples):
        if one.corpus.startswith("written"):
            written.append(row)
        elif not one.lasting:
            nothing.append(row)
        elif one.kind not in ("", StatementKind.OTHER.value):
            stated.append(row)
    some = rng.choice(stated, _STATED, replace=False), rng.choice(nothing, _CHATTER, replace=False)
    return np.concatenate((written, *some)).astype(np.int64)


def _mixture(arrays: Arrays, held: Sequence[Example], vectors: VectorCache) -> Arrays:
    """Fit how the heads are mixed, on conversations that neither was trained on."""
    heads = GateHeads(arrays)
    targets = _targets(held)
    rows = _rows(held, vectors)
    alone = np.array([_logit(heads.lasting_score(one.text)) for one in held], dtype=np.float32)
    by_vector = np.array([heads.vector_logit(row) for row in rows], dtype=np.float32)
    mixed = fit_logistic(np.stack((alone, by_vector), axis=1), targets.lasting, targets.weights)
    return {"mix": mixed}


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def _quantised_vector(name: str, scale_name: str, weights: Floats) -> Arrays:
    quantised = _quantised_columns(name, scale_name, weights[:, None])
    return {name: quantised[name][:, 0], scale_name: quantised[scale_name][0]}


def _quantised_columns(name: str, scale_name: str, weights: Floats) -> Arrays:
    limits = np.maximum(np.quantile(np.abs(weights), _CLIP_QUANTILE, axis=0), 1e-9)
    scales = (limits / 127).astype(np.float32)
    rounded = np.clip(np.round(weights / scales), -127, 127).astype(np.int8)
    return {name: rounded, scale_name: scales}


def _quantised_head(head: VectorHead) -> Arrays:
    return {
        **_quantised_columns("hidden_weights", "hidden_scales", head.hidden),
        "hidden_bias": head.hidden_bias,
        **_quantised_columns("output_weights", "output_scales", head.output),
        "output_bias": head.output_bias,
    }
