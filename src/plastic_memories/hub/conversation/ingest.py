"""Ingest a conversation: store it, extract memories, and return what was learned."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plastic_memories.errors import Rejected
from plastic_memories.hub.conversation.messages import MessageHistory, with_session_realm
from plastic_memories.hub.conversation.unread_statements import unread_notes
from plastic_memories.hub.formation.correcting_messages import apply_corrections, has_correction
from plastic_memories.hub.formation.learn import store_learned_draft
from plastic_memories.hub.memories.review import confirm_in_transaction
from plastic_memories.hub.memories.write import WriteOutcome, write_in_transaction
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import replaceable_by
from plastic_memories.language.reading.verbatim_notes import verbatim_draft
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import ConfirmOptions

_WriteDraft = Callable[[Stores, Caller, Owner, Draft, float], WriteOutcome]


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """One memory of a call: new, a new version of `previous`, or already known."""

    memory: Memory
    previous: Memory | None = None
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class SkippedStatement:
    """A statement that was not stored, and why; the text is empty if it may hold a secret."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestResult:
    outcomes: Sequence[IngestOutcome] = ()
    skipped: Sequence[SkippedStatement] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestAttributes:
    """Attributes the caller sets on every memory of one call."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires_at: float | None = None
    said_at: float | None = None

    def apply_to(self, draft: Draft) -> Draft:
        return replace(
            draft,
            metadata=self.metadata,
            expires_at=self.expires_at,
            occurred_at=draft.occurred_at if self.said_at is None else self.said_at,
        )


@dataclass(frozen=True, slots=True)
class IngestConversation:
    storage: AuditedStorage
    screening: Screening
    judge: JudgeEngine
    messages: MessageHistory
    has_model: bool = False

    async def extract(
        self, caller: Caller, owner: Owner, talk: Sequence[Message], marked: IngestAttributes
    ) -> IngestResult:
        """Store the messages and the memories the rules extract; uncontested ones become active.

        A sentence that no rule can parse is stored in the user's own words.
        """
        rows = await self._store_messages(caller, owner, talk)
        settings, placed = await self.storage.read(
            lambda stores: (stores.personas.settings(owner.user), with_session_realm(stores, rows))
        )
        # On a thread: a long conversation takes a while to parse and would block other requests.
        drafts = await asyncio.to_thread(self._read, placed, settings.time_zone)
        screened, refused = self.screening.screen_drafts(
            [marked.apply_to(draft) for draft in drafts]
        )
        stored = await self._store_drafts(
            caller, owner, [draft for _, draft in screened], store_learned_draft
        )
        if has_correction(placed):
            hub, now = hub_caller(owner.user), self.storage.clock.now()
            await self.storage.write(
                lambda stores: apply_corrections(stores, hub, owner, placed, now)
            )
        return _with_refused(stored, refused)

    def _read(self, talk: Sequence[Message], time_zone: str) -> list[Draft]:
        """Return the extracted drafts, and notes of the statements no rule can parse."""
        found = self.judge.extract(talk, time_zone)
        unread = (unread_notes(self.judge, message, found, time_zone) for message in talk)
        return [*found, *itertools.chain.from_iterable(unread)]

    async def store_verbatim(
        self, caller: Caller, owner: Owner, talk: Sequence[Message], marked: IngestAttributes
    ) -> IngestResult:
        """Store each message verbatim as a memory; raise `Rejected` if none may be stored."""
        drafts = [marked.apply_to(verbatim_draft(message)) for message in talk]
        screened, refused = self.screening.screen_drafts(drafts)
        if refused and not screened:
            raise Rejected(f"Nothing of this may be kept: {refused[0][1]}.")
        stored = await self._store_drafts(
            caller, owner, [draft for _, draft in screened], _write_statement
        )
        return _with_refused(stored, refused)

    async def _store_messages(
        self, caller: Caller, owner: Owner, talk: Sequence[Message]
    ) -> list[Message]:
        if not self.has_model:
            return await self.messages.store_conversation(caller, owner, talk)
        stored, _ = await self.messages.queue_for_digest(caller, owner, talk)
        self.messages.wakeup.notify()
        return stored

    async def _store_drafts(
        self, caller: Caller, owner: Owner, drafts: Sequence[Draft], write: _WriteDraft
    ) -> IngestResult:
        now = self.storage.clock.now()

        def work(stores: Stores) -> IngestResult:
            outcomes: list[IngestOutcome] = []
            skipped: list[SkippedStatement] = []
            for draft in drafts:
                written = write(stores, caller, owner, draft, now)
                if written.memory is None:
                    skipped.append(SkippedStatement(draft.content, written.skipped))
                    continue
                memory = confirm_if_uncontested(stores, caller, written.memory, now)
                if memory.status is Status.ACTIVE:
                    previous = _previous_version(stores, memory)
                    outcomes.append(IngestOutcome(memory, previous, is_known=not written.updated))
            return IngestResult(outcomes, skipped)

        return await self.storage.write(work)


def _with_refused(result: IngestResult, refused: Sequence[tuple[int, str]]) -> IngestResult:
    """Return the result with the reasons of the screening added."""
    reasons = [SkippedStatement("", reason) for _, reason in refused]
    return replace(result, skipped=[*result.skipped, *reasons])


def _write_statement(
    stores: Stores, caller: Caller, owner: Owner, draft: Draft, now: float
) -> WriteOutcome:
    """Write a statement that a program makes for a user: tombstones apply to it."""
    return write_in_transaction(stores, caller, owner, draft, now, learned=True)


def confirm_if_uncontested(stores: Stores, caller: Caller, memory: Memory, now: float) -> Memory:
    """Confirm a candidate that would replace nothing; return any other memory unchanged."""
    if memory.status is not Status.CANDIDATE or replaceable_by(stores, memory):
        return memory
    return confirm_in_transaction(stores, caller, memory, ConfirmOptions(), now)


def _previous_version(stores: Stores, memory: Memory) -> Memory | None:
    if memory.supersedes_id is None:
        return None
    return stores.memories.get(memory.owner, memory.supersedes_id)
