"""Methods for memories: write, review, forget, list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Unpack

from ..models import Changed, ChangedMany, Forgotten, MemoryItem, MemoryPage, Result, WriteResult
from ..options import ForgetOptions, MemoryFilter, NewMemory, TalkOptions, Utterances, WriteOptions
from ..wire_options import MemoryChange
from .sender import AsyncSender


class AsyncMemories(AsyncSender):
    async def write(
        self,
        messages: Utterances,
        confirm: bool = False,
        *,
        keep_rest: bool = False,
        **options: Unpack[TalkOptions],
    ) -> WriteResult:
        """Extract and store memories from messages.

        `confirm` accepts the candidates of this call that have no conflict. `keep_rest` stores
        the other sentences of a message that was read in part, as notes.
        """
        return await self._send(self._calls.write(messages, confirm, keep_rest, **options))

    async def write_item(
        self,
        type: str,  # noqa: A002 - the contract's word
        key: str,
        content: str,
        **fields: Unpack[WriteOptions],
    ) -> WriteResult:
        """Store one memory; slot types wait as candidates for `confirm`."""
        return await self._send(self._calls.write_item(type, key, content, **fields))

    async def write_items(
        self, items: Sequence[NewMemory], *, persona_id: str | None = None
    ) -> WriteResult:
        """Store many memories, five hundred at a time; an invalid one does not stop the rest."""
        calls = self._calls.write_items(items, persona_id)
        return WriteResult.merge([await self._send(call) for call in calls])

    async def confirm(
        self,
        memory_id: int,
        supersedes_id: int | None = None,
        *,
        coexist: bool = False,
        content: str | None = None,
        persona_id: str | None = None,
    ) -> Changed:
        """Make a candidate active; raise `NeedsSupersedes` with the memory it conflicts with."""
        call = self._calls.confirm(memory_id, supersedes_id, coexist, content, persona_id)
        return await self._send(call)

    async def reject(
        self, memory_id: int, *, never_again: bool = False, persona_id: str | None = None
    ) -> Changed:
        """Reject a candidate."""
        return await self._send(self._calls.reject(memory_id, never_again, persona_id))

    async def confirm_many(
        self, memory_ids: Sequence[int], *, coexist: bool = False, persona_id: str | None = None
    ) -> ChangedMany:
        """Make candidates active; a failure of one does not stop the rest."""
        return await self._send(self._calls.confirm_many(memory_ids, coexist, persona_id))

    async def reject_many(
        self,
        memory_ids: Sequence[int],
        *,
        never_again: bool = False,
        persona_id: str | None = None,
    ) -> ChangedMany:
        """Reject candidates."""
        return await self._send(self._calls.reject_many(memory_ids, never_again, persona_id))

    async def pending_forgets(self, *, persona_id: str | None = None) -> Result:
        """Return what "forget that" in the chat has hidden and can be undone; see `raw`."""
        return await self._send(self._calls.pending_forgets(persona_id))

    async def undo_forget(self, forget_id: int, *, persona_id: str | None = None) -> Result:
        """Undo what "forget that" in the chat has hidden, before it is final."""
        return await self._send(self._calls.undo_forget(forget_id, persona_id))

    async def undo(self, audit_id: int, *, persona_id: str | None = None) -> Changed:
        """Undo a change that the hub made by itself; `audit` shows the number."""
        return await self._send(self._calls.undo(audit_id, persona_id))

    async def revoke(self, memory_id: int, *, persona_id: str | None = None) -> Changed:
        """Revoke a memory; it stays in the history."""
        return await self._send(self._calls.revoke(memory_id, persona_id))

    async def forget_memory(
        self,
        type: str | None = None,  # noqa: A002 - the contract's word
        key: str | None = None,
        **options: Unpack[ForgetOptions],
    ) -> Forgotten:
        """Erase memories for good: by type and key, by id, or by a query (`dry_run` first)."""
        return await self._send(self._calls.forget_memory(type, key, **options))

    async def update_memory(
        self, memory_id: int, *, persona_id: str | None = None, **change: Unpack[MemoryChange]
    ) -> WriteResult:
        """Store a new version of a memory."""
        return await self._send(self._calls.update_memory(memory_id, persona_id, **change))

    async def list_memory(self, **wanted: Unpack[MemoryFilter]) -> MemoryPage:
        """Return one page of a persona's memories."""
        return await self._send(self._calls.list_memory(**wanted))

    async def iter_memory(self, **wanted: Unpack[MemoryFilter]) -> AsyncIterator[MemoryItem]:
        """Yield a persona's memories, page after page."""
        page = await self.list_memory(**wanted)
        for item in page.items:
            yield item
        while page.next_cursor:
            wanted["cursor"] = page.next_cursor
            page = await self.list_memory(**wanted)
            for item in page.items:
                yield item

    async def memory_get(self, memory_id: int, *, persona_id: str | None = None) -> MemoryItem:
        """Return one memory."""
        return await self._send(self._calls.memory_get(memory_id, persona_id))

    async def memory_history(
        self, memory_id: int, *, persona_id: str | None = None
    ) -> list[MemoryItem]:
        """Return the versions of a memory."""
        return await self._send(self._calls.memory_history(memory_id, persona_id))

    async def upcoming_events(
        self, days: int = 30, *, persona_id: str | None = None
    ) -> list[MemoryItem]:
        """Return remembered events of the next days."""
        return await self._send(self._calls.upcoming_events(days, persona_id))
