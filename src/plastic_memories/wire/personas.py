"""Bodies of /persona/*, /goals/* and /user/settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, StringConstraints

from plastic_memories.model.goal import GoalStatus
from plastic_memories.model.owner import Realm
from plastic_memories.wire.fields import (
    AsBot,
    Body,
    Flag,
    ForPersona,
    Id,
    Name,
    NonEmptyText,
    Out,
    Text,
)


class CreatePersona(ForPersona):
    display_name: Annotated[Text, StringConstraints(max_length=200)] | None = None
    description: Text | None = None


class PersonaOut(Out):
    persona_id: str
    display_name: str
    description: str
    created_at: float
    updated_at: float


class CreatedPersona(Out):
    status: str
    created: bool
    persona: PersonaOut


class FromTemplate(ForPersona):
    template_path: Annotated[Name, StringConstraints(max_length=500)]
    allow_overwrite: Flag = False


class Seed(Out):
    persona_md_len: int
    rules_md_len: int
    preferences_keys: list[str]


class AppliedTemplate(Out):
    status: str
    user_id: str
    persona_id: str
    template_path: str
    applied: list[str]
    skipped: list[str]
    overwritten: list[str]
    seed: Seed


class CardQuery(ForPersona):
    allow_overwrite: bool = False
    memories: bool = False


class CardRows(Out):
    """What became of the rows that were bundled with a card."""

    bundled: int
    counts: dict[str, int]
    conflicts: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ImportedCard(AppliedTemplate):
    name: str
    spec: str
    memories: CardRows


class ExportCardQuery(ForPersona):
    format: Literal["png", "json"] = "png"
    memories: bool = False


class PersonaList(Out):
    items: list[PersonaOut]


class Profile(Out):
    user_id: str
    persona_id: str
    profile_markdown: str


class GetSlots(AsBot):
    realm: Realm = Realm.REAL


class SlotOut(Out):
    slot_name: str
    value: Any
    provenance: dict[str, Any]
    updated_at: float
    value_json: str
    provenance_json: str


class SlotList(Out):
    items: list[SlotOut]


class DeletePersona(ForPersona):
    confirm: Name


class DeletedPersona(Out):
    status: str
    persona_id: str
    receipt: dict[str, Any]


class CreateGoal(ForPersona):
    title: Annotated[NonEmptyText, StringConstraints(max_length=500)]
    details: Text | None = None


class CreatedGoal(Out):
    status: str
    goal_id: int


class GoalLinkOut(Out):
    id: int
    memory_id: int | None
    note: str
    created_at: float


class GoalOut(Out):
    id: int
    title: str
    details: str
    status: GoalStatus
    links: list[GoalLinkOut]
    created_at: float
    updated_at: float


class GoalQuery(ForPersona):
    status: GoalStatus | None = None


class GoalList(Out):
    items: list[GoalOut]


class UpdateGoal(ForPersona):
    goal_id: Id
    status: GoalStatus


class UpdatedGoal(Out):
    status: str
    updated: bool


class LinkGoal(AsBot):
    goal_id: Id
    memory_id: Id | None = None
    note: Text | None = None


class LinkedGoal(Out):
    status: str
    link_id: int


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("is not a known time zone, such as Asia/Shanghai") from None
    return name


TimeZone = Annotated[
    str, StringConstraints(min_length=1, max_length=64), AfterValidator(_known_zone)
]
Language = Annotated[
    str, StringConstraints(max_length=35, pattern="^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?$")
]


class SaveSettings(Body):
    time_zone: TimeZone | None = None
    language: Language | None = None


class SettingsOut(Out):
    user_id: str
    time_zone: str
    language: str
    updated_at: float
