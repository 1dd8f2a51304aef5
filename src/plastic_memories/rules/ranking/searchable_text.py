"""What of a memory the text index sees."""

from __future__ import annotations

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Memory, MemoryType

_SEPARATORS = regex(r"[._\-/]+")
# A key of these types is made of words (`constraint.allergy.seafood`); of others it may be any id.
_WORDED_KEYS = frozenset({MemoryType.PROFILE, MemoryType.GLOSSARY})


def searchable_text(memory: Memory) -> str:
    """Return the text of a memory that can be searched: content, tags, and a worded key."""
    parts = [memory.content, *memory.tags]
    if memory.type in _WORDED_KEYS:
        parts.append(_SEPARATORS.sub(" ", memory.key))
    return "\n".join(parts)
