"""Pages that people write by hand, in folders beside the database."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.adapters.pages.files import FilePageFolders
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.pages.line_drafts import LineDrafter
from plastic_memories.hub.pages.read_pages import PageReader
from plastic_memories.hub.pages.sync import PageLocks, SyncPages
from plastic_memories.settings import Settings
from plastic_memories.wiring.rooms.room_context import RoomContext


@dataclass(frozen=True, slots=True)
class PageRoom:
    reader: PageReader
    sync: SyncPages
    forget: ForgetInPages


def build_pages(context: RoomContext) -> PageRoom:
    storage, screening = context.storage, context.screening
    folders, locks = _page_folders(context.settings), PageLocks()
    drafts = LineDrafter(screening, context.plugins.judge, context.settings.max_content_chars)
    return PageRoom(
        reader=PageReader(storage, screening, folders),
        sync=SyncPages(storage, drafts, folders, locks),
        forget=ForgetInPages(storage, folders, locks),
    )


def _page_folders(settings: Settings) -> FilePageFolders | None:
    if settings.markdown == "off":
        return None
    root = settings.memory_root
    return FilePageFolders(root, at_home=root == settings.data_dir)
