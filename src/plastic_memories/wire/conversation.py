"""Bodies of /messages/*."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Discriminator, Field, model_validator
from pydantic import Tag as Variant

from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.wire.fields import (
    AsBot,
    Body,
    Flag,
    ForPersona,
    Id,
    IdParam,
    Name,
    OptionalName,
    Out,
    Page,
    Text,
    Timestamp,
)
from plastic_memories.wire.recall import MessageRow


class OneMessage(Body):
    role: Role
    content: Text
    speaker: OptionalName | None = None
    session_id: OptionalName | None = None
    source_app: OptionalName | None = None
    bot_id: OptionalName | None = None
    branch_id: OptionalName | None = None
    platform: OptionalName | None = None
    message_type: OptionalName | None = None
    realm: Realm = Realm.REAL
    ts: Timestamp | None = None
    client_msg_id: OptionalName | None = None

    def message(self, owner: Owner, now: float, shared: AppendMany | None = None) -> Message:
        """Return the message to store; what it does not say, the batch may say for it."""

        def text(name: str) -> str:
            return getattr(self, name) or getattr(shared, name, None) or ""

        return Message(
            owner=owner,
            role=self.role,
            content=self.content,
            ts=now if self.ts is None else self.ts,
            speaker=self.speaker or "",
            session_id=text("session_id"),
            source_app=text("source_app"),
            bot_id=text("bot_id"),
            branch_id=text("branch_id"),
            platform=text("platform"),
            message_type=text("message_type"),
            realm=self.realm,
            client_msg_id=self.client_msg_id or "",
        )


class AppendOne(OneMessage):
    persona_id: Name


class AppendMany(ForPersona):
    """Up to 100 messages; what is said here holds for each that does not say it itself."""

    messages: Annotated[list[OneMessage], Field(min_length=1, max_length=100)]
    session_id: OptionalName | None = None
    source_app: OptionalName | None = None
    bot_id: OptionalName | None = None
    branch_id: OptionalName | None = None
    platform: OptionalName | None = None
    message_type: OptionalName | None = None


def _variant(body: Any) -> str:
    fields = body if isinstance(body, dict) else getattr(body, "__dict__", {})
    return "many" if "messages" in fields else "one"


AppendRequest = Annotated[
    Annotated[AppendOne, Variant("one")] | Annotated[AppendMany, Variant("many")],
    Discriminator(_variant),
]


class Appended(Out):
    status: str
    message_id: int
    message_ids: list[int]
    deduped: list[int]


# The two ways to name one message, for the document.
_BY_AN_ID: list[dict[str, Any]] = [
    {"required": ["message_id"], "properties": {"message_id": {"type": "integer"}}},
    {
        "required": ["client_msg_id"],
        "properties": {"client_msg_id": {"type": "string", "minLength": 1}},
    },
]
_BY_SESSION: dict[str, Any] = {
    "required": ["all", "session_id"],
    "properties": {"all": {"const": True}, "session_id": {"type": "string", "minLength": 1}},
}


class WhichMessage(AsBot):
    """One message, by our id or by the client's own."""

    message_id: Id | None = None
    client_msg_id: OptionalName | None = None
    session_id: OptionalName | None = None

    @property
    def is_one(self) -> bool:
        return self.message_id is not None or bool(self.client_msg_id)


class EditRequest(WhichMessage):
    model_config = ConfigDict(json_schema_extra={"anyOf": [*_BY_AN_ID]})

    content: Text

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not self.is_one:
            raise ValueError("give message_id or client_msg_id")
        return self


class DeleteRequest(WhichMessage):
    """One message, or with `all` a whole session; who names a message means that one.

    Of a session, `keep_branches` are left with their past; `""` is the main line.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [*_BY_AN_ID, _BY_SESSION]})

    all: Flag = False
    keep_branches: Annotated[list[OptionalName], Field(max_length=1000)] | None = None

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if not self.is_one and not (self.all and self.session_id):
            raise ValueError("give message_id, client_msg_id, or session_id with all=true")
        return self


class Followed(Out):
    """What a change of the past has led to, as ids of memories."""

    status: str
    retracted: list[int]
    restored: list[int]
    rederived: list[int]
    waiting: bool
    job_id: int | None = None
    # Where bytes of what is gone still lie, until a job has cleared them.
    pending: list[str] = Field(default_factory=list)


class Revised(Followed):
    message_id: int


class Deleted(Followed):
    message_id: int | None = None
    deleted: int


class BranchRequest(AsBot):
    """Where to leave; `branch_id` is a name the client chose, so that a retry is harmless."""

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
    def _names_one(self) -> Self:
        if self.from_message_id is None and not self.from_client_msg_id:
            raise ValueError("give from_message_id or from_client_msg_id")
        return self


class Branched(Out):
    status: str
    branch_id: str
    session_id: str
    parent_id: str | None
    from_message_id: int


class RecentQuery(AsBot):
    limit: Page = 20
    days: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None
    session_id: OptionalName | None = None
    source_app: OptionalName | None = None
    branch_id: OptionalName | None = None
    before_id: IdParam | None = None


class RecentMessages(Out):
    messages: list[MessageRow]


class PurgeRequest(AsBot):
    """Say which: before a time, older than some days, or all of them."""

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
    session_id: OptionalName | None = None

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if self.before_ts is None and self.days is None and not self.all:
            raise ValueError("give before_ts, days, or all=true")
        return self

    def until(self, now: float) -> float | None:
        """Return the time before which messages go; None for all of them."""
        if self.all:
            return None
        if self.before_ts is not None:
            return self.before_ts
        # `days=0` means everything up to now, this very moment included.
        return now - (self.days or 0) * 86_400 + (0 if self.days else 1e-3)


class Purged(Out):
    status: str
    deleted: int
    pending: list[str] = Field(default_factory=list)
