"""State transitions of memories: create, confirm, replace, end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import Conflict, Expired, InvalidInput, NeedsSupersedes
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import normalise
from plastic_memories.model.memory import (
    LIST_SLOTS,
    SLOT_TYPES,
    Draft,
    Memory,
    MemoryType,
    SourceType,
    Status,
    base_fields,
)
from plastic_memories.model.owner import Owner

# Default confidence by source; a later, surer statement replaces an earlier one.
_DEFAULT_CONFIDENCE = {
    SourceType.USER_EXPLICIT: 1.0,
    SourceType.IMPORTED: 0.8,
    SourceType.TOOL: 0.8,
    SourceType.MODEL_INFERRED: 0.6,
}
DEFAULT_IMPORTANCE = 0.5
# Inferred types that replace nothing the user stated: they need no confirmation.
_ADDITIVE_TYPES = frozenset({MemoryType.SUMMARY, MemoryType.EVENT})
_SINGLE_VALUE_TYPES = frozenset({MemoryType.PROFILE, MemoryType.FACT, MemoryType.STABLE_FACT})


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The effect of a write: none (`duplicate`), or a row of `status` that may replace others."""

    duplicate: Memory | None = None
    status: Status = Status.ACTIVE
    replaces: tuple[Memory, ...] = ()


def confidence_of(draft: Draft) -> float:
    return _DEFAULT_CONFIDENCE[draft.source_type] if draft.confidence is None else draft.confidence


def memory_from_draft(
    owner: Owner, draft: Draft, now: float, status: Status = Status.CANDIDATE
) -> Memory:
    """Return a draft as a memory without an id."""
    return Memory(
        **base_fields(draft),
        id=0,
        owner=owner,
        status=status,
        confidence=confidence_of(draft),
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        superseded_by=None,
        root_id=0,
        created_at=now,
        updated_at=now,
        last_recalled_at=None,
        recall_count=0,
    )


def plan_write(new: Draft, same_key: Sequence[Memory]) -> WritePlan:
    """Return the plan of a write, given the active and candidate rows of the same key."""
    active = [row for row in same_key if row.status is Status.ACTIVE]
    waiting = [row for row in same_key if row.status is Status.CANDIDATE]
    if _needs_confirmation(new, active):
        return WritePlan(duplicate=_duplicate_row(new, waiting), status=Status.CANDIDATE)
    return WritePlan(duplicate=_duplicate_row(new, active), replaces=tuple(active))


def _needs_confirmation(new: Draft, active: Sequence[Memory]) -> bool:
    if new.type in SLOT_TYPES or is_unread_profile(new):
        return True
    if new.source_type is SourceType.USER_EXPLICIT:
        return False
    if new.source_type is SourceType.MODEL_INFERRED and not _is_additive(new, active):
        return True
    less_sure = any(confidence_of(new) < row.confidence for row in active)
    return new.type in _SINGLE_VALUE_TYPES and less_sure


def is_unread_profile(memory: Memory | Draft) -> bool:
    """Return whether this is a statement that no rule could read, kept for the user to confirm."""
    return memory.type is MemoryType.PROFILE and ".unread." in memory.key


def _is_additive(new: Draft, active: Sequence[Memory]) -> bool:
    """Return whether an inferred item adds to the user's statements and replaces none."""
    if new.type not in _ADDITIVE_TYPES or any(_is_stated(row) for row in active):
        return False
    return new.type is not MemoryType.EVENT or "date" in new.attributes


def _is_stated(memory: Memory) -> bool:
    return memory.source_type is SourceType.USER_EXPLICIT


def _duplicate_row(new: Draft, rows: Sequence[Memory]) -> Memory | None:
    """Return the row that equals the draft in every field a caller can see."""
    return next((row for row in rows if _comparable_fields(row) == _comparable_fields(new)), None)


def _comparable_fields(memory: Memory | Draft) -> tuple[object, ...]:
    return (
        memory.content,
        memory.tags,
        memory.expires_at,
        memory.pinned,
        memory.occurred_at,
        dict(memory.metadata),
        dict(memory.attributes),
    )


@dataclass(frozen=True, slots=True)
class ConfirmOptions:
    supersedes_id: int | None = None
    coexist: bool = False


def rows_replaced_by_confirm(
    candidate: Memory, active: Sequence[Memory], request: ConfirmOptions, now: float
) -> tuple[Memory, ...]:
    """Return the active rows that the candidate replaces, or raise the conflict.

    `active` are the active rows of the candidate's slot type (for a slot), or of its key.
    """
    if candidate.is_expired_at(now):
        raise Expired(f"Memory {candidate.id} expired before it was confirmed.")
    if request.coexist and candidate.type not in LIST_SLOTS:
        raise InvalidInput("coexist is possible for preferences and constraints only.")
    if not active:
        if request.supersedes_id is not None:
            raise Conflict("There is no active memory to supersede.", {"type": candidate.type})
        return ()
    if not candidate.is_slot:
        return _replaced_fact_rows(active, request)
    return _replaced_slot_rows(candidate, active, request)


def _replaced_fact_rows(active: Sequence[Memory], request: ConfirmOptions) -> tuple[Memory, ...]:
    if request.supersedes_id not in (None, *(row.id for row in active)):
        raise Conflict(f"Memory {request.supersedes_id} is not the active one of this key.")
    return tuple(active)


def _replaced_slot_rows(
    candidate: Memory, active: Sequence[Memory], request: ConfirmOptions
) -> tuple[Memory, ...]:
    wanted = request.supersedes_id or candidate.supersedes_id
    named = tuple(row for row in active if row.id == wanted)
    # Two active rows of one key cannot coexist, whatever the request says.
    same_key = tuple(
        row for row in active if _has_same_key_and_scope(row, candidate) and row not in named
    )
    if named:
        return named + same_key
    if request.coexist and request.supersedes_id is None:
        return same_key
    newest = max(active, key=lambda row: row.id)
    raise NeedsSupersedes(
        f"The slot {candidate.type} is taken: name the active memory in supersedes_id.",
        {
            "type": candidate.type.value,
            "active_memory_id": newest.id,
            "active_content": newest.content,
            "candidate_content": candidate.content,
        },
    )


def _has_same_key_and_scope(one: Memory, other: Memory) -> bool:
    return (one.key, one.scope, one.scope_ref) == (other.key, other.scope, other.scope_ref)


def end_memory(memory: Memory, now: float, superseded_by: int | None = None) -> Memory:
    """Return the row after it was revoked or replaced."""
    status = Status.EXPIRED if memory.is_expired_at(now) else Status.REVOKED
    return replace(
        memory,
        status=status,
        updated_at=now,
        superseded_by=superseded_by or memory.superseded_by,
    )


def activate_candidate(candidate: Memory, replaced: Sequence[Memory], now: float) -> Memory:
    """Return a confirmed candidate; it continues the version chain of the row it replaces."""
    return replace(
        candidate,
        status=Status.ACTIVE,
        updated_at=now,
        supersedes_id=replaced[0].id if replaced else None,
        root_id=replaced[0].root_id if replaced else candidate.root_id,
    )


def comparable_value(memory: Memory | Draft) -> str:
    """Return the value of a memory, normalised and in simplified characters.

    Extractors put the bare value into the attributes; without one, the content is the value.
    """
    return to_simplified(value_as_written(memory))


def value_as_written(memory: Memory | Draft) -> str:
    """Return the normalised value in the script in which it was written."""
    return normalise(str(memory.attributes.get("value") or memory.content))
