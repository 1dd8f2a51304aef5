"""Port of the sensitive-data policy: secrets, payment data, government ids."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.formation import ScreeningResult


class SensitivePolicy(Protocol):
    """Screens every text before it is stored. Pure: no I/O, never logs the text.

    The promises below are executable: `plastic_memories.testing.SensitivePolicyContract`.
    """

    def screen(self, text: str) -> ScreeningResult:
        """Return free text as it is, masked, or refused with a category."""
        ...

    def screen_id(self, text: str) -> ScreeningResult:
        """Screen a key, an id or a source reference: only credential-shaped strings are refused."""
        ...

    def mask(self, text: str) -> str:
        """Return the text with every sensitive part masked, even where `screen` would refuse it.

        Messages are masked, never refused: a conversation must not break.
        """
        ...
