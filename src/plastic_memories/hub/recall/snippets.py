"""Conversation snippets of a recall: messages relevant to the question, then the latest ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plastic_memories.language.text.tokens import content_terms
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.recall import RecallQuery, Utterance
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.conversation.audience import hears

_DAY_S = 86_400.0
# A prompt that shows more messages than this has no room for recent ones anyway.
_MAX_SHOWN = 60
# The share of the snippets that stays for the latest messages, if there are any.
_RECENT_SHARE = 0.1
# A memory stands for the utterance it came from if it has most of its words.
_COVERED_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class ConversationSnippets:
    relevant: Sequence[Utterance] = ()  # relevant to the question, best first
    recent: Sequence[Message] = ()  # the latest messages, oldest first

    @property
    def all(self) -> list[Message]:
        """Return the relevant messages in chronological order, then the latest."""
        relevant = [one.message for one in self.relevant]
        return [*sorted(relevant, key=lambda row: (row.ts, row.id)), *self.recent]


@dataclass(frozen=True, slots=True)
class SnippetFinder:
    """Finds snippets: `limit` messages in all, the latest of them not older than `days`."""

    days: float
    limit: int

    def find_recent(self, stores: Stores, query: RecallQuery) -> list[Message]:
        """Return the latest messages that this reader may hear, newest first."""
        since = query.now - self.days * _DAY_S
        extra = len(query.exclude_message_ids) + min(len(query.shown_texts), _MAX_SHOWN)
        rows = stores.message_search.recent(query.viewpoint, since, 2 * self.limit + extra)
        listener = stores.message_search.listener(query.viewpoint)
        return [row for row in rows if hears(listener, row) and _is_new(row, query)]

    def choose(
        self,
        query: RecallQuery,
        said: Sequence[Utterance],
        recent: Sequence[Message],
        told: Collection[Memory],
    ) -> ConversationSnippets:
        """Return at most `limit` snippets, without what the caller has or a memory tells."""
        kept_for_recent = min(len(recent), int(self.limit * _RECENT_SHARE))
        new = [one for one in said if _is_new(one.message, query)]
        relevant = [one for one in new if not _is_told(one.message, told)]
        relevant = relevant[: self.limit - kept_for_recent]
        quoted = {one.message.id for one in relevant}
        rest = [row for row in recent if row.id not in quoted][: self.limit - len(relevant)]
        return ConversationSnippets(relevant, rest[::-1])


def _is_new(row: Message, query: RecallQuery) -> bool:
    return row.id not in query.exclude_message_ids and row.content not in query.shown_texts


def _is_told(row: Message, told: Collection[Memory]) -> bool:
    """Return whether a memory learned from an utterance says what it says."""
    for memory in told:
        if row.id in memory.source_message_ids and memory.type is not MemoryType.SUMMARY:
            words = set(content_terms(row.content))
            common = words.intersection(content_terms(memory.content))
            if len(common) >= _COVERED_SHARE * len(words):
                return True
    return False
