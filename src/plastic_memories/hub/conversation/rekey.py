"""Give rows of one user another bot or session; nothing is lost and nothing is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import InvalidInput
from plastic_memories.hub.transactions.audit_events import app_of, record
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.hub.transactions.version_chain import (
    active_of_key,
    active_of_slot,
    refresh_slot,
)
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.rekey import Address, Rekeyed
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

_ONE_OF_A_KIND = (MemoryType.IDENTITY, MemoryType.VALUES)


@dataclass(frozen=True, slots=True)
class RekeyBots:
    ledger: Ledger

    async def __call__(
        self, caller: Caller, old: Sequence[Address], new: Address, *, dry_run: bool
    ) -> Rekeyed:
        """Move rows of every persona of the user in one transaction; a dry run only counts.

        Where another row holds at the new place, that one stays, and the moved one waits for a
        yes beside it.
        """
        _check(old, new)

        def work(stores: Stores) -> Rekeyed:
            now = self.ledger.clock.now()
            owners = [persona.owner for persona in stores.personas.all(caller.user)]
            move = _Move(stores, caller, new, now, dry_run)
            places = [(owner, place) for owner in owners for place in old if place != new]
            return sum((move.all(owner, place) for owner, place in places), Rekeyed())

        return await (self.ledger.read(work) if dry_run else self.ledger.write(work))


def _check(old: Sequence[Address], new: Address) -> None:
    if any((place.session_id is None) != (new.session_id is None) for place in old):
        raise InvalidInput("Name a session on both sides, or on neither.")
    if all(place == new for place in old):
        raise InvalidInput("Both sides are the same.")


@dataclass(frozen=True, slots=True)
class _Move:
    stores: Stores
    caller: Caller
    new: Address
    now: float
    dry_run: bool

    def all(self, owner: Owner, old: Address) -> Rekeyed:
        rows = self.stores.memories.find(owner, MemoryFilter(bot_id=old.bot_id))
        rows = [row for row in rows if old.session_id in (None, row.session_id)]
        # The oldest first: a chain of versions keeps its order in the log.
        waiting = sum(self._memory(row) for row in reversed(rows))
        moved = Rekeyed(
            memories=len(rows),
            waiting=waiting,
            messages=self._messages(owner, old),
            sessions=self._sessions(owner, old),
        )
        if not self.dry_run and moved != Rekeyed():
            counts = {"memories": moved.memories, "messages": moved.messages}
            record(self.stores, self.caller, "persona.rekey", owner.persona_id, self.now, **counts)
        return moved

    def _session(self, was: str) -> str:
        return was if self.new.session_id is None else self.new.session_id

    def _memory(self, row: Memory) -> bool:
        """Move a row; say whether it has to wait for a yes at its new place."""
        there = replace(row, bot_id=self.new.bot_id, session_id=self._session(row.session_id))
        waits = row.status is Status.ACTIVE and self._is_taken(there)
        if self.dry_run:
            return waits
        status = Status.CANDIDATE if waits else row.status
        there = replace(there, status=status, idempotency_key="", updated_at=self.now)
        self.stores.memories.move(there)
        for one in (row, there):
            refresh_slot(self.stores, self.caller, one, self.now)
        record(
            self.stores, self.caller, "memory.rekey", row.owner.persona_id, self.now,
            memory_id=row.id, status=status.value, from_bot=row.bot_id, to_bot=there.bot_id,
            **app_of(row),
        )  # fmt: skip
        return waits

    def _is_taken(self, there: Memory) -> bool:
        rivals = active_of_key(self.stores, there)
        if there.type in _ONE_OF_A_KIND:
            rivals += active_of_slot(self.stores, there)
        return any(rival.id != there.id for rival in rivals)

    def _messages(self, owner: Owner, old: Address) -> int:
        wanted = MessageFilter(bot_id=old.bot_id, session_id=old.session_id)
        found = self.stores.messages.find(owner, wanted)
        for message in found if not self.dry_run else ():
            session_id = self._session(message.session_id)
            self.stores.messages.move(
                replace(message, bot_id=self.new.bot_id, session_id=session_id)
            )
        return len(found)

    def _sessions(self, owner: Owner, old: Address) -> int:
        sessions = self.stores.sessions
        found = sessions.find(owner, bot_id=old.bot_id, session_id=old.session_id)
        for session in found if not self.dry_run else ():
            session_id = self._session(session.place.session_id)
            sessions.move(
                session, replace(session.place, bot_id=self.new.bot_id, session_id=session_id)
            )
        return len(found)
