"""The resources: what is remembered, as texts that a person can attach."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mcp.arguments import Asked, RecallArguments
from plastic_memories.http.doors.mcp.here import Here
from plastic_memories.http.routes.recall import recollect
from plastic_memories.wire.recall import RecallRequest

CORE = "memory://core"
PROFILE = "memory://profile"


@dataclass(frozen=True, slots=True)
class Shelf:
    """One resource as it stands in a list."""

    uri: str
    name: str
    title: str
    description: str


_ALWAYS = (
    Shelf(
        CORE, "core", "核心记忆 · Core memory", "What always holds: persona, rules, constraints."
    ),
    Shelf(
        PROFILE, "profile", "画像 · Profile", "Who the persona is, and what it knows of the user."
    ),
)


async def shelves(here: Here) -> list[Shelf]:
    """Return what can be read."""
    return list(_ALWAYS)


async def read(here: Here, uri: str) -> str:
    """Return the text of a resource; raise `NotFound` for one that is not the user's."""
    if uri == CORE:
        return await core_text(here, RecallArguments())
    if uri == PROFILE:
        return await here.call.hub.personas.profile(here.view(Asked()))
    raise NotFound(f"There is no resource {uri} here.")


async def core_text(here: Here, asked: RecallArguments) -> str:
    """Return what stands in every prompt of this persona: the stable block."""
    body = RecallRequest(
        persona_id=here.persona(asked),
        bot_id=here.bot_id,
        source_app=here.app,
        query="",
        include=[],
    )
    return (await recollect(body, here.call)).stable_block.text
