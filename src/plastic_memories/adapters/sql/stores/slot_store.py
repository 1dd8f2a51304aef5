"""Slots in an SQL database."""

from __future__ import annotations

import json

from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.rows import owner_of, owner_params, view_params
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.model.persona import Slot


class SqlSlotStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def all(self, view: Viewpoint) -> list[Slot]:
        return [_slot(row) for row in self._session.fetch("all_slots", view_params(view))]

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
        self._session.execute("put_slot", params)

    def clear(self, owner: Owner, bot_id: str, realm: Realm, slot_name: str) -> bool:
        params = {
            **owner_params(owner),
            "bot_id": bot_id,
            "realm": realm.value,
            "slot_name": slot_name,
        }
        return self._session.execute("clear_slot", params) > 0


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
