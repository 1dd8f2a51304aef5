"""Move users' rows to another bot or session; nothing is lost or replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import InvalidInput, NotFound
from plastic_memories.hub.transactions.audit_events import app_of, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import (
    active_in_slot,
    active_with_key,
    refresh_slot,
)
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import BotSessionAddress, RekeyCounts, Session, conversation_of
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.session_key import plain_session_id, session_key

_SINGLE_VALUE_TYPES = (MemoryType.IDENTITY, MemoryType.VALUES)


@dataclass(frozen=True, slots=True)
class RekeyBots:
    storage: AuditedStorage

    async def user_ids(self, tenant_id: str) -> list[str]:
        """Return the users of a tenant, in order."""
        now = self.storage.clock.now()
        held = await self.storage.read(
            lambda stores: stores.personas.holdings(tenant_id, None, now)
        )
        return sorted({one.owner.user_id for one in held})

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
        A user without personas raises `NotFound`.
        """
        if any((place.session_id is None) != (new.session_id is None) for place in old):
            raise InvalidInput("Name a session on both sides, or on neither.")

        def work(stores: Stores) -> RekeyCounts:
            now = self.storage.clock.now()
            owners = [persona.owner for persona in stores.personas.all(caller.user)]
            if not owners:
                raise NotFound(f"There is no user {caller.user.user_id!r}.")
            move = _RekeyRun(stores, caller, new, now, dry_run)
            places = [(owner, place) for owner in owners for place in old]
            moved = sum((move.rekey_owner(owner, place) for owner, place in places), RekeyCounts())
            return replace(moved, users=int(moved != RekeyCounts()))

        return await (self.storage.read(work) if dry_run else self.storage.write(work))


@dataclass(frozen=True, slots=True)
class _RekeyRun:
    stores: Stores
    caller: Caller
    new: BotSessionAddress
    now: float
    dry_run: bool

    def rekey_owner(self, owner: Owner, old: BotSessionAddress) -> RekeyCounts:
        wanted = MessageFilter(bot_id=old.bot_id, session_id=old.session_id)
        messages = {row.id: row for row in self.stores.messages.find(owner, wanted)}
        going = {number: row for number, row in messages.items() if _is_meant(row, old)}
        moved = RekeyCounts(
            **self._move_memories(owner, old, messages, going),
            sessions=self._move_sessions(owner, old, messages, going),
            messages=self._move_messages(going),
        )
        if not self.dry_run and moved != RekeyCounts():
            counts = {"memories": moved.memories, "messages": moved.messages}
            record_event(
                self.stores, self.caller, "persona.rekey", owner.persona_id, self.now, **counts
            )
        return moved

    def _target(self, message: Message) -> Message:
        """Return a message as it will be stored."""
        new, kind, type_ = self.new, message.platform, message.message_type
        if new.session_id is None:
            key = session_key(plain_session_id(message.session_id, kind, type_), kind, type_)
            return replace(message, bot_id=new.bot_id, session_id=key)
        return replace(
            message,
            bot_id=new.bot_id,
            session_id=new.session_id,
            platform=new.platform or kind,
            message_type=new.message_type or type_,
        )

    def _move_memories(
        self,
        owner: Owner,
        old: BotSessionAddress,
        messages: Mapping[int, Message],
        going: Mapping[int, Message],
    ) -> dict[str, int]:
        found = self.stores.memories.find(owner, MemoryFilter(bot_id=old.bot_id))
        rows = [row for row in found if old.session_id in (None, row.session_id)]
        # Oldest first: the versions of a memory keep their order in the log.
        changes: list[tuple[Memory, Memory]] = []
        for row in reversed(rows):
            sources = [number for number in row.source_message_ids if number in messages]
            if any(number not in going for number in sources):
                continue  # learned in a conversation that stays
            session_id = self._session_of(row, [going[number] for number in sources])
            moved = replace(row, bot_id=self.new.bot_id, session_id=session_id)
            if moved != row:
                changes.append((row, moved))
        waiting = sum(self._move_memory(row, moved) for row, moved in changes)
        return {"memories": len(changes), "waiting": waiting}

    def _session_of(self, row: Memory, sources: Sequence[Message]) -> str:
        if self.new.session_id is not None:
            return self.new.session_id
        own = [one for one in sources if one.session_id == row.session_id]
        keys = {self._target(one).session_id for one in own}
        return keys.pop() if len(keys) == 1 else row.session_id

    def _move_memory(self, row: Memory, moved: Memory) -> bool:
        """Move a memory; return whether it becomes a candidate at its new address."""
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

    def _move_messages(self, going: Mapping[int, Message]) -> int:
        targets = {number: self._target(row) for number, row in going.items()}
        changed = [row for number, row in targets.items() if row != going[number]]
        for row in changed if not self.dry_run else ():
            self.stores.messages.move(row)
        return len(changed)

    def _move_sessions(
        self,
        owner: Owner,
        old: BotSessionAddress,
        messages: Mapping[int, Message],
        going: Mapping[int, Message],
    ) -> int:
        by_place: defaultdict[object, list[Message]] = defaultdict(list)
        for row in messages.values():
            by_place[conversation_of(row)].append(row)
        found = self.stores.sessions.find(owner, bot_id=old.bot_id, session_id=old.session_id)
        moved = 0
        for session in found:
            said = by_place[session.place]
            leaving = [row for row in said if row.id in going]
            moved += self._move_session(session, leaving, is_whole=len(leaving) == len(said))
        return moved

    def _move_session(self, session: Session, said: Sequence[Message], *, is_whole: bool) -> bool:
        """Move a session, or the part of it that leaves; return whether anything moves."""
        default = session.place.session_id if self.new.session_id is None else self.new.session_id
        keys = {self._target(row).session_id for row in said} or ({default} if is_whole else set())
        places = [
            replace(session.place, bot_id=self.new.bot_id, session_id=key) for key in sorted(keys)
        ]
        if places in ([], [session.place]):
            return False
        if self.dry_run:
            return True
        if is_whole and len(places) == 1:
            self.stores.sessions.move(session, places[0])
            return True
        for place in places:
            own = [row for row in said if self._target(row).session_id == place.session_id]
            waiting = [row for row in own if row.id > session.watermark]
            rounds = sum(row.role is Role.USER for row in waiting)
            opened = self.stores.sessions.record_messages(place, len(waiting), rounds, self.now)
            mark = max(opened.watermark, session.watermark)
            self.stores.sessions.save(replace(opened, watermark=mark, realm=session.realm))
        return True


def _is_meant(message: Message, old: BotSessionAddress) -> bool:
    """Return whether a message is of the type that an address names; some have none."""
    return not old.message_type or message.message_type in ("", old.message_type)
