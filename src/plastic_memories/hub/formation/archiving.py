"""Archive finished conversations as files, and update them after edits and forgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.errors import Conflict, Unavailable
from plastic_memories.formats.archive_file import (
    archived_message_ids,
    conversation_file_text,
    conversation_path,
    merge_messages,
    persona_folder,
)
from plastic_memories.hub.formation.jobs import FormationOptions, complete_job, open_job
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.job import Job, TaskType, Trigger
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import Session
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter

_MAX_MESSAGES = 100_000


@dataclass(frozen=True, slots=True)
class ArchivableConversation:
    """A conversation as stored in the database."""

    session: Session
    path: str
    messages: Sequence[Message]
    memories: Sequence[Memory]
    erased: frozenset[int]


@dataclass(frozen=True, slots=True)
class ArchiveConversation:
    storage: AuditedStorage
    archive: Archive
    options: FormationOptions

    async def __call__(self, job: Job) -> Job:
        """Write, rewrite or remove the file of a leased job's session, and complete the job."""
        if job.session_ref == 0:
            await self.archive.remove_under(persona_folder(job.owner))
            return await self._complete_job(job, None)
        return await self._complete_job(job, await self._refresh_file(job.owner, job.session_ref))

    async def _refresh_file(self, owner: Owner, ref: int) -> Session:
        session = await self.storage.read(lambda stores: stores.sessions.get(owner, ref))
        if session is None:
            raise Conflict("The session is gone.")
        old_text = await self.archive.get(session.archive_path) if session.archive_path else None
        talk = await self.storage.read(
            lambda stores: load_conversation(
                stores, session, frozenset(archived_message_ids(old_text))
            )
        )
        entries = merge_messages(old_text, talk.messages, talk.erased)
        if entries:
            await self.archive.put(
                talk.path, conversation_file_text(talk.session, entries, talk.memories)
            )
        else:
            await self.archive.remove(talk.path)
        upto = max([talk.session.archived_upto, *(message.id for message in talk.messages)])
        return replace(talk.session, archive_path=talk.path, archived_upto=upto)

    async def _complete_job(self, job: Job, archived: Session | None) -> Job:
        now = self.storage.clock.now()

        def work(stores: Stores) -> Job:
            done = complete_job(stores, job, (), now)
            if archived is not None:
                _record_path(stores, archived)
            return done

        return await self.storage.write(work)

    async def forget_persona(self, owner: Owner) -> dict[str, int]:
        """Remove every file of a persona now; if the archive is unavailable, its job retries."""
        try:
            return {"removed": await self.archive.remove_under(persona_folder(owner)), "waiting": 0}
        except Unavailable:
            return {"removed": 0, "waiting": 1}

    async def forget(self, refs: Sequence[tuple[Owner, int]]) -> dict[str, int]:
        """Update the files of some sessions now; for those that fail, a job is already queued."""
        counts = {"rewritten": 0, "waiting": 0}
        for owner, ref in refs:
            try:
                archived = await self._refresh_file(owner, ref)
                await self.storage.write(partial(_record_path, archived=archived))
            except (Conflict, Unavailable):
                counts["waiting"] += 1
                continue
            counts["rewritten"] += 1
        return counts


def queue_archiving(
    stores: Stores, sessions: Sequence[Session], now: float, options: FormationOptions
) -> list[Session]:
    """Queue a job for each of these sessions that is archived; return those sessions."""
    archived = [session for session in sessions if session.archive_path]
    for session in archived:
        open_job(stores, session, Trigger.EXPLICIT, now, options, task_type=TaskType.ARCHIVE)
    return archived


def load_conversation(
    stores: Stores, session: Session, in_file: frozenset[int]
) -> ArchivableConversation:
    """Return what the file of a session should say, less what only the file still has."""
    fresh = stores.sessions.get(session.owner, session.id) or session
    messages = stores.sessions.messages_after(fresh, 0, _MAX_MESSAGES)
    # Messages read again after an edit were digested before: the file must not keep the old text.
    upto = max(fresh.watermark, fresh.archived_upto)
    digested = [message for message in messages if message.id <= upto]
    hidden = _hidden_ids(stores, fresh, in_file)
    erased = stores.messages.find_erased(fresh.owner, in_file) | hidden
    ids = {*in_file, *(message.id for message in digested)} - erased
    path = fresh.archive_path or _free_path(stores, fresh, digested)
    return ArchivableConversation(
        fresh, path, digested, _learned_memories(stores, fresh, ids), frozenset(erased)
    )


def _hidden_ids(stores: Stores, session: Session, ids: frozenset[int]) -> set[int]:
    hidden = stores.messages.find(session.owner, MessageFilter(ids=ids, hidden=True))
    return {message.id for message in hidden}


def _learned_memories(stores: Stores, session: Session, ids: set[int]) -> list[Memory]:
    """Return the active memories learned from these messages, oldest first."""
    wanted = MemoryFilter(statuses={Status.ACTIVE}, source_message_ids=ids)
    return stores.memories.find(session.owner, wanted)[::-1]


def _free_path(stores: Stores, session: Session, messages: Sequence[Message]) -> str:
    """Return a path that no other session of the persona uses."""
    started = messages[0].ts if messages else session.last_active
    plain = conversation_path(session, started, alone=True)
    others = stores.sessions.find(session.owner, session_id=session.place.session_id)
    is_taken = any(other.archive_path == plain and other.id != session.id for other in others)
    return conversation_path(session, started, alone=not is_taken)


def _record_path(stores: Stores, archived: Session) -> None:
    """Store the path of an archived conversation on its session and its summaries."""
    stored = stores.sessions.get(archived.owner, archived.id)
    if stored is None:
        return
    upto = max(stored.archived_upto, archived.archived_upto)
    path = archived.archive_path
    stores.sessions.save(replace(stored, archive_path=path, archived_upto=upto))
    messages = stores.sessions.messages_after(stored, 0, _MAX_MESSAGES)
    summaries = MemoryFilter(
        statuses={Status.ACTIVE},
        types={MemoryType.SUMMARY},
        source_message_ids=[message.id for message in messages],
    )
    for row in stores.memories.find(stored.owner, summaries):
        if row.attributes.get("archive_path") != path:
            stores.memories.save(replace(row, attributes={**row.attributes, "archive_path": path}))
