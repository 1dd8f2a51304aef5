"""Fit the weights of hybrid recall by coordinate ascent, as long as recall improves."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from rich.console import Console

from bench.quality.conversations import Conversation, Question
from bench.quality.scores import recall
from plastic_memories.adapters.embedding.wheel import MODELS
from plastic_memories.adapters.recall.ordering import rank_positions
from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.scoring import ScoringQuery, score_entries
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.language.dates.past_references import mentioned_time_spans
from plastic_memories.language.questions.question import parse_question
from plastic_memories.language.text.background_sentences import BACKGROUND_SENTENCES
from plastic_memories.language.text.passages import split_passages
from plastic_memories.language.text.tokens import index_terms, is_question, term_codes
from plastic_memories.model.entry import EntryVisibility, IndexEntry, Partition, PartitionChanges
from plastic_memories.model.memory import Scope
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.rules.ranking.hybrid_weights import LEARNED_WEIGHTS, HybridWeights
from plastic_memories.rules.ranking.vector_codec import pack_vectors

_CUT = 10
_UTC = ZoneInfo("UTC")
_PLACE = EntryVisibility("", "", Realm.REAL, Scope.PERSONA, "")
# Factors by which a weight is changed.
_STEPS = (0.6, 0.8, 1.25, 1.6)
_FIXED = {"half_life_days", "importance", "recency"}
_BATCH = 32


@dataclass(frozen=True)
class Case:
    """One question, prepared for repeated ranking."""

    dataset: str
    index: OwnerIndex
    asked: ScoringQuery
    ids: Sequence[str]
    gold: Sequence[frozenset[str]]


class Vectors:
    """The default embedder with a cache on disk: tuning embeds the same texts every time."""

    def __init__(self, cache: Path) -> None:
        self._file = cache / "tune.pickle"
        self._known: dict[str, Any] = {}
        if self._file.is_file():
            self._known = pickle.loads(self._file.read_bytes())

    def lookup(self, texts: Sequence[str]) -> Any:
        return np.stack([self._known[_digest(text)] for text in texts])

    def embed_missing(self, texts: Iterable[str]) -> None:
        new = sorted({text for text in texts if _digest(text) not in self._known}, key=len)
        if not new:
            return
        embedder = MODELS["use"].load(1)
        for start in range(0, len(new), _BATCH):
            some = new[start : start + _BATCH]
            for text, row in zip(some, embedder.embed(some, purpose="passage"), strict=True):
                self._known[_digest(text)] = row
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(pickle.dumps(self._known))


class _FixedEntries:
    """Serves the entries of one conversation from memory."""

    def __init__(self, entries: Sequence[IndexEntry]) -> None:
        self._entries = entries
        self.entries = self

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        return (
            PartitionChanges(1, self._entries)
            if partition.persona_id and not known
            else PartitionChanges(known)
        )


def cases(conversations: Sequence[Conversation], vectors: Vectors) -> list[Case]:
    """Prepare every question of these conversations."""
    vectors.embed_missing([*BACKGROUND_SENTENCES, *_texts(conversations)])
    found = []
    for conversation in conversations:
        index = OwnerIndex(Owner("bench", conversation.dataset, conversation.id))
        given: Any = _FixedEntries(_entries(conversation, vectors))
        index.refresh(given)
        ids = [memory.id for memory in conversation.memories]
        found += [
            Case(conversation.dataset, index, _asked(one, conversation, vectors), ids, one.gold)
            for one in conversation.questions
        ]
    return found


def mean_recall(prepared: Sequence[Case], weights: HybridWeights) -> dict[str, float]:
    """Return recall@10 by data set."""
    by_set: dict[str, list[float]] = {}
    for case in prepared:
        scores = score_entries(
            case.index, VisibleEntries.from_mask(case.index["alive"]), case.asked, weights
        )
        order = rank_positions(case.index, scores, weights, _CUT).order[:_CUT]
        keys = [case.ids[number - 1] for number in case.index["memory_id"][list(order)]]
        by_set.setdefault(case.dataset, []).append(recall(keys, case.gold, _CUT))
    return {name: fmean(values) for name, values in sorted(by_set.items())}


def tune(prepared: Sequence[Case], rounds: int, console: Console) -> HybridWeights:
    """Change one weight at a time, in random order, and keep changes that improve recall.

    Every data set counts the same, whatever its size. A gain of less than a thousandth is ignored:
    it would be overfitting.
    """
    draw = random.Random(7)
    weights = LEARNED_WEIGHTS
    best = mean_recall(prepared, weights)
    _tell(console, "start", best)
    for _ in range(rounds):
        names = [name for name in asdict(weights) if name not in _FIXED]
        draw.shuffle(names)
        for name in names:
            for step in _STEPS:
                tried = replace(weights, **{name: _stepped(getattr(LEARNED_WEIGHTS, name), step)})
                got = mean_recall(prepared, tried)
                if _worth(got) > _worth(best) + 0.001:
                    weights, best = tried, got
                    _tell(console, f"{name}={getattr(tried, name)}", got)
    return weights


def _worth(by_set: dict[str, float]) -> float:
    return fmean(by_set.values())


def _stepped(value: float, step: float) -> float:
    return max(1, round(value * step)) if isinstance(value, int) else round(value * step, 4)


def _tell(console: Console, what: str, by_set: dict[str, float]) -> None:
    figures = "  ".join(f"{name} {value:.3f}" for name, value in by_set.items())
    console.print(f"{_worth(by_set):.4f}  {what:28}  {figures}", soft_wrap=True)


def _texts(conversations: Sequence[Conversation]) -> Iterable[str]:
    for conversation in conversations:
        for memory in conversation.memories:
            yield from split_passages(memory.text)
        for question in conversation.questions:
            yield from parse_question(question.text).texts


def _entries(conversation: Conversation, vectors: Vectors) -> list[IndexEntry]:
    return [
        IndexEntry(
            memory_id=number,
            place=_PLACE,
            session_id=memory.session or "",
            speaker=memory.speaker or "",
            happened_at=memory.at or 0.0,
            expires_at=None,
            importance=0.5,
            ageless=False,
            terms=term_codes(index_terms(memory.text), asks=is_question(memory.text)),
            vector=pack_vectors(vectors.lookup(split_passages(memory.text))),
        )
        for number, memory in enumerate(conversation.memories, start=1)
    ]


def _asked(question: Question, conversation: Conversation, vectors: Vectors) -> ScoringQuery:
    now = question.asked_at or conversation.last_at or 0.0
    understood = parse_question(question.text)
    found = list(vectors.lookup(understood.texts))
    return ScoringQuery(
        text=question.text,
        question=understood,
        now=now,
        vectors=found,
        last_line=found[-1] if understood.is_dialogue else None,
        background_vectors=vectors.lookup(BACKGROUND_SENTENCES),
        spans=mentioned_time_spans(understood.last_line, now, _UTC),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
