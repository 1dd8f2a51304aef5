"""Memories, and what came of writing, reviewing and forgetting them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .memory_item import MemoryItem
from .record import Record, Result


class MemoryPage(Result):
    """Some rows; `next_cursor` asks for those that follow."""

    items: list[MemoryItem] = Field(default_factory=list)
    next_cursor: str | int | None = None


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

    def shift_indexes(self, start: int) -> WriteResult:
        """Return the same answer with the indexes of `skipped` moved by `start`."""
        moved = [
            part if part.index is None else part.model_copy(update={"index": part.index + start})
            for part in self.skipped
        ]
        return self.model_copy(update={"skipped": moved})

    @classmethod
    def merge(cls, parts: list[WriteResult]) -> WriteResult:
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
