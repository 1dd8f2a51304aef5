"""Summarize the outcomes of systems as the numbers of the report. Pure functions."""

from __future__ import annotations

from typing import Any

from bench.quality.conversations import Conversation, Question
from bench.quality.scores import mean, percentiles_ms, scores
from bench.quality.system import Outcome
from plastic_memories.language.text.passages import split_passages

Results = dict[str, Any]
HUB = "hub"


def sizes(sample: list[Conversation]) -> dict[str, dict[str, int]]:
    """Return the size of every data set."""
    found: dict[str, dict[str, int]] = {}
    for one in sample:
        row = found.setdefault(one.dataset, {"conversations": 0, "memories": 0, "questions": 0})
        row["conversations"] += 1
        row["memories"] += len(one.memories)
        row["questions"] += len(one.questions)
    return found


def embedded_texts(sample: list[Conversation]) -> list[str]:
    """Return the texts that the hub embeds: every text, and the passages of a long one."""
    memories = [memory for one in sample for memory in one.memories]
    return [piece for memory in memories for piece in split_passages(memory.text)]


def summarize(sample: list[Conversation], outcome: Outcome, embedding_s: list[float]) -> Results:
    """Score one system's results and summarize its latencies.

    Latencies exclude embedding time, which is the same for all; `question_with_embedding_ms` adds
    what the embedder takes alone for the same questions.
    """
    embeds = outcome.embeds or any(took.embedding_seconds for took in outcome.queries)
    own = [took.own_seconds for took in outcome.queries]
    bare = embedding_s if embeds and embedding_s else [0.0] * len(own)
    per_memory = [took.own_seconds / number for number, took in outcome.ingests]
    return {
        "scores": _scores(sample, outcome.answers),
        "question_ms": percentiles_ms(own),
        "question_cpu_ms": round(1000 * outcome.questions_cpu_seconds / len(own), 3),
        "question_with_embedding_ms": percentiles_ms(
            [mine + other for mine, other in zip(own, bare, strict=True)]
        ),
        "ingest_ms_per_memory": percentiles_ms(per_memory),
        "ingest_seconds": round(sum(took.own_seconds for _, took in outcome.ingests), 3),
        "settle_seconds": round(outcome.settle_seconds, 3),
        "texts_per_second": _texts_per_second(sample, outcome),
        "memory_mb": round(outcome.memory_mb, 1),
    }


def ratios(systems: Results) -> Results:
    """Compare the hub with every peer: above 1 the hub is better or faster."""
    hub = systems.get(HUB, {"failed": "not asked for"})
    measured = {name: row for name, row in peers(systems).items() if "failed" not in row}
    if "failed" in hub or not measured:
        return {}
    by_peer = {name: _ratio(hub, row) for name, row in measured.items()}
    return {"by_peer": by_peer, "best_peer": _best(hub, measured)}


def peers(systems: Results) -> Results:
    """Return the systems other than the hub."""
    return {name: row for name, row in systems.items() if not name.startswith(HUB)}


def _texts_per_second(sample: list[Conversation], outcome: Outcome) -> float | None:
    """Return the rate of embedding, from the first write until the last vector was stored.

    None for a system that stores vectors at once.
    """
    if not outcome.settle_seconds:
        return None
    return round(len(embedded_texts(sample)) / outcome.filling_seconds, 1)


def _scores(sample: list[Conversation], answers: list[list[str]]) -> Results:
    asked = [(one.dataset, question) for one in sample for question in one.questions]
    rows: dict[str, list[tuple[Question, dict[str, float]]]] = {}
    for (dataset, question), ids in zip(asked, answers, strict=True):
        rows.setdefault(dataset, []).append((question, scores(ids, question.gold)))
    by_set = {name: mean(row for _, row in items) for name, items in rows.items()}
    return {
        "mean_of_sets": mean(by_set.values()),
        "by_set": by_set,
        "by_category": {name: _by_category(items) for name, items in rows.items()},
    }


def _by_category(rows: list[tuple[Question, dict[str, float]]]) -> Results:
    groups: dict[str, list[dict[str, float]]] = {}
    for question, row in rows:
        groups.setdefault(question.category, []).append(row)
    return {
        name: {"questions": len(items), **mean(items)} for name, items in sorted(groups.items())
    }


def _ratio(hub: Results, peer: Results) -> dict[str, float | None]:
    return {
        "recall@10": _share(_recall(hub), _recall(peer)),
        "question_p50_faster": _share(peer["question_ms"]["p50"], hub["question_ms"]["p50"]),
        "question_cpu_less": _share(peer["question_cpu_ms"], hub["question_cpu_ms"]),
        "question_with_embedding_p50_faster": _share(
            peer["question_with_embedding_ms"]["p50"], hub["question_with_embedding_ms"]["p50"]
        ),
        "ingest_p50_faster": _share(
            peer["ingest_ms_per_memory"]["p50"], hub["ingest_ms_per_memory"]["p50"]
        ),
    }


def _best(hub: Results, measured: Results) -> Results:
    """Return the best peer of every data set, by recall@10, and the hub's ratio to it."""
    found: Results = {}
    for dataset in hub["scores"]["by_set"]:
        name = max(measured, key=lambda one: _recall(measured[one], dataset))
        best = _recall(measured[name], dataset)
        found[dataset] = {
            "peer": name,
            "recall@10": best,
            "hub": _recall(hub, dataset),
            "ratio": _share(_recall(hub, dataset), best),
        }
    return found


def _recall(row: Results, dataset: str | None = None) -> float:
    table = row["scores"]["by_set"][dataset] if dataset else row["scores"]["mean_of_sets"]
    value: float = table["recall@10"]
    return value


def _share(one: float, other: float) -> float | None:
    return round(one / other, 2) if other else None
