"""Reads a conversation with more time than a request has: a language model, behind the rules."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.formation import Proposal, TalkWindow


class Extractor(Protocol):
    """Proposes; never writes, never logs the text. Called by jobs, never inside a request.

    The promises below are executable: `plastic_memories.testing.ExtractorContract`.
    """

    async def propose(self, window: TalkWindow) -> Proposal:
        """Return drafts whose quotes are literally in the window, and a summary if there is one.

        What the model says that cannot be checked is dropped with a reason; a useless answer
        gives an empty proposal. Raise `Unavailable` when no answer can be had now: the same
        window may be tried again later, and the rules serve until then. Its `detail` may hold
        `retry_after_s`.
        """
        ...
