"""User facts: what is true of the user for every persona is stored once per user."""

from __future__ import annotations

from dataclasses import replace

from plastic_memories.model.memory import (
    ADDRESS_KEYS,
    Draft,
    Memory,
    MemoryBase,
    MemoryType,
    Scope,
)
from plastic_memories.model.owner import Owner, Realm

_PREFIXES = ("basic_info.", "constraint.")


def is_user_fact(memory: MemoryBase) -> bool:
    """Return whether this holds whichever persona the user talks to.

    A scope narrower than a persona is the caller's wish and stays.
    """
    return (
        memory.type is MemoryType.PROFILE
        and memory.realm is Realm.REAL
        and memory.scope in (Scope.PERSONA, Scope.GLOBAL)
        and memory.key.startswith(_PREFIXES)
        and memory.key not in ADDRESS_KEYS
    )


def with_user_scope(draft: Draft) -> Draft:
    """Return a user fact with global scope, and any other draft unchanged."""
    return replace(draft, scope=Scope.GLOBAL) if is_user_fact(draft) else draft


def home_of(owner: Owner, memory: MemoryBase) -> Owner:
    """Return the owner under which a memory told to `owner` is stored."""
    return owner.for_all_personas if is_user_fact(memory) else owner


def as_stored(memory: Memory) -> Memory:
    """Return a memory with the owner under which it is stored.

    What was written for all personas was told to none in particular.
    """
    if not is_user_fact(memory):
        return memory
    told_to = memory.owner.persona_id if memory.scope is Scope.PERSONA else memory.told_to
    return replace(memory, owner=memory.owner.for_all_personas, scope=Scope.GLOBAL, told_to=told_to)
