"""Methods for the hub itself: health, settings, audit and events."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from websockets.asyncio.client import connect

from ..event_feed import DISCONNECTS, EventFeed
from ..models import AuditEntry, Capabilities, Health, HubEvent, Rebuilt, UserSettings
from .sender import AsyncSender


class AsyncOperations(AsyncSender):
    async def health(self) -> Health:
        """Return the health of the hub; with its components only for a caller with a key."""
        return await self._send(self._calls.health())

    async def capabilities(self) -> Capabilities:
        """Return the installed parts, and the limits."""
        return await self._send(self._calls.capabilities())

    async def metrics(self) -> str:
        """Return the metrics as Prometheus text."""
        return await self._send(self._calls.metrics())

    async def user_settings(self) -> UserSettings:
        """Return the user's time zone and language."""
        return await self._send(self._calls.user_settings())

    async def user_settings_update(
        self, *, time_zone: str | None = None, language: str | None = None
    ) -> UserSettings:
        """Change the given settings, and return all of them."""
        return await self._send(self._calls.user_settings_update(time_zone, language))

    async def rebuild(self, persona_id: str | None = None) -> Rebuilt:
        """Rebuild the text index and the vectors."""
        return await self._send(self._calls.rebuild(persona_id))

    async def audit(
        self, *, since: float | None = None, memory_id: int | None = None
    ) -> list[AuditEntry]:
        """Return who changed what, when and by which key."""
        return await self._send(self._calls.audit(since, memory_id))

    async def events(
        self, persona_id: str | None = None, resume_from: int | None = None
    ) -> AsyncGenerator[HubEvent]:
        """Yield changes as they happen; a lost connection is retried once."""
        feed = EventFeed(self._connection, persona_id, resume_from)
        while feed.is_open:
            try:
                async with connect(**feed.socket()) as socket:
                    while True:
                        event = feed.read(await socket.recv())
                        if event is not None:
                            yield event
            except DISCONNECTS as error:
                feed.reconnect_or_raise(error)
