"""MCP resources: memories as texts that a person can attach."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import NotFound
from plastic_memories.http.doors.mcp.arguments import RecallArguments, ToolArguments
from plastic_memories.http.doors.mcp.mcp_request import McpRequest
from plastic_memories.http.routes.recall import run_recall
from plastic_memories.hub.pages.read_pages import sees_pages
from plastic_memories.model.page import PageTitle, PageView
from plastic_memories.wire.recall import RecallRequest

CORE = "memory://core"
PROFILE = "memory://profile"
# Clients fill in the page: one of the user's, or one of this persona alone.
TEMPLATES = {
    "memory://extended/{page}": "用户的页面 · A page of the user's",
    "memory://persona/extended/{page}": "角色的页面 · A page of this persona's",
}


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """One entry of the resource list."""

    uri: str
    name: str
    title: str
    description: str


_FIXED_RESOURCES = (
    ResourceEntry(
        CORE, "core", "核心记忆 · Core memory", "What always holds: persona, rules, constraints."
    ),
    ResourceEntry(
        PROFILE, "profile", "画像 · Profile", "Who the persona is, and what it knows of the user."
    ),
)


async def resource_entries(request: McpRequest) -> list[ResourceEntry]:
    """Return the fixed resources, then the user's own pages."""
    view = request.view(ToolArguments())
    if not sees_pages(view):
        return list(_FIXED_RESOURCES)
    found = await request.call.hub.pages.index(view.owner.user, view.owner.persona_id)
    return [*_FIXED_RESOURCES, *(_page_entry(page) for page in found.extended)]


def _page_entry(page: PageTitle) -> ResourceEntry:
    return ResourceEntry(
        page.id, page.id.rpartition("/")[2], page.title, "A page the user keeps. 用户的页面"
    )


async def read_resource(request: McpRequest, uri: str) -> str:
    """Return the text of a resource; raise `NotFound` if the user has no such resource."""
    if uri == CORE:
        return await core_text(request, RecallArguments())
    if uri == PROFILE:
        return await request.call.hub.personas.profile(request.view(ToolArguments()))
    return (await find_page(request, ToolArguments(), uri)).text


async def find_page(request: McpRequest, args: ToolArguments, page_id: str) -> PageView:
    """Return one of the user's pages."""
    view = request.view(args)
    if not sees_pages(view):
        raise NotFound(f"There is no page {page_id} here.")
    return await request.call.hub.pages.read(view.owner.user, view.owner.persona_id, page_id)


async def core_text(request: McpRequest, args: RecallArguments) -> str:
    """Return the persona's stable block, which is in every prompt."""
    body = RecallRequest(
        persona_id=request.persona_id(args),
        bot_id=request.bot_id,
        source_app=request.app,
        query="",
        include=[],
    )
    return (await run_recall(body, request.call)).stable_block.text
