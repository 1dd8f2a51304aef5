"""Keep what was said, for its time, and let it be digested."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import FormationOptions, open_job, scrub
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.model.job import Job, Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.message import AppendOutcome, Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.session import Conversation, conversation_of
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import BranchAncestry, branch_ancestry
from plastic_memories.runtime.wakeup import WakeUp

# Talk that is handed in is mostly appended as well, or sent again: so far back it is looked for.
_RESENT_WINDOW_S = 86_400.0
_MAX_RESENT_MESSAGES = 1000


@dataclass(frozen=True, slots=True)
class MessageHistory:
    storage: AuditedStorage
    screening: Screening
    formation: FormationOptions
    wakeup: WakeUp
    exports: ExportFiles

    async def append(
        self, caller: Caller, owner: Owner, messages: Sequence[Message]
    ) -> list[AppendOutcome]:
        """Store messages, masked where they hold secrets; a known client id stores nothing new."""
        now = self.storage.clock.now()
        masked = [
            replace(self.screening.mask_message(message), created_at=now) for message in messages
        ]

        stored, is_due = await self.storage.write(
            lambda stores: self._append_in_transaction(stores, caller, owner, masked, now)
        )
        if is_due:
            self.wakeup.notify()
        return stored

    async def queue_for_digest(
        self, caller: Caller, owner: Owner, talk: Sequence[Message]
    ) -> tuple[list[Message], Job]:
        """Leave talk of one conversation for a job to read; what is kept already stays as it is.

        Return the talk in its own words, with the ids, times and realms it is kept by.
        """
        now = self.storage.clock.now()
        masked = [replace(self.screening.mask_message(message), created_at=now) for message in talk]

        def work(stores: Stores) -> tuple[list[Message], Job]:
            known, _ = self._store_in_transaction(stores, caller, owner, masked, now)
            session = stores.sessions.record_messages(conversation_of(talk[0]), 0, 0, now)
            return known, open_job(stores, session, Trigger.EXPLICIT, now, self.formation)

        known, job = await self.storage.write(work)
        return _with_original_text(known, talk), job

    async def store_conversation(
        self, caller: Caller, owner: Owner, talk: Sequence[Message]
    ) -> list[Message]:
        """Store talk of one conversation that may be resent; what is kept already stays as it is.

        Return it as `hand_over` does; a job reads it when its time has come.
        """
        now = self.storage.clock.now()
        masked = [replace(self.screening.mask_message(message), created_at=now) for message in talk]
        known, is_due = await self.storage.write(
            lambda stores: self._store_in_transaction(stores, caller, owner, masked, now)
        )
        if is_due:
            self.wakeup.notify()
        return _with_original_text(known, talk)

    def _store_in_transaction(
        self, stores: Stores, caller: Caller, owner: Owner, masked: Sequence[Message], now: float
    ) -> tuple[list[Message], bool]:
        kept = _with_stored_ids(stores, owner, with_session_realm(stores, masked))
        new = [message for message in kept if not message.id]
        stored, is_due = self._append_in_transaction(stores, caller, owner, new, now)
        fresh = iter(stored)
        known = [
            message if message.id else replace(message, id=next(fresh).message_id)
            for message in kept
        ]
        return known, is_due

    def _append_in_transaction(
        self, stores: Stores, caller: Caller, owner: Owner, masked: Sequence[Message], now: float
    ) -> tuple[list[AppendOutcome], bool]:
        stores.personas.ensure(owner, now)
        placed = with_session_realm(stores, masked) if self.formation.enabled else masked
        stored = stores.messages.append(placed)
        for app, new in _new_by_app(placed, stored).items():
            record_event(
                stores, caller, "messages.append", owner.persona_id, now,
                message_ids=new, source_app=app,
            )  # fmt: skip
        return stored, self.formation.enabled and self._count_waiting(stores, masked, stored, now)

    def _count_waiting(
        self,
        stores: Stores,
        messages: Sequence[Message],
        stored: Sequence[AppendOutcome],
        now: float,
    ) -> bool:
        """Count what waits in each conversation; say whether it is enough for a job.

        The job is stored with the message.
        """
        is_due = False
        new = (one for one, row in zip(messages, stored, strict=True) if not row.deduped)
        for place, (number, by_user) in _message_counts(new).items():
            session = stores.sessions.record_messages(place, number, by_user, now)
            if self._fills_window(session.rounds, by_user):
                open_job(stores, session, Trigger.THRESHOLD, now, self.formation)
                is_due = True
        return is_due

    def _fills_window(self, rounds: int, new: int) -> bool:
        """Say whether the new rounds fill a stretch; what is left over, its job reads as well."""
        stretch = self.formation.threshold
        return rounds // stretch > (rounds - new) // stretch

    async def find(
        self,
        owner: Owner,
        wanted: MessageFilter,
        line: tuple[str | None, str | None] = (None, None),
    ) -> list[Message]:
        """Return the owner's messages, newest first, hidden ones included: they are theirs.

        `line` names a session and a branch of it: then the branch and its past are returned.
        """
        session_id, branch_id = line
        if not session_id or branch_id is None:
            return await self.storage.read(lambda stores: stores.messages.find(owner, wanted))

        def work(stores: Stores) -> list[Message]:
            own = (row for row in stores.branches.all(owner) if row.session_id == session_id)
            past = BranchAncestry({session_id: branch_ancestry(own, branch_id)})
            found = stores.messages.find(owner, replace(wanted, limit=None))
            return past.visible_messages(found)[: wanted.limit]

        return await self.storage.read(work)

    async def purge(
        self, caller: Caller, owner: Owner, wanted: MessageFilter
    ) -> tuple[int, Sequence[str]]:
        """Erase messages for good; return how many, and where their bytes still wait to go."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> int:
            erased = stores.messages.erase(owner, wanted, now)
            if erased:
                # Without an app it was talk of any.
                app = {} if wanted.source_app is None else {"source_app": wanted.source_app}
                record_event(
                    stores, caller, "messages.purge", owner.persona_id, now,
                    deleted=len(erased), **app,
                )  # fmt: skip
                sessions = stores.sessions.find(owner, session_id=wanted.session_id)
                queue_archiving(stores, sessions, now, self.formation)
            return len(erased)

        deleted, _ = await self.exports.write_and_refresh(owner, work)
        self.wakeup.notify()  # copies in the archive go too
        if not deleted:
            return 0, ()
        return deleted, (await scrub(self.storage, owner, self.formation)).pending


def _new_by_app(
    messages: Sequence[Message], stored: Sequence[AppendOutcome]
) -> dict[str, list[int]]:
    """Return the ids of what was not there before, by the app it came from."""
    new: dict[str, list[int]] = {}
    for message, row in zip(messages, stored, strict=True):
        if not row.deduped:
            new.setdefault(message.source_app, []).append(row.message_id)
    return new


def _message_counts(messages: Iterable[Message]) -> dict[Conversation, tuple[int, int]]:
    """Count the messages of each conversation, and those of the user among them."""
    found: dict[Conversation, tuple[int, int]] = {}
    for one in messages:
        place = conversation_of(one)
        number, by_user = found.get(place, (0, 0))
        found[place] = number + 1, by_user + (one.role is Role.USER)
    return found


def with_session_realm(stores: Stores, messages: Sequence[Message]) -> list[Message]:
    """Say of messages in a session that was called a story that they are part of it."""
    known: dict[tuple[Owner, str, str], Realm | None] = {}
    placed = []
    for one in messages:
        place = one.owner, one.session_id, one.bot_id
        realm = None
        if one.session_id and one.realm is Realm.REAL:
            if place not in known:
                known[place] = stores.sessions.realm_of(*place)
            realm = known[place]
        placed.append(replace(one, realm=realm) if realm else one)
    return placed


def _with_original_text(known: Sequence[Message], talk: Sequence[Message]) -> list[Message]:
    """Return messages as they are kept, with what was said instead of what was masked."""
    return [replace(one, content=own.content) for one, own in zip(known, talk, strict=True)]


def _with_stored_ids(stores: Stores, owner: Owner, talk: Sequence[Message]) -> list[Message]:
    """Give the messages that their conversation holds the id and the time they are kept by."""
    place = conversation_of(talk[0])
    wanted = MessageFilter(
        session_id=place.session_id,
        source_app=place.source_app,
        bot_id=place.bot_id,
        since_ts=min(message.ts for message in talk) - _RESENT_WINDOW_S,
        hidden=False,
        limit=_MAX_RESENT_MESSAGES,
    )
    # Newest first: the oldest of those that say the same is taken first, each once.
    held: dict[tuple[str, str, str], list[Message]] = defaultdict(list)
    for row in stores.messages.find(owner, wanted):
        if row.branch_id == place.branch_id:
            held[row.role, row.speaker, row.content].append(row)
    kept = []
    for message in talk:
        same = held[message.role, message.speaker, message.content]
        found = same.pop() if same else message
        kept.append(replace(message, id=found.id, ts=found.ts))
    return kept
