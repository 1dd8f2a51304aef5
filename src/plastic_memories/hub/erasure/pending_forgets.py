"""Undo a request to forget that was made in the chat, until a job makes it final."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import Conflict, NotFound
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.erasure.hide_talk import drop_hidden_quotes
from plastic_memories.hub.formation.archiving import ArchiveConversation, queue_archiving
from plastic_memories.hub.formation.jobs import complete_job, queue_refresh, scrub
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.transactions.audit_events import app_of, hub_caller, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import refresh_slot
from plastic_memories.model.job import Job, TaskType
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.message import (
    Message,
    PendingForget,
    PendingStatus,
    Role,
    show_spans,
)
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Session, conversation_of
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.transitions import end_memory

_DUE_BATCH = 100


@dataclass(frozen=True, slots=True)
class PendingForgetText:
    """A pending forget, with the words that it will forget."""

    pending: PendingForget
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class PendingForgets:
    storage: AuditedStorage
    timeline: ConversationTimeline
    archive: ArchiveConversation
    pages: ForgetInPages

    async def list_pending(self, view: Viewpoint) -> list[PendingForgetText]:
        """Return what can still be undone, newest first, with its words."""

        def work(stores: Stores) -> list[PendingForgetText]:
            return [
                PendingForgetText(one, _hidden_texts(stores, one))
                for one in stores.pending_forgets.find(view.owner)
                if one.status is PendingStatus.PENDING and _may_see(stores, view, one)
            ]

        return await self.storage.read(work)

    async def undo(self, caller: Caller, view: Viewpoint, forget_id: int) -> PendingForget:
        """Show again what a request has hidden, and restore what it has revoked."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> PendingForget:
            pending = stores.pending_forgets.get(view.owner, forget_id)
            if pending is None or not _may_see(stores, view, pending):
                raise NotFound(f"There is no forget {forget_id} here.")
            if pending.status is not PendingStatus.PENDING:
                raise Conflict(f"Forget {forget_id} is {pending.status.value}.")
            undone = replace(pending, status=PendingStatus.UNDONE)
            stores.pending_forgets.save(undone)
            shown = _show_again(stores, pending)
            _restore_rows(stores, caller, pending, now)
            self._reread(stores, pending, shown, now)
            record_event(
                stores, caller, "memory.forget_undone", view.owner.persona_id, now,
                forget_id=forget_id, memory_ids=sorted(pending.revoked),
            )  # fmt: skip
            return undone

        undone = await self.storage.write(work)
        self.timeline.wakeup.notify()
        return undone

    async def queue_due(self) -> int:
        """Queue a job for every owner whose requests are to be made final; return how many."""
        now = self.storage.clock.now()
        options = self.timeline.formation

        def work(stores: Stores) -> int:
            owners = stores.pending_forgets.due_owners(now, _DUE_BATCH)
            for owner in owners:
                queue_refresh(stores, owner, TaskType.FORGET, now, options)
            return len(owners)

        if not await self.storage.read(lambda stores: stores.pending_forgets.due_owners(now, 1)):
            return 0
        queued = await self.storage.write(work)
        self.timeline.wakeup.notify()
        return queued

    async def run_job(self, job: Job) -> Job:
        """Make the due requests of a leased job's owner final, in every store."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> tuple[list[Memory], list[Session]]:
            gone: list[Memory] = []
            sessions: dict[int, Session] = {}
            for pending in stores.pending_forgets.find(job.owner):
                if pending.status is PendingStatus.PENDING and pending.final_at <= now:
                    gone += _make_final(stores, pending, now)
                    sessions |= {one.id: one for one in _sessions(stores, pending)}
            archived = queue_archiving(stores, list(sessions.values()), now, self.archive.options)
            return gone, archived

        (gone, archived), _ = await self.timeline.exports.write_and_refresh(job.owner, work)
        await self.archive.forget([(session.owner, session.id) for session in archived])
        await self.pages(job.owner, gone)
        await scrub(self.storage, job.owner, self.archive.options)
        return await self.storage.write(lambda stores: complete_job(stores, job, (), now))

    def _reread(
        self, stores: Stores, pending: PendingForget, shown: Sequence[Message], now: float
    ) -> None:
        """Let what was never learned, because it was hidden too soon, be read now."""
        for session in _sessions(stores, pending):
            unread = [
                row.id
                for row in shown
                if row.role is Role.USER
                and conversation_of(row) == session.place
                and row.id <= session.watermark
            ]
            if unread and not pending.revoked:
                self.timeline.queue_rereading(stores, session, min(unread), (), now)
            queue_archiving(stores, [session], now, self.timeline.formation)


def _hidden_messages(stores: Stores, pending: PendingForget) -> list[Message]:
    wanted = MessageFilter(ids=set(pending.hidden))
    return stores.messages.find(pending.owner, wanted)[::-1] if pending.hidden else []


def _hidden_texts(stores: Stores, pending: PendingForget) -> list[str]:
    return [
        "".join(row.content[start:end] for start, end in pending.hidden[row.id]).strip()
        for row in _hidden_messages(stores, pending)
    ]


def _may_see(stores: Stores, view: Viewpoint, pending: PendingForget) -> bool:
    wanted = MessageFilter(
        ids=[pending.message_id],
        bot_id=None if view.all_bots else view.bot_id,
        source_app=view.only_app or None,
    )
    return bool(stores.messages.find(view.owner, wanted))


def _sessions(stores: Stores, pending: PendingForget) -> list[Session]:
    places = {conversation_of(row) for row in _hidden_messages(stores, pending)}
    return [
        session
        for session_id in sorted({place.session_id for place in places})
        for session in stores.sessions.find(pending.owner, session_id=session_id)
        if session.place in places
    ]


def _show_again(stores: Stores, pending: PendingForget) -> list[Message]:
    shown = [show_spans(row, pending.hidden[row.id]) for row in _hidden_messages(stores, pending)]
    stores.messages.set_visibility(shown)
    return shown


def _restore_rows(stores: Stores, caller: Caller, pending: PendingForget, now: float) -> None:
    """Restore what was revoked, unless something newer holds in its place."""
    for memory_id, status in pending.revoked.items():
        row = stores.memories.get(pending.owner, memory_id)
        if row is None or row.status is not Status.REVOKED:
            continue
        rivals = [
            one
            for one in stores.memories.find_same_key(row.owner, row)
            if one.status is Status.ACTIVE
        ]
        was_ours = [
            one for one in rivals if one.id in pending.restored or one.type is MemoryType.SUMMARY
        ]
        if status == Status.ACTIVE and len(was_ours) < len(rivals):
            continue
        for one in was_ours:
            stores.memories.save(end_memory(one, now, superseded_by=row.id))
        restored = replace(row, status=Status(status), superseded_by=None, updated_at=now)
        stores.memories.save(restored)
        refresh_slot(stores, caller, restored, now)


def _make_final(stores: Stores, pending: PendingForget, now: float) -> list[Memory]:
    """Erase what was revoked; return it."""
    owner, hub = pending.owner, hub_caller(pending.owner.user)
    rows = (stores.memories.get(owner, memory_id) for memory_id in pending.revoked)
    gone = [row for row in rows if row is not None and row.status is Status.REVOKED]
    stores.memories.erase(owner, [row.id for row in gone], now)
    if pending.hidden:
        drop_hidden_quotes(stores, [owner], set(pending.hidden), now)
    for row in gone:
        record_event(
            stores, hub, "memory.forget", owner.persona_id, now, memory_id=row.id, **app_of(row)
        )
    stores.pending_forgets.save(replace(pending, status=PendingStatus.FINAL, restored=()))
    return gone
