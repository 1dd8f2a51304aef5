"""Profile builder that renders Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.model.persona import Persona
from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.rules.prompt.always_told import is_constraint
from plastic_memories.rules.prompt.blocks import OUR_TITLES, as_text, escape_line
from plastic_memories.rules.prompt.untrusted_text import without_fence

_SLOTS = (MemoryType.IDENTITY, MemoryType.VALUES, MemoryType.PREFERENCES)
_HEADINGS = {
    "about": ("About", "简介"),
    "rules": ("Rules", "规则"),
    "slots": ("Identity", "身份"),
    "constraints": ("Constraints", "禁忌与约束"),
    "user": ("The user", "用户"),
}
_TITLES = OUR_TITLES | {title for titles in _HEADINGS.values() for title in titles}
_UNCONFIRMED = ("unconfirmed", "未确认")


class MarkdownProfile:
    def build(self, persona: Persona, memories: Sequence[Memory], language: str) -> str:
        chinese = language.lower().startswith("zh")
        sections = [
            _section_text(part, rows, chinese) for part, rows in _group_by_section(memories).items()
        ]
        body = [section for section in sections if section]
        if persona.description:
            body.insert(0, as_text(persona.description.strip(), _TITLES))
        if not body and not persona.display_name:
            return ""
        title = escape_line(persona.display_name) or persona.owner.persona_id
        return without_fence("\n\n".join([f"# {title}", *body])) + "\n"


def _group_by_section(memories: Sequence[Memory]) -> dict[str, list[Memory]]:
    parts: dict[str, list[Memory]] = {name: [] for name in _HEADINGS}
    for memory in sorted(memories, key=lambda row: (row.type, row.key, row.id)):
        part = _section_name(memory)
        if part:
            parts[part].append(memory)
    return parts


def _section_name(memory: Memory) -> str:
    if is_constraint(memory):
        return "constraints"
    if memory.type in _SLOTS:
        return "slots"
    return {
        MemoryType.PERSONA: "about",
        MemoryType.RULE: "rules",
        MemoryType.PROFILE: "user",
    }.get(memory.type, "")


def _section_text(name: str, rows: Sequence[Memory], chinese: bool) -> str:
    if not rows:
        return ""
    is_text = name in ("about", "rules")
    lines = [row.content.strip() if is_text else _item_line(row, chinese) for row in rows]
    return f"## {_HEADINGS[name][chinese]}\n\n" + as_text("\n".join(lines), _TITLES)


def _item_line(memory: Memory, chinese: bool) -> str:
    mark = f" ({_UNCONFIRMED[chinese]})" if memory.status is Status.CANDIDATE else ""
    name = memory.key if memory.type is MemoryType.PROFILE else memory.type.value
    return f"- {name}: {' '.join(memory.content.split())}{mark}"


def markdown_profile(_context: object) -> ProfileBuilder:
    return MarkdownProfile()
