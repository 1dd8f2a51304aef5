"""Personas and user settings in an SQL database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.rows import (
    owner_params,
    user_params,
)
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.adapters.sql.statement_builder import delete_of_user, delete_owned
from plastic_memories.adapters.sql.stores.memory_store import SqlMemoryStore
from plastic_memories.adapters.sql.stores.message_store import SqlMessageStore
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.persona import Persona, PersonaMemoryCount, UserSettings
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

# What a persona holds besides memories and messages, which have index entries to remove first.
_OWNED_TABLES = (
    "persona_slots", "goal_links", "goals", "sessions", "branches", "jobs", "page_folders",
    "page_lines", "persona_cards", "pending_forgets", "message_corrections",
)  # fmt: skip

# What a user holds besides personas. The job that erases them and the numbers of revisions, by
# which readers see that entries are gone, stay; so do keys, and the audit, which has ids only.
_USER_TABLES = (
    *_OWNED_TABLES, "page_mutes", "tombstones", "memory_sources",
)  # fmt: skip


class SqlPersonaStore:
    def __init__(
        self,
        session: SqlSession,
        memories: SqlMemoryStore,
        messages: SqlMessageStore,
        partitions: PartitionLookup,
    ) -> None:
        self._session = session
        self._partitions = partitions
        self._memories = memories
        self._messages = messages

    def ensure(self, owner: Owner, now: float) -> bool:
        if self._partitions.of_persona(owner):
            return False
        params = {**owner_params(owner), "now": now}
        self._session.execute("ensure_user", params)
        return self._session.execute("ensure_persona", params) > 0

    def get(self, owner: Owner) -> Persona | None:
        row = self._session.fetch_one("get_persona", owner_params(owner))
        return _persona(owner, row) if row else None

    def all(self, user: User) -> list[Persona]:
        rows = self._session.fetch("all_personas", user_params(user))
        return [
            _persona(Owner(user.tenant_id, user.user_id, row["persona_id"]), row) for row in rows
        ]

    def save(self, persona: Persona) -> None:
        params = {
            **owner_params(persona.owner),
            "display_name": persona.display_name,
            "description": persona.description,
            "updated_at": persona.updated_at,
        }
        self._session.execute("save_persona", params)

    def erase(self, owner: Owner, now: float) -> Mapping[str, int]:
        row = self._session.fetch_one("get_persona", owner_params(owner))
        if row is None:
            return {}
        known = self._memories.find(owner, MemoryFilter())
        memories = [
            memory.id
            for memory in known
            if memory.owner == owner or memory.told_to == owner.persona_id
        ]
        self._memories.erase(owner, memories, now)
        messages = self._messages.erase(owner, MessageFilter(), now)
        erased = {"memories": len(memories), "messages": len(messages)}
        for table in _OWNED_TABLES:
            erased[table] = self._session.execute(
                delete_owned(self._session.dialect, table), owner_params(owner)
            )
        noted = {**owner_params(owner), "kind": "persona", "row_id": row["id"], "now": now}
        self._session.execute("note_erasure", noted)
        erased["personas"] = self._session.execute(
            delete_owned(self._session.dialect, "personas"), owner_params(owner)
        )
        self._partitions.clear_cache()
        return erased

    def erase_user(self, user: User, now: float) -> Mapping[str, int]:
        erased: Counter[str] = Counter()
        for persona in self.all(user):
            erased.update(self.erase(persona.owner, now))
        row = self._session.fetch_one("get_user", user_params(user))
        for table in _USER_TABLES:
            if table != "jobs":
                statement = delete_of_user(self._session.dialect, table)
                erased[table] += self._session.execute(statement, user_params(user))
        erased["jobs"] += self._session.execute("drop_jobs_of_user", user_params(user))
        if row is not None:
            whose = {**user_params(user), "persona_id": ""}
            noted = {**whose, "kind": "user", "row_id": row["id"], "now": now}
            self._session.execute("note_erasure", noted)
            statement = delete_of_user(self._session.dialect, "users")
            erased["users"] += self._session.execute(statement, user_params(user))
        self._partitions.clear_cache()
        return erased

    def holdings(
        self, tenant_id: str, user_id: str | None, now: float, only_app: str = ""
    ) -> list[PersonaMemoryCount]:
        params = {"tenant_id": tenant_id, "user_id": user_id, "now": now, "only_app": only_app}
        return [
            PersonaMemoryCount(
                owner=Owner(tenant_id, row["user_id"], row["persona_id"]),
                session_id=row["session_id"] or "",
                source_app=row["source_app"] or "",
                memories=row["memories"],
                first_at=row["first_at"],
                last_at=row["last_at"],
            )
            for row in self._session.fetch("holdings", params)
        ]

    def settings(self, user: User) -> UserSettings:
        row = self._session.fetch_one("get_user", user_params(user))
        if row is None:
            return UserSettings(user=user)
        return UserSettings(
            user=user,
            time_zone=row["time_zone"],
            language=row["language"],
            updated_at=row["updated_at"],
        )

    def save_settings(self, settings: UserSettings) -> None:
        params = {
            **user_params(settings.user),
            "time_zone": settings.time_zone,
            "language": settings.language,
            "updated_at": settings.updated_at,
            "now": settings.updated_at,
        }
        self._session.execute("ensure_user", params)
        self._session.execute("save_settings", params)


def _persona(owner: Owner, row: Row) -> Persona:
    return Persona(
        owner=owner,
        display_name=row["display_name"],
        description=row["description"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
