"""Request and response bodies of /memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import ceil
from operator import attrgetter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, model_validator
from pydantic import Tag as Variant

from plastic_memories.errors import Conflict
from plastic_memories.formats.json_object import (
    MAX_ATTRIBUTES_BYTES,
    MAX_METADATA_BYTES,
    NAME_PATTERN,
    check_json_object,
)
from plastic_memories.model.memory import Draft, Memory, MemoryType, Scope, SourceType, Status
from plastic_memories.model.message import Role
from plastic_memories.model.owner import Realm
from plastic_memories.ports.stores.memory_store import MemoryOrder, MemoryPosition
from plastic_memories.wire.envelope import ErrorBody
from plastic_memories.wire.fields import (
    BotRequest,
    Flag,
    Id,
    IdParam,
    Key,
    Name,
    NonEmptyText,
    OptionalName,
    PageSize,
    PersonaRequest,
    RequestBody,
    ResponseBody,
    SessionFields,
    SessionRequest,
    Share,
    ShareParam,
    ShortText,
    Tag,
    Text,
    Timestamp,
    TimestampParam,
)

# An id; of a list by importance, the importance and the id.
_CURSOR = r"^([0-9]{1,3}(\.[0-9]{1,20})?(e-[0-9]{1,3})?:)?[0-9]{1,18}$"


def _json_size_limit(limit: int) -> AfterValidator:
    def check(value: dict[str, Any]) -> dict[str, Any]:
        # Checked here, not by a type for the keys: an error would name the key it is about.
        check_json_object(value, limit)
        return value

    return AfterValidator(check)


_NAMES = Field(json_schema_extra={"propertyNames": {"type": "string", "pattern": NAME_PATTERN}})
Metadata = Annotated[dict[str, Any], _json_size_limit(MAX_METADATA_BYTES), _NAMES]
Attributes = Annotated[dict[str, Any], _json_size_limit(MAX_ATTRIBUTES_BYTES), _NAMES]
# A plain default would be deep-copied for every request.
_EMPTY: Any = Field(default_factory=dict, json_schema_extra={"default": {}})
Seconds = Annotated[float, Field(strict=True, gt=0, le=1e10, allow_inf_nan=False)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=50)]


_DRAFT_FIELDS = frozenset(item.name for item in fields(Draft))


class MemoryBody(RequestBody, SessionFields):
    """One statement to remember."""

    type: MemoryType
    key: Key
    content: NonEmptyText
    tags: Tags = ()
    ttl_seconds: Seconds | None = None
    expires_at: Timestamp | None = None
    temporary: Flag = False
    scope: Scope = Scope.PERSONA
    realm: Realm = Realm.REAL
    source_type: SourceType = SourceType.USER_EXPLICIT
    source_ref: ShortText | None = None
    source_app: OptionalName | None = None
    bot_id: OptionalName | None = None
    speaker: OptionalName | None = None
    quote: Text | None = None
    source_message_ids: Annotated[tuple[Id, ...], Field(max_length=1000)] = ()
    occurred_at: Timestamp | None = None
    confidence: Share | None = None
    importance: Share | None = None
    pinned: Flag = False
    metadata: Metadata = _EMPTY
    attributes: Attributes = _EMPTY
    supersedes_id: Id | None = None
    idempotency_key: OptionalName | None = None

    def to_draft(self, now: float) -> Draft:
        """Return the draft for this body; its time to live starts now."""
        expires_at = self.expires_at
        if expires_at is None and self.ttl_seconds is not None:
            expires_at = now + self.ttl_seconds
        # What is not given is what a draft says of itself.
        given = {name: value for name, value in self if name in _DRAFT_FIELDS and value is not None}
        return Draft(**{**given, "session_id": self.session_key, "expires_at": expires_at})


class WriteOneRequest(MemoryBody):
    persona_id: Name


class WriteManyRequest(PersonaRequest):
    """A batch. Each item is validated on its own: an invalid one is skipped and reported."""

    items: Annotated[list[dict[str, Any]], Field(max_length=500)]


class ConversationMessageBody(RequestBody):
    role: Role
    content: Text
    ts: Timestamp | None = None
    speaker: OptionalName | None = None


class WriteConversationRequest(PersonaRequest, SessionFields):
    """A conversation to extract memories from."""

    messages: Annotated[list[ConversationMessageBody], Field(max_length=500)]
    confirm: Flag = False
    keep_rest: Annotated[
        Flag,
        Field(description="Store the other sentences of a message read in part, as notes."),
    ] = False
    source_app: OptionalName | None = None
    bot_id: OptionalName | None = None


def _write_variant(body: Any) -> str:
    fields = body if isinstance(body, dict) else getattr(body, "__dict__", {})
    if "items" in fields:
        return "items"
    return "messages" if "messages" in fields else "one"


WriteRequest = Annotated[
    Annotated[WriteOneRequest, Variant("one")]
    | Annotated[WriteManyRequest, Variant("items")]
    | Annotated[WriteConversationRequest, Variant("messages")],
    Discriminator(_write_variant),
]


def _one_or_many_schema(*of_one: str) -> dict[str, Any]:
    """Return the schema of a choice: one id, or several without the fields that go with one."""
    one = {"memory_id": {"type": "integer"}, "memory_ids": {"type": "null"}}
    many = {"memory_ids": {"type": "array", "minItems": 1}}
    absent = {name: {"type": "null"} for name in ("memory_id", *of_one)}
    return {
        "oneOf": [
            {"required": ["memory_id"], "properties": one},
            {"required": ["memory_ids"], "properties": many | absent},
        ]
    }


class ReviewRequest(BotRequest):
    """One candidate (`memory_id`), or several (`memory_ids`)."""

    model_config = ConfigDict(json_schema_extra=_one_or_many_schema())

    memory_id: Id | None = None
    memory_ids: Annotated[list[Id], Field(min_length=1, max_length=200)] | None = None

    @model_validator(mode="after")
    def _require_one_or_many(self) -> Self:
        if (self.memory_id is None) == (self.memory_ids is None):
            raise ValueError("give memory_id, or memory_ids")
        return self


class ConfirmMemoryRequest(ReviewRequest):
    model_config = ConfigDict(json_schema_extra=_one_or_many_schema("supersedes_id", "content"))

    supersedes_id: Id | None = None
    coexist: Flag = False
    content: NonEmptyText | None = None

    @model_validator(mode="after")
    def _require_single_target(self) -> Self:
        if self.memory_ids is not None and (self.supersedes_id or self.content is not None):
            raise ValueError("supersedes_id and content go with memory_id")
        return self


class RejectMemoryRequest(ReviewRequest):
    never_again: Flag = False


class RevokeMemoryRequest(BotRequest):
    memory_id: Id


class UndoChangeRequest(BotRequest):
    audit_id: Id


class UpdateMemoryRequest(BotRequest):
    memory_id: Id
    content: NonEmptyText | None = None
    tags: Tags | None = None
    importance: Share | None = None
    pinned: Flag | None = None
    scope: Scope | None = None
    expires_at: Timestamp | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """Return the fields to change; only `expires_at` can be set to null."""
        sent = self.model_fields_set - BotRequest.model_fields.keys() - {"memory_id"}
        values = {name: getattr(self, name) for name in sent}
        return {n: value for n, value in values.items() if value is not None or n == "expires_at"}


class ListMemoriesQuery(SessionRequest):
    # A misspelt filter would list too much.
    model_config = ConfigDict(extra="forbid")

    status: Literal["active", "candidate", "revoked", "expired", "all"] = "active"
    type: MemoryType | None = None
    scope: Scope | None = None
    realm: Realm | None = None
    key_prefix: OptionalName | None = None
    event_type: Name | None = None
    min_importance: ShareParam | None = None
    since: TimestampParam | None = Field(default=None, description="Created then or later.")
    until: TimestampParam | None = Field(default=None, description="Created before.")
    q: Annotated[Text, Field(max_length=1000)] | None = None
    sort: MemoryOrder = MemoryOrder.NEWEST
    source_app: OptionalName | None = None
    limit: PageSize = 50
    cursor: Annotated[str, Field(pattern=_CURSOR)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _ignore_user(cls, values: Any) -> Any:
        """Drop a `user_id`, which is ignored everywhere: the key decides."""
        return {name: value for name, value in dict(values).items() if name != "user_id"}

    @property
    def position(self) -> MemoryPosition | None:
        """Return the place after which the page starts; another sort raises `Conflict`."""
        if not self.cursor:
            return None
        importance, colon, memory_id = self.cursor.rpartition(":")
        if bool(colon) is not (self.sort is MemoryOrder.IMPORTANCE):
            raise Conflict("The cursor belongs to another sort; list again without it.")
        return MemoryPosition(int(memory_id), float(importance or 0))

    def cursor_at(self, position: MemoryPosition) -> str:
        """Return the cursor of the page after a place."""
        if self.sort is MemoryOrder.IMPORTANCE:
            return f"{position.importance!r}:{position.id}"
        return str(position.id)


class GetMemoryQuery(BotRequest):
    memory_id: IdParam


class RebuildIndexRequest(PersonaRequest):
    pass


class MemoryRow(ResponseBody):
    id: int
    persona_id: str
    type: MemoryType
    key: str
    mkey: str
    content: str
    tags: list[str]
    status: Status
    scope: Scope
    realm: Realm
    source_type: SourceType
    source_ref: str | None
    source_app: str | None
    bot_id: str | None
    session_id: str | None
    branch_id: str | None
    speaker: str | None
    source_message_ids: list[int]
    quote: str | None
    confidence: float
    importance: float
    pinned: bool
    expires_at: int | None
    occurred_at: float | None
    supersedes_id: int | None
    superseded_by: int | None
    created_at: float
    updated_at: float
    last_recalled_at: float | None
    recall_count: int
    metadata: dict[str, Any]
    attributes: dict[str, Any]


class ReplacedRow(ResponseBody):
    """An active memory that confirming the candidate would end."""

    memory_id: int
    key: str
    content: str


class MemoryListRow(MemoryRow):
    # For a candidate: the memories that confirming it would end.
    replaces: list[ReplacedRow]


class ScoredMemoryRow(MemoryRow):
    score: float
    unconfirmed: bool


# Of a memory, what a row shows: as it is, null for an empty text, a list for a tuple.
_DEFAULTS = {item.name: item.default for item in fields(Memory)}
_ROW_FIELDS = [name for name in _DEFAULTS if name in MemoryRow.model_fields]
_NULLABLE_FIELDS = [name for name in _ROW_FIELDS if _DEFAULTS[name] == ""]
_LIST_FIELDS = [name for name in _ROW_FIELDS if _DEFAULTS[name] == ()]
_SAME_FIELDS = [name for name in _ROW_FIELDS if _DEFAULTS[name] not in ("", ())]
_same_values = attrgetter(*_SAME_FIELDS)
_nullable_values = attrgetter(*_NULLABLE_FIELDS)
_list_values = attrgetter(*_LIST_FIELDS)
_ANY_PERSONA = "default"


def memory_row_fields(memory: Memory) -> dict[str, Any]:
    """Return a memory as a response row; a missing value is null."""
    nullable = zip(_NULLABLE_FIELDS, _nullable_values(memory), strict=True)
    lists = zip(_LIST_FIELDS, _list_values(memory), strict=True)
    return {
        **dict(zip(_SAME_FIELDS, _same_values(memory), strict=True)),
        **{name: value or None for name, value in nullable},
        **{name: list(value) for name, value in lists},
        # Callers see whole seconds; rounded up, so that nothing ends before it is said to.
        "expires_at": None if memory.expires_at is None else ceil(memory.expires_at),
        # Of what all personas share, any persona can ask.
        "persona_id": memory.told_to or memory.owner.persona_id or _ANY_PERSONA,
        "mkey": memory.key,
    }


def memory_row(memory: Memory) -> MemoryRow:
    # Our own rows need no validation, and recall builds many of them.
    return MemoryRow.model_construct(**memory_row_fields(memory))


def memory_list_row(memory: Memory, replaces: Sequence[Memory]) -> MemoryListRow:
    ended = [ReplacedRow(memory_id=one.id, key=one.key, content=one.content) for one in replaces]
    return MemoryListRow.model_construct(**memory_row_fields(memory), replaces=ended)


class WriteOneResponse(ResponseBody):
    status: str
    updated: bool
    memory_id: int | None
    memory_status: Status | None


class WriteItemRow(ResponseBody):
    memory_id: int
    memory_status: Status
    key: str


class SkippedItemRow(ResponseBody):
    index: int
    reason: str


class WriteManyResponse(ResponseBody):
    status: str
    written: int
    items: list[WriteItemRow]
    skipped: list[SkippedItemRow]
    job_id: int | None = None


class ReviewResponse(ResponseBody):
    status: str
    updated: bool
    memory_id: int
    memory_status: Status


class ReviewItemRow(ResponseBody):
    memory_id: int
    updated: bool
    memory_status: Status | None
    error: ErrorBody | None = None


class ReviewManyResponse(ResponseBody):
    status: str
    updated: bool
    items: list[ReviewItemRow]


class UpdateMemoryResponse(ReviewResponse):
    memory: MemoryRow


class ListMemoriesResponse(ResponseBody):
    items: list[MemoryListRow]
    next_cursor: str | None


class ChangeRow(ResponseBody):
    id: int
    event: str
    ts: float
    by: str
    request_id: str
    data: dict[str, Any]


class MemoryVersionRow(MemoryRow):
    changes: list[ChangeRow]


class MemoryHistoryResponse(ResponseBody):
    memory_id: int
    items: list[MemoryVersionRow]


class RebuildIndexResponse(ResponseBody):
    status: str
    counts: dict[str, int]
    seconds: float
