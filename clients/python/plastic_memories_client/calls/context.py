"""Defaults of a client that every call repeats: persona, app, session, bot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..protocol import without_none


@dataclass(frozen=True, slots=True)
class CallContext:
    """The client's own persona, app, session and bot; a call may name others.

    `bots="all"` reads the rows of every bot: for the user's own view, not for a bot's.
    """

    persona_id: str = "default"
    source_app: str = "python_sdk"
    session_id: str | None = None
    bot_id: str | None = None
    bots: Literal["all"] | None = None

    def persona_fields(self, persona_id: str | None, **fields: Any) -> dict[str, Any]:
        """Return the fields of a request about a persona: the bot, if any, and the given fields."""
        # A row with a bot is visible only to requests of that bot, so each request names it.
        place = without_none(
            persona_id=persona_id or self.persona_id, bot_id=self.bot_id, bots=self.bots
        )
        return place | without_none(**fields)

    def conversation_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a request that is also part of a conversation in an app."""
        return self.persona_fields(
            None, session_id=self.session_id, source_app=self.source_app
        ) | without_none(**fields)
