"""How a memory comes to be, is confirmed, replaced and ended. Pure: rows in, decisions out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.errors import Conflict, Expired, InvalidInput, NeedsSupersedes
from plastic_memories.language.text.scripts import simplified
from plastic_memories.language.text.tokens import normalise
from plastic_memories.model.memory import (
    LIST_SLOTS,
    SLOT_TYPES,
    Draft,
    Memory,
    MemoryType,
    SourceType,
    Status,
)
from plastic_memories.model.owner import Owner

# How sure a source is when it does not say; a later, surer word wins over an earlier one.
_CONFIDENCE = {
    SourceType.USER_EXPLICIT: 1.0,
    SourceType.IMPORTED: 0.8,
    SourceType.TOOL: 0.8,
    SourceType.MODEL_INFERRED: 0.6,
}
DEFAULT_IMPORTANCE = 0.5
# Inferred, but they replace nothing the user said: they need no yes.
_ADDITIVE = frozenset({MemoryType.SUMMARY, MemoryType.EVENT})
_STATED_ONCE = frozenset({MemoryType.PROFILE, MemoryType.FACT, MemoryType.STABLE_FACT})


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What a write does: nothing new (`same`), or a row of `status` that may replace others."""

    same: Memory | None = None
    status: Status = Status.ACTIVE
    replaces: tuple[Memory, ...] = ()


def confidence_of(draft: Draft) -> float:
    return _CONFIDENCE[draft.source_type] if draft.confidence is None else draft.confidence


def memory_from(
    owner: Owner, draft: Draft, now: float, status: Status = Status.CANDIDATE
) -> Memory:
    """Turn a draft into a row that has no id yet."""
    return Memory(
        id=0,
        owner=owner,
        type=draft.type,
        key=draft.key,
        content=draft.content,
        tags=draft.tags,
        status=status,
        scope=draft.scope,
        realm=draft.realm,
        source_type=draft.source_type,
        source_ref=draft.source_ref,
        source_app=draft.source_app,
        bot_id=draft.bot_id,
        session_id=draft.session_id,
        branch_id=draft.branch_id,
        speaker=draft.speaker,
        source_message_ids=draft.source_message_ids,
        quote=draft.quote,
        confidence=confidence_of(draft),
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        pinned=draft.pinned,
        expires_at=draft.expires_at,
        occurred_at=draft.occurred_at,
        supersedes_id=draft.supersedes_id,
        superseded_by=None,
        root_id=0,
        created_at=now,
        updated_at=now,
        last_recalled_at=None,
        recall_count=0,
        metadata=draft.metadata,
        attributes=draft.attributes,
        idempotency_key=draft.idempotency_key,
    )


def plan_write(new: Draft, same_key: Sequence[Memory]) -> WritePlan:
    """Decide what a write does, given the active and waiting rows of the same key."""
    active = [row for row in same_key if row.status is Status.ACTIVE]
    waiting = [row for row in same_key if row.status is Status.CANDIDATE]
    if _must_wait(new, active):
        return WritePlan(same=_equal_row(new, waiting), status=Status.CANDIDATE)
    return WritePlan(same=_equal_row(new, active), replaces=tuple(active))


def _must_wait(new: Draft, active: Sequence[Memory]) -> bool:
    if new.type in SLOT_TYPES:
        return True
    if new.source_type is SourceType.USER_EXPLICIT:
        return False
    if new.source_type is SourceType.MODEL_INFERRED and not _adds_only(new, active):
        return True
    less_sure = any(confidence_of(new) < row.confidence for row in active)
    return new.type in _STATED_ONCE and less_sure


def _adds_only(new: Draft, active: Sequence[Memory]) -> bool:
    """Say whether an inferred item stands beside what the user said, and replaces none of it."""
    if new.type not in _ADDITIVE or any(_is_stated(row) for row in active):
        return False
    return new.type is not MemoryType.EVENT or "date" in new.attributes


def _is_stated(memory: Memory) -> bool:
    return memory.source_type is SourceType.USER_EXPLICIT


def _equal_row(new: Draft, rows: Sequence[Memory]) -> Memory | None:
    """Return the row that says the same already, in everything a caller can see."""
    return next((row for row in rows if _saying(row) == _saying(new)), None)


def _saying(memory: Memory | Draft) -> tuple[object, ...]:
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
class ConfirmRequest:
    supersedes_id: int | None = None
    coexist: bool = False


def replaced_by_confirm(
    candidate: Memory, active: Sequence[Memory], request: ConfirmRequest, now: float
) -> tuple[Memory, ...]:
    """Return the active rows that the candidate replaces, or raise the conflict.

    `active` are the active rows of the candidate's slot type (for a slot), or of its key.
    """
    if candidate.is_past(now):
        raise Expired(f"Memory {candidate.id} expired before it was confirmed.")
    if request.coexist and candidate.type not in LIST_SLOTS:
        raise InvalidInput("coexist is possible for preferences and constraints only.")
    if not active:
        if request.supersedes_id is not None:
            raise Conflict("There is no active memory to supersede.", {"type": candidate.type})
        return ()
    if not candidate.is_slot:
        return _replaced_fact(active, request)
    return _replaced_slot(candidate, active, request)


def _replaced_fact(active: Sequence[Memory], request: ConfirmRequest) -> tuple[Memory, ...]:
    if request.supersedes_id not in (None, *(row.id for row in active)):
        raise Conflict(f"Memory {request.supersedes_id} is not the active one of this key.")
    return tuple(active)


def _replaced_slot(
    candidate: Memory, active: Sequence[Memory], request: ConfirmRequest
) -> tuple[Memory, ...]:
    wanted = request.supersedes_id or candidate.supersedes_id
    named = tuple(row for row in active if row.id == wanted)
    # Two active rows of one key cannot stand side by side, coexist or not.
    same_key = tuple(row for row in active if _same_place(row, candidate) and row not in named)
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


def _same_place(one: Memory, other: Memory) -> bool:
    return (one.key, one.scope, one.scope_ref) == (other.key, other.scope, other.scope_ref)


def ended(memory: Memory, now: float, superseded_by: int | None = None) -> Memory:
    """Return the row as it stands after it was revoked or replaced."""
    status = Status.EXPIRED if memory.is_past(now) else Status.REVOKED
    return replace(
        memory,
        status=status,
        updated_at=now,
        superseded_by=superseded_by or memory.superseded_by,
    )


def activated(candidate: Memory, replaced: Sequence[Memory], now: float) -> Memory:
    """Return a candidate as it stands after a yes; it continues the chain of what it replaces."""
    return replace(
        candidate,
        status=Status.ACTIVE,
        updated_at=now,
        supersedes_id=replaced[0].id if replaced else None,
        root_id=replaced[0].root_id if replaced else candidate.root_id,
    )


def value_of(memory: Memory | Draft) -> str:
    """Return what a memory says about its key, in one normal form and in simplified characters.

    Extractors put the bare value into the attributes; without one, the content is the value.
    """
    return simplified(written_value(memory))


def written_value(memory: Memory | Draft) -> str:
    """Return the same in the characters it was written in."""
    return normalise(str(memory.attributes.get("value") or memory.content))
