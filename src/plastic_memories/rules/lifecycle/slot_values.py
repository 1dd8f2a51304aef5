"""Build a persona slot from the active memories of its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plastic_memories.model.memory import Memory
from plastic_memories.model.persona import Slot


def build_slot(active: Sequence[Memory], now: float) -> Slot | None:
    """Return the slot of one type: one value, or a list if several coexist; None if empty."""
    if not active:
        return None
    rows = sorted(active, key=lambda row: row.id)
    newest = rows[-1]
    values = [{"text": row.content} for row in rows]
    return Slot(
        owner=newest.owner,
        bot_id=newest.bot_id,
        realm=newest.realm,
        slot_name=newest.type.value,
        value=values[0] if len(rows) == 1 else values,
        provenance={
            "source": newest.source_type.value,
            "active_memory_id": newest.id,
            "active_memory_ids": [row.id for row in rows],
            "superseded": newest.supersedes_id,
        },
        updated_at=now,
    )


def slot_text(value: Any) -> Any:
    """Return the value of a slot as plain text, or as a list of texts.

    >>> slot_text({"text": "dev"}), slot_text([{"text": "tea"}, {"text": "rain"}])
    ('dev', ['tea', 'rain'])
    """
    if isinstance(value, list):
        return [slot_text(one) for one in value]
    return value["text"] if isinstance(value, dict) else value


def upgrade_slot(slot: Slot) -> Slot:
    """Return a slot in its present shape: earlier releases stored bare texts and lists of ids."""
    bare = slot_text(slot.value)
    superseded = slot.provenance.get("superseded")
    if isinstance(superseded, list):
        superseded = superseded[-1] if superseded else None
    return replace(
        slot,
        value=[{"text": text} for text in bare] if isinstance(bare, list) else {"text": bare},
        provenance={**slot.provenance, "superseded": superseded},
    )
