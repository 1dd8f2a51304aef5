"""Memories themselves: written, reviewed, listed, undone, put in order."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.memories.browse import BrowseMemories
from plastic_memories.hub.memories.consolidate import Consolidate, ConsolidateOptions
from plastic_memories.hub.memories.review import ReviewMemory
from plastic_memories.hub.memories.undo import UndoChange
from plastic_memories.hub.memories.upcoming import ListUpcomingEvents
from plastic_memories.hub.memories.write import WriteMemory
from plastic_memories.wiring.rooms.room_context import RoomContext


@dataclass(frozen=True, slots=True)
class MemoryRoom:
    write: WriteMemory
    review: ReviewMemory
    browse: BrowseMemories
    undo: UndoChange
    upcoming_events: ListUpcomingEvents
    consolidate: Consolidate


def build_memories(context: RoomContext) -> MemoryRoom:
    storage, screening, settings = context.storage, context.screening, context.settings
    consolidation = ConsolidateOptions(
        enabled=settings.consolidate, interval_s=settings.consolidate_interval_s
    )
    return MemoryRoom(
        write=WriteMemory(storage, screening),
        review=ReviewMemory(storage, screening),
        browse=BrowseMemories(storage),
        undo=UndoChange(storage),
        upcoming_events=ListUpcomingEvents(storage),
        consolidate=Consolidate(storage, context.meter, consolidation),
    )
