"""Build a persona slot from the active memories of its type."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.model.memory import Memory
from plastic_memories.model.persona import Slot


def build_slot(active: Sequence[Memory], now: float) -> Slot | None:
    """Return the slot of one type: one value, or a list if several coexist; None if empty."""
    if not active:
        return None
    rows = sorted(active, key=lambda row: row.id)
    newest = rows[-1]
    return Slot(
        owner=newest.owner,
        bot_id=newest.bot_id,
        realm=newest.realm,
        slot_name=newest.type.value,
        value=newest.content if len(rows) == 1 else [row.content for row in rows],
        provenance={
            "source": newest.source_type.value,
            "active_memory_id": newest.id,
            "active_memory_ids": [row.id for row in rows],
            "superseded": [row.supersedes_id for row in rows if row.supersedes_id],
        },
        updated_at=now,
    )
