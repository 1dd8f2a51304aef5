"""Marks of what must never be learned again: keyed digests that give nothing away."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass

from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle import value_of, written_value


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one remembered thing, and the mark of its key.

    One mark is over key and value. The keys of a profile hold one value each, so there the mark
    of the key alone is set as well: the same thing in other words is stopped too.

    A value is marked in simplified characters, so that it is stopped in both scripts. Marks of
    older releases are over the value as it was written: they hold as long as they are looked for.
    """

    of_value: str
    of_key: str
    covers_key: bool
    as_written: str = ""

    @property
    def digests(self) -> tuple[str, ...]:
        """What is stored."""
        return (self.of_value, self.of_key) if self.covers_key else (self.of_value,)

    @property
    def sought(self) -> tuple[str, ...]:
        """What is looked for, and lifted."""
        return (*self.digests, self.as_written) if self.as_written else self.digests


def marks_of(secret: bytes, owner: Owner, memory: Memory | Draft) -> Marks:
    value, written = value_of(memory), written_value(memory)
    same = value == written
    return Marks(
        of_value=_digest(secret, owner, memory.type, memory.key, value),
        of_key=_digest(secret, owner, memory.type, memory.key),
        covers_key=memory.type is MemoryType.PROFILE,
        as_written="" if same else _digest(secret, owner, memory.type, memory.key, written),
    )


def _digest(secret: bytes, owner: Owner, *parts: str) -> str:
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") must not meet.
    text = json.dumps([owner.tenant_id, owner.user_id, owner.persona_id, *parts])
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
