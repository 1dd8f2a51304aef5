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
    scope = Scope.PERSONA if synced.folder.persona_id else Scope.GLOBAL
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        scope=scope,
        realm=Realm.REAL,
        bot_id="",
        not_expired_at=now,
        limit=_MAX_ROWS,
    )
    found = [
        *_confirmed_rows(stores, owner, wanted, now),
        *_rows_with_lines(stores, owner, wanted, roots),
    ]
    rows = {row.root_id: row for row in found if not row.branch_id and not row.speaker}
    return dict(sorted(rows.items(), key=lambda item: (section_of(item[1]), item[0])))


def _rows_with_lines(
    stores: Stores, owner: Owner, wanted: MemoryFilter, roots: Collection[int]
) -> list[Memory]:
    if not roots:
        return []
    is_global = wanted.scope is Scope.GLOBAL
    find = stores.memory_search.find_global if is_global else stores.memories.find
    return find(owner, replace(wanted, root_ids=roots, limit=None))


def _confirmed_rows(stores: Stores, owner: Owner, wanted: MemoryFilter, now: float) -> list[Memory]:
    if wanted.scope is Scope.GLOBAL:
        rows = stores.memory_search.find_global(owner, wanted)
        return [row for row in rows if row.type in _TYPES or row.pinned]
    pinned = [
        row
        for row in stores.memory_search.core(Viewpoint(owner), now)
        if row.pinned
        and row.owner == owner
        and row.scope is Scope.PERSONA
        and row.status is Status.ACTIVE
    ]
    return [*stores.memories.find(owner, replace(wanted, types=_TYPES)), *pinned]
