"""Decide which earlier statement a correction means. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from plastic_memories.language.corrections.correction_statements import (
    CorrectionStatement,
    split_clauses,
    topic_terms,
)
from plastic_memories.language.corrections.cues import CorrectionCue
from plastic_memories.language.corrections.statement_kinds import (
    has_key_of,
    states_kind,
    value_types,
)
from plastic_memories.language.reading.relation_words import is_of_others_or_supposed
from plastic_memories.language.text.tokens import content_terms, normalise_script

# At least so much of the named old value must be in the earlier statement.
_NAMED_SHARE = 0.6
_ENDED_SHARE = 0.5
_MIN_SCORE = 0.75
# Another date or number of the same type is evidence by itself.
_MIN_SCORE_WITH_TYPE = 0.5
# Of somebody else many things are told.
_MIN_SCORE_OF_OTHERS = 1.2
# Two statements of what somebody is called need less in common.
_MIN_SCORE_OF_KIND = 0.4
_SAME_VALUE_TYPE_BONUS = 0.5
_SAME_KIND_BONUS = 0.5
_NAMED_BONUS = 2.0
# The weight of a shared term by the number, or the share, of messages that have it.
_RARITY = ((4, 0.004, 1.0), (10, 0.01, 0.8), (25, 0.02, 0.55))
_COMMON_WEIGHT = 0.2
# A person has several names at a time.
_NAMES = "name"
# The corrections of a conversation are compared with the same earlier messages.
_LAST_COMPARED = 256
# Keys of facts that a correction of something else must not end.
_SINGLE_FACTS = ("basic_info.", "relationship.", "constraint.")
# Of these the words are kept as they were said, with the dose or the time.
_AS_SAID = ("constraint.medication", "constraint.unread")


@dataclass(frozen=True, slots=True)
class TermRarity:
    """How many messages there are, and how many have each term."""

    counts: Mapping[str, int]
    messages: int = 0

    def weight(self, term: str) -> float:
        count, total = self.counts.get(term, 0), self.messages
        return next(
            (weight for most, share, weight in _RARITY if count <= max(most, share * total)),
            _COMMON_WEIGHT,
        )


def match_score(statement: CorrectionStatement, text: str, rarity: TermRarity) -> float:
    """Return how well an earlier text fits as what the statement corrects; 0 if it does not."""
    plain, types = _plain_text(text)
    has_type = bool(statement.value_types & types)
    has_kind = any(states_kind(plain, kind) for kind in statement.kinds)
    if statement.cue is CorrectionCue.NAMED:
        if not statement.old_terms or named_share(statement, plain) < _NAMED_SHARE:
            return 0.0
        return _NAMED_BONUS + _shared_weight(statement, plain, rarity) + _bonus(has_type, has_kind)
    if statement.kinds and not has_kind:
        return 0.0
    # What is over is named in the same clause: 尊巴都唔跳喇, "quit bubble tea".
    is_named = named_share(statement, plain) >= _ENDED_SHARE
    if statement.cue is CorrectionCue.ENDED and not (has_kind or has_type or is_named):
        return 0.0
    shared = _shared_weight(statement, plain, rarity)
    is_single = any(kind != _NAMES and states_kind(plain, kind) for kind in statement.kinds)
    if is_single and not statement.is_about_other and not is_of_others_or_supposed(plain):
        # Of these kinds one holds at a time, so that no common word is needed.
        shared = max(shared, _MIN_SCORE)
    if statement.value_types and not has_type and named_share(statement, plain) < _NAMED_SHARE:
        shared = shared if has_kind else 0.0
    return shared + _bonus(has_type, has_kind) if shared >= _least(statement, has_type) else 0.0


@lru_cache(maxsize=_LAST_COMPARED)
def _plain_text(text: str) -> tuple[str, frozenset[str]]:
    """Return a text as it is compared, and the types of its values."""
    plain = " ".join(split_clauses(text))
    return plain, value_types(plain)


@lru_cache(maxsize=_LAST_COMPARED)
def _term_set(plain: str) -> frozenset[str]:
    return frozenset(content_terms(plain))


@lru_cache(maxsize=_LAST_COMPARED)
def _topic_set(plain: str) -> frozenset[str]:
    return frozenset(topic_terms(plain))


def _least(statement: CorrectionStatement, has_type: bool) -> float:
    if _NAMES in statement.kinds:
        return _MIN_SCORE_OF_KIND
    if has_type:
        return _MIN_SCORE_WITH_TYPE
    return _MIN_SCORE_OF_OTHERS if statement.is_about_other else _MIN_SCORE


def _bonus(has_type: bool, has_kind: bool) -> float:
    return _SAME_VALUE_TYPE_BONUS * has_type + _SAME_KIND_BONUS * has_kind


def _shared_weight(statement: CorrectionStatement, plain: str, rarity: TermRarity) -> float:
    # Who made a mistake repeats the wrong number or day.
    is_mistake = statement.cue is CorrectionCue.MISTAKE
    terms = _term_set(plain) if is_mistake else _topic_set(plain)
    weights = statement.topic_terms
    return sum(weights[term] * rarity.weight(term) for term in weights if term in terms)


def named_share(statement: CorrectionStatement, plain: str) -> float:
    """Return which share of the named old value a normalised text has."""
    if not statement.old_terms:
        return 0.0
    terms = _term_set(plain)
    found = [one for one in statement.old_terms if one in terms or (one.isdigit() and one in plain)]
    return len(found) / len(statement.old_terms)


def follows_directly(statement: CorrectionStatement, text: str) -> bool:
    """Return whether a correction without a topic can mean the statement just before it."""
    has_topic = any(weight == 1.0 for weight in statement.topic_terms.values())
    is_bare_change = statement.cue is CorrectionCue.CHANGED and not has_topic
    if statement.cue is not CorrectionCue.MISTAKE and not is_bare_change:
        return False
    return bool(statement.value_types & value_types(normalise_script(text)))


@dataclass(frozen=True, slots=True)
class StatedMemory:
    """What of a memory is compared: its key, its value, and its words with their date."""

    key: str
    value: str
    text: str


def ends_memory(statement: CorrectionStatement, memory: StatedMemory, rarity: TermRarity) -> bool:
    """Return whether the memory is what the statement corrects, and not another fact beside it.

    The memory was learned from a message that the statement corrects, or from none.
    """
    plain = normalise_script(memory.text)
    is_kind = any(has_key_of(memory.key, kind) for kind in statement.kinds)
    is_named = named_share(statement, plain) >= _NAMED_SHARE
    if memory.key.startswith(_SINGLE_FACTS) and not memory.key.startswith(_AS_SAID):
        return (is_kind and _may_end_kind(statement, memory, is_named)) or _has_value(
            statement, memory
        )
    if statement.cue is CorrectionCue.NAMED:
        return is_named
    if statement.kinds and not any(states_kind(plain, kind) for kind in statement.kinds):
        return False
    is_own = not statement.is_about_other and not is_of_others_or_supposed(plain)
    if statement.kinds - {_NAMES} and is_own:
        return True
    if statement.value_types and not (is_named or statement.value_types & value_types(plain)):
        return False
    has_type = bool(statement.value_types & value_types(plain))
    least = _least(statement, has_type)
    return _shared_weight(statement, plain, rarity) >= least or follows_directly(statement, plain)


def _may_end_kind(statement: CorrectionStatement, memory: StatedMemory, is_named: bool) -> bool:
    """Return whether a statement that changes this kind ends a memory of it.

    A person has several names: only the one that is spoken of ends.
    """
    if is_named:
        return True
    if statement.old_terms or statement.is_about_other:
        return False
    if not has_key_of(memory.key, _NAMES):
        return True
    value = set(content_terms(memory.value))
    return bool(value) and value <= statement.topic_terms.keys()


def _has_value(statement: CorrectionStatement, memory: StatedMemory) -> bool:
    """Return whether the statement says of the memory's own value that it does not hold."""
    value = set(content_terms(memory.value))
    return bool(value) and bool(statement.old_terms) and value <= statement.old_terms


def best_matches(scores: Mapping[int, float], share: float) -> list[int]:
    """Return the ids of the best score and of those close to it, newest first."""
    best = max(scores.values(), default=0.0)
    near = [one for one, score in scores.items() if score and score >= share * best]
    return sorted(near, reverse=True)


def has_clause_like(text: str, old: Sequence[str]) -> bool:
    """Return whether a text repeats one of the old texts, word for word or nearly."""
    terms = set(content_terms(normalise_script(text)))
    for clause in (clause for one in old for clause in split_clauses(one)):
        wanted = set(content_terms(clause))
        if len(wanted) > 1 and len(wanted & terms) >= 0.8 * len(wanted):
            return True
    return False
