"""Select the memories that belong in a core page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from plastic_memories.model.memory import Memory, MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.model.page import SyncedFolder
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.prompt.blocks import section_of

_MAX_ROWS = 1000
_TYPES = frozenset(
    {
        MemoryType.PROFILE,
        MemoryType.IDENTITY,
        MemoryType.CONSTRAINTS,
        MemoryType.VALUES,
        MemoryType.PREFERENCES,
    }
)


def page_memories(
    stores: Stores, synced: SyncedFolder, now: float, roots: Collection[int]
) -> Mapping[int, Memory]:
    """Return the memories of a page by root id, in page order.

    The user's page holds global memories, a persona's page its own: confirmed facts about the
    user, pinned memories, and any memory that already has a line there (`roots`). Memories of
    stories, bots, sessions, apps and other speakers are left out.
    """
    owner = Owner(synced.folder.tenant_id, synced.folder.user_id, synced.target_persona_id)
    is_users_page = not synced.folder.persona_id
    find = stores.memory_search.find_global if is_users_page else stores.memories.find
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        scopes={Scope.GLOBAL} if is_users_page else {Scope.PERSONA, Scope.GLOBAL},
        realm=Realm.REAL,
        bot_id="",
        not_expired_at=now,
        limit=_MAX_ROWS,
    )
    found = find(owner, wanted if is_users_page else replace(wanted, types=_TYPES))
    if not is_users_page:
        found += [row for row in stores.memory_search.core(Viewpoint(owner), now) if row.pinned]
    confirmed = [row for row in found if row.type in _TYPES or row.pinned]
    if roots:
        confirmed += find(owner, replace(wanted, root_ids=roots, limit=None))
    page_of = "" if is_users_page else owner.persona_id
    rows = {row.root_id: row for row in confirmed if _is_on_page(row, page_of)}
    return dict(sorted(rows.items(), key=lambda item: (section_of(item[1]), item[0])))


def _is_on_page(memory: Memory, persona_id: str) -> bool:
    """Return whether a memory belongs to a persona's page, or (no persona) to the user's.

    A user fact belongs to the page of the persona that was told it.
    """
    if memory.branch_id or memory.speaker or memory.status is not Status.ACTIVE:
        return False
    is_global = memory.scope is Scope.GLOBAL and not memory.told_to
    home = "" if is_global else memory.told_to or memory.owner.persona_id
    return home == persona_id and memory.scope in (Scope.PERSONA, Scope.GLOBAL)
