"""Personas, slots and user settings in the embedded database."""

from __future__ import annotations

import json
from collections.abc import Mapping

import apsw

from plastic_memories.adapters.sqlite.connection import Row, execute, fetch, fetch_one
from plastic_memories.adapters.sqlite.memory_store import SqliteMemoryStore
from plastic_memories.adapters.sqlite.message_store import SqliteMessageStore
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import (
    owner_of,
    owner_params,
    to_json,
    user_params,
    view_params,
)
from plastic_memories.adapters.sqlite.text_index import PartitionLookup
from plastic_memories.model.owner import Owner, Realm, User, Viewpoint
from plastic_memories.model.persona import Persona, PersonaMemoryCount, Slot, UserSettings
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

# What a persona holds besides memories and messages, which have index entries to remove first.
_OWNED_TABLES = (
    "persona_slots", "goal_links", "goals", "sessions", "branches", "jobs", "page_folders",
    "page_lines", "persona_cards",
)  # fmt: skip


class SqlitePersonaStore:
    def __init__(
        self,
        db: apsw.Connection,
        memories: SqliteMemoryStore,
        messages: SqliteMessageStore,
        partitions: PartitionLookup,
    ) -> None:
        self._db = db
        self._partitions = partitions
        self._memories = memories
        self._messages = messages

    def ensure(self, owner: Owner, now: float) -> bool:
        if self._partitions.of_persona(owner):
            return False
        params = {**owner_params(owner), "now": now}
        self._db.execute(QUERIES["ensure_user"], params)
        return execute(self._db, QUERIES["ensure_persona"], params) > 0

    def get(self, owner: Owner) -> Persona | None:
        row = fetch_one(self._db, QUERIES["get_persona"], owner_params(owner))
        return _persona(owner, row) if row else None

    def all(self, user: User) -> list[Persona]:
        rows = fetch(self._db, QUERIES["all_personas"], user_params(user))
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
        self._db.execute(QUERIES["save_persona"], params)

    def erase(self, owner: Owner, now: float) -> Mapping[str, int]:
        row = fetch_one(self._db, QUERIES["get_persona"], owner_params(owner))
        if row is None:
            return {}
        memories = [memory.id for memory in self._memories.find(owner, MemoryFilter())]
        self._memories.erase(owner, memories, now)
        messages = self._messages.erase(owner, MessageFilter(), now)
        erased = {"memories": len(memories), "messages": len(messages)}
        for table in _OWNED_TABLES:
            erased[table] = execute(self._db, _delete_from(table), owner_params(owner))
        noted = {**owner_params(owner), "kind": "persona", "row_id": row["id"], "now": now}
        self._db.execute(QUERIES["note_erasure"], noted)
        erased["personas"] = execute(self._db, _delete_from("personas"), owner_params(owner))
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
            for row in fetch(self._db, QUERIES["holdings"], params)
        ]

    def settings(self, user: User) -> UserSettings:
        row = fetch_one(self._db, QUERIES["get_user"], user_params(user))
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
        self._db.execute(QUERIES["ensure_user"], params)
        self._db.execute(QUERIES["save_settings"], params)


class SqliteSlotStore:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def all(self, view: Viewpoint) -> list[Slot]:
        return [_slot(row) for row in fetch(self._db, QUERIES["all_slots"], view_params(view))]

    def put(self, slot: Slot) -> None:
        params = {
            **owner_params(slot.owner),
            "bot_id": slot.bot_id,
            "realm": slot.realm.value,
            "slot_name": slot.slot_name,
            "value_json": to_json(slot.value),
            "provenance_json": to_json(slot.provenance),
            "updated_at": slot.updated_at,
        }
        self._db.execute(QUERIES["put_slot"], params)

    def clear(self, owner: Owner, bot_id: str, realm: Realm, slot_name: str) -> bool:
        params = {
            **owner_params(owner),
            "bot_id": bot_id,
            "realm": realm.value,
            "slot_name": slot_name,
        }
        return execute(self._db, QUERIES["clear_slot"], params) > 0


def _delete_from(table: str) -> str:
    return (
        f"DELETE FROM {table} WHERE tenant_id = :tenant_id AND user_id = :user_id "  # noqa: S608
        "AND persona_id = :persona_id"
    )


def _persona(owner: Owner, row: Row) -> Persona:
    return Persona(
        owner=owner,
        display_name=row["display_name"],
        description=row["description"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _slot(row: Row) -> Slot:
    return Slot(
        owner=owner_of(row),
        bot_id=row["bot_id"],
        realm=Realm(row["realm"]),
        slot_name=row["slot_name"],
        value=json.loads(row["value_json"]),
        provenance=json.loads(row["provenance_json"]),
        updated_at=row["updated_at"],
    )
