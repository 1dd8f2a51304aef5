"""Plan the consolidation of memories: merge, resolve, archive and reweigh.

The rules are cautious: a duplicate costs a line in a prompt, a false merge costs a memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import Any

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.similarity import canonical_text
from plastic_memories.language.text.tokens import UNSPACED, normalise_script
from plastic_memories.model.memory import Memory, MemoryType, SourceType, Status
from plastic_memories.rules.conversation.branch_lines import statement_time
from plastic_memories.rules.lifecycle.occurrences import next_event_date, parse_event_date
from plastic_memories.rules.lifecycle.transitions import comparable_value
from plastic_memories.rules.prompt.always_told import SEARCH_ONLY, core_level, is_constraint

_DAY_S = 86_400.0
# An unused memory loses a tenth of its importance per month, down to a minimum.
_DECAY_INTERVAL_S = 30 * _DAY_S
_DECAY_FACTOR = 0.9
_MIN_IMPORTANCE = 0.05
# A used memory moves toward full importance, at most once a week.
_BOOST_INTERVAL_S = 7 * _DAY_S
_BOOST_FACTOR = 0.1
# Memories below this importance that were unused for this long are archived.
_ARCHIVE_MAX_IMPORTANCE = 0.2
_ARCHIVE_AFTER_S = 180 * _DAY_S

# In these types the key is the topic of the memory; in others it only identifies the row.
_KEYED_TYPES = frozenset({MemoryType.PROFILE, MemoryType.FACT, MemoryType.STABLE_FACT})
_MERGEABLE_TYPES = _KEYED_TYPES | {MemoryType.NOTE, MemoryType.EVENT}
_ARCHIVABLE_TYPES = frozenset(
    {MemoryType.NOTE, MemoryType.FACT, MemoryType.EVENT, MemoryType.SUMMARY}
)
# A shorter text is a bare value, meaningless without its key.
_MIN_CHARS = 4
_MIN_WORDS = 3

_UNSPACED = regex(f"[{UNSPACED}]")
_KEY_SEPARATORS = regex(r"[\s_-]+")


class ChangeKind(StrEnum):
    MERGE = "merge"
    RESOLVE = "resolve"
    ASK = "ask"
    ARCHIVE = "archive"
    WEIGH = "weigh"


REASONS = {
    ChangeKind.MERGE: "says the same as another",
    ChangeKind.RESOLVE: "the user has said otherwise since",
    ChangeKind.ASK: "contradicts another, and the user has not said it",
    ChangeKind.ARCHIVE: "old, of little weight and not used",
    ChangeKind.WEIGH: "weight follows use",
}


@dataclass(frozen=True, slots=True)
class ConsolidationChange:
    """One change to `memory`; `survivor` is the row that replaces it."""

    kind: ChangeKind
    memory: Memory
    survivor: Memory | None = None
    importance: float = 0.0

    @property
    def rows(self) -> tuple[Memory, ...]:
        return (self.memory,) if self.survivor is None else (self.memory, self.survivor)


def plan_consolidation(
    rows: Sequence[Memory], now: float, branched: Collection[str] = ()
) -> list[ConsolidationChange]:
    """Return the changes to one owner's active and candidate rows; each row changes at most once.

    Rows of a branched conversation stay unchanged: they are visible on some branches only.
    """
    free = [row for row in rows if not row.branch_id and row.session_id not in branched]
    proposed = chain(_plan_merges(free), _plan_contradictions(free), _plan_row_changes(free, now))
    changed_ids: set[int] = set()
    changes: list[ConsolidationChange] = []
    for change in proposed:
        ids = {row.id for row in change.rows}
        if changed_ids.isdisjoint(ids):
            # Several rows may be merged into one survivor.
            changed_ids |= {change.memory.id} if change.kind is ChangeKind.MERGE else ids
            changes.append(change)
    survivor_ids = {
        c.survivor.id for c in changes if c.kind is ChangeKind.MERGE and c.survivor is not None
    }
    return [c for c in changes if c.kind is ChangeKind.MERGE or c.memory.id not in survivor_ids]


def comparable_key(key: str) -> str:
    """Return a key in comparable form: `favorite-food` is `Favorite Food`, `綠茶` is `绿茶`."""
    return _KEY_SEPARATORS.sub("_", normalise_script(key))


def _plan_merges(rows: Sequence[Memory]) -> Iterable[ConsolidationChange]:
    alike: defaultdict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for row in rows:
        if row.type in _MERGEABLE_TYPES and not is_constraint(row) and _says_something(row):
            alike[(*_group_key(row), *_statement_key(row))].append(row)
    for group in alike.values():
        first, *others = sorted(group, key=_survivor_order)
        for other in others:
            if not other.pinned and _adds_nothing(other, first):
                yield ConsolidationChange(ChangeKind.MERGE, other, first)


def _statement_key(row: Memory) -> tuple[object, ...]:
    if row.type in _KEYED_TYPES:
        return comparable_key(row.key), canonical_text(comparable_value(row))
    return row.attributes.get("date"), canonical_text(row.content)


def _says_something(row: Memory) -> bool:
    if row.type in _KEYED_TYPES:
        return True
    text = canonical_text(row.content)
    if _UNSPACED.search(text):
        return len(text) >= _MIN_CHARS
    return len(text.split()) >= _MIN_WORDS


def _survivor_order(row: Memory) -> tuple[object, ...]:
    """Return the sort key of equal rows: the first one survives."""
    is_stated = row.source_type is SourceType.USER_EXPLICIT
    return (
        row.status is not Status.ACTIVE,
        not row.pinned,
        not (is_stated and not row.source_message_ids),
        not is_stated,
        -row.confidence,
        row.id,
    )


def _adds_nothing(row: Memory, survivor: Memory) -> bool:
    """Return whether the surviving row has everything a caller put into this row."""
    return (
        set(row.tags) <= set(survivor.tags)
        and row.expires_at == survivor.expires_at
        and _is_subset(row.metadata, survivor.metadata)
        and _is_subset(row.attributes, survivor.attributes)
    )


def _is_subset(some: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    return all(
        name in whole and _comparable_value(whole[name]) == _comparable_value(some[name])
        for name in some
    )


def _comparable_value(value: object) -> object:
    return to_simplified(value) if isinstance(value, str) else value


def _plan_contradictions(rows: Sequence[Memory]) -> Iterable[ConsolidationChange]:
    """Yield changes for active rows that differ under the same key; keys have several spellings."""
    about: defaultdict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for row in rows:
        if row.status is Status.ACTIVE and row.type in _KEYED_TYPES and not is_constraint(row):
            about[(*_group_key(row), comparable_key(row.key))].append(row)
    for group in about.values():
        *older, newest = sorted(group, key=lambda row: (statement_time(row), row.id))
        for row in older:
            if canonical_text(comparable_value(row)) != canonical_text(comparable_value(newest)):
                yield _contradiction_change(row, newest)


def _contradiction_change(older: Memory, newer: Memory) -> ConsolidationChange:
    if newer.source_type is SourceType.USER_EXPLICIT and not older.pinned:
        return ConsolidationChange(ChangeKind.RESOLVE, older, newer)
    return ConsolidationChange(ChangeKind.ASK, newer, older)


def _plan_row_changes(rows: Sequence[Memory], now: float) -> Iterable[ConsolidationChange]:
    for row in rows:
        if row.status is not Status.ACTIVE or core_level(row) > SEARCH_ONLY:
            continue
        if _is_stale(row, now):
            yield ConsolidationChange(ChangeKind.ARCHIVE, row)
        elif (weight := adjusted_importance(row, now)) != row.importance:
            yield ConsolidationChange(ChangeKind.WEIGH, row, importance=weight)


def adjusted_importance(row: Memory, now: float) -> float:
    """Return the current importance: lower without use, higher with it."""
    used_at = row.last_recalled_at or 0.0
    if used_at > row.updated_at:
        if now - row.updated_at < _BOOST_INTERVAL_S:
            return row.importance
        return round(row.importance + _BOOST_FACTOR * (1 - row.importance), 4)
    months = int((now - row.updated_at) / _DECAY_INTERVAL_S)
    if months <= 0 or row.importance <= _MIN_IMPORTANCE:
        return row.importance
    return max(_MIN_IMPORTANCE, round(row.importance * _DECAY_FACTOR**months, 4))


def _is_stale(row: Memory, now: float) -> bool:
    last = max(row.created_at, row.occurred_at or 0.0, row.last_recalled_at or 0.0)
    is_due = row.importance <= _ARCHIVE_MAX_IMPORTANCE and now - last >= _ARCHIVE_AFTER_S
    return is_due and row.type in _ARCHIVABLE_TYPES and not _may_still_occur(row, now)


def _may_still_occur(row: Memory, now: float) -> bool:
    """Return whether an event may still occur, in any time zone."""
    if row.type is not MemoryType.EVENT:
        return False
    if parse_event_date(str(row.attributes.get("date") or "")) is None:
        return True  # unknown here, for example a lunar date
    today = datetime.fromtimestamp(now - _DAY_S, UTC).date()
    return next_event_date(row, today) is not None


def _group_key(row: Memory) -> tuple[object, ...]:
    return (row.type, row.bot_id, row.realm, row.scope, row.scope_ref, row.speaker)
