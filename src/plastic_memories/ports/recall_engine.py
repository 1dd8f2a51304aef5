"""Finds the memories that bear on a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import Findings, RecallQuery
from plastic_memories.ports.storage import StorageBackend, Stores


class RecallEngine(Protocol):
    """Gathers and ranks; never needs a model call.

    The promises below are executable: `plastic_memories.testing.RecallEngineContract`.
    """

    async def find(self, query: RecallQuery) -> Findings:
        """Return at most `query.limit` hits, best first, within `query.deadline_s`.

        A query that asks to `explain` is also told who found each and the parts of its score.
        No text can make it fail. A part that fails or is late is named in `degraded`. What was
        committed before the call is seen by it, whoever committed it.
        """
        ...


@runtime_checkable
class SnapshotEngine(RecallEngine, Protocol):
    """An engine that can also search in a snapshot which its caller reads anyway.

    That spares a recall threads that wait for each other. An engine need not offer it.
    """

    def is_backed_by(self, storage: StorageBackend) -> bool:
        """Say whether a snapshot of this storage is what `find` would search."""
        ...

    async def prepare(self, query: RecallQuery) -> Callable[[Stores, Viewpoint], Findings]:
        """Do what needs no storage; return the search itself, to be run in a snapshot.

        It looks from the viewpoint that comes with the snapshot: the query's may have another
        realm, because that of a session is only known then.
        The search may raise or take long: then its caller asks `find`, which does neither.
        """
        ...
