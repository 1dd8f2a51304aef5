"""Read the user's Markdown pages: the core always, other pages by index and on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from plastic_memories.errors import NotFound
from plastic_memories.formats.pages.markdown_page import is_same_page_id, page_id, page_title
from plastic_memories.formats.pages.page_lines import (
    PageLine,
    join_lines,
    mute_digest,
    parse_page,
    visible_lines,
    without_comments,
)
from plastic_memories.hub.pages.passage_search import (
    FoundPassages,
    ListedPage,
    PassageCache,
    PassageSearch,
)
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.model.memory import Status
from plastic_memories.model.owner import Owner, User, Viewpoint
from plastic_memories.model.page import (
    CORE_ID,
    PageFile,
    PageFolderListing,
    PageIndex,
    PageTitle,
    PageView,
)
from plastic_memories.model.recall import RecallQuery
from plastic_memories.ports.page_folders import PageFolders
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter

# Parsed core pages, most of them a few kilobytes.
_CACHE_SIZE = 128


@dataclass(frozen=True, slots=True)
class PersonaPages:
    """The pages of one persona, and which of their lines are hidden."""

    core: tuple[PageLine, ...] = ()
    index: tuple[PageTitle, ...] = ()
    live: Collection[int] = ()  # root ids of core lines whose memory is active
    hidden: Callable[[str], bool] = lambda _text: False
    core_is_whole: bool = True  # not truncated at the size limit
    found: FoundPassages = field(default_factory=FoundPassages)  # what bears on the question

    def core_lines(self, known: Collection[str] = ()) -> list[str]:
        """Return the visible lines of the core, without those in `known`: the prompt has them."""
        return visible_lines(self.core, self.live, lambda text: text in known or self.hidden(text))


@dataclass(frozen=True, slots=True)
class PageReader:
    storage: AuditedStorage
    screening: Screening
    folders: PageFolders | None  # None: pages are switched off
    _mask_cache: dict[str, str] = field(default_factory=dict)
    _passages: PassageCache = field(default_factory=PassageCache)

    async def index(self, user: User, persona_id: str) -> PageIndex:
        """Return the index of pages for one persona: the user's pages, then the persona's."""
        if self.folders is None:
            return PageIndex()
        listings = await self.folders.list_pages(user, persona_id)
        pages = await self._load_view(user, persona_id, listings)
        return PageIndex(_core_page(listings, pages), pages.index)

    async def read(self, user: User, persona_id: str, page: str) -> PageView:
        """Return one page of the index; raise `NotFound` if it is not in it."""
        if self.folders is not None:
            listings = await self.folders.list_pages(user, persona_id)
            pages = await self._load_view(user, persona_id, listings)
            core = _core_page(listings, pages)
            if is_same_page_id(page, CORE_ID) and core is not None:
                return core
            for shown, (folder, name) in zip(
                pages.index, _page_files(user, persona_id, listings), strict=True
            ):
                if not is_same_page_id(page, shown.id):
                    continue
                file = await self.folders.read_page(folder, name)
                if file is not None:
                    # On a thread: a long page takes a while to mask and parse.
                    text = await asyncio.to_thread(self._visible_text, file, pages.hidden)
                    return PageView(shown.id, shown.title, text, not file.whole)
        raise NotFound(f"There is no page {page} here.")

    def may_have_pages(self, view: Viewpoint) -> bool:
        """Return whether it is worth reading the folders; most users have no pages."""
        return (
            self.folders is not None
            and sees_pages(view)
            and self.folders.may_have_pages(view.owner.user)
        )

    async def for_recall(self, query: RecallQuery, ends_at: float) -> PersonaPages:
        """Return the pages that belong in a prompt; the search in them ends by `ends_at`."""
        if self.folders is None or not sees_pages(query.viewpoint):
            return PersonaPages()
        owner = query.viewpoint.owner
        listings = await self.folders.list_pages(owner.user, owner.persona_id)
        if not any(listings):
            return PersonaPages()
        pages = await self._load_view(owner.user, owner.persona_id, listings)
        stamps = [stamp for listing in listings for stamp in listing.stamps]
        places = _page_files(owner.user, owner.persona_id, listings)
        listed = [
            ListedPage(page, folder, name, stamp)
            for page, (folder, name), stamp in zip(pages.index, places, stamps, strict=True)
        ]
        search = PassageSearch(self.folders, self.screening.policy.mask, self._passages)
        question = "\n".join((*query.rephrasings, query.text))
        return replace(pages, found=await search(question, listed, pages.hidden, ends_at))

    def close(self) -> None:
        if self.folders is not None:
            self.folders.close()

    async def _load_view(
        self, user: User, persona_id: str, listings: tuple[PageFolderListing, PageFolderListing]
    ) -> PersonaPages:
        owner = Owner(user.tenant_id, user.user_id, persona_id)
        titles = [title for listing in listings for title in listing.extended]
        places = _page_files(user, persona_id, listings)

        def work(stores: Stores) -> PersonaPages:
            files = [listing.core for listing in listings if listing.core is not None]
            core = tuple(line for file in files for line in _parse_cached(self._masked_core(file)))
            hidden = muted_line_test(stores, user)
            index = tuple(
                PageTitle(
                    page_id(name, of_persona=bool(folder.persona_id)),
                    name if hidden(title) else title,
                )
                for (name, title), (folder, _) in zip(titles, places, strict=True)
            )
            live = _live_roots(stores, owner, core)
            return PersonaPages(core, index, live, hidden, all(file.whole for file in files))

        return await self.storage.read(work)

    def _visible_text(self, file: PageFile, hidden: Callable[[str], bool]) -> str:
        text = self.screening.policy.mask(file.text)
        lines = [line for line in parse_page(text) if not hidden(line.display_text)]
        return join_lines(without_comments(lines))

    def _masked_core(self, file: PageFile) -> str:
        """Return the text of a core page with all secrets masked."""
        masked = self._mask_cache.get(file.text)
        if masked is None:
            if len(self._mask_cache) >= _CACHE_SIZE:
                self._mask_cache.clear()
            masked = self._mask_cache[file.text] = self.screening.policy.mask(file.text)
        return masked


def sees_pages(view: Viewpoint) -> bool:
    """Return whether a reader sees pages: pages belong to no bot, so a bot sees none."""
    return view.all_bots or not view.bot_id


def muted_line_test(stores: Stores, user: User) -> Callable[[str], bool]:
    """Return a predicate that tests whether a line repeats something forgotten."""
    mutes = stores.pages.muted_lines(user)
    if not mutes:
        return lambda _text: False
    secret = stores.tombstones.secret()
    return lambda text: mute_digest(secret, user, text) in mutes


def _live_roots(stores: Stores, owner: Owner, core: Sequence[PageLine]) -> Collection[int]:
    roots = {line.root for line in core if line.root is not None}
    if not roots:
        return ()
    wanted = MemoryFilter(root_ids=roots, statuses={Status.ACTIVE})
    rows = [*stores.memories.find(owner, wanted), *stores.memory_search.find_global(owner, wanted)]
    return {row.root_id for row in rows}


def _page_files(
    user: User, persona_id: str, listings: tuple[PageFolderListing, PageFolderListing]
) -> list[tuple[Owner, str]]:
    """Return folder and name of every page, in the order of the index."""
    return [
        (Owner(user.tenant_id, user.user_id, persona), name)
        for listing, persona in zip(listings, ("", persona_id), strict=True)
        for name, _ in listing.extended
    ]


def _core_page(
    listings: tuple[PageFolderListing, PageFolderListing], pages: PersonaPages
) -> PageView | None:
    files = [listing.core for listing in listings if listing.core is not None]
    if not files:
        return None
    title = page_title(files[0].text, files[0].name)
    cut = not all(file.whole for file in files)
    shown_title = files[0].name if pages.hidden(title) else title
    return PageView(CORE_ID, shown_title, "\n".join(pages.core_lines()), cut)


@lru_cache(maxsize=_CACHE_SIZE)
def _parse_cached(text: str) -> tuple[PageLine, ...]:
    return tuple(parse_page(text))
