"""Request and response bodies of /console."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from plastic_memories.model.key import ApiKey
from plastic_memories.model.memory import MemoryType
from plastic_memories.wire.fields import (
    Flag,
    Id,
    OptionalName,
    PersonaRequest,
    RequestBody,
    ResponseBody,
)
from plastic_memories.wire.memories import ConversationMessageBody

Secret = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class SignInRequest(RequestBody):
    """The secret of a one-time link, or an API key."""

    link: Secret | None = None
    api_key: Secret | None = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if (self.link is None) == (self.api_key is None):
            raise ValueError("give link, or api_key")
        return self


class SignedInResponse(ResponseBody):
    user_id: str | None  # null for an app key, which chooses one
    is_app_key: bool
    is_admin: bool
    read_only: bool
    persona_id: str | None  # the only one, for a key that is bound to one
    source_app: str | None
    version: str
    has_upstream: bool
    address: str


class SignOutRequest(RequestBody):
    everywhere: Flag = False


class SignOutResponse(ResponseBody):
    status: str
    ended: int


class CreateLinkResponse(ResponseBody):
    url: str
    expires_in_s: int
    qr: list[str]  # rows of 0 and 1


class PeopleQuery(RequestBody):
    q: OptionalName = ""


class PersonRow(ResponseBody):
    user_id: str
    name: str | None
    apps: list[str]
    memories: int
    last_seen_at: float | None


class PeopleResponse(ResponseBody):
    items: list[PersonRow]


class NeverAgainRow(ResponseBody):
    digest: str
    created_at: float


class NeverAgainResponse(ResponseBody):
    items: list[NeverAgainRow]


class AllowAgainRequest(PersonaRequest):
    digest: Digest


class CreateKeyRequest(RequestBody):
    label: OptionalName = ""
    read_only: Flag = False
    for_all_users: Flag = False


class KeyRow(ResponseBody):
    id: int
    user_id: str
    label: str
    read_only: bool
    persona_id: str | None
    source_app: str | None
    created_at: float
    expires_at: float | None
    last_used_at: float | None


class CreateKeyResponse(KeyRow):
    key: str


class KeyListResponse(ResponseBody):
    items: list[KeyRow]


class RevokeKeyRequest(RequestBody):
    key_id: Id


class DoneResponse(ResponseBody):
    status: str


class DemoRequest(RequestBody):
    language: Literal["zh", "en"] = "zh"


class LoadDemoResponse(ResponseBody):
    status: str
    persona_id: str
    counts: dict[str, int]


class RemoveDemoResponse(ResponseBody):
    status: str
    receipt: dict[str, Any]


class PreviewRequest(PersonaRequest):
    messages: Annotated[list[ConversationMessageBody], Field(max_length=500)]


class PreviewRow(ResponseBody):
    type: MemoryType
    key: str
    content: str
    quote: str | None


class PreviewResponse(ResponseBody):
    items: list[PreviewRow]
    skipped: list[str]
    masked: list[str]  # the messages as they would be stored, without secrets


class SettingRow(ResponseBody):
    name: str
    value: str
    is_default: bool


class OperationsResponse(ResponseBody):
    settings: list[SettingRow]
    problems: list[str]
    counts: dict[str, int]
    storage: dict[str, Any] = Field(default_factory=dict)


def key_row_fields(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "user_id": key.user_id,
        "label": key.label,
        "read_only": key.limits.read_only,
        "persona_id": key.limits.persona_id or None,
        "source_app": key.limits.source_app or None,
        "created_at": key.created_at,
        "expires_at": key.limits.expires_at,
        "last_used_at": key.last_used_at,
    }
