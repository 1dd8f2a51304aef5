"""Marks of what must never be learned again: keyed digests that give nothing away."""

from __future__ import annotations

import hashlib
import hmac
import json

from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle import value_of


def digests(secret: bytes, owner: Owner, memory: Memory | Draft) -> tuple[str, ...]:
    """Return the marks of one remembered thing.

    One over its key and value; for a profile, whose keys hold one value each, one over the key
    alone as well, so that the same thing in other words is stopped too.
    """
    value = _digest(secret, owner, memory.type, memory.key, value_of(memory))
    if memory.type is MemoryType.PROFILE:
        return (value, _digest(secret, owner, memory.type, memory.key))
    return (value,)


def _digest(secret: bytes, owner: Owner, *parts: str) -> str:
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") must not meet.
    text = json.dumps([owner.tenant_id, owner.user_id, owner.persona_id, *parts])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
