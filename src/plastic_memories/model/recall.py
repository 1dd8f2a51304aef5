"""What is asked of memory, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from plastic_memories.model.memory import Memory
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Viewpoint


class IntentType(StrEnum):
    NONE = "none"
    PROFILE = "profile"
    EVENT = "event"
    HISTORY = "history"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Intent:
    type: IntentType
    confidence: float
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    viewpoint: Viewpoint
    text: str
    now: float
    realm_of_session: bool = False  # the session's realm counts, not the viewpoint's
    limit: int = 10
    budget_tokens: int | None = None
    recent: tuple[tuple[str, str], ...] = ()  # (role, content), oldest first
    rephrasings: tuple[str, ...] = ()  # the same question in other words, searched side by side
    shown_texts: frozenset[str] = (
        frozenset()
    )  # what the prompt says already: it is not quoted again
    only_memory_ids: frozenset[int] | None = None  # these memories and no others
    exclude_message_ids: frozenset[int] = frozenset()
    explain: bool = False
    deadline_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that was found: its score, the parts of it, and who found it."""

    memory: Memory
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextMatches:
    """Rows that share a word with the query, best first, each with its relevance."""

    memories: Sequence[Memory] = ()
    scores: Sequence[float] = ()  # any scale; larger is better
    degraded: bool = False  # the index was gone, rows were scanned instead


@dataclass(frozen=True, slots=True)
class NearMiss:
    """One memory that was looked at and not returned, and why."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    found_by: tuple[str, ...]
    reason: str
    repeats: int | None = None  # a better one that says nearly the same


@dataclass(frozen=True, slots=True)
class Findings:
    """What an engine found, best first, and which of its parts did not answer."""

    hits: Sequence[Hit]
    intent: Intent
    degraded: tuple[str, ...] = ()
    near_misses: Sequence[NearMiss] = ()  # only if the query asks for an explanation


@dataclass(frozen=True, slots=True)
class StableBlock:
    text: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """A whole answer to one recall."""

    profile_markdown: str
    hits: Sequence[Hit]
    snippets: Sequence[Message]
    injection_block: str
    stable_block: StableBlock
    turn_block: str
    turn_tokens: int
    intent: Intent
    tokens: int  # of the injection block
    truncated: bool
    degraded: tuple[str, ...]
    explain: Sequence[Mapping[str, Any]] | None = None
