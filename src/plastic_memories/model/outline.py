"""What a filter can ask of a memory, so that of the many nothing else is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plastic_memories.model.memory import MemoryType
from plastic_memories.model.owner import Owner


@dataclass(frozen=True, slots=True)
class MemoryOutline:
    """A memory without what only its reader needs, and when its first version was made."""

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
