"""What was said: what bears on the question, with the turns around it, then what came last."""

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
# So many messages are looked at; of the first that bear on the question the best are quoted,
# fewer if even the best of them shares no more than a word with a long question.
_SEARCH_LIMIT = 12
_MAX_SCORED = 6
_MAX_QUOTED = 3
_MAX_WEAK_QUOTED = 2
# Taking texts apart takes longest: so many characters are read, whatever they tell.
_MAX_CHARS_READ = 24_000
# If all that was found is the question itself, asked again and again, so many more are looked at.
_RETRY_FACTOR = 5
# Who names a day or a weekend asks for what was said then, in whatever words.
_SHORT_SPAN_S = 3.5 * _DAY_S
_SHORT_SPAN_MESSAGES = 8
# Turns around a message that were said farther from it belong to another conversation.
_NEIGHBOUR_WINDOW_S = _DAY_S
# A prompt that shows more than so many messages leaves no room for the last ones anyway.
_MAX_SHOWN = 60
_LENGTH_SLACK = 16


@dataclass(frozen=True, slots=True)
class ConversationSnippets:
    relevant: Sequence[Message] = ()  # bears on the question, in the order it was said
    recent: Sequence[Message] = ()  # the last ones, oldest first

    @property
    def all(self) -> list[Message]:
        return [*self.relevant, *self.recent]


@dataclass(frozen=True, slots=True)
class SnippetFinder:
    """How far back, and how many of the last ones."""

    days: float
    limit: int

    def find_snippets(self, stores: Stores, query: RecallQuery) -> ConversationSnippets:
        """Search the messages and take the last ones, less those the caller has already."""
        known = query.exclude_message_ids
        since = query.now - self.days * _DAY_S
        most = self.limit + len(known) + min(len(query.shown_texts), _MAX_SHOWN)
        last = stores.message_search.recent(query.viewpoint, since, most)
        known |= {row.id for row in last if row.content in query.shown_texts}
        recent = [row for row in last if row.id not in known][: self.limit][::-1]
        left_out = {*known, *(row.id for row in recent)}
        said = (
            _SnippetSearch(stores, query, left_out).relevant_messages()
            if query.text.strip()
            else []
        )
        return ConversationSnippets(said, recent)


@dataclass(frozen=True, slots=True)
class _QuestionTerms:
    """What of a question can be found in messages."""

    term_weights: Mapping[str, float]  # term → how much it tells by itself
    statistics: TermDocumentCounts
    spans: Sequence[Span]  # the times it names, as far as they have begun


@dataclass(frozen=True)  # without slots: they leave no room for what is worked out once
class _SnippetSearch:
    """One question, asked of the messages in one snapshot."""

    stores: Stores
    query: RecallQuery
    excluded_ids: Collection[int]  # what the caller gets or has anyway

    def relevant_messages(self) -> list[Message]:
        """Return what bears on the question and the turns around it, in the order it was said."""
        asked = self._question_terms()
        then = {
            span: self._best_messages(asked.term_weights, asked.statistics, span)
            for span in asked.spans
        }
        hits = [row for rows in then.values() for row in rows]
        if len(hits) < _MAX_QUOTED:
            # At another time than the one that is named, everybody eats and goes somewhere, too.
            told = without_common_terms(asked.term_weights) if then else asked.term_weights
            hits += self._best_messages(told, asked.statistics)
        turns = [row for hit in hits for row in self._surrounding_turns(hit)]
        for span, rows in then.items():
            if not rows and _is_short(span) and span[1] <= self.query.now:
                turns += self.stores.message_search.recent(
                    self.query.viewpoint, span[0], _SHORT_SPAN_MESSAGES, span[1]
                )
        news = {row.id: row for row in turns if self._is_new(row)}
        return sorted(news.values(), key=lambda row: (row.ts, row.id))

    def _question_terms(self) -> _QuestionTerms:
        query = self.query
        *before, last = query.text.strip().splitlines()
        zone = ZoneInfo(self.stores.personas.settings(query.viewpoint.owner.user).time_zone)
        spans, rest = time_spans_and_rest(last, query.now, zone)
        # What names a time says when, not what: the `上个月` of May is not that of June.
        told = evidence_terms("\n".join([*before, rest]))
        spread = self.stores.message_search.document_counts(query.viewpoint.owner, list(told))
        begun = [span for span in spans if span[0] <= query.now]
        return _QuestionTerms(told, spread, begun)

    def _best_messages(
        self, told: Mapping[str, float], spread: TermDocumentCounts, within: Span | None = None
    ) -> list[Message]:
        """Return the messages that tell most of what is asked, and the question's own repeats."""
        in_short = within is not None and _is_short(within)
        weights, terms = (
            idf_weighted_terms(told, spread),
            search_terms(told, spread, in_short=in_short),
        )
        # In a short time any word of the question will do.
        enough = 0.0 if in_short else evidence_threshold(weights)
        # What is not there in all messages together is not there in one: that spares the search.
        if sum(weights[term] for term in terms) < enough:
            return []
        repeats, others = self._search_messages(terms, within)
        # One after another: a few that bear on the question are enough.
        each = (
            (row.id, evidence_score(row.content, weights))
            for row in self._unseen_within_budget(others)
        )
        telling = dict(islice((one for one in each if one[1] >= enough), _MAX_SCORED))
        is_sure = max(telling.values(), default=0.0) >= likely_answer_threshold(weights)
        best = strongest_evidence(telling)[: _MAX_QUOTED if is_sure else _MAX_WEAK_QUOTED]
        by_id = {row.id: row for row in others}
        # Of the answers that the question got before, the first may be the right one, or the last.
        return [*(by_id[number] for number in best), *repeats[:1], *repeats[1:][-1:]]

    def _search_messages(
        self, terms: Sequence[str], within: Span | None
    ) -> tuple[list[Message], list[Message]]:
        """Return what only asks the same, and the others.

        Searches for more than are quoted: some of them the caller has anyway.
        """
        if not terms:
            return [], []
        search, view = self.stores.message_search.search, self.query.viewpoint
        most = _SEARCH_LIMIT + min(len(self.excluded_ids), _MAX_SHOWN)
        repeats, others = self._split_repeats(search(view, terms, most, within))
        if len(repeats) == most:
            return self._split_repeats(search(view, terms, most * _RETRY_FACTOR, within))
        return repeats, others

    def _split_repeats(self, rows: Sequence[Message]) -> tuple[list[Message], list[Message]]:
        repeats: list[Message] = []
        others: list[Message] = []
        for row in rows:
            (repeats if self._repeats_question(row) else others).append(row)
        return repeats, others

    def _unseen_within_budget(self, rows: Sequence[Message]) -> Iterator[Message]:
        """Yield what the caller does not have, until enough was read."""
        left = _MAX_CHARS_READ
        for row in filter(self._is_new, rows):
            left -= min(len(row.content), MAX_SCORED_CHARS)
            if left < 0:
                return
            yield row

    def _surrounding_turns(self, hit: Message) -> list[Message]:
        """Return a message with the turns around it; of the question itself only its answer.

        Where the turn after it asks something, the answer to that comes too.
        """
        around = self._neighbours(hit)
        if self._repeats_question(hit):
            return [row for row in around if row.id > hit.id]
        asked = [row for row in around if row.id > hit.id and is_question(row.content)]
        answers = [row for one in asked for row in self._neighbours(one) if row.id > one.id]
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
        asked = self.query.text
        if row.content == asked:
            return True
        # To even out a long text takes long, and no long one is a short one.
        is_as_long = len(row.content) <= 2 * len(asked) + _LENGTH_SLACK
        return is_as_long and normalise_script(row.content) == self._plain_question

    def _is_new(self, row: Message) -> bool:
        return row.id not in self.excluded_ids and row.content not in self.query.shown_texts


def _is_short(span: Span) -> bool:
    return span[1] - span[0] <= _SHORT_SPAN_S
