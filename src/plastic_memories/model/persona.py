"""Personas, their slots and templates, and the settings of a user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plastic_memories.model.card import Card
from plastic_memories.model.owner import Owner, Realm, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    owner: Owner
    display_name: str = ""
    description: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The active value of one slot type, such as identity."""

    owner: Owner
    bot_id: str
    realm: Realm
    slot_name: str
    value: Any
    provenance: Mapping[str, Any]
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaMemoryCount:
    """Number of memories that a persona has from one session and app."""

    owner: Owner
    session_id: str
    source_app: str
    memories: int
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True)
class Template:
    """A persona from a folder of the template root, or from a character card."""

    path: str
    persona_md: str
    rules_md: str
    preferences: Mapping[str, Any]
    card: Card | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    user: User
    time_zone: str = "UTC"
    language: str = ""
    updated_at: float = 0.0
