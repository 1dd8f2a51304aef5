"""Finds the memories that bear on a text."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.recall import Findings, RecallQuery


class RecallEngine(Protocol):
    """Gathers and ranks; never needs a model call.

    The promises below are executable: `plastic_memories.testing.RecallEngineContract`.
    """

    async def find(self, query: RecallQuery) -> Findings:
        """Return at most `query.limit` hits, best first, within `query.deadline_s`.

        No text can make it fail. A part that fails or is late is named in `degraded`. What was
        committed before the call is seen by it, whoever committed it.
        """
        ...
