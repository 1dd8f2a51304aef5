"""Score a ranking against groups of evidence. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

Gold = Sequence[frozenset[str]]
CUTS = (1, 5, 10, 20)


def recall(ranked: Sequence[str], gold: Gold, cut: int) -> float:
    """Return the share of groups with at least one id among the first `cut`.

    >>> recall(["a", "b"], [frozenset("b"), frozenset("cd")], 2)
    0.5
    """
    top = set(ranked[:cut])
    return sum(not top.isdisjoint(group) for group in gold) / len(gold)


def reciprocal_rank(ranked: Sequence[str], gold: Gold) -> float:
    """Return 1 / the rank of the first id that is in any group, or 0.

    >>> reciprocal_rank(["x", "a"], [frozenset("a")])
    0.5
    """
    wanted = frozenset().union(*gold)
    places = (place for place, one in enumerate(ranked, start=1) if one in wanted)
    return 1 / next(places, math.inf)


def ndcg(ranked: Sequence[str], gold: Gold, cut: int = 10) -> float:
    """Return the normalized discounted cumulative gain (nDCG) of the groups found.

    A second id of a group already found gains nothing.

    >>> ndcg(["a", "b"], [frozenset("ab"), frozenset("c")])  # doctest: +ELLIPSIS
    0.613...
    """
    best = _discounted(_best_order(gold), gold, cut)
    return min(1.0, _discounted(ranked, gold, cut) / best)


def scores(ranked: Sequence[str], gold: Gold) -> dict[str, float]:
    """Return every score of one question, by its name in the report."""
    recalls = {f"recall@{cut}": recall(ranked, gold, cut) for cut in CUTS}
    return {**recalls, "mrr": reciprocal_rank(ranked, gold), "ndcg@10": ndcg(ranked, gold)}


def mean(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each score."""
    table = list(rows)
    return {name: round(fmean(row[name] for row in table), 4) for name in table[0]}


def percentiles_ms(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99 in milliseconds."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return {
        name: round(1000 * ordered[min(last, int(share * len(ordered)))], 3)
        for name, share in (("p50", 0.50), ("p95", 0.95), ("p99", 0.99))
    }


def _discounted(ranked: Sequence[str], gold: Gold, cut: int) -> float:
    missing = set(range(len(gold)))
    gain = 0.0
    for place, one in enumerate(ranked[:cut], start=1):
        found = {index for index in missing if one in gold[index]}
        missing -= found
        gain += len(found) / math.log2(place + 1)
    return gain


def _best_order(gold: Gold) -> list[str]:
    """Return ids in the order in which each covers as many new groups as possible."""
    missing = list(gold)
    order: list[str] = []
    while missing:
        ids = sorted(frozenset().union(*missing))
        best = max(ids, key=lambda one: sum(one in group for group in missing))
        order.append(best)
        missing = [group for group in missing if best not in group]
    return order
