"""Personas, their templates and goals."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.adapters.markdown.templates import TemplateFolder
from plastic_memories.hub.personas.goals import Goals
from plastic_memories.hub.personas.personas import Personas
from plastic_memories.wiring.services.formation import FormationServices
from plastic_memories.wiring.services.pages import PageServices
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class PersonaServices:
    personas: Personas
    goals: Goals


def build_personas(
    context: ServiceContext, formation: FormationServices, pages: PageServices
) -> PersonaServices:
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
    return PersonaServices(personas, Goals(storage, screening))
