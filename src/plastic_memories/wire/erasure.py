"""Request and response bodies of /memory/forget."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from plastic_memories.model.memory import MemoryType
from plastic_memories.wire.fields import BotRequest, Flag, Id, Key, ResponseBody, Text


class ForgetMemoryRequest(BotRequest):
    """What to forget: type and key, one id, several ids, or (as a dry run) a query."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {
                    "required": ["type", "key"],
                    "properties": {"type": {"type": "string"}, "key": {"type": "string"}},
                },
                {"required": ["memory_id"], "properties": {"memory_id": {"type": "integer"}}},
                {
                    "required": ["memory_ids"],
                    "properties": {"memory_ids": {"type": "array", "minItems": 1}},
                },
                {
                    "required": ["query", "dry_run"],
                    "properties": {"query": {"type": "string"}, "dry_run": {"const": True}},
                },
            ]
        }
    )

    type: MemoryType | None = None
    key: Key | None = None
    memory_id: Id | None = None
    memory_ids: Annotated[list[Id], Field(max_length=500)] | None = None
    query: Text | None = None
    dry_run: Flag = False
    never_again: Flag = False
    include_messages: Flag = False

    @model_validator(mode="after")
    def _require_target(self) -> Self:
        by_key = self.type is not None and self.key is not None
        by_id = self.memory_id is not None or bool(self.memory_ids)
        by_query = self.query is not None and self.dry_run
        if not (by_key or by_id or by_query):
            raise ValueError("give type and key, memory_id, memory_ids, or query with dry_run=true")
        return self

    @property
    def named_ids(self) -> list[int]:
        return [*(self.memory_ids or []), *([self.memory_id] if self.memory_id else [])]


class UndoForgetRequest(BotRequest):
    forget_id: Id


class ForgetMemoryResponse(ResponseBody):
    status: str
    deleted: int
    memory_ids: list[int]
    receipt: dict[str, Any]


class PendingForgetRow(ResponseBody):
    """What "forget that" has hidden; it can be undone until `final_at`."""

    forget_id: int
    message_id: int
    memory_ids: list[int]
    message_ids: list[int]
    texts: list[str]
    requested_at: float
    final_at: float


class PendingForgetsResponse(ResponseBody):
    items: list[PendingForgetRow]


class UndoForgetResponse(ResponseBody):
    status: str
    forget_id: int
    memory_ids: list[int]
    message_ids: list[int]
