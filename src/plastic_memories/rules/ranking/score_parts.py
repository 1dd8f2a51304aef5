"""Parts of the hybrid score, each computed for all entries at once on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DAY_S = 86_400.0
_SHORT_SPAN_DAYS = 3.0
_MEDIUM_SPAN_DAYS = 40.0
_MIN_DEVIATION = 1e-6
# A statement a little before or after the span may still be about it.
_MARGIN_DAYS = 1.5
_MARGIN_SHARE = 0.15
_MARGIN_WEIGHT = 0.5
# A span that contains most memories does not discriminate.
_MAX_SPAN_SHARE = 0.6


def scaled_to_max(scores: Floats) -> Floats:
    """Scale so that the maximum is 1; all zeros stay zeros."""
    top = scores.max(initial=0.0)
    return scores / top if top > 0 else scores


def scaled_by_coverage(scores: Floats, whole: float, power: float) -> Floats:
    """Scale so that the maximum is 1, or less if the best does not cover the whole question.

    >>> scaled_by_coverage(np.array([1.0, 0.5]), whole=4.0, power=0.5).tolist()
    [0.5, 0.25]
    """
    top = float(scores.max(initial=0.0))
    covered = min(1.0, top / whole) if whole > 0 else 1.0
    return scaled_to_max(scores) * math.pow(covered, power)


def top_positions(scores: Floats, number: int) -> list[int]:
    """Return the positions of the highest scores, best first; of equals the earlier first."""
    remaining = scores.copy()
    positions: list[int] = []
    # For a few positions, repeated argmax is faster than sorting.
    for _ in range(min(number, len(scores))):
        positions.append(int(remaining.argmax()))
        remaining[positions[-1]] = -np.inf
    return positions


def z_scores(values: Floats, among: Bools, beside: Floats, counts: float) -> Floats:
    """Return how many standard deviations each value lies above the mean of `among`.

    The `beside` values (background sentences) enter the mean with weight `counts` each; values that
    are not finite are left out.
    """
    among = among & np.isfinite(values)
    number = int(np.count_nonzero(among))
    if not number:
        return np.zeros_like(values)
    all_count = number == len(values)
    total_weight = number + counts * len(beside)
    mean = float(values.sum() if all_count else values[among].sum()) + counts * float(beside.sum())
    mean /= total_weight
    deviations = values - mean
    if not all_count:
        deviations[~among] = 0.0
    background_deviations = beside - mean
    spread = math.sqrt(
        (
            float(deviations @ deviations)
            + counts * float(background_deviations @ background_deviations)
        )
        / total_weight
    )
    return deviations / spread if spread >= _MIN_DEVIATION else np.zeros_like(values)


def best_neighbour_score(scores: Floats, near: Sequence[tuple[Ints, Floats | float]]) -> Floats:
    """Return the best score passed on by neighbours, at least 0.

    Each item of `near` has the neighbours' positions (-1 for "none") and the share passed on.
    """
    padded = np.append(scores, 0.0)
    best = np.zeros_like(scores)
    for positions, share in near:
        np.maximum(best, padded[positions] * share, out=best)
    return best


def second_neighbours(neighbours: Ints) -> Ints:
    """Return the neighbours of neighbours; -1 means "none"."""
    beyond: Ints = np.append(neighbours, -1)[neighbours]
    return beyond


def equalised_thresholds(scores: Sequence[Floats], places: int) -> list[float]:
    """Return offsets that give every score array an equal number of the first places.

    With few entries, only as many places count as there are for each array.
    """
    rank = min(places, max(1, len(scores[0]) // len(scores)), len(scores[0]))
    cutoffs = [float(np.partition(array, -rank)[-rank]) if rank else 0.0 for array in scores]
    mean = sum(cutoffs) / len(cutoffs)
    return [mean - cutoff for cutoff in cutoffs]


def best_in_session(scores: Floats, sessions: Ints) -> Floats:
    """Return the best score in each entry's session; an entry without one keeps its own."""
    if not scores.size or sessions.max(initial=-1) < 0:
        return scores
    best = np.full(int(sessions.max()) + 1, -np.inf)
    inside = sessions >= 0
    np.maximum.at(best, sessions[inside], scores[inside])
    return np.where(inside, best[sessions], scores)


def time_span_scores(
    happened: Floats,
    among: Bools,
    spans: Sequence[tuple[float, float]],
    weigh: Callable[[float], float],
) -> Floats:
    """Return a score for entries inside one of the spans; less for those just outside."""
    best = np.zeros_like(happened)
    for start, end in spans:
        days = (end - start) / DAY_S
        margin = max(_MARGIN_DAYS, days * _MARGIN_SHARE) * DAY_S
        near = (happened >= start - margin) & (happened < end + margin)
        if near[among].mean() <= _MAX_SPAN_SHARE:
            inside = (happened >= start) & (happened < end)
            best = np.maximum(best, weigh(days) * np.where(inside, 1.0, _MARGIN_WEIGHT * near))
    return best


def span_length_weight(few: float, some: float, more: float) -> Callable[[float], float]:
    """Return a function from a span's days to its weight: a narrow span weighs more."""
    return lambda days: (
        few if days <= _SHORT_SPAN_DAYS else some if days <= _MEDIUM_SPAN_DAYS else more
    )


def recency_decay(happened: Floats, ageless: Bools, now: float, half_life_days: float) -> Floats:
    """Return 1 for now, halved with every half-life; ageless entries stay at 1."""
    age_days = np.maximum(0.0, now - happened) / DAY_S
    return np.where(ageless, 1.0, np.exp2(age_days / -half_life_days))


def duplicate_rows(alike: Bools) -> dict[int, int]:
    """Return duplicate row → the earlier row it repeats, from a matrix of similar pairs.

    A duplicate is not itself an original of other rows.
    """
    originals: list[int] = []
    duplicates: dict[int, int] = {}
    for row, similar in enumerate(alike.tolist()):
        original = next((first for first in originals if similar[first]), None)
        if original is None:
            originals.append(row)
        else:
            duplicates[row] = original
    return duplicates
