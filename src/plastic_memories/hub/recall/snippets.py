"""Conversation snippets for a recall: messages relevant to the question, then the latest ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from zoneinfo import ZoneInfo

from plastic_memories.language.dates.past_references import Span, time_spans_and_rest
from plastic_memories.language.questions.evidence_terms import (
    MAX_SCORED_CHARS,
    evidence_score,
    evidence_terms,
    evidence_threshold,
    idf_weighted_terms,
    likely_answer_threshold,
    search_terms,
    strongest_evidence,
    without_common_terms,
)
from plastic_memories.language.text.tokens import is_question, normalise_script
from plastic_memories.model.message import Message, TermDocumentCounts
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.storage import Stores

_DAY_S = 86_400.0
# Messages searched, scored and quoted. Fewer are quoted if even the best shares only one word
# with a long question.
_SEARCH_LIMIT = 12
_MAX_SCORED = 6
_MAX_QUOTED = 3
_MAX_WEAK_QUOTED = 2
# Tokenizing takes longest: at most this many characters are read.
_MAX_CHARS_READ = 24_000
# If all results only repeat the question, the search is retried with a limit this much larger.
_RETRY_FACTOR = 5
# A question that names a day or a weekend asks for what was said then, in any words.
_SHORT_SPAN_S = 3.5 * _DAY_S
_SHORT_SPAN_MESSAGES = 8
# Neighbours farther away in time than this belong to another conversation.
_NEIGHBOUR_WINDOW_S = _DAY_S
# A prompt that shows more messages than this has no room for recent ones anyway.
_MAX_SHOWN = 60
_LENGTH_SLACK = 16


@dataclass(frozen=True, slots=True)
class ConversationSnippets:
    relevant: Sequence[Message] = ()  # relevant to the question, in chronological order
    recent: Sequence[Message] = ()  # the latest messages, oldest first

    @property
    def all(self) -> list[Message]:
        return [*self.relevant, *self.recent]


@dataclass(frozen=True, slots=True)
class SnippetFinder:
    """Finds snippets; `days` and `limit` bound the recent messages."""

    days: float
    limit: int

    def find_snippets(self, stores: Stores, query: RecallQuery) -> ConversationSnippets:
        """Return relevant and recent messages, without those the caller already has."""
        known = query.exclude_message_ids
        since = query.now - self.days * _DAY_S
        max_rows = self.limit + len(known) + min(len(query.shown_texts), _MAX_SHOWN)
        last = stores.message_search.recent(query.viewpoint, since, max_rows)
        known |= {row.id for row in last if row.content in query.shown_texts}
        recent = [row for row in last if row.id not in known][: self.limit][::-1]
        excluded = {*known, *(row.id for row in recent)}
        search = _SnippetSearch(stores, query, excluded)
        is_searched = query.quotes_messages and query.text.strip()
        relevant = search.relevant_messages() if is_searched else []
        return ConversationSnippets(relevant, recent)


@dataclass(frozen=True, slots=True)
class _QuestionTerms:
    """The searchable parts of a question."""

    term_weights: Mapping[str, float]  # term → its weight as evidence
    statistics: TermDocumentCounts
    spans: Sequence[Span]  # the time spans it names, without future ones


@dataclass(frozen=True)  # without slots: cached_property needs a __dict__
class _SnippetSearch:
    """One question against the messages of one snapshot."""

    stores: Stores
    query: RecallQuery
    excluded_ids: Collection[int]  # messages the caller has or gets anyway

    def relevant_messages(self) -> list[Message]:
        """Return relevant messages and their neighbours, in chronological order."""
        question = self._question_terms()
        by_span = {
            span: self._best_messages(question.term_weights, question.statistics, span)
            for span in question.spans
        }
        hits = [row for rows in by_span.values() for row in rows]
        if len(hits) < _MAX_QUOTED:
            # Outside the named span, common terms (people eat and travel at any time) prove little.
            weights = question.term_weights
            weights = without_common_terms(weights) if by_span else weights
            hits += self._best_messages(weights, question.statistics)
        turns = [row for hit in hits for row in self._surrounding_turns(hit)]
        for span, rows in by_span.items():
            if not rows and _is_short(span) and span[1] <= self.query.now:
                turns += self.stores.message_search.recent(
                    self.query.viewpoint, span[0], _SHORT_SPAN_MESSAGES, span[1]
                )
        new = {row.id: row for row in turns if self._is_new(row)}
        return sorted(new.values(), key=lambda row: (row.ts, row.id))

    def _question_terms(self) -> _QuestionTerms:
        query = self.query
        *before, last = query.text.strip().splitlines()
        zone = ZoneInfo(self.stores.personas.settings(query.viewpoint.owner.user).time_zone)
        spans, rest = time_spans_and_rest(last, query.now, zone)
        # A time expression says when, not what: `上个月` in May is not `上个月` in June.
        weights = evidence_terms("\n".join([*before, rest]))
        statistics = self.stores.message_search.document_counts(
            query.viewpoint.owner, list(weights)
        )
        started = [span for span in spans if span[0] <= query.now]
        return _QuestionTerms(weights, statistics, started)

    def _best_messages(
        self,
        term_weights: Mapping[str, float],
        statistics: TermDocumentCounts,
        within: Span | None = None,
    ) -> list[Message]:
        """Return the messages with most evidence for the question, and repeats of the question."""
        in_short = within is not None and _is_short(within)
        weights = idf_weighted_terms(term_weights, statistics)
        terms = search_terms(term_weights, statistics, in_short=in_short)
        # Within a short span, any term of the question is enough.
        threshold = 0.0 if in_short else evidence_threshold(weights)
        # If all terms together stay below the threshold, no message can reach it.
        if sum(weights[term] for term in terms) < threshold:
            return []
        repeats, others = self._search_messages(terms, within)
        # Lazy: scoring stops after the first few relevant messages.
        scored = (
            (row.id, evidence_score(row.content, weights))
            for row in self._unseen_within_budget(others)
        )
        evidence = dict(islice((pair for pair in scored if pair[1] >= threshold), _MAX_SCORED))
        is_sure = max(evidence.values(), default=0.0) >= likely_answer_threshold(weights)
        best = strongest_evidence(evidence)[: _MAX_QUOTED if is_sure else _MAX_WEAK_QUOTED]
        by_id = {row.id: row for row in others}
        # Of the answers to earlier repeats, the right one may be the first or the last.
        return [*(by_id[message_id] for message_id in best), *repeats[:1], *repeats[1:][-1:]]

    def _search_messages(
        self, terms: Sequence[str], within: Span | None
    ) -> tuple[list[Message], list[Message]]:
        """Return the repeats of the question, and the other results.

        The limit exceeds what is quoted: the caller already has some of the results.
        """
        if not terms:
            return [], []
        search, view = self.stores.message_search.search, self.query.viewpoint
        max_rows = _SEARCH_LIMIT + min(len(self.excluded_ids), _MAX_SHOWN)
        repeats, others = self._split_repeats(search(view, terms, max_rows, within))
        if len(repeats) == max_rows:
            return self._split_repeats(search(view, terms, max_rows * _RETRY_FACTOR, within))
        return repeats, others

    def _split_repeats(self, rows: Sequence[Message]) -> tuple[list[Message], list[Message]]:
        repeats: list[Message] = []
        others: list[Message] = []
        for row in rows:
            (repeats if self._repeats_question(row) else others).append(row)
        return repeats, others

    def _unseen_within_budget(self, rows: Sequence[Message]) -> Iterator[Message]:
        """Yield messages the caller does not have, until the character budget is spent."""
        left = _MAX_CHARS_READ
        for row in filter(self._is_new, rows):
            left -= min(len(row.content), MAX_SCORED_CHARS)
            if left < 0:
                return
            yield row

    def _surrounding_turns(self, hit: Message) -> list[Message]:
        """Return a message with its neighbours; for a repeat of the question only what follows it.

        If the next turn asks something, the answer to that is included.
        """
        around = self._neighbours(hit)
        if self._repeats_question(hit):
            return [row for row in around if row.id > hit.id]
        questions = [row for row in around if row.id > hit.id and is_question(row.content)]
        answers = [row for turn in questions for row in self._neighbours(turn) if row.id > turn.id]
        return [hit, *around, *answers]

    def _neighbours(self, hit: Message) -> list[Message]:
        return [
            row
            for row in self.stores.message_search.neighbours(self.query.viewpoint, hit)
            if abs(row.ts - hit.ts) <= _NEIGHBOUR_WINDOW_S
        ]

    @cached_property
    def _plain_question(self) -> str:
        return normalise_script(self.query.text)

    def _repeats_question(self, row: Message) -> bool:
        question = self.query.text
        if row.content == question:
            return True
        # Normalising a long text is slow, and a much longer text cannot equal the question.
        is_as_long = len(row.content) <= 2 * len(question) + _LENGTH_SLACK
        return is_as_long and normalise_script(row.content) == self._plain_question

    def _is_new(self, row: Message) -> bool:
        return row.id not in self.excluded_ids and row.content not in self.query.shown_texts


def _is_short(span: Span) -> bool:
    return span[1] - span[0] <= _SHORT_SPAN_S
