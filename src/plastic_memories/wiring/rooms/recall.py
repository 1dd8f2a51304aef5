"""What a persona is reminded of before it answers, and searches in it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.memories.search import SearchMemories
from plastic_memories.hub.recall.recall import Recall, RecallOptions
from plastic_memories.hub.recall.snippets import SnippetFinder
from plastic_memories.runtime.recall_counts import RecallCountBuffer
from plastic_memories.settings import Settings
from plastic_memories.wiring.rooms.pages import PageRoom
from plastic_memories.wiring.rooms.personas import PersonaRoom
from plastic_memories.wiring.rooms.room_context import RoomContext


@dataclass(frozen=True, slots=True)
class RecallRoom:
    recall: Recall
    search: SearchMemories
    counts: RecallCountBuffer


def build_recall(context: RoomContext, personas: PersonaRoom, pages: PageRoom) -> RecallRoom:
    settings, engine, counts = context.settings, context.plugins.recall, RecallCountBuffer()
    recall = Recall(
        context.storage,
        engine,
        personas.personas,
        _recall_options(settings),
        SnippetFinder(settings.snippet_days, settings.snippet_limit),
        counts,
        context.meter,
        pages.reader,
    )
    return RecallRoom(recall, SearchMemories(context.storage, engine, counts), counts)


def _recall_options(settings: Settings) -> RecallOptions:
    return RecallOptions(
        budget_tokens=settings.recall_budget_tokens,
        core_budget_tokens=settings.core_budget_tokens,
        page_budget_tokens=settings.markdown_budget_tokens,
    )
