"""From where calls are made: what a client was told once and repeats in every call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..protocol import without_none


@dataclass(frozen=True, slots=True)
class CallContext:
    """The client's own persona, app, session and bot; a call may name others.

    `bots="all"` looks at the rows of every bot: for the user's own view, not for a bot's.
    """

    persona_id: str = "default"
    source_app: str = "python_sdk"
    session_id: str | None = None
    bot_id: str | None = None
    bots: Literal["all"] | None = None

    def persona_fields(self, persona_id: str | None, **fields: Any) -> dict[str, Any]:
        """Return a request about a persona: by its bot, if there is one, and the given fields."""
        # A row with a bot exists only for requests of that bot, so each one says which it is.
        place = without_none(
            persona_id=persona_id or self.persona_id, bot_id=self.bot_id, bots=self.bots
        )
        return place | without_none(**fields)

    def conversation_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request that is also part of a conversation in an app."""
        return self.persona_fields(
            None, session_id=self.session_id, source_app=self.source_app
        ) | without_none(**fields)
