"""Port of the judge: decides what is worth remembering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.formation import Verdict
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message


class JudgeEngine(Protocol):
    """Pure rules, or a model behind them; never writes, never logs the text.

    The promises below are executable: `plastic_memories.testing.JudgeEngineContract`.
    """

    def assess(self, draft: Draft) -> Verdict:
        """Return whether a draft may be stored; answers at once, without a model."""
        ...

    def extract(self, talk: Sequence[Message], time_zone: str = "UTC") -> list[Draft]:
        """Return drafts from a conversation, in its order; each carries its quote.

        "Tomorrow" is the day after the message was sent, in the user's time zone (`time_zone`).
        """
        ...
