"""Port of the profile builder: describes the persona and what it knows of the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.memory import Memory
from plastic_memories.model.persona import Persona


class ProfileBuilder(Protocol):
    """Pure: the same rows always give the same text.

    The promises below are executable: `plastic_memories.testing.ProfileBuilderContract`.
    """

    def build(self, persona: Persona, memories: Sequence[Memory], language: str) -> str:
        """Return the profile as Markdown; an empty string if there is nothing to say."""
        ...
