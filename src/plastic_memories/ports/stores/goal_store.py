"""Keeps goals and their links."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.owner import Owner


class GoalStore(Protocol):
    """One transaction's view of the goals of an owner."""

    def add(self, goal: Goal) -> Goal: ...

    def get(self, owner: Owner, goal_id: int) -> Goal | None: ...

    def find(self, owner: Owner, status: GoalStatus | None) -> list[Goal]:
        """Return the goals with their links, oldest first."""
        ...

    def save(self, goal: Goal) -> None: ...

    def link(self, owner: Owner, link: GoalLink) -> GoalLink: ...
