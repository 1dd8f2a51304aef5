"""What both clients do with character cards."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from .calls import Calls
from .calls.cards import CardSource
from .models import CardImported
from .options import CardFormat
from .protocol import Call

T = TypeVar("T")


class CardMethods:
    _calls: Calls

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def import_card(
        self,
        source: CardSource,
        *,
        persona_id: str | None = None,
        allow_overwrite: bool = False,
        memories: bool = False,
    ) -> CardImported:
        """Make a persona after a card: the bytes of a PNG or JSON file, or its path.

        `memories` takes in what was bundled with it; only do so with a card of your own.
        """
        return self._send(self._calls.import_card(source, persona_id, allow_overwrite, memories))

    def export_card(
        self,
        persona_id: str | None = None,
        *,
        format: CardFormat = "png",  # noqa: A002 - the contract's word
        memories: bool = False,
    ) -> bytes:
        """Return a persona as a card; with `memories`, all it knows goes along."""
        return self._send(self._calls.export_card(persona_id, format, memories))


class AsyncCardMethods:
    _calls: Calls

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def import_card(
        self,
        source: CardSource,
        *,
        persona_id: str | None = None,
        allow_overwrite: bool = False,
        memories: bool = False,
    ) -> CardImported:
        """Make a persona after a card: the bytes of a PNG or JSON file, or its path.

        `memories` takes in what was bundled with it; only do so with a card of your own.
        """
        # In a thread, because it may read a file.
        call = await asyncio.to_thread(
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
        """Return a persona as a card; with `memories`, all it knows goes along."""
        return await self._send(self._calls.export_card(persona_id, format, memories))
