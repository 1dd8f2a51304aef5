"""A goal of the user, its status and its linked memories or notes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plastic_memories.model.owner import Owner


class GoalStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalLink:
    id: int
    goal_id: int
    memory_id: int | None
    note: str
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    id: int
    owner: Owner
    title: str
    details: str
    status: GoalStatus
    created_at: float
    updated_at: float
    links: tuple[GoalLink, ...] = ()
