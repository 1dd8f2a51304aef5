"""Goals in an SQL database."""

from __future__ import annotations

from dataclasses import replace

from plastic_memories.adapters.sql.rows import owner_of, owner_params
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.owner import Owner


class SqlGoalStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, goal: Goal) -> Goal:
        return replace(goal, id=self._session.insert("add_goal", _params(goal)))

    def get(self, owner: Owner, goal_id: int) -> Goal | None:
        found = self._find(owner, None, goal_id)
        return found[0] if found else None

    def find(self, owner: Owner, status: GoalStatus | None) -> list[Goal]:
        return self._find(owner, status, None)

    def save(self, goal: Goal) -> None:
        self._session.execute("save_goal", _params(goal))

    def link(self, owner: Owner, link: GoalLink) -> GoalLink:
        params = {
            **owner_params(owner),
            "goal_id": link.goal_id,
            "memory_id": link.memory_id,
            "note": link.note,
            "created_at": link.created_at,
        }
        return replace(link, id=self._session.insert("add_goal_link", params))

    def _find(self, owner: Owner, status: GoalStatus | None, goal_id: int | None) -> list[Goal]:
        params = {
            **owner_params(owner),
            "status": status.value if status else None,
            "id": goal_id,
        }
        rows = self._session.fetch("find_goals", params)
        links = self._links(owner, [row["id"] for row in rows])
        return [_goal(row, links.get(row["id"], ())) for row in rows]

    def _links(self, owner: Owner, goal_ids: list[int]) -> dict[int, tuple[GoalLink, ...]]:
        params = {**owner_params(owner), "goal_ids": self._session.dialect.array(goal_ids)}
        links: dict[int, tuple[GoalLink, ...]] = {}
        for row in self._session.fetch("goal_links", params):
            link = GoalLink(
                id=row["id"],
                goal_id=row["goal_id"],
                memory_id=row["memory_id"],
                note=row["note"],
                created_at=row["created_at"],
            )
            links[link.goal_id] = (*links.get(link.goal_id, ()), link)
        return links


def _params(goal: Goal) -> dict[str, object]:
    return {
        **owner_params(goal.owner),
        "id": goal.id,
        "title": goal.title,
        "details": goal.details,
        "status": goal.status.value,
        "created_at": goal.created_at,
        "updated_at": goal.updated_at,
    }


def _goal(row: Row, links: tuple[GoalLink, ...]) -> Goal:
    return Goal(
        id=row["id"],
        owner=owner_of(row),
        title=row["title"],
        details=row["details"],
        status=GoalStatus(row["status"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        links=links,
    )
