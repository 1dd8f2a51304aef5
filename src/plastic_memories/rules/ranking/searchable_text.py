"""Select the text of a memory that is indexed."""

from __future__ import annotations

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Memory, MemoryType

_SEPARATORS = regex(r"[._\-/]+")
# Keys of these types consist of words (`constraint.allergy.seafood`); others may be any id.
_WORDED_KEYS = frozenset({MemoryType.PROFILE, MemoryType.GLOSSARY})


def searchable_text(memory: Memory) -> str:
    """Return the indexed text of a memory: content, tags, and a worded key."""
    parts = [memory.content, *memory.tags]
    if memory.type in _WORDED_KEYS:
        parts.append(_SEPARATORS.sub(" ", memory.key))
    return "\n".join(parts)
