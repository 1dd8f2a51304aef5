"""An item that a rule extracted from a clause, before it becomes a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.model.memory import MemoryType

CERTAIN_CONFIDENCE = 0.9
LIKELY_CONFIDENCE = 0.75
# Plausible ages of a user.
PLAUSIBLE_AGES = range(3, 121)


@dataclass(frozen=True, slots=True)
class ExtractedItem:
    """An extracted item: its key, its comparable value, and the sentence to store."""

    key: str
    value: str
    content: str
    type: MemoryType = MemoryType.PROFILE
    attributes: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = CERTAIN_CONFIDENCE
