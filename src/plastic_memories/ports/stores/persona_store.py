"""Keeps personas and the user's own settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from plastic_memories.model.owner import Owner, User
from plastic_memories.model.persona import Persona, PersonaMemoryCount, UserSettings


class PersonaStore(Protocol):
    """One transaction's view of the personas of a user.

    It has nine methods: a persona is erased, and a whole user.
    """

    def ensure(self, owner: Owner, now: float) -> bool:
        """Make the persona exist; return whether it is new."""
        ...

    def get(self, owner: Owner) -> Persona | None: ...

    def all(self, user: User) -> list[Persona]: ...

    def save(self, persona: Persona) -> None: ...

    def erase(self, owner: Owner, now: float) -> Mapping[str, int]:
        """Remove the persona with everything it holds; return how many rows of which kind."""
        ...

    def erase_user(self, user: User, now: float) -> Mapping[str, int]:
        """Remove everything of a user, of every persona; return how many rows of which kind.

        Keys, the audit and the job that erases them stay; none of them holds any text of theirs.
        """
        ...

    def holdings(
        self, tenant_id: str, user_id: str | None, now: float, only_app: str = ""
    ) -> list[PersonaMemoryCount]:
        """Count active, real memories without a bot: of one user, or of all of a tenant.

        A persona that holds none of them is there with a count of 0. What belongs to another app
        than `only_app`, if one is given, is not counted.
        """
        ...

    def settings(self, user: User) -> UserSettings: ...

    def save_settings(self, settings: UserSettings) -> None: ...
