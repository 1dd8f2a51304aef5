"""What the tools answer: short rows, because a model pays for every word of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from plastic_memories.model.goal import Goal
from plastic_memories.model.memory import Memory
from plastic_memories.rules.lifecycle.occurrences import Upcoming


class MemoryOut(BaseModel):
    id: int
    type: str
    key: str
    content: str
    status: str
    tags: list[str] = []
    created: str


class Recalled(BaseModel):
    block: str
    memories: list[MemoryOut]
    degraded: list[str]


class Remembered(BaseModel):
    memories: list[MemoryOut]
    skipped: list[str]


class Decided(BaseModel):
    memory_id: int
    updated: bool
    status: str


class ForgottenOut(BaseModel):
    erased: bool
    memory_ids: list[int]
    memories: list[MemoryOut] = []
    receipt: dict[str, Any] = {}


class Listed(BaseModel):
    memories: list[MemoryOut]
    next_cursor: str | None


class ProfileOut(BaseModel):
    persona_id: str
    markdown: str


class PageOut(BaseModel):
    page_id: str
    title: str
    text: str
    truncated: bool


class GoalRow(BaseModel):
    id: int
    title: str
    details: str
    status: str


class GoalsOut(BaseModel):
    goals: list[GoalRow]


class GoalChanged(BaseModel):
    goal_id: int
    updated: bool
    status: str


class EventOut(MemoryOut):
    next_date: str
    days_away: int


class UpcomingOut(BaseModel):
    events: list[EventOut]


def memory_out(memory: Memory) -> MemoryOut:
    return MemoryOut(**_fields(memory))


def event_out(found: Upcoming) -> EventOut:
    fields = _fields(found.memory)
    return EventOut(**fields, next_date=found.date.isoformat(), days_away=found.days_away)


def goal_row(goal: Goal) -> GoalRow:
    return GoalRow(id=goal.id, title=goal.title, details=goal.details, status=goal.status)


def line(memory: MemoryOut) -> str:
    """Return a memory as one line of a list."""
    waits = f" ({memory.status})" if memory.status != "active" else ""
    return f"- #{memory.id} [{memory.created}] {memory.type} {memory.key}: {memory.content}{waits}"


def _fields(memory: Memory) -> dict[str, Any]:
    said = memory.created_at if memory.occurred_at is None else memory.occurred_at
    return {
        "id": memory.id,
        "type": memory.type.value,
        "key": memory.key,
        "content": memory.content,
        "status": memory.status.value,
        "tags": list(memory.tags),
        "created": datetime.fromtimestamp(said, UTC).date().isoformat(),
    }
