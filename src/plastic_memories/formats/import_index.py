"""Index the lines of an export: in which order they are imported, and who wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from plastic_memories.errors import BodyTooLarge
from plastic_memories.formats.export_signature import SignatureCheck
from plastic_memories.model.owner import User

# Messages before the memories that name them as their source, memories before their goals.
KINDS = ("settings", "persona", "card", "message", "memory", "goal")


class IndexedLine(NamedTuple):
    """One readable line. It is parsed again when its turn comes: a parsed line is ten times as
    large."""

    rank: int
    id: int
    number: int
    text: str

    @property
    def kind(self) -> str:
        return KINDS[self.rank]


@dataclass(frozen=True, slots=True)
class ImportIndex:
    lines: Sequence[IndexedLine]  # in the order of the import
    skipped: Sequence[Mapping[str, Any]]
    persona_ids: frozenset[str]
    is_own: bool  # signed by this hub for this user, and complete


def index_lines(lines: Iterable[str], secret: bytes, user: User, max_entries: int) -> ImportIndex:
    """Read every line once; raise `BodyTooLarge` if there are more than `max_entries`."""
    found: list[IndexedLine] = []
    skipped: list[Mapping[str, Any]] = []
    persona_ids: set[str] = set()
    check = SignatureCheck(secret, user)
    for number, text in enumerate(lines, 1):
        if number > max_entries + 1:  # a text ends with one empty line
            raise too_many_entries(max_entries)
        if not text.strip():
            continue
        line = parse_line(text)
        if line is None:
            skipped.append({"line": number, "reason": "not a line of an export"})
            continue
        check.add(line)
        if line["kind"] in KINDS:
            found.append(IndexedLine(KINDS.index(line["kind"]), _line_id(line), number, text))
            if isinstance(line.get("persona_id"), str):
                persona_ids.add(line["persona_id"])
    found.sort(key=lambda line: line[:3])
    # An unreadable line was not written by us.
    is_own = not skipped and check.is_own
    return ImportIndex(found, skipped, frozenset(persona_ids), is_own)


def too_many_entries(limit: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"The import has more than {limit} lines; "
        "PLASTIC_MEMORIES_MAX_IMPORT_ENTRIES is the limit.",
        {"limit": limit, "setting": "PLASTIC_MEMORIES_MAX_IMPORT_ENTRIES"},
    )


def parse_line(text: str) -> dict[str, Any] | None:
    """Return a line of an export; None if it is not one."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("kind"), str) else None


def _line_id(line: Mapping[str, Any]) -> int:
    value = line.get("id")
    return value if isinstance(value, int) else 0
