"""Move a user's rows to another bot or session; nothing is lost or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import InvalidInput
from plastic_memories.hub.transactions.audit_events import app_of, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import (
    active_in_slot,
    active_with_key,
    refresh_slot,
)
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import BotSessionAddress, RekeyCounts
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

_SINGLE_VALUE_TYPES = (MemoryType.IDENTITY, MemoryType.VALUES)


@dataclass(frozen=True, slots=True)
class RekeyBots:
    storage: AuditedStorage

    async def __call__(
        self,
        caller: Caller,
        old: Sequence[BotSessionAddress],
        new: BotSessionAddress,
        *,
        dry_run: bool,
    ) -> RekeyCounts:
        """Move rows of all personas of the user in one transaction; a dry run only counts.

        If an active row exists at the new address, it stays, and the moved row becomes a candidate.
        """
        _check_keys(old, new)

        def work(stores: Stores) -> RekeyCounts:
            now = self.storage.clock.now()
            owners = [persona.owner for persona in stores.personas.all(caller.user)]
            move = _RekeyRun(stores, caller, new, now, dry_run)
            places = [(owner, place) for owner in owners for place in old if place != new]
            return sum((move.rekey_owner(owner, place) for owner, place in places), RekeyCounts())

        return await (self.storage.read(work) if dry_run else self.storage.write(work))


def _check_keys(old: Sequence[BotSessionAddress], new: BotSessionAddress) -> None:
    if any((place.session_id is None) != (new.session_id is None) for place in old):
        raise InvalidInput("Name a session on both sides, or on neither.")
    if all(place == new for place in old):
        raise InvalidInput("Both sides are the same.")


@dataclass(frozen=True, slots=True)
class _RekeyRun:
    stores: Stores
    caller: Caller
    new: BotSessionAddress
    now: float
    dry_run: bool

    def rekey_owner(self, owner: Owner, old: BotSessionAddress) -> RekeyCounts:
        rows = self.stores.memories.find(owner, MemoryFilter(bot_id=old.bot_id))
        rows = [row for row in rows if old.session_id in (None, row.session_id)]
        # Oldest first: the versions of a memory keep their order in the log.
        waiting = sum(self._move_memory(row) for row in reversed(rows))
        moved = RekeyCounts(
            memories=len(rows),
            waiting=waiting,
            messages=self._move_messages(owner, old),
            sessions=self._move_sessions(owner, old),
        )
        if not self.dry_run and moved != RekeyCounts():
            counts = {"memories": moved.memories, "messages": moved.messages}
            record_event(
                self.stores, self.caller, "persona.rekey", owner.persona_id, self.now, **counts
            )
        return moved

    def _new_session_id(self, session_id: str) -> str:
        return session_id if self.new.session_id is None else self.new.session_id

    def _move_memory(self, row: Memory) -> bool:
        """Move a memory; return whether it becomes a candidate at its new address."""
        moved = replace(
            row, bot_id=self.new.bot_id, session_id=self._new_session_id(row.session_id)
        )
        waits = row.status is Status.ACTIVE and self._is_taken(moved)
        if self.dry_run:
            return waits
        status = Status.CANDIDATE if waits else row.status
        moved = replace(moved, status=status, idempotency_key="", updated_at=self.now)
        self.stores.memories.move(moved)
        for one in (row, moved):
            refresh_slot(self.stores, self.caller, one, self.now)
        record_event(
            self.stores, self.caller, "memory.rekey", row.owner.persona_id, self.now,
            memory_id=row.id, status=status.value, from_bot=row.bot_id, to_bot=moved.bot_id,
            **app_of(row),
        )  # fmt: skip
        return waits

    def _is_taken(self, moved: Memory) -> bool:
        rivals = active_with_key(self.stores, moved)
        if moved.type in _SINGLE_VALUE_TYPES:
            rivals += active_in_slot(self.stores, moved)
        return any(rival.id != moved.id for rival in rivals)

    def _move_messages(self, owner: Owner, old: BotSessionAddress) -> int:
        wanted = MessageFilter(bot_id=old.bot_id, session_id=old.session_id)
        found = self.stores.messages.find(owner, wanted)
        for message in found if not self.dry_run else ():
            session_id = self._new_session_id(message.session_id)
            self.stores.messages.move(
                replace(message, bot_id=self.new.bot_id, session_id=session_id)
            )
        return len(found)

    def _move_sessions(self, owner: Owner, old: BotSessionAddress) -> int:
        sessions = self.stores.sessions
        found = sessions.find(owner, bot_id=old.bot_id, session_id=old.session_id)
        for session in found if not self.dry_run else ():
            session_id = self._new_session_id(session.place.session_id)
            sessions.move(
                session, replace(session.place, bot_id=self.new.bot_id, session_id=session_id)
            )
        return len(found)
