"""Take in talk on an application's word: keep it, learn from it, and say what was learned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plastic_memories.errors import Rejected
from plastic_memories.hub.conversation.messages import KeepMessages, in_realm
from plastic_memories.hub.formation.learn import learn
from plastic_memories.hub.memories.review import confirm_in
from plastic_memories.hub.memories.write import Written, write_in
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import would_replace
from plastic_memories.language.reading.verbatim_notes import in_own_words, stated
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.transitions import ConfirmRequest

_Write = Callable[[Stores, Caller, Owner, Draft, float], Written]


@dataclass(frozen=True, slots=True)
class Learned:
    """One memory of a call: new, another version of `before`, or known already."""

    memory: Memory
    before: Memory | None = None
    is_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What the caller puts on every memory of one call."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires_at: float | None = None
    said_at: float | None = None

    def on(self, draft: Draft) -> Draft:
        return replace(
            draft,
            metadata=self.metadata,
            expires_at=self.expires_at,
            occurred_at=draft.occurred_at if self.said_at is None else self.said_at,
        )


@dataclass(frozen=True, slots=True)
class TakeIn:
    ledger: Ledger
    screening: Screening
    judge: JudgeEngine
    messages: KeepMessages
    has_model: bool = False

    async def inferring(
        self, caller: Caller, owner: Owner, talk: Sequence[Message], marked: Marked
    ) -> list[Learned]:
        """Keep the talk, and store what the rules find in it; what objects to nothing is active.

        What a user states and the rules have no word for is kept in the user's own words.
        """
        kept = await self._keep(caller, owner, talk)
        settings, placed = await self.ledger.read(
            lambda stores: (stores.personas.settings(owner.user), in_realm(stores, kept))
        )
        # On a thread: long talk takes a while to read, and others must not wait for it.
        drafts = await asyncio.to_thread(self._read, placed, settings.time_zone)
        screened, _ = self.screening.each([marked.on(draft) for draft in drafts])
        return await self._store(caller, owner, [draft for _, draft in screened], learn)

    def _read(self, talk: Sequence[Message], time_zone: str) -> list[Draft]:
        """Return what the rules find in talk, and in their own words what they cannot read."""
        found = self.judge.extract(talk, time_zone)
        read = {message for draft in found for message in draft.source_message_ids}
        notes = [
            in_own_words(message)
            for message in talk
            if message.id not in read and self._says_more(message, time_zone)
        ]
        return [*found, *notes]

    def _says_more(self, message: Message, time_zone: str) -> bool:
        """Say whether a message states what no rule can read, alone or beside a later one."""
        if message.realm is not Realm.REAL or not stated(message):
            return False
        return not self.judge.extract([message], time_zone)

    async def as_said(
        self, caller: Caller, owner: Owner, talk: Sequence[Message], marked: Marked
    ) -> list[Learned]:
        """Store each message as a memory, word for word; raise `Rejected` if none may be."""
        drafts = [marked.on(in_own_words(message)) for message in talk]
        screened, refused = self.screening.each(drafts)
        if refused and not screened:
            raise Rejected(f"Nothing of this may be kept: {refused[0][1]}.")
        return await self._store(caller, owner, [draft for _, draft in screened], _as_stated)

    async def _keep(self, caller: Caller, owner: Owner, talk: Sequence[Message]) -> list[Message]:
        if not self.has_model:
            return await self.messages.keep(caller, owner, talk)
        kept, _ = await self.messages.hand_over(caller, owner, talk)
        self.messages.bell.ring()
        return kept

    async def _store(
        self, caller: Caller, owner: Owner, drafts: Sequence[Draft], write: _Write
    ) -> list[Learned]:
        now = self.ledger.clock.now()

        def work(stores: Stores) -> list[Learned]:
            done: list[Learned] = []
            for draft in drafts:
                written = write(stores, caller, owner, draft, now)
                if written.memory is None:
                    continue
                memory = confirmed_in(stores, caller, written.memory, now)
                if memory.status is Status.ACTIVE:
                    before = _before(stores, memory)
                    done.append(Learned(memory, before, is_known=not written.updated))
            return done

        return await self.ledger.write(work)


def _as_stated(stores: Stores, caller: Caller, owner: Owner, draft: Draft, now: float) -> Written:
    """Write what a program states for a user: "never again" holds against it."""
    return write_in(stores, caller, owner, draft, now, learned=True)


def confirmed_in(stores: Stores, caller: Caller, memory: Memory, now: float) -> Memory:
    """Say yes to a candidate that would replace nothing; leave everything else as it is."""
    if memory.status is not Status.CANDIDATE or would_replace(stores, memory):
        return memory
    return confirm_in(stores, caller, memory, ConfirmRequest(), now)


def _before(stores: Stores, memory: Memory) -> Memory | None:
    if memory.supersedes_id is None:
        return None
    return stores.memories.get(memory.owner, memory.supersedes_id)
