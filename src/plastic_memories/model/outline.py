"""Memory outline: the columns of a memory that filters read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plastic_memories.model.memory import MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.model.record import record


@record(frozen=True, slots=True)
class MemoryOutline:
    """A memory with only the columns that filters need, plus when its first version was created."""

    owner: Owner
    id: int
    root_id: int
    type: MemoryType
    content: str
    tags: tuple[str, ...]
    session_id: str
    source_app: str
    speaker: str
    occurred_at: float | None
    created_at: float
    updated_at: float
    made_at: float
    metadata: Mapping[str, Any]
    attributes: Mapping[str, Any]
