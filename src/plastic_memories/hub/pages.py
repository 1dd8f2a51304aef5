"""Show the user's Markdown pages: the core always, of the others an index, each on demand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plastic_memories.errors import NotFound
from plastic_memories.hub.ledger import Ledger
from plastic_memories.hub.screening import Screening
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import CORE_ID, Page, PageFile, PageIndex, PageTitle, Shelf
from plastic_memories.ports.pages import PageFolders
from plastic_memories.rules.pages import page_id, same_id, title_of


@dataclass(frozen=True, slots=True)
class KeepPages:
    ledger: Ledger
    screening: Screening
    folders: PageFolders | None  # None: pages are switched off

    async def index(self, user: User, persona_id: str) -> PageIndex:
        """Return what there is to read for one persona: the user's own pages, then its own."""
        if self.folders is None:
            return PageIndex()
        own, of_persona = await self.folders.look(user, persona_id)
        return PageIndex(self._core(own, of_persona), tuple(_titles(own, of_persona)))

    async def read(self, user: User, persona_id: str, page: str) -> Page:
        """Return one page of the index; raise `NotFound` for whatever is not in it."""
        if self.folders is None:
            raise NotFound(f"There is no page {page} here.")
        own, of_persona = await self.folders.look(user, persona_id)
        core = self._core(own, of_persona)
        if same_id(page, CORE_ID) and core is not None:
            return core
        for shelf, persona in ((own, ""), (of_persona, persona_id)):
            for name, title in shelf.extended:
                shown = page_id(name, of_persona=bool(persona))
                if same_id(page, shown):
                    folder = Owner(user.tenant_id, user.user_id, persona)
                    file = await self.folders.read(folder, name)
                    if file is not None:
                        return Page(shown, title, self._text(file), not file.whole)
        raise NotFound(f"There is no page {page} here.")

    def _core(self, own: Shelf, of_persona: Shelf) -> Page | None:
        files = [shelf.core for shelf in (own, of_persona) if shelf.core is not None]
        if not files:
            return None
        text = "\n".join(self._text(file) for file in files)
        cut = not all(file.whole for file in files)
        return Page(CORE_ID, title_of(files[0].text, files[0].name), text, cut)

    def _text(self, file: PageFile) -> str:
        return self.screening.policy.mask(file.text)


def _titles(own: Shelf, of_persona: Shelf) -> Iterable[PageTitle]:
    for shelf, is_persona in ((own, False), (of_persona, True)):
        for name, title in shelf.extended:
            yield PageTitle(page_id(name, of_persona=is_persona), title)
