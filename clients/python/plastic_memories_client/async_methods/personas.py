"""Methods for personas, their cards and the user's goals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..models import (
    CardImported,
    Changed,
    Goal,
    GoalCreated,
    GoalLinked,
    Persona,
    PersonaCreated,
    PersonaProfile,
    Result,
    Slot,
    TemplateApplied,
)
from ..options import CardFormat, CardSource
from .sender import AsyncSender


class AsyncPersonas(AsyncSender):
    async def persona_create(
        self,
        persona_id: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> PersonaCreated:
        """Create a persona; if it exists, update the given fields.

        `meta` is the older way to give the same fields.
        """
        call = self._calls.persona_create(persona_id, display_name, description, meta or {})
        return await self._send(call)

    async def create_from_template(
        self, template_path: str, *, persona_id: str | None = None, allow_overwrite: bool = False
    ) -> TemplateApplied:
        """Apply a template of the hub's template folder to a persona."""
        call = self._calls.create_from_template(template_path, persona_id, allow_overwrite)
        return await self._send(call)

    async def persona_list(self) -> list[Persona]:
        """Return the user's personas."""
        return await self._send(self._calls.persona_list())

    async def persona_profile(self, persona_id: str | None = None) -> PersonaProfile:
        """Return a persona's profile as Markdown."""
        return await self._send(self._calls.persona_profile(persona_id))

    async def slots(self, persona_id: str | None = None) -> list[Slot]:
        """Return a persona's confirmed identity."""
        return await self._send(self._calls.slots(persona_id))

    async def persona_delete(self, persona_id: str) -> Result:
        """Erase a persona and all it remembers; the receipt is in `raw`."""
        return await self._send(self._calls.persona_delete(persona_id))

    async def erase_user(self, user_id: str) -> Result:
        """Erase everything of the user, in every persona; the receipt is in `raw`."""
        return await self._send(self._calls.erase_user(user_id))

    async def import_card(
        self,
        source: CardSource,
        *,
        persona_id: str | None = None,
        allow_overwrite: bool = False,
        memories: bool = False,
    ) -> CardImported:
        """Create a persona from a card: the bytes of a PNG or JSON file, or its path.

        `memories` imports the memories bundled with it; only do so with a card of your own.
        """
        call = await asyncio.to_thread(  # it may read a file
            self._calls.import_card, source, persona_id, allow_overwrite, memories
        )
        return await self._send(call)

    async def export_card(
        self,
        persona_id: str | None = None,
        *,
        format: CardFormat = "png",  # noqa: A002 - the contract's word
        memories: bool = False,
    ) -> bytes:
        """Return a persona as a card; with `memories`, all its memories are included."""
        return await self._send(self._calls.export_card(persona_id, format, memories))

    async def goal_create(
        self, title: str, details: str | None = None, *, persona_id: str | None = None
    ) -> GoalCreated:
        """Create a goal of the user."""
        return await self._send(self._calls.goal_create(title, details, persona_id))

    async def goals(
        self, status: str | None = None, *, persona_id: str | None = None
    ) -> list[Goal]:
        """Return the user's goals."""
        return await self._send(self._calls.goals(status, persona_id))

    async def goal_update_status(
        self, goal_id: int, status: str, *, persona_id: str | None = None
    ) -> Changed:
        """Set a goal's status: active, paused, done or dropped."""
        return await self._send(self._calls.goal_update_status(goal_id, status, persona_id))

    async def goal_link(
        self,
        goal_id: int,
        memory_id: int | None = None,
        note: str | None = None,
        *,
        persona_id: str | None = None,
    ) -> GoalLinked:
        """Link a memory or a note to a goal."""
        return await self._send(self._calls.goal_link(goal_id, memory_id, note, persona_id))
