"""Opaque ids: mem0's clients name a memory by its id alone, so the id encodes its owner."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, replace

from plastic_memories.errors import NotFound
from plastic_memories.model.memory import Memory, MemoryOutline
from plastic_memories.model.owner import Owner

_MAX_ROW_ID = 2**62


@dataclass(frozen=True, slots=True)
class MemoryReference:
    """A user's persona and row ids in it. Access is checked elsewhere."""

    user_id: str
    persona_id: str
    rows: tuple[int, ...]


def memory_item_id(memory: Memory | MemoryOutline) -> str:
    """Return the id of a memory: the id of its first version, which survives every update."""
    owner = replace(memory.owner, persona_id=memory.told_to or memory.owner.persona_id)
    return encode_id(owner, memory.root_id)


def encode_id(owner: Owner, *rows: int) -> str:
    text = json.dumps([owner.user_id, owner.persona_id, *rows], ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_id(text: str) -> MemoryReference:
    """Decode an id; raise `NotFound` for any text that is not one of our ids."""
    try:
        padded = text + "=" * (-len(text) % 4)
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        user_id, persona_id, *rows = parts
        json.dumps([user_id, persona_id], ensure_ascii=False).encode()
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise NotFound("Memory not found") from None
    names = isinstance(user_id, str) and isinstance(persona_id, str)
    if not names or not all(type(row) is int and 0 < row < _MAX_ROW_ID for row in rows):
        raise NotFound("Memory not found")
    return MemoryReference(user_id, persona_id, tuple(rows))
