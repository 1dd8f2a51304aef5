"""What is put in order while nobody talks. Pure: rows in, changes out.

Careful on purpose: a duplicate costs a line in a prompt, a false merge costs a memory.
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
from plastic_memories.language.text.scripts import simplified
from plastic_memories.language.text.similarity import same_words
from plastic_memories.language.text.tokens import UNSPACED, plain
from plastic_memories.model.memory import Memory, MemoryType, SourceType, Status
from plastic_memories.rules.conversation.branch_lines import said_at
from plastic_memories.rules.lifecycle.occurrences import next_of, read_anchor
from plastic_memories.rules.lifecycle.transitions import value_of
from plastic_memories.rules.prompt.always_told import SEARCHED, core_level, is_constraint

_DAY_S = 86_400.0
# Without use a memory loses a tenth of its weight each month, and never all of it.
_FADES_AFTER_S = 30 * _DAY_S
_FADES_TO = 0.9
_LEAST = 0.05
# With use it comes nearer to full weight, at most once a week.
_GROWS_AFTER_S = 7 * _DAY_S
_GROWS_BY = 0.1
# What weighs less than this and was not used for so long is archived.
_LOW = 0.2
_OLD_S = 180 * _DAY_S

# Here the key is what the memory is about; elsewhere it is only a name of the row.
_KEYED = frozenset({MemoryType.PROFILE, MemoryType.FACT, MemoryType.STABLE_FACT})
_MERGED = _KEYED | {MemoryType.NOTE, MemoryType.EVENT}
_ARCHIVED = frozenset({MemoryType.NOTE, MemoryType.FACT, MemoryType.EVENT, MemoryType.SUMMARY})
# A shorter text is a bare value, and says nothing without its key.
_LEAST_CHARS = 4
_LEAST_WORDS = 3

_UNSPACED = regex(f"[{UNSPACED}]")
_KEY_SPACE = regex(r"[\s_-]+")


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
class Change:
    """One thing to do to `memory`; `other` is what stays in its place."""

    kind: ChangeKind
    memory: Memory
    other: Memory | None = None
    importance: float = 0.0

    @property
    def rows(self) -> tuple[Memory, ...]:
        return (self.memory,) if self.other is None else (self.memory, self.other)


def plan(rows: Sequence[Memory], now: float, branched: Collection[str] = ()) -> list[Change]:
    """Return what to change about one owner's active and waiting rows; no row twice.

    What was learned in a branched conversation is seen on some lines and not on others: those
    rows are left as they are.
    """
    free = [row for row in rows if not row.branch_id and row.session_id not in branched]
    proposed = chain(_merges(free), _contradictions(free), _single(free, now))
    taken: set[int] = set()
    changes: list[Change] = []
    for change in proposed:
        ids = {row.id for row in change.rows}
        if taken.isdisjoint(ids):
            # Several may be merged into one.
            taken |= {change.memory.id} if change.kind is ChangeKind.MERGE else ids
            changes.append(change)
    kept = {c.other.id for c in changes if c.kind is ChangeKind.MERGE and c.other is not None}
    return [c for c in changes if c.kind is ChangeKind.MERGE or c.memory.id not in kept]


def plain_key(key: str) -> str:
    """Return a key as it is compared: `favorite-food` is `Favorite Food`, `綠茶` is `绿茶`."""
    return _KEY_SPACE.sub("_", plain(key))


def _merges(rows: Sequence[Memory]) -> Iterable[Change]:
    alike: defaultdict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for row in rows:
        if row.type in _MERGED and not is_constraint(row) and _says_something(row):
            alike[(*_place(row), *_statement(row))].append(row)
    for group in alike.values():
        first, *others = sorted(group, key=_standing)
        for other in others:
            if not other.pinned and _adds_nothing(other, first):
                yield Change(ChangeKind.MERGE, other, first)


def _statement(row: Memory) -> tuple[object, ...]:
    if row.type in _KEYED:
        return plain_key(row.key), same_words(value_of(row))
    return row.attributes.get("date"), same_words(row.content)


def _says_something(row: Memory) -> bool:
    if row.type in _KEYED:
        return True
    text = same_words(row.content)
    if _UNSPACED.search(text):
        return len(text) >= _LEAST_CHARS
    return len(text.split()) >= _LEAST_WORDS


def _standing(row: Memory) -> tuple[object, ...]:
    """Order rows that say the same: the first one stays."""
    is_stated = row.source_type is SourceType.USER_EXPLICIT
    return (
        row.status is not Status.ACTIVE,
        not row.pinned,
        not (is_stated and not row.source_message_ids),
        not is_stated,
        -row.confidence,
        row.id,
    )


def _adds_nothing(row: Memory, kept: Memory) -> bool:
    """Say whether nothing a caller has put into a row is missing in the one that stays."""
    return (
        set(row.tags) <= set(kept.tags)
        and row.expires_at == kept.expires_at
        and _is_part(row.metadata, kept.metadata)
        and _is_part(row.attributes, kept.attributes)
    )


def _is_part(some: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    return all(name in whole and _plain(whole[name]) == _plain(some[name]) for name in some)


def _plain(value: object) -> object:
    return simplified(value) if isinstance(value, str) else value


def _contradictions(rows: Sequence[Memory]) -> Iterable[Change]:
    """Find active rows of one thing that differ: a key can be spelled in several ways."""
    about: defaultdict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for row in rows:
        if row.status is Status.ACTIVE and row.type in _KEYED and not is_constraint(row):
            about[(*_place(row), plain_key(row.key))].append(row)
    for group in about.values():
        *older, newest = sorted(group, key=lambda row: (said_at(row), row.id))
        for row in older:
            if same_words(value_of(row)) != same_words(value_of(newest)):
                yield _resolved(row, newest)


def _resolved(older: Memory, newer: Memory) -> Change:
    if newer.source_type is SourceType.USER_EXPLICIT and not older.pinned:
        return Change(ChangeKind.RESOLVE, older, newer)
    return Change(ChangeKind.ASK, newer, older)


def _single(rows: Sequence[Memory], now: float) -> Iterable[Change]:
    for row in rows:
        if row.status is not Status.ACTIVE or core_level(row) > SEARCHED:
            continue
        if _is_worn_out(row, now):
            yield Change(ChangeKind.ARCHIVE, row)
        elif (weight := weighed(row, now)) != row.importance:
            yield Change(ChangeKind.WEIGH, row, importance=weight)


def weighed(row: Memory, now: float) -> float:
    """Return what a memory weighs now: less without use, more with it."""
    used_at = row.last_recalled_at or 0.0
    if used_at > row.updated_at:
        if now - row.updated_at < _GROWS_AFTER_S:
            return row.importance
        return round(row.importance + _GROWS_BY * (1 - row.importance), 4)
    months = int((now - row.updated_at) / _FADES_AFTER_S)
    if months <= 0 or row.importance <= _LEAST:
        return row.importance
    return max(_LEAST, round(row.importance * _FADES_TO**months, 4))


def _is_worn_out(row: Memory, now: float) -> bool:
    last = max(row.created_at, row.occurred_at or 0.0, row.last_recalled_at or 0.0)
    is_due = row.importance <= _LOW and now - last >= _OLD_S
    return is_due and row.type in _ARCHIVED and not _lies_ahead(row, now)


def _lies_ahead(row: Memory, now: float) -> bool:
    """Say whether an event may still come, wherever on earth its user lives."""
    if row.type is not MemoryType.EVENT:
        return False
    if read_anchor(str(row.attributes.get("date") or "")) is None:
        return True  # a lunar date, say: nobody here knows when it is
    today = datetime.fromtimestamp(now - _DAY_S, UTC).date()
    return next_of(row, today) is not None


def _place(row: Memory) -> tuple[object, ...]:
    return (row.type, row.bot_id, row.realm, row.scope, row.scope_ref, row.speaker)
