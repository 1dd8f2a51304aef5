"""Measure the gate: sentences by kind, facts covered, false alarms in chatter."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.gate.corpora import CHATTER, NOTHING, Talk, WrittenSentence, read_talk, sentences
from bench.gate.vectors import VectorCache
from plastic_memories.language.gate.decision import Decision, decide
from plastic_memories.language.gate.gated_drafts import (
    UnreadStatement,
    decide_statement,
    is_unread,
    unread_draft,
    unread_statements,
)
from plastic_memories.language.gate.heads import Assessment, trained_heads
from plastic_memories.language.gate.kinds import KEPT_AS, KeepAs, StatementKind
from plastic_memories.language.reading.extraction import extract_drafts, read_window
from plastic_memories.language.text.tokens import content_terms
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner

_OWNER = Owner("bench", "user", "persona")
_NOW = 1_794_900_000.0
_COVERED = 0.6
_IN_EVERY_PROMPT = ("constraint.", "preference.style", "preference.reply", "basic_info.")
_TOLD = (KeepAs.CONSTRAINT, KeepAs.STYLE)


@dataclass(frozen=True)
class Reader:
    """Reads one utterance as the hub does: by rules, then by the gate."""

    vectors: VectorCache | None  # None: without an embedder

    def drafts(self, texts: Sequence[str]) -> list[list[Draft]]:
        """Return the drafts of each utterance, read alone."""
        talk = [_message(text, number) for number, text in enumerate(texts, start=1)]
        unread = [unread_statements(read_window([one])) for one in talk]
        if self.vectors is not None:
            self.vectors.embed(one.text for statements in unread for one in statements)
        return [
            [*extract_drafts([message]), *self._gated(statements)]
            for message, statements in zip(talk, unread, strict=True)
        ]

    def _gated(self, statements: Iterable[UnreadStatement]) -> Iterator[Draft]:
        for statement in statements:
            assessment, by_both = self._assess(statement.text)
            decision = decide_statement(statement, assessment, by_both_heads=by_both)
            if decision is not None:
                yield unread_draft(statement, decision)

    def decision(self, text: str) -> Decision | None:
        assessment, by_both = self._assess(text)
        return decide(text, assessment, by_both_heads=by_both)

    def _assess(self, text: str) -> tuple[Assessment, bool]:
        row = None if self.vectors is None else self.vectors.rows([text])[0]
        return trained_heads().assess(text, row), row is not None


@dataclass
class KindFigures:
    """Of the sentences of one kind: kept at all, kept in the way of the kind, kind right."""

    total: int = 0
    kept: int = 0
    kept_as: int = 0
    kind_right: int = 0


def score_sentences(reader: Reader, written: Sequence[WrittenSentence]) -> dict[str, KindFigures]:
    """Score the gate alone on sentences with kinds; `nothing` counts false alarms."""
    if reader.vectors is not None:
        reader.vectors.embed(one.text for one in written)
    found: dict[str, KindFigures] = {}
    for one in written:
        figures = found.setdefault(one.kind, KindFigures())
        decision = reader.decision(one.text)
        figures.total += 1
        figures.kept += decision is not None
        if one.kind == NOTHING:
            figures.kept_as += decision is not None and decision.keep_as in _TOLD
        elif decision is not None:
            wanted = KEPT_AS.get(StatementKind(one.kind), KeepAs.NOTE)
            figures.kept_as += decision.keep_as is wanted
            figures.kind_right += decision.kind.value == one.kind
    return found


def chatter_alarms(reader: Reader, folder: Path, limit: int) -> dict[str, dict[str, float]]:
    """Return for each corpus of chatter the share of utterances that leave something."""
    found = {}
    for corpus in CHATTER:
        texts = [text for talk in read_talk(folder, corpus) for _, text in talk.turns]
        some = random.Random(11).sample(texts, min(limit, len(texts)))
        counts: Counter[str] = Counter()
        for drafts in reader.drafts(some):
            ways = {_way(draft) for draft in drafts}
            counts.update(ways)
            counts["any"] += bool(ways)
        found[corpus] = {name: number / len(some) for name, number in sorted(counts.items())}
    return found


def _way(draft: Draft) -> str:
    if draft.type is MemoryType.NOTE:
        return "note"
    source = "gate" if is_unread(draft) else "rules"
    if not draft.key.startswith(_IN_EVERY_PROMPT):
        return f"{source}.other"
    is_told = source == "rules" or not draft.key.startswith("basic_info.")
    return f"{source}.told" if is_told else f"{source}.waiting"


@dataclass
class Coverage:
    """Facts that were said in words, and how many a kept draft tells."""

    said: int = 0
    by_rules: int = 0
    by_all: int = 0
    drafts: int = 0
    utterances: int = 0
    misses: list[tuple[str, str]] = field(default_factory=list)


def fact_coverage(reader: Reader, folder: Path, corpus: str, limit: int) -> Coverage:
    """Return how many labelled facts of held-out conversations are covered by what is kept."""
    coverage = Coverage()
    talks = [talk for talk in read_talk(folder, corpus) if talk.is_held]
    for talk in random.Random(5).sample(talks, min(limit, len(talks))):
        _cover_talk(reader, talk, coverage)
    return coverage


def _cover_talk(reader: Reader, talk: Talk, coverage: Coverage) -> None:
    facts = [
        (text, fact.turn)
        for fact in talk.facts
        if fact.turn is not None
        for text in sentences(fact.text)
    ]
    turns = sorted({turn for _, turn in facts})
    drafts = dict(zip(turns, reader.drafts([talk.turns[turn][1] for turn in turns]), strict=True))
    coverage.utterances += len(turns)
    coverage.drafts += sum(map(len, drafts.values()))
    for text, turn in facts:
        said = talk.turns[turn][1]
        wanted = _terms(text) & _terms(said)
        if len(wanted) < _COVERED * len(_terms(text)) or not wanted:
            continue
        coverage.said += 1
        by_rules = [one for one in drafts[turn] if not is_unread(one)]
        coverage.by_rules += _is_covered(wanted, by_rules)
        is_covered = _is_covered(wanted, drafts[turn])
        coverage.by_all += is_covered
        if not is_covered:
            coverage.misses.append((text, said))


def _is_covered(wanted: set[str], drafts: Iterable[Draft]) -> bool:
    return any(len(wanted & _terms(one.content)) >= _COVERED * len(wanted) for one in drafts)


def _terms(text: str) -> set[str]:
    return set(content_terms(text))


def _message(text: str, number: int) -> Message:
    return Message(owner=_OWNER, role=Role.USER, content=text, ts=_NOW, id=number)
