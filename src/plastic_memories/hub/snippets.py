"""What was said: what bears on the question, with the turns around it, then what came last."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from plastic_memories.model.message import Message
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.text import index_terms, normalise, query_terms

_DAY_S = 86_400.0
# So many messages are looked at, and the best of them quoted.
_LOOKED_AT = 12
_QUOTED = 3
# A message that shares less than this with the question only happens to use its words.
_SHARED = 0.4
_MAX_TERMS = 24
# A prompt that shows more than so many messages leaves no room for the last ones anyway.
_SHOWN_MOST = 60


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
        return Talk(self._said(stores, query, left_out), recent)

    def _said(self, stores: Stores, query: RecallQuery, left_out: Collection[int]) -> list[Message]:
        terms = query_terms(query.text)[:_MAX_TERMS]
        if not terms:
            return []
        found = stores.messages.search(query.viewpoint, terms, _LOOKED_AT)
        asked, known = normalise(query.text), frozenset(terms)
        # One after another: taking a text apart takes longest, and a few are enough.
        telling = islice((row for row in found if _bears_on(row, known, asked)), _QUOTED)
        around = {
            row.id: row
            for hit in telling
            for row in (hit, *stores.messages.neighbours(query.viewpoint, hit))
            if row.id not in left_out and row.content not in query.shown
        }
        return [around[number] for number in sorted(around)]


def _bears_on(message: Message, terms: frozenset[str], asked: str) -> bool:
    """Say whether a message shares enough with the question, and is not the question itself."""
    if normalise(message.content) == asked:
        return False
    return len(terms.intersection(index_terms(message.content))) >= _SHARED * len(terms)
