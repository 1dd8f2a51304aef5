"""Port of the template source: loads persona templates."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.persona import Template


class TemplateSource(Protocol):
    """Reads templates below one root, and nothing outside it."""

    def load(self, path: str) -> Template:
        """Return the template at a relative path; raise `TemplateError` if it cannot be used."""
        ...

    def names(self) -> list[str]:
        """Return the paths of all templates."""
        ...
