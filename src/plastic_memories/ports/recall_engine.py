"""Port of the recall engine: finds the memories relevant to a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import Findings, RecallQuery
from plastic_memories.ports.storage import StorageBackend, Stores


class RecallEngine(Protocol):
    """Searches and ranks memories; never needs a model call.

    The promises below are executable: `plastic_memories.testing.RecallEngineContract`.
    """

    async def find(self, query: RecallQuery) -> Findings:
        """Return at most `query.limit` hits, best first, within `query.deadline_s`.

        If the query asks to `explain`, each hit names the searches that found it and the parts
        of its score. No text can make it fail. A part that fails or is late is named in
        `degraded`. The search sees everything committed before the call, by any process.
        """
        ...


@runtime_checkable
class SnapshotEngine(RecallEngine, Protocol):
    """An engine that can also search in a snapshot that its caller already reads.

    That saves a recall thread switches. An engine need not offer it.
    """

    def is_backed_by(self, storage: StorageBackend) -> bool:
        """Return whether `find` would search a snapshot of this storage."""
        ...

    async def prepare(self, query: RecallQuery) -> Callable[[Stores, Viewpoint], Findings]:
        """Do the work that needs no storage; return the search, to be run in a snapshot.

        The search uses the viewpoint passed with the snapshot: its realm may differ from the
        query's, because the realm of a session is only known then.
        The search may raise or take long: then its caller uses `find`, which does neither.
        """
        ...
