"""Statements that no rule reads: find them, and make drafts of those the gate lets through."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from plastic_memories.language.gate.decision import Decision, decide
from plastic_memories.language.gate.features import comparable_text
from plastic_memories.language.gate.heads import Assessment
from plastic_memories.language.gate.kinds import KeepAs, StatementKind
from plastic_memories.language.reading.group_members import attribute_to_speaker
from plastic_memories.language.reading.message_reading import ReadClause, draft_origin
from plastic_memories.language.reading.relation_words import is_of_others_or_supposed
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Realm

# A part of each key; what follows it is a digest of the words.
UNREAD = "unread."
_DIGEST_CHARS = 16
# What stands between two sentences, or between lines.
_SENTENCE_END = regex(r"[。！？!?；;…\n]|\.(?=\s|$)")
_MAX_NOTE_CHARS = 160
# A greeting is shorter. Four Chinese characters, or two words.
_MIN_CHARS = 4
_MAX_STATEMENTS = 200
_KEYS = {
    KeepAs.CONSTRAINT: f"constraint.{UNREAD}",
    KeepAs.STYLE: f"preference.style.{UNREAD}",
    KeepAs.IDENTITY: f"basic_info.{UNREAD}",
    KeepAs.NOTE: UNREAD,
}
_IMPORTANCE = {KeepAs.CONSTRAINT: 0.9, KeepAs.STYLE: 0.8, KeepAs.IDENTITY: 0.7}


@dataclass(frozen=True, slots=True)
class UnreadStatement:
    """Neighbouring clauses of one sentence that no rule reads.

    `text` is what they say, literally; `sentence` includes the clauses beside them. If a rule has
    read one of those, the statement says more about something that lasts.
    """

    message: Message
    text: str
    sentence: str
    is_beside_read: bool = False


def unread_statements(read: Sequence[ReadClause]) -> list[UnreadStatement]:
    """Return the statements that no rule reads, in order; at most 200 of a window."""
    real = [clause for clause in read if clause.realm is Realm.REAL]
    found = (statement for sentence in _sentences(real) for statement in _unread_runs(sentence))
    kept = [one for one in found if len(comparable_text(one.text)) >= _MIN_CHARS]
    return kept[:_MAX_STATEMENTS]


def decide_statement(
    statement: UnreadStatement, assessment: Assessment, *, by_both_heads: bool
) -> Decision | None:
    """Return how to keep a statement; None if it is not worth it."""
    decision = decide(
        statement.text,
        assessment,
        by_both_heads=by_both_heads,
        is_beside_read=statement.is_beside_read,
    )
    is_claim = decision is not None and decision.keep_as in (KeepAs.CONSTRAINT, KeepAs.IDENTITY)
    if decision is None or not is_claim or decision.kind is StatementKind.TABOO:
        return decision
    # Somebody else's allergy or name is worth a note, and no limit of the speaker.
    is_own = not is_of_others_or_supposed(statement.text)
    return decision if is_own else replace(decision, keep_as=KeepAs.NOTE)


def unread_draft(statement: UnreadStatement, decision: Decision) -> Draft:
    """Return a statement as a draft in the speaker's own words.

    The key is a digest of the words in one script, without emoji or punctuation: the same statement
    again is the same memory, and a tombstone holds for it.
    """
    is_note = decision.keep_as is KeepAs.NOTE
    text = statement.sentence if is_note else statement.text
    words = comparable_text(statement.text)
    draft = Draft(
        type=MemoryType.NOTE if is_note else MemoryType.PROFILE,
        key=_KEYS[decision.keep_as] + _digest(words),
        content=text,
        quote=text,
        **draft_origin(statement.message),
        confidence=round(decision.lasting, 2),
        importance=_IMPORTANCE.get(decision.keep_as, round(0.3 + 0.4 * decision.lasting, 2)),
        attributes={"value": words, "kind": decision.kind.value},
    )
    return attribute_to_speaker(statement.message, draft)


def is_unread(draft: Draft) -> bool:
    """Return whether a draft holds words that no rule could read."""
    return draft.key.startswith(UNREAD) or f".{UNREAD}" in draft.key


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]


def _sentences(clauses: Sequence[ReadClause]) -> Iterator[list[ReadClause]]:
    """Yield the clauses of each sentence; a long sentence in parts."""
    sentence: list[ReadClause] = []
    for clause in clauses:
        if sentence and not _is_continued(sentence, clause):
            yield sentence
            sentence = []
        sentence.append(clause)
    if sentence:
        yield sentence


def _is_continued(sentence: Sequence[ReadClause], clause: ReadClause) -> bool:
    first, last = sentence[0], sentence[-1]
    if clause.message is not last.message or clause.start < last.end:
        return False
    between = clause.message.content[last.end : clause.start]
    return clause.end - first.start <= _MAX_NOTE_CHARS and not _SENTENCE_END.search(between)


def _unread_runs(sentence: Sequence[ReadClause]) -> Iterator[UnreadStatement]:
    content = sentence[0].message.content
    whole = content[sentence[0].start : sentence[-1].end]
    is_partly_read = any(clause.findings for clause in sentence)
    for has_findings, run in groupby(sentence, key=lambda clause: bool(clause.findings)):
        if not has_findings:
            clauses = list(run)
            text = content[clauses[0].start : clauses[-1].end]
            yield UnreadStatement(clauses[0].message, text, whole, is_partly_read)
