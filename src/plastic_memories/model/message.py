"""Conversation messages, stored for a limited time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from plastic_memories.model.owner import Owner, Realm

# Start and end of a part of a text, in characters; the end is not part of it.
Span = tuple[int, int]


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation; `id` is 0 until it is stored."""

    owner: Owner
    role: Role
    content: str
    ts: float
    id: int = 0
    speaker: str = ""
    session_id: str = ""
    source_app: str = ""
    bot_id: str = ""
    branch_id: str = ""
    platform: str = ""
    message_type: str = ""
    realm: Realm = Realm.REAL
    client_msg_id: str = ""
    created_at: float = 0.0
    hidden_at: float | None = None  # set: no part of it may be read
    hidden_spans: tuple[Span, ...] = ()  # forgotten sentences, in order, none beside another

    @property
    def visible_text(self) -> str:
        """Return the text without its forgotten sentences: all that recall and rules may read."""
        if self.hidden_at is not None:
            return ""
        if not self.hidden_spans:
            return self.content
        return _without_spans(self.content, self.hidden_spans)


def visible_message(message: Message) -> Message:
    """Return a message that holds only its visible text."""
    if message.hidden_at is None and not message.hidden_spans:
        return message
    return replace(message, content=message.visible_text, hidden_spans=())


def hide_spans(message: Message, spans: Iterable[Span], now: float) -> Message:
    """Return a message with more of it hidden; wholly hidden if no word is left to read."""
    hidden = merge_spans([*message.hidden_spans, *spans], len(message.content))
    left = _without_spans(message.content, hidden)
    is_empty = bool(hidden) and not any(char.isalnum() for char in left)
    hidden_at = now if is_empty and message.hidden_at is None else message.hidden_at
    return replace(message, hidden_spans=hidden, hidden_at=hidden_at)


def show_spans(message: Message, spans: Iterable[Span]) -> Message:
    """Return a message in which these parts are no longer hidden."""
    shown = set(spans)
    left: list[Span] = []
    for start, end in message.hidden_spans:
        place = start
        for first, last in sorted(span for span in shown if start < span[1] and span[0] < end):
            left.append((place, first))
            place = max(place, last)
        left.append((place, end))
    bare = replace(message, hidden_spans=(), hidden_at=None)
    return hide_spans(bare, left, message.hidden_at or 0.0)


def merge_spans(spans: Iterable[Span], length: int) -> tuple[Span, ...]:
    """Return spans of a text of this length in order, with those that touch made one.

    >>> merge_spans([(4, 9), (0, 2), (2, 3)], 8)
    ((0, 3), (4, 8))
    """
    merged: list[Span] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _without_spans(text: str, hidden: Iterable[Span]) -> str:
    pieces, place = [], 0
    for start, end in hidden:
        pieces.append(text[place:start])
        place = end
    return "".join([*pieces, text[place:]]).strip()


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """The id of an appended message, and whether it was already stored."""

    message_id: int
    deduped: bool


class PendingStatus(StrEnum):
    ASKED = "asked"  # in the inbox: it is not clear what is meant
    PENDING = "pending"
    UNDONE = "undone"
    FINAL = "final"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingForget:
    """What a request made in the chat has hidden, until it is final; `id` is 0 until stored."""

    owner: Owner
    message_id: int  # the request
    requested_at: float
    final_at: float
    id: int = 0
    status: PendingStatus = PendingStatus.PENDING
    revoked: Mapping[int, str] = field(default_factory=dict)  # memory id → its status before
    restored: tuple[int, ...] = ()  # earlier values that hold again
    hidden: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)  # by message id


@dataclass(frozen=True, slots=True)
class TermDocumentCounts:
    """Document frequencies of terms in a persona's messages; counting stops at `count_cap`."""

    messages: int
    counts: Mapping[str, int]  # term → number of messages that contain it, at most `count_cap`
    count_cap: int | None = None  # None: every count is exact

    def is_common(self, term: str) -> bool:
        """Return whether the term's count reached the cap."""
        return self.count_cap is not None and self.counts.get(term, 0) >= self.count_cap


@dataclass(frozen=True, slots=True)
class MessageCorrection:
    """A message that was corrected, and the message that corrects it."""

    old_message_id: int
    message: Message


@dataclass(frozen=True, slots=True)
class CorrectedIds:
    """What one message corrects: earlier messages, and memories that it has ended."""

    message_ids: frozenset[int] = frozenset()
    memory_ids: frozenset[int] = frozenset()
