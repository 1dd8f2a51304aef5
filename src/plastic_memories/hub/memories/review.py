"""Review memories: confirm or reject candidates, revoke and correct memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plastic_memories.errors import Conflict, Expired
from plastic_memories.hub.transactions.audit_events import record_memory
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import (
    active_with_key,
    add_replacing,
    is_visible,
    refresh_slot,
    replaceable_by,
    visible_memory,
)
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, Scope, SourceType, Status
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.tombstones import tombstone_digests
from plastic_memories.rules.lifecycle.transitions import (
    ConfirmOptions,
    activate_candidate,
    end_memory,
    rows_replaced_by_confirm,
)


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    memory: Memory
    updated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A person's changes to a memory; None leaves a field unchanged."""

    content: str | None = None
    tags: tuple[str, ...] | None = None
    importance: float | None = None
    pinned: bool | None = None
    scope: Scope | None = None
    expires_at: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    # The fields that were sent, so that `expires_at: null` can clear.
    changed_fields: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class ReviewMemory:
    storage: AuditedStorage
    screening: Screening
    # What confirms candidates of some keys, by the first part of the key; set by other themes.
    answers: dict[str, Callable[[Caller, Viewpoint, int], Awaitable[ReviewOutcome]]] = field(
        default_factory=dict
    )

    async def confirm(
        self,
        caller: Caller,
        view: Viewpoint,
        memory_id: int,
        request: ConfirmOptions,
        content: str | None = None,
    ) -> ReviewOutcome:
        """Make a candidate active; of two concurrent confirms of one slot, one wins."""
        answer = await self._answer_for(view, memory_id)
        if answer is not None:
            return await answer(caller, view, memory_id)
        now = self.storage.clock.now()
        edited = None if content is None else self.screening.screen_text(content)

        def work(stores: Stores) -> ReviewOutcome:
            memory = visible_memory(stores, view, memory_id)
            if memory.status is Status.EXPIRED:
                # The same answer whether or not the expiry sweep has run.
                raise Expired(f"Memory {memory_id} has expired.")
            if memory.status is not Status.CANDIDATE:
                return ReviewOutcome(memory, updated=False)
            if edited is not None:
                memory = _with_new_words(memory, edited)
            if not all(is_visible(view, row) for row in replaceable_by(stores, memory)):
                raise Conflict("What it would replace belongs to another bot or another app.")
            return ReviewOutcome(
                confirm_in_transaction(stores, caller, memory, request, now), updated=True
            )

        return await self.storage.write(work)

    async def _answer_for(
        self, view: Viewpoint, memory_id: int
    ) -> Callable[[Caller, Viewpoint, int], Awaitable[ReviewOutcome]] | None:
        if not self.answers:
            return None
        memory = await self.storage.read(lambda stores: visible_memory(stores, view, memory_id))
        if memory.status is not Status.CANDIDATE:
            return None
        return self.answers.get(memory.key.partition(".")[0])

    async def reject(
        self, caller: Caller, view: Viewpoint, memory_id: int, *, never_again: bool
    ) -> ReviewOutcome:
        """Reject a candidate; `never_again` stores a tombstone so that it is not learned again."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> ReviewOutcome:
            memory = visible_memory(stores, view, memory_id)
            if memory.status is not Status.CANDIDATE:
                return ReviewOutcome(memory, updated=False)
            if never_again:
                marks = tombstone_digests(stores.tombstones.secret(), memory.owner, memory)
                stores.tombstones.add(memory.owner, marks, now)
            return ReviewOutcome(
                end_in_transaction(stores, caller, memory, "memory.reject", now), updated=True
            )

        return await self.storage.write(work)

    async def revoke(self, caller: Caller, view: Viewpoint, memory_id: int) -> ReviewOutcome:
        """Remove a memory from every read path except its history; refresh its slot."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> ReviewOutcome:
            memory = visible_memory(stores, view, memory_id)
            if memory.status not in (Status.ACTIVE, Status.CANDIDATE):
                return ReviewOutcome(memory, updated=False)
            return ReviewOutcome(
                end_in_transaction(stores, caller, memory, "memory.revoke", now), updated=True
            )

        return await self.storage.write(work)

    async def correct(
        self, caller: Caller, view: Viewpoint, memory_id: int, correction: Correction
    ) -> ReviewOutcome:
        """Store a corrected version; for an active slot it becomes a candidate."""
        now = self.storage.clock.now()
        screened = self._screen_correction(correction)

        def work(stores: Stores) -> ReviewOutcome:
            memory = visible_memory(stores, view, memory_id)
            if memory.status not in (Status.ACTIVE, Status.CANDIDATE):
                raise Conflict(f"Memory {memory_id} is {memory.status}; write it anew instead.")
            added = correct_in_transaction(stores, caller, memory, screened, now)
            return ReviewOutcome(added, updated=True)

        return await self.storage.write(work)

    def _screen_correction(self, correction: Correction) -> Correction:
        content, tags = correction.content, correction.tags
        return replace(
            correction,
            content=None if content is None else self.screening.screen_text(content),
            tags=None if tags is None else tuple(self.screening.screen_text(tag) for tag in tags),
            metadata=self.screening.screen_values(correction.metadata),
        )


def confirm_in_transaction(
    stores: Stores, caller: Caller, candidate: Memory, request: ConfirmOptions, now: float
) -> Memory:
    """Confirm in the caller's transaction; raise `Conflict` if other rows stand in the way."""
    rivals = replaceable_by(stores, candidate)
    replaced = rows_replaced_by_confirm(candidate, rivals, request, now)
    for row in replaced:
        stores.memories.save(end_memory(row, now, superseded_by=candidate.id))
    active = activate_candidate(candidate, replaced, now)
    stores.memories.save(active)
    refresh_slot(stores, caller, active, now)
    record_memory(stores, caller, "memory.confirm", active, now)
    return active


def end_in_transaction(
    stores: Stores, caller: Caller, memory: Memory, event: str, now: float
) -> Memory:
    """Revoke or reject in the caller's transaction."""
    ended = end_memory(memory, now)
    stores.memories.save(ended)
    refresh_slot(stores, caller, ended, now)
    record_memory(stores, caller, event, ended, now)
    return ended


def correct_in_transaction(
    stores: Stores, caller: Caller, memory: Memory, correction: Correction, now: float
) -> Memory:
    """Correct in the caller's transaction; for an active slot the new version is a candidate."""
    added = _store_correction(stores, memory, correction, now)
    record_memory(stores, caller, "memory.write", added, now)
    return added


def _store_correction(stores: Stores, memory: Memory, correction: Correction, now: float) -> Memory:
    version = _corrected_version(memory, correction, now)
    if memory.is_slot and memory.status is Status.ACTIVE:
        waiting = replace(version, status=Status.CANDIDATE, supersedes_id=memory.id)
        return stores.memories.add(replace(waiting, root_id=memory.root_id))
    if memory.status is Status.CANDIDATE:
        return add_replacing(stores, version, [memory], now)
    rivals = [row for row in active_with_key(stores, version) if row.id != memory.id]
    return add_replacing(stores, version, [memory, *rivals], now)


def _with_new_words(memory: Memory, content: str) -> Memory:
    """Return a memory with the person's new text; the value parsed from the old text is dropped."""
    attributes = {name: value for name, value in memory.attributes.items() if name != "value"}
    return replace(
        memory,
        content=content,
        attributes=attributes,
        source_type=SourceType.USER_EXPLICIT,
        confidence=1.0,
        quote="",
        # The text is the person's own now: editing an old message must not retract it.
        source_message_ids=(),
    )


def _corrected_version(memory: Memory, correction: Correction, now: float) -> Memory:
    changes = {
        name: getattr(correction, name) for name in correction.changed_fields if name != "content"
    }
    if correction.content is not None:
        memory = _with_new_words(memory, correction.content)
    return replace(
        memory,
        **changes,
        id=0,
        superseded_by=None,
        created_at=now,
        updated_at=now,
        last_recalled_at=None,
        recall_count=0,
        # The idempotency key belongs to the call that stored the first version.
        idempotency_key="",
    )
