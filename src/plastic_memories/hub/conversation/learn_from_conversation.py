"""Learn from a conversation that a caller sends for that purpose."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.hub.conversation.messages import MessageHistory, with_session_realm
from plastic_memories.hub.conversation.unread_statements import unread_sentence_notes
from plastic_memories.hub.formation.correcting_messages import (
    end_corrected_memories,
    has_correction,
)
from plastic_memories.hub.formation.unread_clauses import UnreadClauses
from plastic_memories.hub.memories.review import confirm_in_transaction
from plastic_memories.hub.memories.write import (
    BatchWriteOutcome,
    WriteOutcome,
    write_in_transaction,
)
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import replaceable_by
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions


@dataclass(frozen=True, slots=True)
class LearnFromConversation:
    storage: AuditedStorage
    screening: Screening
    judge: JudgeEngine
    unread_clauses: UnreadClauses
    message_history: MessageHistory | None = None  # stores the messages for a model to read later

    async def __call__(
        self,
        caller: Caller,
        owner: Owner,
        talk: Sequence[Message],
        *,
        confirm: bool,
        keep_rest: bool = False,
    ) -> BatchWriteOutcome:
        """Store the drafts the judge extracts; `confirm` confirms those that replace nothing.

        `keep_rest` stores the other sentences of a message that was read in part, as notes.
        If there is a model, the messages are stored first: a job reads them after this returns.
        """
        job = None
        if self.message_history is not None and talk:
            talk, job = await self.message_history.queue_for_digest(caller, owner, talk)
        found = await self._extract_drafts(owner, talk, keep_rest=keep_rest)
        result = await self._store_drafts(caller, owner, found, confirm=confirm)
        await self._apply_corrections(owner, talk, result)
        if self.message_history is None or job is None:
            return result
        self.message_history.wakeup.notify()
        return replace(result, job_id=job.id)

    async def _apply_corrections(
        self, owner: Owner, talk: Sequence[Message], result: BatchWriteOutcome
    ) -> None:
        """End what messages correct that no job will read."""
        if self.message_history is not None or not has_correction(talk):
            return
        hub, now = hub_caller(owner.user), self.storage.clock.now()
        new = {one.memory.id for one in result.written if one.memory is not None}
        await self.storage.write(
            lambda stores: end_corrected_memories(stores, hub, owner, talk, new, now)
        )

    async def preview(
        self, owner: Owner, talk: Sequence[Message]
    ) -> tuple[list[Draft], list[tuple[int, str]]]:
        """Return what would be learned from a conversation, and refusals; store nothing."""
        found = await self._extract_drafts(owner, talk, keep_rest=False)
        screened, skipped = self.screening.screen_drafts(found)
        return [draft for _, draft in screened], list(skipped)

    async def _extract_drafts(
        self, owner: Owner, talk: Sequence[Message], *, keep_rest: bool
    ) -> list[Draft]:
        settings, placed = await self.storage.read(
            lambda stores: (stores.personas.settings(owner.user), with_session_realm(stores, talk))
        )
        found = self.judge.extract(placed, settings.time_zone)
        if not keep_rest:
            unread = await self.unread_clauses.drafts(placed, found, settings.time_zone)
            return [*found, *unread]
        return [*found, *await asyncio.to_thread(self._rest_of, placed, settings.time_zone)]

    def _rest_of(self, talk: Sequence[Message], time_zone: str) -> list[Draft]:
        """Return notes of the sentences that no rule reads, of messages that were read in part."""
        notes: list[Draft] = []
        for message in talk:
            own = self.judge.extract([message], time_zone)
            if own:
                notes += unread_sentence_notes(self.judge, message, own, time_zone)
        return notes

    async def _store_drafts(
        self, caller: Caller, owner: Owner, found: Sequence[Draft], *, confirm: bool
    ) -> BatchWriteOutcome:
        now = self.storage.clock.now()
        screened, skipped = self.screening.screen_drafts(found)

        def work(stores: Stores) -> BatchWriteOutcome:
            written: list[WriteOutcome] = []
            refused = list(skipped)
            for index, draft in screened:
                outcome = write_in_transaction(stores, caller, owner, draft, now, learned=True)
                if outcome.memory is None:
                    refused.append((index, outcome.skipped))
                    continue
                if confirm and not _is_contested(stores, outcome.memory):
                    memory = confirm_in_transaction(
                        stores, caller, outcome.memory, ConfirmOptions(), now
                    )
                    outcome = WriteOutcome(memory, updated=True)
                written.append(outcome)
            return BatchWriteOutcome(written, sorted(refused))

        return await self.storage.write(work)


def _is_contested(stores: Stores, memory: Memory) -> bool:
    """Return whether a memory is no candidate, or would replace another one."""
    if memory.status is not Status.CANDIDATE:
        return True
    return bool(replaceable_by(stores, memory))
