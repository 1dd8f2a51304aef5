"""Every use case of the hub, wired once."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.browse import BrowseMemories
from plastic_memories.hub.cards import KeepCards
from plastic_memories.hub.consolidate import Consolidate
from plastic_memories.hub.converse import Converse
from plastic_memories.hub.delete_session import DeleteSession
from plastic_memories.hub.embedding import Embedding
from plastic_memories.hub.exports import ExportFiles
from plastic_memories.hub.forget import ForgetMemory
from plastic_memories.hub.goals import KeepGoals
from plastic_memories.hub.jobs import Jobs
from plastic_memories.hub.keys import Keys
from plastic_memories.hub.ledger import Ledger
from plastic_memories.hub.messages import KeepMessages
from plastic_memories.hub.page_sync import SyncPages
from plastic_memories.hub.pages import KeepPages
from plastic_memories.hub.personas import KeepPersonas
from plastic_memories.hub.recall import Recall
from plastic_memories.hub.review import ReviewMemory
from plastic_memories.hub.screening import Screening
from plastic_memories.hub.search import SearchMemories
from plastic_memories.hub.sessions import KeepSessions
from plastic_memories.hub.take_in import TakeIn
from plastic_memories.hub.timeline import KeepTimeline
from plastic_memories.hub.transfer import Transfer
from plastic_memories.hub.undo import UndoChange
from plastic_memories.hub.upcoming import LookAhead
from plastic_memories.hub.upkeep import KeepUp
from plastic_memories.hub.work import Work
from plastic_memories.hub.write import WriteMemory
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    ledger: Ledger
    screening: Screening
    keys: Keys
    write: WriteMemory
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
