"""Models of memories, and results of writing, reviewing and forgetting them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .memory_item import MemoryItem
from .record import Record, Result


class MemoryPage(Result):
    """One page of rows; `next_cursor` requests the next page."""

    items: list[MemoryItem] = Field(default_factory=list)
    next_cursor: str | int | None = None


class Written(Record):
    memory_id: int | None = None
    memory_status: str = ""
    key: str = ""


class Skipped(Record):
    """An item that was not written; `index` is its index in the input."""

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

    def shift_indexes(self, start: int) -> WriteResult:
        """Return the same result with the indexes of `skipped` moved by `start`."""
        moved = [
            part if part.index is None else part.model_copy(update={"index": part.index + start})
            for part in self.skipped
        ]
        return self.model_copy(update={"skipped": moved})

    @classmethod
    def merge(cls, parts: list[WriteResult]) -> WriteResult:
        """Return the batches of one write as one result."""
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
    """Whether something changed, and the memory's current status."""

    status: str = ""
    updated: bool = False
    memory_id: int | None = None
    memory_status: str = ""


class ChangedItem(Record):
    """The outcome of one item; on failure `error` has code, message and detail."""

    memory_id: int = 0
    updated: bool = False
    memory_status: str = ""
    error: dict[str, Any] | None = None


class ChangedMany(Result):
    """The outcome of each item, in the requested order."""

    status: str = ""
    updated: bool = False
    items: list[ChangedItem] = Field(default_factory=list)


class Forgotten(Result):
    """What was erased; `receipt` lists what was checked and what remains where."""

    status: str = ""
    deleted: int = 0
    memory_ids: list[int] = Field(default_factory=list)
    receipt: Any = None
