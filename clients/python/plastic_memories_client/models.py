"""What goes over the wire, typed; every model accepts fields it does not know."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Record(BaseModel):
    """A thing of the hub. Fields of a newer hub are kept as attributes."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _null_means_not_given(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if value is not None}


class Result(Record):
    """An answer: its fields, and `raw`, the data as it came."""

    request_id: str = ""
    raw: dict[str, Any] = Field(default_factory=dict, repr=False)


class Message(Record):
    """One utterance. `role` is user, assistant, system or tool."""

    role: str
    content: str
    ts: float | None = None
    speaker: str | None = None
    session_id: str | None = None
    source_app: str | None = None
    bot_id: str | None = None
    branch_id: str | int | None = None
    platform: str | None = None
    message_type: str | None = None
    realm: str | None = None
    client_msg_id: str | None = None
    # Given by the hub.
    id: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return what is sent: the fields that were set, without the hub's own."""
        return self.model_dump(include=_SENT, exclude_none=True)


# What the hub adds to a message is not sent back when one is appended again.
_SENT = set(Message.model_fields) - {"id"}


class Replaced(Record):
    """An active memory that a yes to a candidate would end."""

    memory_id: int = 0
    key: str = ""
    content: str = ""


class MemoryItem(Record):
    """One version of one remembered thing. Times are epoch seconds, UTC."""

    id: int = 0
    type: str = ""
    key: str = ""
    content: str = ""
    tags: list[str] = Field(default_factory=list)
    status: str = ""
    scope: str = ""
    realm: str = "real"
    source_type: str = ""
    source_ref: str = ""
    source_app: str = ""
    bot_id: str = ""
    session_id: str = ""
    speaker: str = ""
    source_message_ids: list[int] = Field(default_factory=list)
    quote: str = ""
    confidence: float | None = None
    importance: float | None = None
    pinned: bool = False
    expires_at: float | None = None
    occurred_at: float | None = None
    supersedes_id: int | None = None
    superseded_by: int | None = None
    created_at: float | None = None
    updated_at: float | None = None
    last_recalled_at: float | None = None
    recall_count: int = 0
    metadata: dict[str, Any] = Field(default_factory=dict)
    attributes: dict[str, Any] = Field(default_factory=dict)
    # Of a candidate that was listed or got.
    replaces: list[Replaced] = Field(default_factory=list)
    # Only in a recall.
    score: float | None = None


class MemoryPage(Result):
    """Some rows; `next_cursor` asks for those that follow."""

    items: list[MemoryItem] = Field(default_factory=list)
    next_cursor: str | int | None = None


class Block(Record):
    """A text for a prompt; `version` changes only when the text does."""

    text: str = ""
    version: str = ""

    def __str__(self) -> str:
        return self.text


class Intent(Record):
    type: str = "none"
    confidence: float = 0.0
    queries: list[str] = Field(default_factory=list)


class RecallResult(Result):
    """What is remembered that bears on a query."""

    injection_block: str = ""
    stable_block: Block = Field(default_factory=Block)
    turn_block: Block = Field(default_factory=Block)
    persona_profile: str = Field(default="", validation_alias="PERSONA_PROFILE")
    memory_items: list[MemoryItem] = Field(default_factory=list, validation_alias="PERSONA_MEMORY")
    chat_snippets: list[Message] = Field(default_factory=list, validation_alias="CHAT_SNIPPETS")
    intent: Intent = Field(default_factory=Intent)
    tokens: int = 0
    truncated: bool = False
    degraded: list[str] = Field(default_factory=list)
    explain: list[dict[str, Any]] | dict[str, Any] | None = None

    @classmethod
    def empty(cls, reason: str) -> RecallResult:
        """Return the answer of a hub that did not answer."""
        return cls(degraded=[f"client: {reason}"])


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
    # What was bundled with the card: {bundled, counts, conflicts, skipped}.
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


class AppendResult(Result):
    """What became of the messages; `deduped` counts those that were there already."""

    status: str = ""
    message_id: int | None = None
    message_ids: list[int] = Field(default_factory=list)
    deduped: int = 0

    @field_validator("deduped", mode="before")
    @classmethod
    def _count(cls, value: Any) -> Any:
        return sum(map(bool, value)) if isinstance(value, list) else value

    @classmethod
    def joined(cls, parts: list[AppendResult]) -> AppendResult:
        """Return the batches of one append as one answer."""
        if len(parts) == 1:
            return parts[0]
        last = parts[-1] if parts else cls(status="ok")
        message_ids = [message_id for part in parts for message_id in part.message_ids]
        deduped = sum(part.deduped for part in parts)
        return last.model_copy(update={"message_ids": message_ids, "deduped": deduped})


class Removed(Result):
    """How many are gone."""

    status: str = ""
    deleted: int = 0


class Written(Record):
    memory_id: int | None = None
    memory_status: str = ""
    key: str = ""


class Skipped(Record):
    """What was not written; `index` is its place in what was given."""

    index: int | None = None
    reason: str = ""


class WriteResult(Result):
    """What was written: one memory (`memory_id`) or several (`items`)."""

    status: str = ""
    updated: bool = False
    memory_id: int | None = None
    memory_status: str = ""
    written: int = 0
    items: list[Written] = Field(default_factory=list)
    skipped: list[Skipped] = Field(default_factory=list)
    job_id: int | str | None = None

    def counted_from(self, start: int) -> WriteResult:
        """Return the same answer with the places of what was skipped moved by `start`."""
        moved = [
            part if part.index is None else part.model_copy(update={"index": part.index + start})
            for part in self.skipped
        ]
        return self.model_copy(update={"skipped": moved})

    @classmethod
    def joined(cls, parts: list[WriteResult]) -> WriteResult:
        """Return the batches of one write as one answer."""
        if len(parts) == 1:
            return parts[0]
        last = parts[-1] if parts else cls(status="ok")
        update = {
            "written": sum(part.written for part in parts),
            "items": [item for part in parts for item in part.items],
            "skipped": [item for part in parts for item in part.skipped],
        }
        return last.model_copy(update=update)


class Changed(Result):
    """Whether something changed, and the memory's status now."""

    status: str = ""
    updated: bool = False
    memory_id: int | None = None
    memory_status: str = ""


class ChangedItem(Record):
    """What came of one of several; `error` has code, message and detail if nothing did."""

    memory_id: int = 0
    updated: bool = False
    memory_status: str = ""
    error: dict[str, Any] | None = None


class ChangedMany(Result):
    """What came of each, in the order asked for."""

    status: str = ""
    updated: bool = False
    items: list[ChangedItem] = Field(default_factory=list)


class Forgotten(Result):
    """What is gone for good; `receipt` lists what was checked and what remains where."""

    status: str = ""
    deleted: int = 0
    memory_ids: list[int] = Field(default_factory=list)
    receipt: Any = None


class Rebuilt(Result):
    status: str = ""
    counts: dict[str, Any] = Field(default_factory=dict)
    seconds: float = 0.0


class PageTitle(Record):
    id: str = ""
    title: str = ""


class Page(Result):
    """A Markdown page; `truncated` if it is too long to be shown whole."""

    id: str = ""
    title: str = ""
    text: str = ""
    truncated: bool = False


class PageIndex(Result):
    """The core page as a whole, of the others titles and ids."""

    core: Page | None = None
    extended: list[PageTitle] = Field(default_factory=list)


class SkippedLine(Record):
    line: int = 0
    reason: str = ""


class PageSync(Record):
    """What one round has done: ids of memories, and lines that were written or refused."""

    page: str = ""
    added: list[int] = Field(default_factory=list)
    changed: list[int] = Field(default_factory=list)
    revoked: list[int] = Field(default_factory=list)
    conflicts: list[int] = Field(default_factory=list)
    written: int = 0
    skipped: list[SkippedLine] = Field(default_factory=list)


class GoalLink(Record):
    id: int = 0
    memory_id: int | None = None
    note: str = ""
    created_at: float | None = None


class Goal(Record):
    """What the user wants to reach. `status` is active, paused, done or dropped."""

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


class UserSettings(Record):
    time_zone: str = ""
    language: str = ""


class Job(Record):
    task_id: int | str | None = None
    task_type: str = ""
    status: str = ""
    trigger: str = ""
    retry_count: int = 0
    max_retries: int = 0
    error_message: str = ""
    created_at: float | None = None
    started_at: float | None = None
    completed_at: float | None = None


class Branch(Result):
    branch_id: str | int = ""


class Health(Result):
    """`components` and `embedding_backlog` are told only to a caller with a key."""

    status: str = ""
    components: dict[str, Any] = Field(default_factory=dict)
    embedding_backlog: int | None = None


class Capabilities(Result):
    """What is plugged in, and the limits of this hub; the rest is in `raw`."""

    version: str = ""
    types: list[str] = Field(default_factory=list)
    statuses: list[str] = Field(default_factory=list)
    scopes: list[str] = Field(default_factory=list)
    limits: dict[str, Any] = Field(default_factory=dict)


class ExportedFile(Record):
    """One export in the hub's archive; the time is ISO 8601 in UTC."""

    path: str = ""
    exported_at: str = ""


class Imported(Result):
    counts: dict[str, Any] = Field(default_factory=dict)
    conflicts: list[Any] = Field(default_factory=list)


class AuditEntry(Record):
    """Who changed what, when, by which key."""

    id: int | None = None
    event: str = ""
    ts: float | None = None
    persona_id: str = ""
    memory_id: int | None = None
    request_id: str = ""
    key_label: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class HubEvent(Record):
    """Something that changed: ids and numbers, never the text of a memory."""

    id: int = 0
    event: str
    ts: float = 0.0
    request_id: str = ""
    persona_id: str = ""
    data: dict[str, Any] = Field(default_factory=dict)
