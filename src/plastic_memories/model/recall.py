"""Recall queries, hits and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from plastic_memories.model.memory import Memory, MemoryType
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
    realm_of_session: bool = False  # use the session's realm, not the viewpoint's
    limit: int = 10
    budget_tokens: int | None = None
    recent: tuple[tuple[str, str], ...] = ()  # (role, content), oldest first
    rephrasings: tuple[str, ...] = ()  # the same question in other words; each is searched too
    # Texts the prompt already contains: not quoted again.
    shown_texts: frozenset[str] = frozenset()
    only_memory_ids: frozenset[int] | None = None  # restrict the search to these memories
    types: frozenset[MemoryType] | None = None  # restrict the search to memories of these types
    quotes_messages: bool = True  # search old messages too
    quote_limit: int = 0  # the number of messages that the engine searches for
    exclude_message_ids: frozenset[int] = frozenset()
    explain: bool = False
    deadline_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A found memory, its score, the parts of the score, and which searches found it."""

    memory: Memory
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Utterance:
    """A found message, scored on the scale of the memories."""

    message: Message
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextMatches:
    """Rows that share a term with the query, best first, each with its relevance."""

    memories: Sequence[Memory] = ()
    scores: Sequence[float] = ()  # any scale; larger is better
    degraded: bool = False  # the index was missing, rows were scanned instead


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A candidate that was ranked but not returned, and why."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    found_by: tuple[str, ...]
    reason: str
    repeats: int | None = None  # id of a better hit with nearly the same text


@dataclass(frozen=True, slots=True)
class Findings:
    """The hits of a recall engine, best first, and which of its parts did not answer."""

    hits: Sequence[Hit]
    intent: Intent
    degraded: tuple[str, ...] = ()
    near_misses: Sequence[NearMiss] = ()  # only if the query requests an explanation
    utterances: Sequence[Utterance] = ()  # best first; the neighbours of the best among them


@dataclass(frozen=True, slots=True)
class StableBlock:
    text: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The complete result of one recall."""

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
    cut: tuple[str, ...] = ()  # files of which the stable block has only a part
    explain: Sequence[Mapping[str, Any]] | None = None
