"""Every use case of the hub, wired once."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.api_keys import Keys
from plastic_memories.hub.conversation.ingest import TakeIn
from plastic_memories.hub.conversation.learn_from_conversation import LearnFromConversation
from plastic_memories.hub.conversation.message_changes import KeepTimeline
from plastic_memories.hub.conversation.messages import KeepMessages
from plastic_memories.hub.conversation.proxied_conversation import Converse
from plastic_memories.hub.conversation.sessions import KeepSessions
from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.job_runner import Work
from plastic_memories.hub.formation.jobs import Jobs
from plastic_memories.hub.memories.browse import BrowseMemories
from plastic_memories.hub.memories.consolidate import Consolidate
from plastic_memories.hub.memories.review import ReviewMemory
from plastic_memories.hub.memories.search import SearchMemories
from plastic_memories.hub.memories.undo import UndoChange
from plastic_memories.hub.memories.upcoming import LookAhead
from plastic_memories.hub.memories.write import WriteMemory
from plastic_memories.hub.pages.read_pages import KeepPages
from plastic_memories.hub.pages.sync import SyncPages
from plastic_memories.hub.personas.goals import KeepGoals
from plastic_memories.hub.personas.personas import KeepPersonas
from plastic_memories.hub.recall.recall import Recall
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transfer.cards import KeepCards
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.hub.upkeep import KeepUp
from plastic_memories.hub.vectors.embedding import Embedding
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    ledger: Ledger
    screening: Screening
    keys: Keys
    write: WriteMemory
    learn_from_conversation: LearnFromConversation
    review: ReviewMemory
    forget: ForgetMemory
    browse: BrowseMemories
    recall: Recall
    converse: Converse
    search: SearchMemories
    take_in: TakeIn
    messages: KeepMessages
    timeline: KeepTimeline
    delete_session: DeleteSession
    sessions: KeepSessions
    jobs: Jobs
    work: Work
    consolidate: Consolidate
    undo: UndoChange
    look_ahead: LookAhead
    personas: KeepPersonas
    cards: KeepCards
    goals: KeepGoals
    pages: KeepPages
    page_sync: SyncPages
    transfer: Transfer
    exports: ExportFiles
    upkeep: KeepUp
    meter: Meter
    embedding: Embedding
    # Reads talk with a language model, if one is configured; only jobs wait for it.
    extractor: Extractor | None = None
