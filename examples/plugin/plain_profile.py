"""Profiles in plain sentences: for models that take headings and lists as a cue to write them."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.model.memory import Memory, Status
from plastic_memories.model.persona import Persona
from plastic_memories.ports.profile_builder import ProfileBuilder

UNCONFIRMED = {True: "（未确认）", False: " (unconfirmed)"}


class PlainProfile:
    """One line for each thing known; the promises are those of `ProfileBuilder`."""

    def build(self, persona: Persona, memories: Sequence[Memory], language: str) -> str:
        chinese = language.lower().startswith("zh")
        lines = [persona.display_name, persona.description]
        for memory in sorted(memories, key=lambda row: row.id):
            waiting = memory.status is Status.CANDIDATE
            lines.append(memory.content + (UNCONFIRMED[chinese] if waiting else ""))
        return "\n".join(line.strip() for line in lines if line.strip())


def plain(context: object) -> ProfileBuilder:
    """Build the plug-in; the hub passes a context with its settings and its storage."""
    return PlainProfile()
