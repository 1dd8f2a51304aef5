"""Delete a whole conversation with everything learned from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plastic_memories.formats.archive_file import archived_message_ids
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.jobs import scrub
from plastic_memories.hub.formation.learn import RetractionOutcome, retract
from plastic_memories.hub.transactions.audit_events import hub_caller, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory
from plastic_memories.model.message import Role
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Conversation, Session, conversation_of
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import BranchAncestry, merged_ancestry

# Message ids per conversation: two apps, or two branches of one session, are two conversations.
ConversationMessageIds = Mapping[Conversation, Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDeletionOutcome:
    """The effects of deleting a session."""

    deleted: int
    retracted: Sequence[int]
    restored: Sequence[int]
    rederived: Sequence[int]
    job_id: int | None  # the job in which the model reads the remaining messages again
    pending: Sequence[str] = ()  # places where erased bytes are not cleared yet


@dataclass(frozen=True, slots=True)
class DeleteSession:
    storage: AuditedStorage
    archive: Archive
    timeline: ConversationTimeline

    async def __call__(
        self, caller: Caller, view: Viewpoint, keep: Sequence[str]
    ) -> SessionDeletionOutcome:
        """Erase a session with everything learned from it, except the kept branches and their past.

        Messages past their retention are in the archive only: they are erased as well.
        """
        now = self.storage.clock.now()
        archived = await self._archived_ids(view)

        def work(stores: Stores) -> SessionDeletionOutcome:
            gone = _messages_to_delete(stores, view, keep, archived)
            ids = {message_id for group in gone.values() for message_id in group}
            erased = stores.messages.erase(view.owner, MessageFilter(ids=ids), now)
            stores.messages.record_erased(view.owner, ids.difference(erased), now)
            if ids:
                app = {"source_app": view.only_app} if view.only_app else {}
                record_event(
                    stores, caller, "messages.delete", view.owner.persona_id, now,
                    session_id=view.session_id, deleted=len(erased), **app,
                )  # fmt: skip
            undone = retract(stores, hub_caller(view.owner.user), view.owner, sorted(ids), now)
            _detach_branches(stores, view, keep)
            learned, jobs = self._relearn(stores, view, gone, undone, now)
            return SessionDeletionOutcome(
                deleted=len(erased),
                retracted=sorted(row.id for row in undone.retracted),
                restored=sorted(row.id for row in undone.restored),
                rederived=sorted({row.id for row in learned}),
                job_id=max(jobs, default=None),
            )

        done = await self.timeline.write_and_refresh_exports(view.owner, work)
        residue = await scrub(self.storage, view.owner, self.timeline.formation)
        return replace(done, pending=residue.pending)

    async def _archived_ids(self, view: Viewpoint) -> ConversationMessageIds:
        sessions = await self.storage.read(lambda stores: _sessions(stores, view))
        archived = [session for session in sessions if session.archive_path]
        return {
            session.place: archived_message_ids(await self.archive.get(session.archive_path))
            for session in archived
        }

    def _relearn(
        self,
        stores: Stores,
        view: Viewpoint,
        deleted: ConversationMessageIds,
        retraction: RetractionOutcome,
        now: float,
    ) -> tuple[list[Memory], list[int]]:
        """Update summaries, archive and model jobs of each conversation that lost messages."""
        learned: list[Memory] = []
        jobs: list[int] = []
        for session in _sessions(stores, view):
            first = min(deleted.get(session.place, ()), default=None)
            if first is None:
                continue
            retracted = [
                row for row in retraction.retracted if _conversation_of_memory(row) == session.place
            ]
            learned += self.timeline.rewrite_summaries(stores, session, retracted, (), now)
            queue_archiving(stores, [session], now, self.timeline.formation)
            is_left = bool(stores.sessions.messages_after(session, 0, 1))
            if self.timeline.has_model and is_left and first <= session.watermark:
                jobs.append(self.timeline.queue_rereading(stores, session, first, retracted, now))
        return learned, jobs


def _messages_to_delete(
    stores: Stores, view: Viewpoint, keep: Sequence[str], archived: ConversationMessageIds
) -> ConversationMessageIds:
    """Return the messages that are on no kept branch and not in the past of one."""
    own = [row for row in stores.branches.all(view.owner) if row.session_id == view.session_id]
    ancestry = BranchAncestry({view.session_id: merged_ancestry(own, keep)})
    known: defaultdict[Conversation, set[int]] = defaultdict(set)
    for message in stores.messages.find(view.owner, _session_filter(view)):
        known[conversation_of(message)].add(message.id)
    for place, ids in archived.items():
        known[place] |= {*ids} - stores.messages.find_erased(view.owner, list(ids))
    return {
        place: {
            message_id
            for message_id in ids
            if not ancestry.includes(view.session_id, place.branch_id, message_id)
        }
        for place, ids in known.items()
    }


def _detach_branches(stores: Stores, view: Viewpoint, keep: Sequence[str]) -> None:
    """Recount the waiting messages of a session, and drop branches if nothing is left."""
    for session in _sessions(stores, view):
        left = stores.sessions.messages_after(session, session.watermark, session.waiting)
        is_deleted = bool(keep) and session.place.branch_id not in keep
        counted = replace(
            session,
            waiting=len(left),
            rounds=sum(message.role is Role.USER for message in left),
            waiting_since=session.waiting_since if left else None,
            # Other sessions see the branch that was active last: not this one any more.
            last_active=0.0 if is_deleted else session.last_active,
        )
        stores.sessions.save(counted)
    is_empty = not stores.messages.find(
        view.owner, MessageFilter(session_id=view.session_id, limit=1)
    )
    if is_empty and not keep:
        stores.branches.drop(view.owner, view.session_id)


def _sessions(stores: Stores, view: Viewpoint) -> list[Session]:
    return stores.sessions.find(
        view.owner,
        session_id=view.session_id,
        bot_id=None if view.all_bots else view.bot_id,
        source_app=view.only_app or None,
    )


def _session_filter(view: Viewpoint) -> MessageFilter:
    return MessageFilter(
        session_id=view.session_id,
        bot_id=None if view.all_bots else view.bot_id,
        source_app=view.only_app or None,
    )


def _conversation_of_memory(memory: Memory) -> Conversation:
    return Conversation(
        memory.owner, memory.session_id, memory.bot_id, memory.source_app, memory.branch_id
    )
