"""Request and response bodies of /messages."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Discriminator, Field, model_validator
from pydantic import Tag as Variant

from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.rules.conversation.session_key import session_key
from plastic_memories.wire.fields import (
    Flag,
    Id,
    IdParam,
    Name,
    OptionalName,
    PageSize,
    PersonaRequest,
    RequestBody,
    ResponseBody,
    SessionFields,
    SessionRequest,
    Text,
    Timestamp,
)
from plastic_memories.wire.recall import MessageRow


class MessageBody(RequestBody, SessionFields):
    role: Role
    content: Text
    speaker: OptionalName | None = None
    source_app: OptionalName | None = None
    bot_id: OptionalName | None = None
    branch_id: OptionalName | None = None
    realm: Realm = Realm.REAL
    ts: Timestamp | None = None
    client_msg_id: OptionalName | None = None

    def to_message(
        self, owner: Owner, now: float, shared: AppendManyRequest | None = None
    ) -> Message:
        """Return the message to store; the batch supplies fields that the message leaves out."""

        def text(name: str) -> str:
            return getattr(self, name) or getattr(shared, name, None) or ""

        platform, message_type = text("platform"), text("message_type")
        return Message(
            owner=owner,
            role=self.role,
            content=self.content,
            ts=now if self.ts is None else self.ts,
            speaker=self.speaker or "",
            session_id=session_key(text("session_id"), platform, message_type),
            source_app=text("source_app"),
            bot_id=text("bot_id"),
            branch_id=text("branch_id"),
            platform=platform,
            message_type=message_type,
            realm=self.realm,
            client_msg_id=self.client_msg_id or "",
        )


class AppendOneRequest(MessageBody):
    persona_id: Name


class AppendManyRequest(PersonaRequest, SessionFields):
    """Up to 100 messages; fields given here apply to each message that leaves them out."""

    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=100)]
    source_app: OptionalName | None = None
    bot_id: OptionalName | None = None
    branch_id: OptionalName | None = None


def _append_variant(body: Any) -> str:
    fields = body if isinstance(body, dict) else getattr(body, "__dict__", {})
    return "many" if "messages" in fields else "one"


AppendRequest = Annotated[
    Annotated[AppendOneRequest, Variant("one")] | Annotated[AppendManyRequest, Variant("many")],
    Discriminator(_append_variant),
]


class AppendResponse(ResponseBody):
    status: str
    message_id: int
    message_ids: list[int]
    deduped: list[int]


# The two ways to name one message, for the OpenAPI document.
_MESSAGE_ID_SCHEMAS: list[dict[str, Any]] = [
    {"required": ["message_id"], "properties": {"message_id": {"type": "integer"}}},
    {
        "required": ["client_msg_id"],
        "properties": {"client_msg_id": {"type": "string", "minLength": 1}},
    },
]
_SESSION_SCHEMA: dict[str, Any] = {
    "required": ["all", "session_id"],
    "properties": {"all": {"const": True}, "session_id": {"type": "string", "minLength": 1}},
}


class MessageRequest(SessionRequest):
    """One message, by the hub's id or by the client's own."""

    message_id: Id | None = None
    client_msg_id: OptionalName | None = None

    @property
    def names_one_message(self) -> bool:
        return self.message_id is not None or bool(self.client_msg_id)


class EditMessageRequest(MessageRequest):
    model_config = ConfigDict(json_schema_extra={"anyOf": [*_MESSAGE_ID_SCHEMAS]})

    content: Text

    @model_validator(mode="after")
    def _require_message(self) -> Self:
        if not self.names_one_message:
            raise ValueError("give message_id or client_msg_id")
        return self


class DeleteMessagesRequest(MessageRequest):
    """One message, or with `all` a whole session; a given message id takes precedence.

    Of a session, `keep_branches` stay with their history; `""` is the main line.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [*_MESSAGE_ID_SCHEMAS, _SESSION_SCHEMA]})

    all: Flag = False
    keep_branches: Annotated[list[OptionalName], Field(max_length=1000)] | None = None

    @model_validator(mode="after")
    def _require_target(self) -> Self:
        if not self.names_one_message and not (self.all and self.session_id):
            raise ValueError("give message_id, client_msg_id, or session_id with all=true")
        return self


class RevisionResponse(ResponseBody):
    """The effects of a change to past messages, as ids of memories."""

    status: str
    retracted: list[int]
    restored: list[int]
    rederived: list[int]
    waiting: bool
    job_id: int | None = None
    # Where bytes of erased text remain until a job has cleared them.
    pending: list[str] = Field(default_factory=list)


class EditMessageResponse(RevisionResponse):
    message_id: int


class DeleteMessagesResponse(RevisionResponse):
    message_id: int | None = None
    deleted: int


class BranchRequest(SessionRequest):
    """Where to branch off; `branch_id` is chosen by the client, so that a retry is safe."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {
                    "required": ["from_message_id"],
                    "properties": {"from_message_id": {"type": "integer"}},
                },
                {
                    "required": ["from_client_msg_id"],
                    "properties": {"from_client_msg_id": {"type": "string", "minLength": 1}},
                },
            ]
        }
    )

    session_id: Name
    from_message_id: Id | None = None
    from_client_msg_id: OptionalName | None = None
    branch_id: OptionalName | None = None

    @model_validator(mode="after")
    def _require_message(self) -> Self:
        if self.from_message_id is None and not self.from_client_msg_id:
            raise ValueError("give from_message_id or from_client_msg_id")
        return self


class BranchResponse(ResponseBody):
    status: str
    branch_id: str
    session_id: str
    parent_id: str | None
    from_message_id: int


class RecentMessagesQuery(SessionRequest):
    limit: PageSize = 20
    days: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None
    source_app: OptionalName | None = None
    branch_id: OptionalName | None = None
    before_id: IdParam | None = None


class RecentMessagesResponse(ResponseBody):
    messages: list[MessageRow]


class PurgeMessagesRequest(SessionRequest):
    """Choose messages: before a time, older than some days, or all of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["before_ts"], "properties": {"before_ts": {"type": "number"}}},
                {"required": ["days"], "properties": {"days": {"type": "number"}}},
                {"required": ["all"], "properties": {"all": {"const": True}}},
            ]
        }
    )

    before_ts: Timestamp | None = None
    days: Annotated[float, Field(strict=True, ge=0, le=1e6, allow_inf_nan=False)] | None = None
    all: Flag = False

    @model_validator(mode="after")
    def _require_range(self) -> Self:
        if self.before_ts is None and self.days is None and not self.all:
            raise ValueError("give before_ts, days, or all=true")
        return self

    def cutoff_ts(self, now: float) -> float | None:
        """Return the time before which messages are erased; None for all of them."""
        if self.all:
            return None
        if self.before_ts is not None:
            return self.before_ts
        # `days=0` means everything up to now, this very moment included.
        return now - (self.days or 0) * 86_400 + (0 if self.days else 1e-3)


class PurgeMessagesResponse(ResponseBody):
    status: str
    deleted: int
    pending: list[str] = Field(default_factory=list)
