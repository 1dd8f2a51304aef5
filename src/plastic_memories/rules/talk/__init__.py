"""From talk to memory drafts by rules alone, in Chinese and English."""

from __future__ import annotations

from plastic_memories.rules.talk.extraction import extract
from plastic_memories.rules.talk.injected import carries_injection

__all__ = ["carries_injection", "extract"]
