"""The resources: what is remembered, as texts that a person can attach."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mcp.arguments import Asked, RecallArguments
from plastic_memories.http.doors.mcp.request_place import Here
from plastic_memories.http.routes.recall import recollect
from plastic_memories.hub.pages.read_pages import are_for
from plastic_memories.model.page import Page, PageTitle
from plastic_memories.wire.recall import RecallRequest

CORE = "memory://core"
PROFILE = "memory://profile"
# What a client may fill in: the pages of the user, and those of the persona alone.
TEMPLATES = {
    "memory://extended/{page}": "用户的页面 · A page of the user's",
    "memory://persona/extended/{page}": "角色的页面 · A page of this persona's",
}


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
    """Return what can be read: what is always there, then the user's own pages."""
    view = here.view(Asked())
    if not are_for(view):
        return list(_ALWAYS)
    found = await here.call.hub.pages.index(view.owner.user, view.owner.persona_id)
    return [*_ALWAYS, *(_page_shelf(page) for page in found.extended)]


def _page_shelf(page: PageTitle) -> Shelf:
    return Shelf(
        page.id, page.id.rpartition("/")[2], page.title, "A page the user keeps. 用户的页面"
    )


async def read(here: Here, uri: str) -> str:
    """Return the text of a resource; raise `NotFound` for one that is not the user's."""
    if uri == CORE:
        return await core_text(here, RecallArguments())
    if uri == PROFILE:
        return await here.call.hub.personas.profile(here.view(Asked()))
    return (await page_of(here, Asked(), uri)).text


async def page_of(here: Here, asked: Asked, page_id: str) -> Page:
    """Return one of the user's pages."""
    view = here.view(asked)
    if not are_for(view):
        raise NotFound(f"There is no page {page_id} here.")
    return await here.call.hub.pages.read(view.owner.user, view.owner.persona_id, page_id)


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
