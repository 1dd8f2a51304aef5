"""Calls to /memory, except recall, and to /events/upcoming."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from ..models import Changed, ChangedMany, Forgotten, MemoryItem, MemoryPage, Result, WriteResult
from ..options import ForgetOptions, MemoryFilter, NewMemory, TalkOptions, Utterances, WriteOptions
from ..protocol import Call, Reply, get, post, record, records, result, without_none
from ..wire_options import MemoryChange
from .context import CallContext
from .conversation import wire_messages

WRITE_LIMIT = 500


class MemoryCalls(CallContext):
    __slots__ = ()

    def write(
        self, messages: Utterances, confirm: bool, keep_rest: bool, **options: Unpack[TalkOptions]
    ) -> Call[WriteResult]:
        conversation = {
            "messages": wire_messages(messages),
            "confirm": confirm,
            "keep_rest": keep_rest or None,
        }
        return post(
            "/memory/write",
            result(WriteResult),
            self.conversation_fields({**options, **conversation}),
        )

    def write_item(
        self, kind: str, key: str, content: str, **fields: Unpack[WriteOptions]
    ) -> Call[WriteResult]:
        memory = {"type": kind, "key": key, "content": content}
        return post(
            "/memory/write", result(WriteResult), self.conversation_fields({**fields, **memory})
        )

    def write_items(
        self, items: Sequence[NewMemory], persona_id: str | None
    ) -> list[Call[WriteResult]]:
        """Return one call for each five hundred items, the limit of the hub."""
        place = self.conversation_fields({})
        del place["persona_id"]
        sent = [place | without_none(**item) for item in items]
        return [
            post(
                "/memory/write",
                _reader_from(start),
                {
                    "persona_id": persona_id or self.persona_id,
                    "items": sent[start : start + WRITE_LIMIT],
                },
            )
            for start in range(0, len(sent), WRITE_LIMIT)
        ]

    def confirm(
        self,
        memory_id: int,
        supersedes_id: int | None,
        coexist: bool,
        content: str | None,
        persona_id: str | None,
    ) -> Call[Changed]:
        body = self.persona_fields(
            persona_id,
            memory_id=memory_id,
            supersedes_id=supersedes_id,
            coexist=coexist or None,
            content=content,
        )
        return post("/memory/confirm", result(Changed), body)

    def reject(self, memory_id: int, never_again: bool, persona_id: str | None) -> Call[Changed]:
        body = self.persona_fields(persona_id, memory_id=memory_id, never_again=never_again)
        return post("/memory/reject", result(Changed), body)

    def confirm_many(
        self, memory_ids: Sequence[int], coexist: bool, persona_id: str | None
    ) -> Call[ChangedMany]:
        body = self.persona_fields(persona_id, memory_ids=list(memory_ids), coexist=coexist or None)
        return post("/memory/confirm", result(ChangedMany), body)

    def reject_many(
        self, memory_ids: Sequence[int], never_again: bool, persona_id: str | None
    ) -> Call[ChangedMany]:
        body = self.persona_fields(persona_id, memory_ids=list(memory_ids), never_again=never_again)
        return post("/memory/reject", result(ChangedMany), body)

    def pending_forgets(self, persona_id: str | None) -> Call[Result]:
        return get("/memory/forget/pending", result(Result), self.persona_fields(persona_id))

    def undo_forget(self, forget_id: int, persona_id: str | None) -> Call[Result]:
        body = self.persona_fields(persona_id, forget_id=forget_id)
        return post("/memory/forget/undo", result(Result), body)

    def undo(self, audit_id: int, persona_id: str | None) -> Call[Changed]:
        return post(
            "/memory/undo", result(Changed), self.persona_fields(persona_id, audit_id=audit_id)
        )

    def revoke(self, memory_id: int, persona_id: str | None) -> Call[Changed]:
        return post(
            "/memory/revoke", result(Changed), self.persona_fields(persona_id, memory_id=memory_id)
        )

    def forget_memory(
        self, kind: str | None, key: str | None, **options: Unpack[ForgetOptions]
    ) -> Call[Forgotten]:
        match = options.pop("match", None) or {}
        fields = without_none(type=kind, key=key, **options)
        body = self.persona_fields(None) | without_none(**match) | fields
        return post("/memory/forget", result(Forgotten), body)

    def update_memory(
        self, memory_id: int, persona_id: str | None, **change: Unpack[MemoryChange]
    ) -> Call[WriteResult]:
        body = self.persona_fields(persona_id, memory_id=memory_id) | dict(change)
        return post("/memory/update", result(WriteResult), body)

    def list_memory(self, **wanted: Unpack[MemoryFilter]) -> Call[MemoryPage]:
        return get(
            "/memory/list", result(MemoryPage), self.persona_fields(None) | without_none(**wanted)
        )

    def memory_get(self, memory_id: int, persona_id: str | None) -> Call[MemoryItem]:
        params = self.persona_fields(persona_id, memory_id=memory_id)
        return get("/memory/get", record(MemoryItem, "memory", "item"), params)

    def memory_history(self, memory_id: int, persona_id: str | None) -> Call[list[MemoryItem]]:
        params = self.persona_fields(persona_id, memory_id=memory_id)
        return get("/memory/history", records(MemoryItem), params)

    def upcoming_events(self, days: int, persona_id: str | None) -> Call[list[MemoryItem]]:
        return get(
            "/events/upcoming", records(MemoryItem), self.persona_fields(persona_id, days=days)
        )


def _reader_from(start: int) -> Callable[[Reply], WriteResult]:
    """Return a parser for a batch whose first item has the index `start`."""
    read = result(WriteResult)
    return lambda reply: read(reply).shift_indexes(start)
