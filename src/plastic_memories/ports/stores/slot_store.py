"""Keeps the slots of personas."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.model.persona import Slot


class SlotStore(Protocol):
    """The slots of one persona, by bot and realm."""

    def all(self, view: Viewpoint) -> list[Slot]: ...

    def put(self, slot: Slot) -> None: ...

    def clear(self, owner: Owner, bot_id: str, realm: Realm, slot_name: str) -> bool:
        """Remove one slot; return whether there was one."""
        ...
