"""Personas, their templates and goals."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.adapters.markdown.templates import TemplateFolder
from plastic_memories.hub.personas.goals import Goals
from plastic_memories.hub.personas.personas import Personas
from plastic_memories.wiring.rooms.formation import FormationRoom
from plastic_memories.wiring.rooms.pages import PageRoom
from plastic_memories.wiring.rooms.room_context import RoomContext


@dataclass(frozen=True, slots=True)
class PersonaRoom:
    personas: Personas
    goals: Goals


def build_personas(context: RoomContext, formation: FormationRoom, pages: PageRoom) -> PersonaRoom:
    storage, screening = context.storage, context.screening
    personas = Personas(
        storage,
        screening,
        context.plugins.profile,
        TemplateFolder(context.settings.template_root),
        formation.archive,
        formation.exports,
        pages.forget,
    )
    return PersonaRoom(personas, Goals(storage, screening))
