"""Tells other processes what was committed here, and hears what was committed there."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import psycopg

from plastic_memories.adapters.postgres.connection import network_options
from plastic_memories.adapters.postgres.postgres_session import PostgresConnection, PostgresStores
from plastic_memories.adapters.sql.server_database import ServerDatabase
from plastic_memories.adapters.sql.stores.keys_and_audit import event_of
from plastic_memories.errors import Unavailable
from plastic_memories.model.event import Event
from plastic_memories.model.owner import User

logger = logging.getLogger(__name__)
_MAX_PAUSE_S = 5.0
_MAX_MISSED = 1000
# Clocks of two machines differ: from so much earlier on is looked for what was missed.
_SLACK_S = 60.0


def announce_commit(stores: PostgresStores, sender: str) -> None:
    """Announce whose events this transaction has recorded, once it is committed."""
    ids: defaultdict[User, list[int]] = defaultdict(list)
    for event in stores.audit.recorded_events:
        ids[event.user].append(event.id)
    for user, some in ids.items():
        told = [sender, user.tenant_id, user.user_id, min(some), max(some)]
        stores.session.fetch("announce", {"payload": json.dumps(told)})


@dataclass(slots=True)
class CommitFollower:
    """Listens for what other processes have committed; `name` is how they know our own."""

    url: str
    database: ServerDatabase[PostgresConnection]
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    _last_id: int = 0
    _last_ts: float = 0.0

    async def follow(self) -> AsyncIterator[Sequence[Event]]:
        pause_s = 0.1
        while True:
            try:
                async for events in self._listen():
                    pause_s = 0.1
                    yield events
            except (psycopg.Error, Unavailable) as error:
                logger.warning("db.listen", extra={"fields": {"err": type(error).__name__}})
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    async def _listen(self) -> AsyncIterator[Sequence[Event]]:
        network = network_options(self.url)
        db = await psycopg.AsyncConnection.connect(self.url, autocommit=True, **network)
        async with db:
            await db.execute("LISTEN plastic_memories")
            if missed := await self._missed_events():
                yield self._note_events(missed)
            async for note in db.notifies():
                if events := await self._told_events(note.payload):
                    yield self._note_events(events)

    async def _told_events(self, payload: str) -> Sequence[Event]:
        sender, tenant, user, first, last = json.loads(payload)
        if sender == self.name:
            return ()
        found = await self.database.read(
            lambda db: PostgresStores(db, writing=False).audit.find(
                User(tenant, user), after_id=first - 1, limit=last - first + 1
            )
        )
        return [event for event in found if event.id <= last]

    async def _missed_events(self) -> Sequence[Event]:
        """Return what came since the last event that we were told of; nothing at the start."""
        if not self._last_id:
            return ()
        params = {
            "since": self._last_ts - _SLACK_S, "after_id": self._last_id, "limit": _MAX_MISSED,
        }  # fmt: skip
        rows = await self.database.read(
            lambda db: PostgresStores(db, writing=False).session.fetch("events_since", params)
        )
        return [event_of(row) for row in rows]

    def _note_events(self, events: Sequence[Event]) -> Sequence[Event]:
        self._last_id = max(self._last_id, *(event.id for event in events))
        self._last_ts = max(self._last_ts, *(event.ts for event in events))
        return events
