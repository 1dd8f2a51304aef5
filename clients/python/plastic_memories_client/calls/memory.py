"""/memory/*, but for recall"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from ..models import (
    Changed,
    ChangedMany,
    Forgotten,
    MemoryItem,
    MemoryPage,
    Rebuilt,
    WriteResult,
)
from ..options import (
    ForgetOptions,
    MemoryChange,
    MemoryFilter,
    NewMemory,
    TalkOptions,
    WriteOptions,
)
from ..protocol import Call, Reply, get, given, post, record, records, result
from .messages import Utterances, spoken
from .origin import CallsFrom

WRITE_LIMIT = 500


class MemoryCalls(CallsFrom):
    """What is remembered."""

    __slots__ = ()

    def write(
        self, messages: Utterances, confirm: bool, **options: Unpack[TalkOptions]
    ) -> Call[WriteResult]:
        talk = {"messages": spoken(messages), "confirm": confirm}
        return post("/memory/write", result(WriteResult), self.within({**options, **talk}))

    def write_item(
        self, kind: str, key: str, content: str, **fields: Unpack[WriteOptions]
    ) -> Call[WriteResult]:
        memory = {"type": kind, "key": key, "content": content}
        return post("/memory/write", result(WriteResult), self.within({**fields, **memory}))

    def write_items(
        self, items: Sequence[NewMemory], persona_id: str | None
    ) -> list[Call[WriteResult]]:
        """Return one call for each five hundred items: the hub takes no more at once."""
        place = self.within({})
        del place["persona_id"]
        sent = [place | given(**item) for item in items]
        return [
            post(
                "/memory/write",
                _counted_from(start),
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
        body = self.about(
            persona_id,
            memory_id=memory_id,
            supersedes_id=supersedes_id,
            coexist=coexist or None,
            content=content,
        )
        return post("/memory/confirm", result(Changed), body)

    def reject(self, memory_id: int, never_again: bool, persona_id: str | None) -> Call[Changed]:
        body = self.about(persona_id, memory_id=memory_id, never_again=never_again)
        return post("/memory/reject", result(Changed), body)

    def confirm_many(
        self, memory_ids: Sequence[int], coexist: bool, persona_id: str | None
    ) -> Call[ChangedMany]:
        body = self.about(persona_id, memory_ids=list(memory_ids), coexist=coexist or None)
        return post("/memory/confirm", result(ChangedMany), body)

    def reject_many(
        self, memory_ids: Sequence[int], never_again: bool, persona_id: str | None
    ) -> Call[ChangedMany]:
        body = self.about(persona_id, memory_ids=list(memory_ids), never_again=never_again)
        return post("/memory/reject", result(ChangedMany), body)

    def undo(self, audit_id: int, persona_id: str | None) -> Call[Changed]:
        return post("/memory/undo", result(Changed), self.about(persona_id, audit_id=audit_id))

    def revoke(self, memory_id: int, persona_id: str | None) -> Call[Changed]:
        return post("/memory/revoke", result(Changed), self.about(persona_id, memory_id=memory_id))

    def forget_memory(
        self, kind: str | None, key: str | None, **options: Unpack[ForgetOptions]
    ) -> Call[Forgotten]:
        body = self.about(None, type=kind, key=key) | given(**options)
        return post("/memory/forget", result(Forgotten), body)

    def update_memory(
        self, memory_id: int, persona_id: str | None, **change: Unpack[MemoryChange]
    ) -> Call[WriteResult]:
        body = self.about(persona_id, memory_id=memory_id) | dict(change)
        return post("/memory/update", result(WriteResult), body)

    def list_memory(self, **wanted: Unpack[MemoryFilter]) -> Call[MemoryPage]:
        return get("/memory/list", result(MemoryPage), self.about(None) | given(**wanted))

    def memory_get(self, memory_id: int, persona_id: str | None) -> Call[MemoryItem]:
        params = self.about(persona_id, memory_id=memory_id)
        return get("/memory/get", record(MemoryItem, "memory", "item"), params)

    def memory_history(self, memory_id: int, persona_id: str | None) -> Call[list[MemoryItem]]:
        params = self.about(persona_id, memory_id=memory_id)
        return get("/memory/history", records(MemoryItem), params)

    def rebuild(self, persona_id: str | None) -> Call[Rebuilt]:
        return post("/memory/rebuild", result(Rebuilt), self.about(persona_id))


def _counted_from(start: int) -> Callable[[Reply], WriteResult]:
    read = result(WriteResult)
    return lambda reply: read(reply).counted_from(start)
