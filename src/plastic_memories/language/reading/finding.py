"""What a rule has found in a clause, before it becomes a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.model.memory import MemoryType

CERTAIN_CONFIDENCE = 0.9
LIKELY_CONFIDENCE = 0.75
# Who talks is of such an age.
PLAUSIBLE_AGES = range(3, 121)


@dataclass(frozen=True, slots=True)
class ExtractedItem:
    """One item: its key, the value as it is compared, and the sentence to keep."""

    key: str
    value: str
    content: str
    type: MemoryType = MemoryType.PROFILE
    attributes: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = CERTAIN_CONFIDENCE
