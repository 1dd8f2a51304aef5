"""Request and response bodies of /persona, /goals and /user/settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, StringConstraints

from plastic_memories.model.goal import GoalStatus
from plastic_memories.model.owner import Realm
from plastic_memories.wire.fields import (
    BotRequest,
    Flag,
    Id,
    Name,
    NonEmptyText,
    PersonaRequest,
    RequestBody,
    ResponseBody,
    Text,
)


class CreatePersonaRequest(PersonaRequest):
    display_name: Annotated[Text, StringConstraints(max_length=200)] | None = None
    description: Text | None = None


class PersonaRow(ResponseBody):
    persona_id: str
    display_name: str
    description: str
    created_at: float
    updated_at: float


class CreatePersonaResponse(ResponseBody):
    status: str
    created: bool
    persona: PersonaRow


class ApplyTemplateRequest(PersonaRequest):
    template_path: Annotated[Name, StringConstraints(max_length=500)]
    allow_overwrite: Flag = False


class TemplateSeedRow(ResponseBody):
    persona_md_len: int
    rules_md_len: int
    preferences_keys: list[str]


class ApplyTemplateResponse(ResponseBody):
    status: str
    user_id: str
    persona_id: str
    template_path: str
    applied: list[str]
    skipped: list[str]
    overwritten: list[str]
    seed: TemplateSeedRow


class ImportCardQuery(PersonaRequest):
    allow_overwrite: bool = False
    memories: bool = False


class CardImportRow(ResponseBody):
    """The outcome for rows that were bundled with a card."""

    bundled: int
    counts: dict[str, int]
    conflicts: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ImportCardResponse(ApplyTemplateResponse):
    name: str
    spec: str
    memories: CardImportRow


class ExportCardQuery(PersonaRequest):
    format: Literal["png", "json"] = "png"
    memories: bool = False


class PersonaListResponse(ResponseBody):
    items: list[PersonaRow]


class ProfileResponse(ResponseBody):
    user_id: str
    persona_id: str
    profile_markdown: str


class GetSlotsRequest(BotRequest):
    realm: Realm = Realm.REAL


class SlotRow(ResponseBody):
    slot_name: str
    value: Any
    provenance: dict[str, Any]
    updated_at: float
    value_json: str
    provenance_json: str


class SlotListResponse(ResponseBody):
    items: list[SlotRow]


class DeletePersonaRequest(PersonaRequest):
    confirm: Name


class DeletePersonaResponse(ResponseBody):
    status: str
    persona_id: str
    receipt: dict[str, Any]


class EraseUserRequest(RequestBody):
    confirm: Name  # the user_id


class EraseUserResponse(ResponseBody):
    status: str
    user_id: str
    receipt: dict[str, Any]


class CreateGoalRequest(PersonaRequest):
    title: Annotated[NonEmptyText, StringConstraints(max_length=500)]
    details: Text | None = None


class CreateGoalResponse(ResponseBody):
    status: str
    goal_id: int


class GoalLinkRow(ResponseBody):
    id: int
    memory_id: int | None
    note: str
    created_at: float


class GoalRow(ResponseBody):
    id: int
    title: str
    details: str
    status: GoalStatus
    links: list[GoalLinkRow]
    created_at: float
    updated_at: float


class GoalQuery(PersonaRequest):
    status: GoalStatus | None = None


class GoalListResponse(ResponseBody):
    items: list[GoalRow]


class UpdateGoalRequest(PersonaRequest):
    goal_id: Id
    status: GoalStatus


class UpdateGoalResponse(ResponseBody):
    status: str
    updated: bool


class LinkGoalRequest(BotRequest):
    goal_id: Id
    memory_id: Id | None = None
    note: Text | None = None


class LinkGoalResponse(ResponseBody):
    status: str
    link_id: int


def _validate_time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("is not a known time zone, such as Asia/Shanghai") from None
    return name


TimeZone = Annotated[
    str, StringConstraints(min_length=1, max_length=64), AfterValidator(_validate_time_zone)
]
Language = Annotated[
    str, StringConstraints(max_length=35, pattern="^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?$")
]


class SaveSettingsRequest(RequestBody):
    time_zone: TimeZone | None = None
    language: Language | None = None


class SettingsResponse(ResponseBody):
    user_id: str
    time_zone: str
    language: str
    updated_at: float
