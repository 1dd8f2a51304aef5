"""One utterance, kept for a limited time."""

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
    """An utterance as it was stored; `id` is 0 until it is."""

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
    """What became of one appended message."""

    message_id: int
    deduped: bool


@dataclass(frozen=True, slots=True)
class TermDocumentCounts:
    """How common words are in what was said to a persona; large numbers are not counted out."""

    messages: int
    counts: Mapping[str, int]  # term → how many messages hold it, or `most` if more do
    count_cap: int | None = None  # None: all that hold a term were counted

    def is_common(self, term: str) -> bool:
        """Tell whether so many messages hold a term that nobody counted on."""
        return self.count_cap is not None and self.counts.get(term, 0) >= self.count_cap
