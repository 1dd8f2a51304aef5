"""Store the user's goals."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plastic_memories.errors import NotFound
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import visible_memory
from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.storage import Stores


@dataclass(frozen=True, slots=True)
class Goals:
    storage: AuditedStorage
    screening: Screening

    async def create(self, caller: Caller, owner: Owner, title: str, details: str) -> Goal:
        now = self.storage.clock.now()
        goal = Goal(
            id=0,
            owner=owner,
            title=self.screening.screen_text(title),
            details=self.screening.screen_text(details),
            status=GoalStatus.ACTIVE,
            created_at=now,
            updated_at=now,
        )

        def work(stores: Stores) -> Goal:
            stores.personas.ensure(owner, now)
            added = stores.goals.add(goal)
            record_event(stores, caller, "goals.create", owner.persona_id, now, goal_id=added.id)
            return added

        return await self.storage.write(work)

    async def find(self, owner: Owner, status: GoalStatus | None) -> list[Goal]:
        return await self.storage.read(lambda stores: stores.goals.find(owner, status))

    async def set_status(
        self, caller: Caller, owner: Owner, goal_id: int, status: GoalStatus
    ) -> bool:
        """Change a goal's status; return whether it differed before."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> bool:
            goal = _get_goal(stores, owner, goal_id)
            if goal.status is status:
                return False
            stores.goals.save(replace(goal, status=status, updated_at=now))
            record_event(
                stores,
                caller,
                "goals.update_status",
                owner.persona_id,
                now,
                goal_id=goal_id,
                status=status.value,
            )
            return True

        return await self.storage.write(work)

    async def link(
        self, caller: Caller, view: Viewpoint, goal_id: int, memory_id: int | None, note: str
    ) -> GoalLink:
        """Attach a note, and optionally a memory, to a goal."""
        now = self.storage.clock.now()
        screened = self.screening.screen_text(note)

        def work(stores: Stores) -> GoalLink:
            owner = view.owner
            _get_goal(stores, owner, goal_id)
            if memory_id is not None:
                visible_memory(stores, view, memory_id)
            link = GoalLink(
                id=0, goal_id=goal_id, memory_id=memory_id, note=screened, created_at=now
            )
            added = stores.goals.link(owner, link)
            record_event(stores, caller, "goals.link", owner.persona_id, now, goal_id=goal_id)
            return added

        return await self.storage.write(work)


def _get_goal(stores: Stores, owner: Owner, goal_id: int) -> Goal:
    goal = stores.goals.get(owner, goal_id)
    if goal is None:
        raise NotFound(f"There is no goal {goal_id} here.")
    return goal
