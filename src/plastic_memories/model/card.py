"""Character card: the file format in which roleplay programs exchange a persona."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Card:
    """The original file of a character card and its parsed document.

    `original` is the file byte for byte, minus bundled memories: those are stored as rows, and a
    forgotten memory must not survive in a file.
    """

    original: bytes
    document: Mapping[str, Any]

    @property
    def spec(self) -> str:
        return str(self.document.get("spec") or "chara_card_v1")

    @property
    def fields(self) -> Mapping[str, Any]:
        """The card's character fields; version 1 has them at the top level."""
        inner = self.document.get("data")
        return inner if isinstance(inner, dict) and "spec" in self.document else self.document

    @property
    def name(self) -> str:
        """The character's name in conversation: the nickname, else the name."""
        return str(self.fields.get("nickname") or self.fields.get("name") or "").strip()
