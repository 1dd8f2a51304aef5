"""How much each part of a hybrid score counts: every number that ranking knows, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridWeights:
    """A match that covers the question has a text score of 1: the measure of everything else.

    Found with `bench/tune.py` in November 2026, on the development halves of LoCoMo, LongMemEval
    (pool), MADial-Bench, MemoryBank (the last two in English and Chinese) and MemDaily, every
    data set counting the same, with the default embedder; rounded, because a difference of a few
    thousandths there is chance. `covering` and `repeated` came later, the others as they were:
    they had to help, or at least not to harm, in both halves of every data set's questions. So
    did `answer` and `two_away`, for which only LoCoMo has the right kind of talk.
    `recency` and `importance` are not learned: that data has neither.
    """

    # bm25: how soon repetition stops to count, and how much a long text is held against itself.
    saturation: float = 0.9
    length: float = 0.5
    # Words that stand together in the question and in the text.
    pairs: float = 0.6
    # How much less words are relied on where even the best match holds little of the question.
    coverage_power: float = 0.3
    # One standard deviation of similarity by meaning: for a question, and for a conversation.
    meaning: float = 0.2
    meaning_in_dialogue: float = 0.4
    # How much of it is the last line alone, and how much the best stretch of a long text.
    last_line: float = 0.3
    passage: float = 0.5
    # What the best matches name, together with what of the question they leave open.
    linked: float = 0.4
    linked_in_dialogue: float = 0.1
    linked_sources: int = 5
    linked_terms: int = 5
    open_terms: float = 1.5
    # The better neighbour in the conversation; before an answer, whoever asked; the turn but one.
    # And the best of the whole conversation.
    neighbour: float = 0.6
    answer: float = 0.8
    second_neighbour: float = 0.4
    session: float = 0.2
    # The question names who said it, or is the user's own about themself.
    speaker: float = 0.25
    own_speaker: float = 0.1
    # The question names a time: a few days, some weeks, longer.
    days: float = 0.8
    weeks: float = 0.35
    seasons: float = 0.15
    recency: float = 0.02
    importance: float = 0.1
    half_life_days: float = 30.0
    # Near-duplicates of a better match keep this share of their score, among so many of the best.
    repeat_factor: float = 0.5
    duplicate_term_overlap: float = 0.6
    duplicate_similarity: float = 0.9
    candidates_compared: int = 24


LEARNED_WEIGHTS = HybridWeights()
