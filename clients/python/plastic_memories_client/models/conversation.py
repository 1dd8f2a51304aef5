"""Models of messages and branches."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from .record import Record, Result


class Message(Record):
    """One message. `role` is user, assistant, system or tool."""

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
    # Set by the hub.
    id: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the fields to send: those that were set, without the hub's own."""
        return self.model_dump(include=_SENT, exclude_none=True)


# Fields set by the hub are not sent back when a message is appended again.
_SENT = set(Message.model_fields) - {"id"}


class AppendResult(Result):
    """The stored messages; `deduped` counts those that existed already."""

    status: str = ""
    message_id: int | None = None
    message_ids: list[int] = Field(default_factory=list)
    deduped: int = 0

    @field_validator("deduped", mode="before")
    @classmethod
    def _count(cls, value: Any) -> Any:
        return sum(map(bool, value)) if isinstance(value, list) else value

    @classmethod
    def merge(cls, parts: list[AppendResult]) -> AppendResult:
        """Return the batches of one append as one result."""
        if len(parts) == 1:
            return parts[0]
        last = parts[-1] if parts else cls(status="ok")
        message_ids = [message_id for part in parts for message_id in part.message_ids]
        deduped = sum(part.deduped for part in parts)
        return last.model_copy(update={"message_ids": message_ids, "deduped": deduped})


class Removed(Result):
    """The number of erased rows."""

    status: str = ""
    deleted: int = 0


class Branch(Result):
    branch_id: str | int = ""
