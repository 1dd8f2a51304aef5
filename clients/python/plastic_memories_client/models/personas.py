"""Models of personas, cards, slots and goals."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .record import Record, Result


class Persona(Record):
    persona_id: str = ""
    display_name: str = ""
    description: str = ""
    created_at: float | None = None
    updated_at: float | None = None


class PersonaCreated(Result):
    status: str = ""
    created: bool = False
    persona: Persona = Field(default_factory=Persona)


class TemplateApplied(Result):
    user_id: str = ""
    persona_id: str = ""
    template_path: str = ""
    applied: Any = None
    skipped: Any = None
    overwritten: Any = None
    seed: dict[str, Any] = Field(default_factory=dict)


class CardImported(TemplateApplied):
    name: str = ""
    spec: str = ""
    # Memories bundled with the card: {bundled, counts, conflicts, skipped}.
    memories: dict[str, Any] = Field(default_factory=dict)


class PersonaProfile(Result):
    user_id: str = ""
    persona_id: str = ""
    profile_markdown: str = ""


class Slot(Record):
    """The confirmed identity-defining memory of one slot type."""

    slot_name: str = ""
    value: Any = None
    provenance: dict[str, Any] = Field(default_factory=dict)
    updated_at: float | None = None


class GoalLink(Record):
    id: int = 0
    memory_id: int | None = None
    note: str = ""
    created_at: float | None = None


class Goal(Record):
    """A goal of the user. `status` is active, paused, done or dropped."""

    id: int = 0
    title: str = ""
    details: str = ""
    status: str = ""
    links: list[GoalLink] = Field(default_factory=list)
    created_at: float | None = None
    updated_at: float | None = None


class GoalCreated(Result):
    status: str = ""
    goal_id: int = 0


class GoalLinked(Result):
    status: str = ""
    link_id: int = 0
