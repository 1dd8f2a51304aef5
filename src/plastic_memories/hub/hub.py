"""Every use case of the hub, wired once."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.hub.console.console import Console
from plastic_memories.hub.conversation.ingest import IngestConversation
from plastic_memories.hub.conversation.learn_from_conversation import LearnFromConversation
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.conversation.messages import MessageHistory
from plastic_memories.hub.conversation.proxied_conversation import ProxiedConversation
from plastic_memories.hub.conversation.sessions import SessionLifecycle
from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.erase_user import EraseUser
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.hub.erasure.forget_on_request import ForgetOnRequest
from plastic_memories.hub.erasure.pending_forgets import PendingForgets
from plastic_memories.hub.formation.archive_reader import ArchiveReader
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.job_runner import JobRunner
from plastic_memories.hub.formation.jobs import Jobs
from plastic_memories.hub.memories.browse import BrowseMemories
from plastic_memories.hub.memories.consolidate import Consolidate
from plastic_memories.hub.memories.review import ReviewMemory
from plastic_memories.hub.memories.search import SearchMemories
from plastic_memories.hub.memories.undo import UndoChange
from plastic_memories.hub.memories.upcoming import ListUpcomingEvents
from plastic_memories.hub.memories.write import WriteMemory
from plastic_memories.hub.pages.read_pages import PageReader
from plastic_memories.hub.pages.sync import SyncPages
from plastic_memories.hub.personas.goals import Goals
from plastic_memories.hub.personas.personas import Personas
from plastic_memories.hub.recall.recall import Recall
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transfer.cards import CharacterCards
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.hub.transfer.undo_import import UndoImport
from plastic_memories.hub.upkeep import UpkeepLoop
from plastic_memories.hub.vectors.embedding import EmbeddingService
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    storage: AuditedStorage
    screening: Screening
    keys: ApiKeys
    console: Console
    write: WriteMemory
    learn_from_conversation: LearnFromConversation
    review: ReviewMemory
    forget: ForgetMemory
    browse: BrowseMemories
    recall: Recall
    proxied_conversation: ProxiedConversation
    search: SearchMemories
    ingest: IngestConversation
    messages: MessageHistory
    timeline: ConversationTimeline
    delete_session: DeleteSession
    erase_user: EraseUser
    # Reads new messages for "forget that"; a digest calls it, and whoever reads sooner may.
    forget_on_request: ForgetOnRequest
    pending_forgets: PendingForgets
    sessions: SessionLifecycle
    jobs: Jobs
    job_runner: JobRunner
    consolidate: Consolidate
    undo: UndoChange
    upcoming_events: ListUpcomingEvents
    personas: Personas
    cards: CharacterCards
    goals: Goals
    pages: PageReader
    page_sync: SyncPages
    transfer: Transfer
    undo_import: UndoImport
    exports: ExportFiles
    archive_reader: ArchiveReader
    upkeep: UpkeepLoop
    meter: Meter
    embedding: EmbeddingService
    # Reads talk with a language model, if one is configured; only jobs wait for it.
    extractor: Extractor | None = None
