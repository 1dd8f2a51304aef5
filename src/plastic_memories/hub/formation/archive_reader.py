"""Read archived conversations back, without what was forgotten since."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plastic_memories.errors import NotFound
from plastic_memories.formats.archive_file import (
    archived_message_ids,
    conversation_object,
    merge_messages,
    seconds_of,
)
from plastic_memories.hub.formation.archiving import ArchivableConversation, load_conversation
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.session import Session
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.storage import Stores


@dataclass(frozen=True, slots=True)
class ArchivedConversation:
    session: Session
    content: Mapping[str, Any]  # as an archive file says it

    def overlaps(self, since: float | None, until: float | None) -> bool:
        """Return whether something was said from `since` on and before `until`."""
        started = seconds_of(self.content["start_time"])
        ended = seconds_of(self.content["end_time"])
        return (since is None or ended >= since) and (until is None or started < until)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFilter:
    since: float | None = None
    until: float | None = None
    before_id: int | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ArchivePage:
    conversations: Sequence[ArchivedConversation]
    next_before_id: int | None


@dataclass(frozen=True, slots=True)
class ArchiveReader:
    storage: AuditedStorage
    archive: Archive

    async def list_page(self, view: Viewpoint, wanted: ArchiveFilter) -> ArchivePage:
        """Return one page of conversations, the last begun first."""
        found: list[ArchivedConversation] = []
        async for talk in self._conversations(view, before_id=wanted.before_id):
            if talk.overlaps(wanted.since, wanted.until):
                found.append(talk)
            if len(found) > wanted.limit:
                return ArchivePage(found[:-1], found[-2].session.id)
        return ArchivePage(found, None)

    async def get(self, view: Viewpoint, session_id: str, branch_id: str) -> ArchivedConversation:
        """Return one conversation; raise `NotFound` if there is none for this viewpoint."""
        async for talk in self._conversations(view, session_id=session_id, branch_id=branch_id):
            return talk
        raise NotFound("There is no such archived conversation here.")

    async def _conversations(
        self,
        view: Viewpoint,
        *,
        session_id: str | None = None,
        branch_id: str | None = None,
        before_id: int | None = None,
    ) -> AsyncIterator[ArchivedConversation]:
        sessions = await self.storage.read(
            lambda stores: stores.sessions.find(
                view.owner,
                session_id=session_id,
                bot_id=None if view.all_bots else view.bot_id,
                source_app=view.source_app or None,
                branch_id=branch_id,
            )
        )
        for session in sorted(sessions, key=lambda row: -row.id):
            is_asked = before_id is None or session.id < before_id
            if session.archive_path and is_asked and (talk := await self._read(session)):
                yield talk

    async def _read(self, session: Session) -> ArchivedConversation | None:
        """Return a conversation as its file would say it now; None if nothing of it is left.

        The file is read first: what is forgotten meanwhile is known to the database.
        """
        text = await self.archive.get(session.archive_path)
        in_file = frozenset(archived_message_ids(text))

        def work(stores: Stores) -> ArchivableConversation | None:
            is_here = stores.sessions.get(session.owner, session.id) is not None
            return load_conversation(stores, session, in_file) if is_here else None

        talk = await self.storage.read_after_expiry(work)
        entries = merge_messages(text, talk.messages, talk.erased) if talk else []
        if talk is None or not entries:
            return None
        content = conversation_object(talk.session, entries, talk.memories)
        return ArchivedConversation(talk.session, content)
