"""Port of the extractor: a language model that reads conversations in background jobs."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.formation import Proposal, TalkWindow


class Extractor(Protocol):
    """Proposes drafts; never writes, never logs the text. Called by jobs, never in a request.

    The promises below are executable: `plastic_memories.testing.ExtractorContract`.
    """

    async def propose(self, window: TalkWindow) -> Proposal:
        """Return drafts whose quotes are literally in the window, and a summary if there is one.

        What cannot be verified in the model's answer is dropped with a reason; a useless answer
        gives an empty proposal. Raise `Unavailable` when no answer can be had now: the same
        window may be tried again later, and the rules are used until then. Its `detail` may
        contain `retry_after_s`; with `refused`, this window alone cannot be answered, and its job
        is given up after some attempts. Without it the job waits as long as the outage lasts.
        """
        ...
