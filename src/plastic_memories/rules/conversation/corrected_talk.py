"""Which earlier messages a correction means, and what to quote of corrected talk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice

from plastic_memories.language.corrections.correction_statements import (
    CorrectionStatement,
    topic_terms,
)
from plastic_memories.language.corrections.cues import CorrectionCue
from plastic_memories.language.corrections.matching import (
    TermRarity,
    best_matches,
    follows_directly,
    match_score,
    named_share,
)
from plastic_memories.language.corrections.statement_kinds import same_date
from plastic_memories.language.text.tokens import normalise_script
from plastic_memories.model.message import Message, MessageCorrection, Role

# Scores this close to the best one mean the same thing.
_NEAR_BEST = 0.85
_MAX_MATCHES = 3
# A name that no longer holds was used many times.
_MAX_NAMED_MATCHES = 12
# A correction without a topic means one of the last messages.
_LAST_MESSAGES = 3
_NAMED_SHARE = 0.6
# An assistant repeats a statement in its next messages, not later.
_ECHO_DISTANCE = 2
# A reminder for a date is asked for soon after the date is told.
_DATE_DISTANCE = 3
_MAX_SHOWN_CORRECTIONS = 2


def corrected_messages(
    statement: CorrectionStatement,
    earlier: Sequence[Message],
    rarity: TermRarity,
    session_id: str,
    known: Collection[int] = (),
) -> list[Message]:
    """Return the user's messages that a statement corrects, newest first.

    `earlier` are messages before the correction, oldest first. `known` are those that the same
    message corrects anyway: if one of them fits, no other is meant.
    """
    own = [one for one in earlier if one.role is Role.USER]
    by_id = {one.id: one for one in own}
    scores = {one.id: match_score(statement, one.content, rarity) for one in own}
    if _names_a_word(statement):
        named = [one for one in sorted(scores, reverse=True) if scores[one]]
        return [by_id[one] for one in named[:_MAX_NAMED_MATCHES]]
    if any(scores.get(one) for one in known):
        return [by_id[one] for one in known if scores.get(one)]
    best = best_matches(scores, _NEAR_BEST)[:_MAX_MATCHES]
    if best:
        found = [by_id[one] for one in best]
        return [*found, *_of_same_date(statement, found, own)]
    last = [one for one in own if one.session_id == session_id][-_LAST_MESSAGES:][::-1]
    return list(islice((one for one in last if follows_directly(statement, one.content)), 1))


def _of_same_date(
    statement: CorrectionStatement, found: Sequence[Message], own: Sequence[Message]
) -> list[Message]:
    """Return the messages beside the corrected ones that name the same date for the same thing."""
    if "date" not in statement.value_types:
        return []
    ids = {one.id for one in found}
    places = [place for place, one in enumerate(own) if one.id in ids]
    return [
        one
        for place, one in enumerate(own)
        if one.id not in ids
        and any(abs(place - other) <= _DATE_DISTANCE for other in places)
        and any(
            one.session_id == old.session_id
            and same_date(normalise_script(old.content), normalise_script(one.content))
            for old in found
        )
    ]


def _names_a_word(statement: CorrectionStatement) -> bool:
    """Return whether the old value is named by a word of its own, not by a number or a day."""
    if statement.cue is not CorrectionCue.NAMED:
        return False
    return any(topic_terms(term) for term in statement.old_terms)


def echoes_of(
    statement: CorrectionStatement, corrected: Sequence[Message], earlier: Sequence[Message]
) -> list[Message]:
    """Return the assistant's messages that repeat what is corrected."""
    ids = [one.id for one in earlier]
    near = {
        index + step
        for index, message_id in enumerate(ids)
        if message_id in {one.id for one in corrected}
        for step in range(1, _ECHO_DISTANCE + 1)
    }
    said = " ".join(one.content for one in corrected)
    topic = set(topic_terms(normalise_script(said)))
    return [
        one
        for index, one in enumerate(earlier)
        if one.role is Role.ASSISTANT
        and (index in near or _names_a_word(statement))
        and _repeats(statement, one, topic)
    ]


def _repeats(statement: CorrectionStatement, message: Message, topic: set[str]) -> bool:
    plain = normalise_script(message.content)
    if statement.old_terms and named_share(statement, plain) >= _NAMED_SHARE:
        return True
    terms = set(topic_terms(plain))
    return not statement.old_terms and bool(terms & topic & set(statement.topic_terms))


def corrections_by_message(
    corrections: Iterable[MessageCorrection], may_quote: Callable[[Message], bool]
) -> Mapping[int, Sequence[Message]]:
    """Return corrected message id → its latest corrections that may be quoted, oldest first."""
    found: dict[int, list[Message]] = {}
    for one in sorted(corrections, key=lambda one: (one.message.ts, one.message.id)):
        if may_quote(one.message):
            found.setdefault(one.old_message_id, []).append(one.message)
    return {old: rows[-_MAX_SHOWN_CORRECTIONS:] for old, rows in found.items()}
