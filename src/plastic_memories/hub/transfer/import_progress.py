"""What an import has done so far, kept across its transactions."""

from __future__ import annotations

import hashlib
from collections import ChainMap, Counter
from collections.abc import Hashable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner

# Identifies a row by its content; the parts depend on the kind of the row.
RowKey = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    counts: Mapping[str, int]
    conflicts: list[Mapping[str, Any]]
    skipped: list[Mapping[str, Any]]
    is_trusted: bool
    import_id: int | None = None  # to undo it; a dry run has none


@dataclass(slots=True)
class ImportProgress:
    """Counts, id translations and known rows of one import.

    A slice works on a `child`, which is merged after its commit: what is rolled back, or run
    again, leaves no trace. Known rows are looked up once per group, so the cost stays linear
    however many rows share a time or a key.
    """

    counts: Counter[str] = field(default_factory=Counter)
    conflicts: list[Mapping[str, Any]] = field(default_factory=list)
    skipped: list[Mapping[str, Any]] = field(default_factory=list)
    memory_ids: MutableMapping[int, int] = field(default_factory=dict)  # theirs → ours
    message_ids: MutableMapping[int, int] = field(default_factory=dict)
    rows: MutableMapping[RowKey, int] = field(default_factory=dict)
    groups: MutableMapping[RowKey, bool] = field(default_factory=dict)  # those looked up
    slots: MutableMapping[RowKey, Memory] = field(default_factory=dict)  # one row of each
    # Rows that this slice has stored: kind, owner and id. Recorded with the slice, not merged.
    added: list[tuple[str, Owner, int]] = field(default_factory=list)

    def child(self) -> ImportProgress:
        """Return a progress that knows what this one does, and stores additions apart."""
        return ImportProgress(
            memory_ids=ChainMap({}, self.memory_ids),
            message_ids=ChainMap({}, self.message_ids),
            rows=ChainMap({}, self.rows),
            groups=ChainMap({}, self.groups),
            slots=ChainMap({}, self.slots),
        )

    def merge(self, child: ImportProgress) -> None:
        """Add what a committed slice has done."""
        self.counts += child.counts
        self.conflicts += child.conflicts
        self.skipped += child.skipped
        for name in ("memory_ids", "message_ids", "rows", "groups", "slots"):
            getattr(self, name).update(getattr(child, name).maps[0])

    def report(self, *, is_trusted: bool, import_id: int | None) -> ImportReport:
        return ImportReport(dict(+self.counts), self.conflicts, self.skipped, is_trusted, import_id)


def text_digest(text: str) -> bytes:
    """Return a short digest that stands for a text: an import knows many of them."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
