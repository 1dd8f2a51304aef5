"""Models of recall results."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .conversation import Message
from .memory_item import MemoryItem
from .record import Record, Result


class Block(Record):
    """A text for a prompt; `version` changes only when the text does."""

    text: str = ""
    version: str = ""

    def __str__(self) -> str:
        return self.text


class Intent(Record):
    type: str = "none"
    confidence: float = 0.0
    queries: list[str] = Field(default_factory=list)


class RecallResult(Result):
    """Memories relevant to a query."""

    injection_block: str = ""
    stable_block: Block = Field(default_factory=Block)
    turn_block: Block = Field(default_factory=Block)
    persona_profile: str = Field(default="", validation_alias="PERSONA_PROFILE")
    memory_items: list[MemoryItem] = Field(default_factory=list, validation_alias="PERSONA_MEMORY")
    chat_snippets: list[Message] = Field(default_factory=list, validation_alias="CHAT_SNIPPETS")
    intent: Intent = Field(default_factory=Intent)
    tokens: int = 0
    truncated: bool = False
    degraded: list[str] = Field(default_factory=list)
    explain: list[dict[str, Any]] | dict[str, Any] | None = None

    @classmethod
    def empty(cls, reason: str) -> RecallResult:
        """Return an empty result, for a hub that did not answer."""
        return cls(degraded=[f"client: {reason}"])
