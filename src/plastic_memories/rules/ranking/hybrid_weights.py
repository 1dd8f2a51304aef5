"""Weights of the hybrid score: every number of the ranking, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridWeights:
    """Weights relative to the text score, which is 1 for a match that covers the question.

    Tuned with `bench/tune.py` in November 2026, on the development halves of LoCoMo, LongMemEval
    (pool), MADial-Bench, MemoryBank (the last two in English and Chinese) and MemDaily, with equal
    weight per data set and the default embedder; rounded, because differences of a few thousandths
    are noise. `coverage_power` and `repeat_factor` were added later with the others fixed: they had
    to help, or at least not harm, in both halves of every data set's questions. So did `answer` and
    `second_neighbour`, for which only LoCoMo has suitable dialogue. `recency` and `importance` are
    not tuned: the data has neither.
    """

    # BM25: term frequency saturation, and length normalisation.
    saturation: float = 0.9
    length: float = 0.5
    # Adjacent words of the question that are adjacent in the text.
    pairs: float = 0.6
    # How much text scores shrink if even the best match covers little of the question.
    coverage_power: float = 0.3
    # Per standard deviation of embedding similarity: for a question, and for a dialogue.
    meaning: float = 0.2
    meaning_in_dialogue: float = 0.4
    # The share of the last line alone, and of the best passage of a long text.
    last_line: float = 0.3
    passage: float = 0.5
    # Terms that the best matches name, combined with question terms they do not contain.
    linked: float = 0.4
    linked_in_dialogue: float = 0.1
    linked_sources: int = 5
    linked_terms: int = 5
    open_terms: float = 1.5
    # The better neighbour in the conversation; for an answer, its question; the second neighbour;
    # the best of the session.
    neighbour: float = 0.6
    answer: float = 0.8
    second_neighbour: float = 0.4
    session: float = 0.2
    # The question names the speaker, or is the user's about themself.
    speaker: float = 0.25
    own_speaker: float = 0.1
    # The question names a time: days, weeks, longer.
    days: float = 0.8
    weeks: float = 0.35
    seasons: float = 0.15
    recency: float = 0.02
    importance: float = 0.1
    half_life_days: float = 30.0
    # Near-duplicates of a better match keep this share of their score, among the best N.
    repeat_factor: float = 0.5
    duplicate_term_overlap: float = 0.6
    duplicate_similarity: float = 0.9
    candidates_compared: int = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWeights:
    """What messages keep of their score, and gain, beside memories.

    Tuned in November 2026 on talk of invented people, alone and among 1,500 lines of real and of
    invented chatter, and on the lines of LoCoMo, LongMemEval, MADial-Bench and MemDaily as
    messages.
    """

    # A memory is a distilled message; the assistant's words tell less of the user.
    any_message: float = 0.9
    by_assistant: float = 0.6
    # Questions tell little, and so do utterances of a few words.
    question: float = 0.7
    chatter: float = 0.7
    chatter_terms: int = 10
    # How likely an utterance says something lasting (`talk_importance.py`).
    importance: float = 0.5
    # The part for meaning above which a message is found, as for memories but lower: a remark is
    # worth quoting if it is near the subject.
    found_by_meaning: float = 0.1


LEARNED_WEIGHTS = HybridWeights()
TALK_WEIGHTS = TalkWeights()
