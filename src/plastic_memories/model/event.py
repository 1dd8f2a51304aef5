"""Change events: one line of the audit log, one frame on the WebSocket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.model.owner import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One change; it holds ids and numbers only, never the text of a memory."""

    user: User
    persona_id: str
    event: str
    ts: float
    id: int = 0
    request_id: str = ""
    key_label: str = ""
    memory_id: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def is_of(self, app: str) -> bool:
        """Return whether a reader bound to this app may see the event; without one, all may.

        Messages, and memories of scope `app` or `session`, belong to the app they came from.
        """
        return bool(self.data.get("source_app", app) == app)
