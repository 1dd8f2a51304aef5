"""Store the messages of a conversation, and queue them for digest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import FormationOptions, open_job, scrub
from plastic_memories.hub.formation.learn_at_once import (
    is_worth_reading_at_once,
    queue_reading_at_once,
)
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.language.corrections.forget_requests import find_forget_request
from plastic_memories.model.job import Job, Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.message import AppendOutcome, Message, Role, visible_message
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.session import Conversation, conversation_of
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import BranchAncestry, branch_ancestry
from plastic_memories.runtime.wakeup import WakeUp

# Clients often append and resend the same messages: duplicates are searched this far back.
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
        """Store messages with secrets masked; a known client id stores nothing new."""
        now = self.storage.clock.now()
        masked = [
            replace(self.screening.mask_message(message), created_at=now) for message in messages
        ]

        stored, is_due = await self.storage.write(
            lambda stores: self._append_in_transaction(
                stores, caller, owner, masked, now, read_at_once=True
            )
        )
        if is_due:
            self.wakeup.notify()
        return stored

    async def queue_for_digest(
        self, caller: Caller, owner: Owner, talk: Sequence[Message]
    ) -> tuple[list[Message], Job]:
        """Store messages of one conversation and queue a digest job; stored ones stay as they are.

        Return the messages with their original text and the ids, times and realms of their rows.
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
        """Store messages of one conversation that may be resent; stored ones stay as they are.

        Return the same as `queue_for_digest`; a job reads them once the threshold is reached.
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
        placed = _with_stored_ids(stores, owner, with_session_realm(stores, masked))
        new = [message for message in placed if not message.id]
        stored, is_due = self._append_in_transaction(stores, caller, owner, new, now)
        fresh = iter(stored)
        known = [
            message if message.id else replace(message, id=next(fresh).message_id)
            for message in placed
        ]
        return known, is_due

    def _append_in_transaction(
        self,
        stores: Stores,
        caller: Caller,
        owner: Owner,
        masked: Sequence[Message],
        now: float,
        *,
        read_at_once: bool = False,  # else the caller has the rules read them
    ) -> tuple[list[AppendOutcome], bool]:
        stores.personas.ensure(owner, now)
        placed = with_session_realm(stores, masked) if self.formation.enabled else masked
        stored = stores.messages.append(placed)
        for app, new in _new_by_app(placed, stored).items():
            record_event(
                stores, caller, "messages.append", owner.persona_id, now,
                message_ids=new, source_app=app,
            )  # fmt: skip
        if not self.formation.enabled:
            return stored, False
        fresh = [
            message for message, outcome in zip(masked, stored, strict=True) if not outcome.deduped
        ]
        # What must never be learned again must not be quoted either.
        has_marks = read_at_once and stores.tombstones.has_any(owner)
        light = (
            message
            for message in fresh
            if read_at_once and (has_marks or is_worth_reading_at_once(message))
        )
        at_once = {conversation_of(message) for message in light}
        return stored, self._count_waiting(stores, fresh, at_once, now)

    def _count_waiting(
        self, stores: Stores, new: Sequence[Message], at_once: Set[Conversation], now: float
    ) -> bool:
        """Count the waiting messages of each conversation; return whether a job is due.

        The job is stored in the same transaction as the messages.
        """
        is_due = False
        asking = {conversation_of(message) for message in new if _asks_to_forget(message)}
        for place, (number, by_user) in _message_counts(new).items():
            session = stores.sessions.record_messages(place, number, by_user, now)
            if place in asking:  # what is taken back does not wait for the threshold
                open_job(stores, session, Trigger.EXPLICIT, now, self.formation)
                is_due = True
            elif self._fills_window(session.rounds, by_user):
                open_job(stores, session, Trigger.THRESHOLD, now, self.formation)
                is_due = True
            if place in at_once:
                queue_reading_at_once(stores, session, now, self.formation)
                is_due = True
        return is_due

    def _fills_window(self, rounds: int, new: int) -> bool:
        """Return whether the new rounds reach the threshold; the job also reads the remainder."""
        threshold = self.formation.threshold
        return rounds // threshold > (rounds - new) // threshold

    async def find(
        self,
        owner: Owner,
        wanted: MessageFilter,
        line: tuple[str | None, str | None] = (None, None),
    ) -> list[Message]:
        """Return the owner's messages, newest first, including hidden ones: the owner may see them.

        `line` names a session and one of its branches: then only that branch and its past return.
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
        """Erase messages for good; return how many, and where their bytes are not cleared yet."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> int:
            erased = stores.messages.erase(owner, wanted, now)
            if erased:
                # Without an app filter the messages may be of any app.
                app = {} if wanted.source_app is None else {"source_app": wanted.source_app}
                record_event(
                    stores, caller, "messages.purge", owner.persona_id, now,
                    deleted=len(erased), **app,
                )  # fmt: skip
                sessions = stores.sessions.find(owner, session_id=wanted.session_id)
                queue_archiving(stores, sessions, now, self.formation)
            return len(erased)

        deleted, _ = await self.exports.write_and_refresh(owner, work)
        self.wakeup.notify()  # the archived copies are rewritten too
        if not deleted:
            return 0, ()
        return deleted, (await scrub(self.storage, owner, self.formation)).pending


def _new_by_app(
    messages: Sequence[Message], stored: Sequence[AppendOutcome]
) -> dict[str, list[int]]:
    """Return the ids of messages that were not stored before, by app."""
    new: dict[str, list[int]] = {}
    for message, outcome in zip(messages, stored, strict=True):
        if not outcome.deduped:
            new.setdefault(message.source_app, []).append(outcome.message_id)
    return new


def _message_counts(messages: Iterable[Message]) -> dict[Conversation, tuple[int, int]]:
    """Return for each conversation the number of messages, and of user messages."""
    counts: dict[Conversation, tuple[int, int]] = {}
    for message in messages:
        place = conversation_of(message)
        number, by_user = counts.get(place, (0, 0))
        counts[place] = number + 1, by_user + (message.role is Role.USER)
    return counts


def _asks_to_forget(message: Message) -> bool:
    return message.role is Role.USER and find_forget_request(message.content) is not None


def with_session_realm(stores: Stores, messages: Sequence[Message]) -> list[Message]:
    """Return messages with the realm of their session, if it is marked as a story."""
    known: dict[tuple[Owner, str, str], Realm | None] = {}
    placed = []
    for message in messages:
        place = message.owner, message.session_id, message.bot_id
        realm = None
        if message.session_id and message.realm is Realm.REAL:
            if place not in known:
                known[place] = stores.sessions.realm_of(*place)
            realm = known[place]
        placed.append(replace(message, realm=realm) if realm else message)
    return placed


def _with_original_text(known: Sequence[Message], talk: Sequence[Message]) -> list[Message]:
    """Return stored messages with their original instead of their masked text.

    Of one that is sent again after a forget, only the visible text returns.
    """
    return [
        visible_message(row)
        if row.hidden_spans or row.hidden_at is not None
        else replace(row, content=original.content)
        for row, original in zip(known, talk, strict=True)
    ]


def _with_stored_ids(stores: Stores, owner: Owner, talk: Sequence[Message]) -> list[Message]:
    """Give each message that its conversation already stores the id and time of that row."""
    place = conversation_of(talk[0])
    wanted = MessageFilter(
        session_id=place.session_id,
        source_app=place.source_app,
        bot_id=place.bot_id,
        since_ts=min(message.ts for message in talk) - _RESENT_WINDOW_S,
        hidden=False,
        limit=_MAX_RESENT_MESSAGES,
    )
    # Newest first: of equal messages, `pop` matches the oldest first, each once.
    stored: dict[tuple[str, str, str], list[Message]] = defaultdict(list)
    for row in stores.messages.find(owner, wanted):
        if row.branch_id == place.branch_id:
            stored[row.role, row.speaker, row.content].append(row)
    result = []
    for message in talk:
        same = stored[message.role, message.speaker, message.content]
        found = same.pop() if same else message
        seen = replace(message, id=found.id, ts=found.ts, hidden_at=found.hidden_at)
        result.append(replace(seen, hidden_spans=found.hidden_spans))
    return result
