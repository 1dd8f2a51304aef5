"""Expand the macros of character cards: {{char}}, {{user}}, {{original}}, <BOT>."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.rules.prompt.always_told import is_name

# Only texts that describe the character use macros; a note may mention them literally.
_MACRO_TYPES = frozenset({MemoryType.PERSONA, MemoryType.RULE, MemoryType.GLOSSARY})
_MACRO = regex(r"\{\{\s*(char|user|original)\s*\}\}|<(bot|char|user)>", re.IGNORECASE)
_HAN = regex(r"[\u4e00-\u9fff]")
# The preferred form of address comes before the name.
_NAME_KEYS = ("basic_info.address", "basic_info.nickname", "basic_info.name")


@dataclass(frozen=True, slots=True)
class MacroNames:
    """Replacements for the macros; by default a macro stays as it is."""

    char: str = "{{char}}"
    user: str = "{{user}}"


def fill_macros(text: str, names: MacroNames) -> str:
    """Return a text with its macros replaced.

    >>> fill_macros("{{char}} waits for {{User}}. <BOT> smiles.", MacroNames("Aqua", "Lin"))
    'Aqua waits for Lin. Aqua smiles.'
    """

    def name(found: re.Match[str]) -> str:
        word = (found[1] or found[2]).lower()
        # {{original}} is the system prompt of the program that reads the card: we have none.
        return {"user": names.user, "original": ""}.get(word, names.char)

    return _MACRO.sub(name, text)


def fill_memory_macros(memory: Memory, names: MacroNames) -> Memory:
    """Return a memory with its macros replaced, if its type may contain macros."""
    if memory.type not in _MACRO_TYPES or not _MACRO.search(memory.content):
        return memory
    return replace(memory, content=fill_macros(memory.content, names))


def user_name(core: Sequence[Memory], language: str) -> str:
    """Return the user's name from the core memories, else "用户" or "the user"."""
    known = {memory.key: memory.attributes.get("value") for memory in core if is_name(memory)}
    said = (known.get(key) for key in _NAME_KEYS)
    called = next((value for value in said if isinstance(value, str) and value), "")
    if called:
        return called
    chinese = language.lower().startswith("zh")
    if not language:
        chinese = any(_HAN.search(memory.content) for memory in core)
    return "用户" if chinese else "the user"
