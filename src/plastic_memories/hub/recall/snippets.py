"""What was said: what bears on the question, with the turns around it, then what came last."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from zoneinfo import ZoneInfo

from plastic_memories.language.dates.past_references import Span, spans_and_rest
from plastic_memories.language.questions.evidence_terms import (
    READ_OF_EACH,
    best_first,
    enough_for,
    evidence_in,
    evidence_of,
    searched,
    share_of,
    weighed,
    without_everyday,
)
from plastic_memories.language.text.tokens import is_question, plain
from plastic_memories.model.message import Message, Spread
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.storage import Stores

_DAY_S = 86_400.0
# So many messages are looked at; of the first that bear on the question the best are quoted,
# fewer if even the best of them shares no more than a word with a long question.
_LOOKED_AT = 12
_WEIGHED = 6
_QUOTED = 3
_HINTS = 2
# Taking texts apart takes longest: so many characters are read, whatever they tell.
_READ_IN_ALL = 24_000
# If all that was found is the question itself, asked again and again, so many more are looked at.
_MORE = 5
# Who names a day or a weekend asks for what was said then, in whatever words.
_SHORT_S = 3.5 * _DAY_S
_OF_SHORT = 8
# Turns around a message that were said farther from it belong to another conversation.
_AROUND_S = _DAY_S
# A prompt that shows more than so many messages leaves no room for the last ones anyway.
_SHOWN_MOST = 60
_SPACING = 16


@dataclass(frozen=True, slots=True)
class Talk:
    said: Sequence[Message] = ()  # bears on the question, in the order it was said
    recent: Sequence[Message] = ()  # the last ones, oldest first

    @property
    def all(self) -> list[Message]:
        return [*self.said, *self.recent]


@dataclass(frozen=True, slots=True)
class Snippets:
    """How far back, and how many of the last ones."""

    days: float
    limit: int

    def of(self, stores: Stores, query: RecallQuery) -> Talk:
        """Search the messages and take the last ones, less those the caller has already."""
        known = query.exclude_message_ids
        since = query.now - self.days * _DAY_S
        most = self.limit + len(known) + min(len(query.shown), _SHOWN_MOST)
        last = stores.messages.recent(query.viewpoint, since, most)
        known |= {row.id for row in last if row.content in query.shown}
        recent = [row for row in last if row.id not in known][: self.limit][::-1]
        left_out = {*known, *(row.id for row in recent)}
        said = _Search(stores, query, left_out).said() if query.text.strip() else []
        return Talk(said, recent)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of a question can be found in messages."""

    told: Mapping[str, float]  # term → how much it tells by itself
    spread: Spread
    spans: Sequence[Span]  # the times it names, as far as they have begun


@dataclass(frozen=True)  # without slots: they leave no room for what is worked out once
class _Search:
    """One question, asked of the messages in one snapshot."""

    stores: Stores
    query: RecallQuery
    left_out: Collection[int]  # what the caller gets or has anyway

    def said(self) -> list[Message]:
        """Return what bears on the question and the turns around it, in the order it was said."""
        asked = self._asked()
        then = {span: self._found(asked.told, asked.spread, span) for span in asked.spans}
        hits = [row for rows in then.values() for row in rows]
        if len(hits) < _QUOTED:
            # At another time than the one that is named, everybody eats and goes somewhere, too.
            told = without_everyday(asked.told) if then else asked.told
            hits += self._found(told, asked.spread)
        turns = [row for hit in hits for row in self._turns(hit)]
        for span, rows in then.items():
            if not rows and _is_short(span) and span[1] <= self.query.now:
                turns += self.stores.messages.recent(
                    self.query.viewpoint, span[0], _OF_SHORT, span[1]
                )
        news = {row.id: row for row in turns if self._is_news(row)}
        return sorted(news.values(), key=lambda row: (row.ts, row.id))

    def _asked(self) -> _Asked:
        query = self.query
        *before, last = query.text.strip().splitlines()
        zone = ZoneInfo(self.stores.personas.settings(query.viewpoint.owner.user).time_zone)
        spans, rest = spans_and_rest(last, query.now, zone)
        # What names a time says when, not what: the `上个月` of May is not that of June.
        told = evidence_in("\n".join([*before, rest]))
        spread = self.stores.messages.spread(query.viewpoint.owner, list(told))
        begun = [span for span in spans if span[0] <= query.now]
        return _Asked(told, spread, begun)

    def _found(
        self, told: Mapping[str, float], spread: Spread, within: Span | None = None
    ) -> list[Message]:
        """Return the messages that tell most of what is asked, and the question's own repeats."""
        in_short = within is not None and _is_short(within)
        weights, terms = weighed(told, spread), searched(told, spread, in_short=in_short)
        # In a short time any word of the question will do.
        enough = 0.0 if in_short else enough_for(weights)
        # What is not there in all messages together is not there in one: that spares the search.
        if sum(weights[term] for term in terms) < enough:
            return []
        repeats, others = self._matching(terms, within)
        # One after another: a few that bear on the question are enough.
        each = ((row.id, evidence_of(row.content, weights)) for row in self._read(others))
        telling = dict(islice((one for one in each if one[1] >= enough), _WEIGHED))
        is_sure = max(telling.values(), default=0.0) >= share_of(weights)
        best = best_first(telling)[: _QUOTED if is_sure else _HINTS]
        by_id = {row.id: row for row in others}
        # Of the answers that the question got before, the first may be the right one, or the last.
        return [*(by_id[number] for number in best), *repeats[:1], *repeats[1:][-1:]]

    def _matching(
        self, terms: Sequence[str], within: Span | None
    ) -> tuple[list[Message], list[Message]]:
        """Return what only asks the same, and the others.

        Searches for more than are quoted: some of them the caller has anyway.
        """
        if not terms:
            return [], []
        search, view = self.stores.messages.search, self.query.viewpoint
        most = _LOOKED_AT + min(len(self.left_out), _SHOWN_MOST)
        repeats, others = self._divided(search(view, terms, most, within))
        if len(repeats) == most:
            return self._divided(search(view, terms, most * _MORE, within))
        return repeats, others

    def _divided(self, rows: Sequence[Message]) -> tuple[list[Message], list[Message]]:
        repeats: list[Message] = []
        others: list[Message] = []
        for row in rows:
            (repeats if self._is_the_question(row) else others).append(row)
        return repeats, others

    def _read(self, rows: Sequence[Message]) -> Iterator[Message]:
        """Yield what the caller does not have, until enough was read."""
        left = _READ_IN_ALL
        for row in filter(self._is_news, rows):
            left -= min(len(row.content), READ_OF_EACH)
            if left < 0:
                return
            yield row

    def _turns(self, hit: Message) -> list[Message]:
        """Return a message with the turns around it; of the question itself only its answer.

        Where the turn after it asks something, the answer to that comes too.
        """
        around = self._beside(hit)
        if self._is_the_question(hit):
            return [row for row in around if row.id > hit.id]
        asked = [row for row in around if row.id > hit.id and is_question(row.content)]
        answers = [row for one in asked for row in self._beside(one) if row.id > one.id]
        return [hit, *around, *answers]

    def _beside(self, hit: Message) -> list[Message]:
        return [
            row
            for row in self.stores.messages.neighbours(self.query.viewpoint, hit)
            if abs(row.ts - hit.ts) <= _AROUND_S
        ]

    @cached_property
    def _plain_question(self) -> str:
        return plain(self.query.text)

    def _is_the_question(self, row: Message) -> bool:
        asked = self.query.text
        if row.content == asked:
            return True
        # To even out a long text takes long, and no long one is a short one.
        is_as_long = len(row.content) <= 2 * len(asked) + _SPACING
        return is_as_long and plain(row.content) == self._plain_question

    def _is_news(self, row: Message) -> bool:
        return row.id not in self.left_out and row.content not in self.query.shown


def _is_short(span: Span) -> bool:
    return span[1] - span[0] <= _SHORT_S
