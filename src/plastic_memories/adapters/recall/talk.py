"""Rank what was said, by the same scores as memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plastic_memories.adapters.recall.ordering import Ranking, rank_positions
from plastic_memories.adapters.recall.owner_index import TalkIndex
from plastic_memories.adapters.recall.scoring import (
    MATCH_THRESHOLDS,
    EntryScores,
    ScoringQuery,
    matched_searches,
    score_entries,
)
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.language.text.tokens import (
    index_terms,
    normalise_script,
    query_terms,
    term_codes,
)
from plastic_memories.model.entry import Listener
from plastic_memories.model.message import Message
from plastic_memories.model.recall import RecallQuery, Utterance
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.conversation.audience import hears
from plastic_memories.rules.ranking.hybrid_weights import TALK_WEIGHTS, HybridWeights
from plastic_memories.rules.ranking.score_parts import Floats, Ints

# Some of what is found is not quoted: the caller shows it already, or a memory says the same.
_OVERFETCH_FACTOR = 2
_FOUND_ABOVE = {**MATCH_THRESHOLDS, "vectors": TALK_WEIGHTS.found_by_meaning}
# The neighbours of this many of the best come along.
_WITH_NEIGHBOURS = 5
_NONE = -1
_LENGTH_SLACK = 16


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a message among those found: its own, or beside a better one."""

    position: int
    score: float
    is_neighbour: bool = False


def find_utterances(
    stores: Stores,
    index: TalkIndex,
    query: RecallQuery,
    scoring_query: ScoringQuery,
    weights: HybridWeights,
) -> list[Utterance]:
    """Return the messages that bear on the question, best first, each followed by neighbours."""
    view = query.viewpoint
    sight = _sight(index, stores.message_search.listener(view), query)
    if not sight.number:
        return []
    scores = score_entries(index, sight, scoring_query, weights)
    _weigh(index, scores, query.text)
    wanted = query.quote_limit * _OVERFETCH_FACTOR
    ranked = rank_positions(index, scores, weights, wanted, _FOUND_ABOVE)
    places = list(_with_neighbours(index, ranked))
    ids = {int(index["memory_id"][place.position]): place for place in places}
    rows = {row.id: row for row in stores.message_search.visible(view, ids)}
    parts = scores.parts_at([place.position for place in places]) if query.explain else []
    found = []
    for number, (message_id, place) in enumerate(ids.items()):
        row = rows.get(message_id)
        if row is None:
            continue
        of_hit = parts[number] if query.explain else {}
        by = ("neighbour",) if place.is_neighbour else matched_searches(of_hit) if of_hit else ()
        found.append(Utterance(row, place.score, of_hit, by))
    return found


def utterances_by_words(stores: Stores, query: RecallQuery) -> list[Utterance]:
    """Return messages that share words with the question: the search without an index."""
    terms = query_terms("\n".join((query.text, *query.rephrasings)))
    listener = stores.message_search.listener(query.viewpoint)
    wanted = query.quote_limit * _OVERFETCH_FACTOR
    rows = stores.message_search.search(query.viewpoint, terms, wanted)
    new = [row for row in rows if hears(listener, row) and not _repeats_question(row, query.text)]
    share = TALK_WEIGHTS.any_message
    return [Utterance(row, share / (1 + n), {}, ("text",)) for n, row in enumerate(new)]


def _repeats_question(row: Message, question: str) -> bool:
    """Return whether a message is the question itself, asked before."""
    if row.content == question:
        return True
    # Normalising a long text is slow, and a much longer text cannot equal the question.
    is_as_long = len(row.content) <= 2 * len(question) + _LENGTH_SLACK
    return is_as_long and normalise_script(row.content) == normalise_script(question)


def _sight(index: TalkIndex, listener: Listener, query: RecallQuery) -> VisibleEntries:
    sight = index.visible_entries(listener, query.now)
    if not query.viewpoint.only_session:
        return sight
    session = index.sessions.get(query.viewpoint.session_id, _NONE)
    return VisibleEntries.from_mask(sight.mask & (index["session"] == session))


def _weigh(index: TalkIndex, scores: EntryScores, question: str) -> None:
    """Lower the scores of utterances that tell less than others; leave out the question itself."""
    factors = index.memoize("talk_weights", None, lambda: _factors(index))
    lowered = (factors - 1) * np.clip(scores.total, 0.0, None)
    scores.parts["talk"] = lowered + TALK_WEIGHTS.importance * factors * index["importance"]
    np.add(scores.total, scores.parts["talk"], out=scores.total)
    # Only now: the answers it got have had their share of its score.
    scores.total[_positions_with_terms(index, question)] = -np.inf


def _positions_with_terms(index: TalkIndex, text: str) -> Ints:
    """Return the entries with the same words as a text, in the same order."""
    return index.positions_with_codes(np.frombuffer(term_codes(index_terms(text)), np.uint32))


def _factors(index: TalkIndex) -> Floats:
    weights = TALK_WEIGHTS
    factors: Floats = np.full(len(index), weights.any_message)
    factors[index["by_assistant"]] *= weights.by_assistant
    factors[index["asks"]] *= weights.question
    factors[index["size"] <= weights.chatter_terms] *= weights.chatter
    return factors


def _with_neighbours(index: TalkIndex, ranked: Ranking) -> Iterator[_Place]:
    """Yield the positions in order; after the best, the question or the answer beside them."""
    total, asks = ranked.scores.total, index["asks"]
    for number, position in enumerate(ranked.order):
        score = float(total[position])
        yield _Place(position, score)
        if number >= _WITH_NEIGHBOURS:
            continue
        for beside in _beside(index, position, bool(asks[position])):
            if np.isfinite(total[beside]):
                yield _Place(beside, score, is_neighbour=True)


def _beside(index: TalkIndex, position: int, asks: bool) -> Sequence[int]:
    """Return the question that an utterance answers, or the answer to its question."""
    before, after = int(index["before"][position]), int(index["after"][position])
    near = [after] if asks else []
    if before != _NONE and index["asks"][before]:
        near.append(before)
    return [
        other
        for other in near
        if other != _NONE and index["speaker"][other] != index["speaker"][position]
    ]
