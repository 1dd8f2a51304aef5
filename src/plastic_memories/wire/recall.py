"""Request and response bodies of /memory/recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from plastic_memories.model.memory import MemoryType, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Realm
from plastic_memories.model.recall import Hit, IntentType, Recollection
from plastic_memories.rules.conversation.session_key import plain_session_id
from plastic_memories.wire.fields import (
    WHOLE_NUMBER,
    Flag,
    Id,
    OptionalName,
    RequestBody,
    ResponseBody,
    SessionRequest,
    Text,
    Timestamp,
)
from plastic_memories.wire.memories import ScoredMemoryRow, memory_row_fields

RECALL_PARTS = ("profile", "memory", "snippets")


class RecentMessageBody(RequestBody):
    role: Role
    content: Text


class RecallRequest(SessionRequest):
    query: Text
    limit: Annotated[int, Field(strict=True, ge=1, le=200), WHOLE_NUMBER] = 10
    only_session: Flag = False
    source_app: OptionalName | None = None
    branch_id: OptionalName | None = None
    budget_tokens: Annotated[int, Field(strict=True, ge=1, le=1_000_000), WHOLE_NUMBER] | None = (
        None
    )
    recent_messages: Annotated[list[RecentMessageBody], Field(max_length=200)] = Field(default=[])
    also: Annotated[list[Text], Field(max_length=5)] = Field(
        default=[], description="The same question in other words, searched side by side."
    )
    realm: Realm | None = None
    types: Annotated[list[MemoryType | Literal["message"]], Field(max_length=50)] | None = Field(
        default=None,
        description="Only memories of these types; `message` stands for what was said.",
    )
    include: list[Literal["profile", "memory", "snippets"]] | None = None
    exclude_message_ids: Annotated[list[Id], Field(max_length=1000)] = Field(default=[])
    now: Timestamp | None = None
    explain: Flag = False
    deadline_ms: Annotated[int, Field(strict=True, ge=1, le=60_000), WHOLE_NUMBER] | None = None

    @property
    def memory_types(self) -> frozenset[MemoryType] | None:
        """Return the types of memories to recall; None for all of them."""
        if not self.types:
            return None
        return frozenset(kind for kind in self.types if isinstance(kind, MemoryType))

    @property
    def quotes_messages(self) -> bool:
        """Return whether what was said is searched."""
        return not self.types or "message" in self.types

    @property
    def parts(self) -> Sequence[str]:
        """Return the parts of the answer to build; `message` among the types wants snippets."""
        if self.include is None:
            return RECALL_PARTS
        named = self.types is not None and "message" in self.types
        return [*self.include, "snippets"] if named else self.include


class MessageRow(ResponseBody):
    id: int
    persona_id: str
    role: Role
    content: str
    speaker: str | None
    session_id: str | None
    source_app: str | None
    bot_id: str | None
    branch_id: str | None
    platform: str | None
    message_type: str | None
    client_msg_id: str | None
    realm: Realm
    ts: float
    hidden: bool
    hidden_spans: list[tuple[int, int]]  # forgotten sentences: start and end, in characters


def message_row(message: Message) -> MessageRow:
    return MessageRow.model_construct(
        id=message.id,
        persona_id=message.owner.persona_id,
        role=message.role,
        content=message.content,
        speaker=message.speaker or None,
        session_id=plain_session_id(message.session_id, message.platform, message.message_type)
        or None,
        source_app=message.source_app or None,
        bot_id=message.bot_id or None,
        branch_id=message.branch_id or None,
        platform=message.platform or None,
        message_type=message.message_type or None,
        client_msg_id=message.client_msg_id or None,
        realm=message.realm,
        ts=message.ts,
        hidden=message.hidden_at is not None,
        hidden_spans=list(message.hidden_spans),
    )


class StableBlockRow(ResponseBody):
    text: str
    version: str
    tokens: int  # of the part that fits into the budget


class TurnBlockRow(ResponseBody):
    text: str
    tokens: int


class IntentRow(ResponseBody):
    type: IntentType
    confidence: float
    queries: list[str]


class RecallResponse(ResponseBody):
    PERSONA_PROFILE: str
    PERSONA_MEMORY: list[ScoredMemoryRow]
    CHAT_SNIPPETS: list[MessageRow]
    injection_block: str
    stable_block: StableBlockRow
    turn_block: TurnBlockRow
    intent: IntentRow
    tokens: int
    truncated: bool
    degraded: list[str]
    explain: list[dict[str, Any]] | None = None


def recall_response(found: Recollection) -> dict[str, Any]:
    """Return a `RecallResponse` as plain data: the rows are many, and need no validation."""
    return {
        "PERSONA_PROFILE": found.profile_markdown,
        "PERSONA_MEMORY": [_scored_memory_row(hit) for hit in found.hits],
        "CHAT_SNIPPETS": [message_row(message).model_dump() for message in found.snippets],
        "injection_block": found.injection_block,
        "stable_block": {
            "text": found.stable_block.text,
            "version": found.stable_block.version,
            "tokens": found.tokens - found.turn_tokens,
        },
        "turn_block": {"text": found.turn_block, "tokens": found.turn_tokens},
        "intent": {
            "type": found.intent.type,
            "confidence": found.intent.confidence,
            "queries": list(found.intent.queries),
        },
        "tokens": found.tokens,
        "truncated": found.truncated,
        "degraded": list(found.degraded),
        "explain": found.explain,
    }


def _scored_memory_row(hit: Hit) -> dict[str, Any]:
    return {
        **memory_row_fields(hit.memory),
        "score": round(hit.score, 6),
        "unconfirmed": hit.memory.status is Status.CANDIDATE,
    }
