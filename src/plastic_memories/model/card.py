"""A character card: a persona as other programs pass it around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Card:
    """A card as it came, and what it says.

    `original` is the file byte for byte, but without memories that were bundled with it: those
    are rows of their own, and what is forgotten must not live on in a file.
    """

    original: bytes
    document: Mapping[str, Any]

    @property
    def spec(self) -> str:
        return str(self.document.get("spec") or "chara_card_v1")

    @property
    def fields(self) -> Mapping[str, Any]:
        """What the card says of its character; version 1 has it at the top."""
        inner = self.document.get("data")
        return inner if isinstance(inner, dict) and "spec" in self.document else self.document

    @property
    def name(self) -> str:
        """What the character is called in talk."""
        return str(self.fields.get("nickname") or self.fields.get("name") or "").strip()
