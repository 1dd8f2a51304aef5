"""Conversation messages, stored for a limited time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from plastic_memories.model.owner import Owner, Realm


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
    hidden_at: float | None = None


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """The id of an appended message, and whether it was already stored."""

    message_id: int
    deduped: bool


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
