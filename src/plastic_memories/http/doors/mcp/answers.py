"""Results of the MCP tools: short rows, because a model pays for every token."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from plastic_memories.model.goal import Goal
from plastic_memories.model.memory import Memory
from plastic_memories.rules.lifecycle.occurrences import UpcomingEvent


class ToolMemory(BaseModel):
    id: int
    type: str
    key: str
    content: str
    status: str
    tags: list[str] = []
    created: str


class RecallResult(BaseModel):
    block: str
    memories: list[ToolMemory]
    degraded: list[str]


class RememberResult(BaseModel):
    memories: list[ToolMemory]
    skipped: list[str]


class ReviewResult(BaseModel):
    memory_id: int
    updated: bool
    status: str


class ForgetResult(BaseModel):
    erased: bool
    memory_ids: list[int]
    memories: list[ToolMemory] = []
    receipt: dict[str, Any] = {}


class MemoryListResult(BaseModel):
    memories: list[ToolMemory]
    next_cursor: str | None


class ProfileResult(BaseModel):
    persona_id: str
    markdown: str


class PageResult(BaseModel):
    page_id: str
    title: str
    text: str
    truncated: bool


class ToolGoal(BaseModel):
    id: int
    title: str
    details: str
    status: str


class GoalListResult(BaseModel):
    goals: list[ToolGoal]


class GoalUpdateResult(BaseModel):
    goal_id: int
    updated: bool
    status: str


class ToolEvent(ToolMemory):
    next_date: str
    days_away: int


class UpcomingResult(BaseModel):
    events: list[ToolEvent]


def tool_memory(memory: Memory) -> ToolMemory:
    return ToolMemory(**_memory_fields(memory))


def tool_event(found: UpcomingEvent) -> ToolEvent:
    fields = _memory_fields(found.memory)
    return ToolEvent(**fields, next_date=found.date.isoformat(), days_away=found.days_away)


def tool_goal(goal: Goal) -> ToolGoal:
    return ToolGoal(id=goal.id, title=goal.title, details=goal.details, status=goal.status)


def memory_line(memory: ToolMemory) -> str:
    waits = f" ({memory.status})" if memory.status != "active" else ""
    return f"- #{memory.id} [{memory.created}] {memory.type} {memory.key}: {memory.content}{waits}"


def _memory_fields(memory: Memory) -> dict[str, Any]:
    stated_at = memory.created_at if memory.occurred_at is None else memory.occurred_at
    return {
        "id": memory.id,
        "type": memory.type.value,
        "key": memory.key,
        "content": memory.content,
        "status": memory.status.value,
        "tags": list(memory.tags),
        "created": datetime.fromtimestamp(stated_at, UTC).date().isoformat(),
    }
