"""Where the pages of a test's users lie, and what stands in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Pages:
    """The folder of one user, or of one persona of theirs."""

    root: Path
    user: str = "userA"
    persona: str = ""
    tenant: str = ""

    def of(self, persona: str) -> Pages:
        return replace(self, persona=persona)

    def by(self, user: str, tenant: str = "") -> Pages:
        return replace(self, user=user, tenant=tenant)

    @property
    def folder(self) -> Path:
        top = self.root / "tenants" / self.tenant if self.tenant else self.root
        own = top / "users" / self.user / ".memory"
        return own / "personas" / self.persona if self.persona else own

    @property
    def core(self) -> str:
        return (self.folder / "core.md").read_text(encoding="utf-8")

    @property
    def lines(self) -> list[str]:
        """The lines of the core page that say something, without what is around them."""
        return [line for line in self.core.splitlines() if line.startswith(("- ", "* "))]

    def exist(self) -> bool:
        return self.folder.exists()

    def write(self, text: str, name: str = "core.md") -> None:
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def change(self, old: str, new: str) -> None:
        before = self.core
        assert old in before
        self.write(before.replace(old, new))

    def add(self, line: str) -> None:
        self.write(self.core + line + "\n")

    def drop(self, words: str) -> None:
        kept = [line for line in self.core.splitlines(keepends=True) if words not in line]
        self.write("".join(kept))
