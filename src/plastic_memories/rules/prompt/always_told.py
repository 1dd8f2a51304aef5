"""Core memories: recalled for every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plastic_memories.model.memory import (
    ADDRESS_KEYS,
    Memory,
    MemoryType,
    Scope,
    SourceType,
    Status,
)

SEARCH_ONLY = 0  # found by search only
OWN_PERSONA = 1  # always recalled by its own persona
ALL_PERSONAS = 2  # always recalled by every persona of the user

_OWN_PERSONA_TYPES = frozenset(
    {
        MemoryType.PERSONA,
        MemoryType.RULE,
        MemoryType.IDENTITY,
        MemoryType.VALUES,
        MemoryType.PREFERENCES,
    }
)
# Names of the user; other basic facts stay with the persona that learned them.
_NAME_KEYS = ADDRESS_KEYS | {"basic_info.name"}
_STYLE = ("preference.style.", "preference.reply_")
_OWN_PERSONA_KEY_PREFIXES = ("basic_info.", *_STYLE)


def is_constraint(memory: Memory) -> bool:
    """Return whether this is an allergy, a taboo or another hard limit."""
    if memory.type is MemoryType.PROFILE:
        return memory.key.startswith("constraint.")
    return memory.type is MemoryType.CONSTRAINTS


def is_exempt_from_decay(memory: Memory) -> bool:
    """Return whether a memory's score ignores its age."""
    return memory.pinned or is_constraint(memory)


def is_name(memory: Memory) -> bool:
    """Return whether this is the user's name or form of address."""
    return memory.type is MemoryType.PROFILE and memory.key in _NAME_KEYS


def core_level(memory: Memory) -> int:
    """Return for which personas a memory is always recalled."""
    if is_constraint(memory) or is_name(memory):
        return ALL_PERSONAS
    if memory.pinned or memory.type in _OWN_PERSONA_TYPES:
        return OWN_PERSONA
    if memory.type is MemoryType.PROFILE and memory.key.startswith(_OWN_PERSONA_KEY_PREFIXES):
        return OWN_PERSONA
    return SEARCH_ONLY


def with_one_address(core: Sequence[Memory], persona_id: str) -> list[Memory]:
    """Return the core memories with one form of address: the persona's own, else the newest."""
    addresses = [memory for memory in core if is_name(memory) and memory.key in ADDRESS_KEYS]
    own = [memory for memory in addresses if memory.owner.persona_id == persona_id]
    newest = max(own or addresses, key=lambda memory: memory.id, default=None)
    left_out = {memory.id for memory in addresses if memory is not newest}
    return [memory for memory in core if memory.id not in left_out]


def as_a_strangers(memory: Memory) -> Memory:
    """Return a row of an untrusted import.

    Core memories and those shared with every persona become candidates, whatever status the row
    claims.
    """
    is_told_unasked = memory.scope is Scope.GLOBAL or core_level(memory) > SEARCH_ONLY
    if not is_told_unasked or memory.status not in (Status.ACTIVE, Status.CANDIDATE):
        return memory
    return replace(memory, status=Status.CANDIDATE, source_type=SourceType.IMPORTED)
