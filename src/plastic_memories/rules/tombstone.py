"""Marks of what must never be learned again: keyed digests that give nothing away."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass

from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle import value_of


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one remembered thing, and the mark of its key.

    One mark is over key and value. The keys of a profile hold one value each, so there the mark
    of the key alone is set as well: the same thing in other words is stopped too.
    """

    of_value: str
    of_key: str
    covers_key: bool

    @property
    def digests(self) -> tuple[str, ...]:
        return (self.of_value, self.of_key) if self.covers_key else (self.of_value,)


def marks_of(secret: bytes, owner: Owner, memory: Memory | Draft) -> Marks:
    return Marks(
        of_value=_digest(secret, owner, memory.type, memory.key, value_of(memory)),
        of_key=_digest(secret, owner, memory.type, memory.key),
        covers_key=memory.type is MemoryType.PROFILE,
    )


def _digest(secret: bytes, owner: Owner, *parts: str) -> str:
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") must not meet.
    text = json.dumps([owner.tenant_id, owner.user_id, owner.persona_id, *parts])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
