"""Markdown pages as files: `core.md` and `extended/*.md` in a folder of each user and persona."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar

from plastic_memories.adapters.pages.folder import SafeFolder, open_root
from plastic_memories.formats.archive_file import safe_path_part
from plastic_memories.formats.pages.markdown_page import decode_page, encode_page, page_title
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import CORE_NAME, Encoding, PageFile, PageFolderListing
from plastic_memories.runtime.disk_threads import DiskThreads
from plastic_memories.runtime.private_files import make_private_folder

T = TypeVar("T")
_DEFAULT_TENANT = "default"
_MAX_CORE_BYTES = 256 * 1024
_MAX_PAGE_BYTES = 1024 * 1024
_MAX_TITLE_BYTES = 16 * 1024
_MAX_PAGES = 1000
# What one recall reads to search in: the rest is left to the next one.
_MAX_SEARCHED_PAGE_BYTES = 128 * 1024
_MAX_SEARCHED_BYTES = 2 * 1024 * 1024
_MAX_SEARCH_READ_S = 0.35
_TITLE_CACHE_SIZE = 50_000
_CORE_CACHE_SIZE = 256
# For a recall; a caller that wants the pages themselves waits longer.
_LIST_TIMEOUT_S = 0.5
_READ_TIMEOUT_S = 5.0
# A file may change again within the same tick of the disk's clock and look the same.
_TIMESTAMP_RESOLUTION_NS = 100_000_000
_UNCACHEABLE_SUFFIX = "~"


class _StampCache(Generic[T]):
    """What was read of files, by their name and state; emptied when it is full."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._known: dict[tuple[str, str], T] = {}

    def get(self, name: str, stamp: str) -> T | None:
        return self._known.get((name, stamp))

    def put(self, name: str, stamp: str, value: T) -> T:
        if len(self._known) >= self._max_size:
            self._known.clear()
        if not stamp.endswith(_UNCACHEABLE_SUFFIX):
            self._known[name, stamp] = value
        return value


_EMPTY_LISTINGS = PageFolderListing(), PageFolderListing()


class FilePageFolders:
    """Pages below one root.

    `at_home` says that the root is on the disk everything else is on. Then whether a user has
    pages at all is asked at once: most have none, and a thread costs a hundred times as much.
    """

    def __init__(self, root: Path, *, at_home: bool = False) -> None:
        self._root = root
        self._at_home = at_home
        self._threads = DiskThreads("pages")
        self._titles: _StampCache[str] = _StampCache(_TITLE_CACHE_SIZE)
        self._cores: _StampCache[PageFile] = _StampCache(_CORE_CACHE_SIZE)
        self._capitals_count: bool | None = None  # unknown until a folder was opened

    def may_have_pages(self, user: User) -> bool:
        return not self._at_home or self._has_folder(user)

    async def list_pages(
        self, user: User, persona_id: str
    ) -> tuple[PageFolderListing, PageFolderListing]:
        if not self.may_have_pages(user):
            return _EMPTY_LISTINGS
        return await self._threads.run(lambda: self._list_both(user, persona_id), _LIST_TIMEOUT_S)

    async def read_page(self, folder: Owner, name: str) -> PageFile | None:
        return await self._threads.run(lambda: self._read_page(folder, name), _READ_TIMEOUT_S)

    async def read_pages(self, files: Sequence[tuple[Owner, str]]) -> list[PageFile | None]:
        return await self._threads.run(lambda: list(self._read_starts(files)), _LIST_TIMEOUT_S)

    async def read_core(self, folder: Owner) -> PageFile | None:
        return await self._threads.run(lambda: self._read_core(folder), _READ_TIMEOUT_S)

    async def core_stamps(self, folders: Sequence[Owner]) -> list[str]:
        return await self._threads.run(
            lambda: [self._core_stamp(folder) for folder in folders], _READ_TIMEOUT_S
        )

    async def write_core(self, folder: Owner, text: str, seen: PageFile | None) -> PageFile | None:
        return await self._threads.run(
            lambda: self._write_core(folder, text, seen), _READ_TIMEOUT_S
        )

    async def remove_user(self, user: User) -> int:
        return await self._threads.run(lambda: self._remove_user(user), _READ_TIMEOUT_S)

    def close(self) -> None:
        self._threads.close()

    def _has_folder(self, user: User) -> bool:
        """Return whether there may be pages; a wrong True costs one look in a thread."""
        if self._capitals_count is not None:
            return _user_path(str(self._root), user, capitals=self._capitals_count).is_dir()
        return (self._root / "users").is_dir() or (self._root / "tenants").is_dir()

    def _list_both(
        self, user: User, persona_id: str
    ) -> tuple[PageFolderListing, PageFolderListing]:
        with self._open_folder(Owner(user.tenant_id, user.user_id, "")) as own:
            if own is None:
                return _EMPTY_LISTINGS
            shelf = self._list_folder(own)
        with self._open_folder(Owner(user.tenant_id, user.user_id, persona_id)) as of_persona:
            return shelf, self._list_folder(of_persona) if of_persona else PageFolderListing()

    def _list_folder(self, folder: SafeFolder) -> PageFolderListing:
        extended = folder.child("extended")
        if extended is None:
            return PageFolderListing(self._cached_core(folder))
        try:
            pages = list(self._titled_pages(extended))
            titles = tuple((name, title) for name, title, _ in pages)
            stamps = tuple(stamp for _, _, stamp in pages)
            return PageFolderListing(self._cached_core(folder), titles, stamps)
        finally:
            extended.close()

    def _titled_pages(self, extended: SafeFolder) -> Iterator[tuple[str, str, str]]:
        """Yield name, title and stamp of every page."""
        names = sorted(name for name in extended.names() if _is_page(name))
        for name in names[:_MAX_PAGES]:
            state = extended.file_stat(name)
            if state is not None:
                stamp = _file_stamp(state)
                whole = state.st_size <= _MAX_TITLE_BYTES
                yield name, self._cached_title(extended, name, stamp, whole=whole), stamp

    def _cached_title(self, extended: SafeFolder, name: str, stamp: str, *, whole: bool) -> str:
        if (known := self._titles.get(name, stamp)) is not None:
            return known
        found = extended.read(name, _MAX_TITLE_BYTES)
        text, _ = decode_page(found[0], whole=whole) if found else ("", None)
        return self._titles.put(name, stamp, page_title(text, name))

    def _cached_core(self, folder: SafeFolder) -> PageFile | None:
        state = folder.file_stat(CORE_NAME)
        if state is None:
            return None
        known = self._cores.get(CORE_NAME, _file_stamp(state))
        if known is not None:
            return known
        page = _read_page_file(folder, CORE_NAME, _MAX_CORE_BYTES)
        return page and self._cores.put(CORE_NAME, page.stamp, page)

    def _remove_user(self, user: User) -> int:
        with self._open_folder(Owner(user.tenant_id, user.user_id, "")) as folder:
            if folder is None:  # there is none, or it leads away from the root
                return 0
        assert self._capitals_count is not None, "known since the folder was opened"
        place = _user_path(str(self._root), user, capitals=self._capitals_count)
        number = sum(1 for path in place.rglob("*") if path.is_file())
        shutil.rmtree(place)
        return number

    def _read_core(self, owner: Owner) -> PageFile | None:
        with self._open_folder(owner) as folder:
            return _read_page_file(folder, CORE_NAME, _MAX_CORE_BYTES) if folder else None

    def _core_stamp(self, owner: Owner) -> str:
        with self._open_folder(owner) as folder:
            state = folder.file_stat(CORE_NAME) if folder else None
            return _file_stamp(state) if state else ""

    def _read_page(self, owner: Owner, name: str) -> PageFile | None:
        with self._open_folder(owner) as folder:
            extended = folder.child("extended") if folder else None
            if extended is None:
                return None
            try:
                return _read_page_file(extended, name, _MAX_PAGE_BYTES) if _is_page(name) else None
            finally:
                extended.close()

    def _read_starts(self, files: Sequence[tuple[Owner, str]]) -> Iterator[PageFile | None]:
        """Yield the pages in order, until they are too many bytes or take too long."""
        left, ends_at = _MAX_SEARCHED_BYTES, time.monotonic() + _MAX_SEARCH_READ_S
        for owner, group in groupby(files, key=lambda file: file[0]):
            with self._open_folder(owner) as folder, ExitStack() as held:
                extended = folder.child("extended") if folder else None
                if extended is not None:
                    held.callback(extended.close)
                for _, name in group:
                    if left <= 0 or time.monotonic() > ends_at:
                        return
                    page = (
                        _read_page_file(extended, name, _MAX_SEARCHED_PAGE_BYTES)
                        if extended and _is_page(name)
                        else None
                    )
                    left -= _bytes_read(page)
                    yield page

    def _write_core(self, owner: Owner, text: str, seen: PageFile | None) -> PageFile | None:
        with self._open_folder(owner, make=True) as folder:
            now = _read_page_file(folder, CORE_NAME, _MAX_CORE_BYTES) if folder else None
            if folder is None or (now is None and CORE_NAME in folder.names()):
                raise OSError(0, "the place of a page is taken by something else")
            if (now and now.text) != (seen and seen.text):
                return None
            state = folder.file_stat(CORE_NAME)
            mode = state.st_mode & 0o777 if state else 0o600
            folder.put(CORE_NAME, encode_page(text, now.encoding if now else Encoding()), mode)
            return _read_page_file(folder, CORE_NAME, _MAX_CORE_BYTES)

    @contextmanager
    def _open_folder(self, owner: Owner, *, make: bool = False) -> Iterator[SafeFolder | None]:
        """Open a folder step by step from the root; None if a step is missing or leads away."""
        with ExitStack() as held:
            if make:
                make_private_folder(self._root)
            folder = open_root(self._root)
            for ours, name in _path_steps(owner):
                if folder is None:
                    break
                held.callback(folder.close)
                folder = self._open_child(folder, ours, name, make=make)
            if folder is not None:
                held.callback(folder.close)
            yield folder

    def _open_child(
        self, folder: SafeFolder, ours: str, name: str, *, make: bool
    ) -> SafeFolder | None:
        """Go from a folder into one of ours in it, and on to the one of that id."""
        inside = folder.child(ours, make=make)
        if inside is None or not name:
            return inside
        if self._capitals_count is None:
            self._capitals_count = not folder.is_same(ours, ours.upper())
        try:
            return inside.child(_file_name(name, capitals=self._capitals_count), make=make)
        finally:
            inside.close()


def _path_steps(owner: Owner) -> Iterator[tuple[str, str]]:
    """Yield a folder of ours, and the id that is looked for in it, from the root down."""
    # Another tenant's user of the same name is somebody else.
    if owner.tenant_id != _DEFAULT_TENANT:
        yield "tenants", owner.tenant_id
    yield "users", owner.user_id
    yield ".memory", ""
    if owner.persona_id:
        yield "personas", owner.persona_id


@lru_cache(maxsize=4096)
def _user_path(root: str, user: User, *, capitals: bool) -> Path:
    steps = _path_steps(Owner(user.tenant_id, user.user_id, ""))
    parts = [
        part
        for ours, name in steps
        for part in (ours, name and _file_name(name, capitals=capitals))
    ]
    return Path(root, *filter(None, parts))


def _file_name(text: str, *, capitals: bool) -> str:
    """Return an id as a name that no other id has, even where capitals do not count."""
    name = safe_path_part(text)
    if capitals or unicodedata.normalize("NFC", name.casefold()) == name:
        return name
    return f"{name}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _is_page(name: str) -> bool:
    return name.lower().endswith(".md") and not name.startswith(".")


def _read_page_file(folder: SafeFolder, name: str, limit: int) -> PageFile | None:
    found = folder.read(name, limit + 1)
    if found is None:
        return None
    raw, state = found
    whole = len(raw) <= limit
    text, encoding = decode_page(raw[:limit], whole=whole)
    return PageFile(name, text, _file_stamp(state), encoding, whole)


def _bytes_read(page: PageFile | None) -> int:
    if page is None:
        return 0
    # Nothing is left of a file that is no text, however much of it was read.
    is_text = page.text or page.encoding.exact
    return len(page.text.encode("utf-8", "replace")) if is_text else _MAX_SEARCHED_PAGE_BYTES


def _file_stamp(state: os.stat_result) -> str:
    """Return a text that changes with the file; one just written has a stamp of this moment."""
    parts = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    now = time.time_ns()
    fresh = (
        f":{now}{_UNCACHEABLE_SUFFIX}" if now - max(parts[-2:]) < _TIMESTAMP_RESOLUTION_NS else ""
    )
    return ":".join(map(str, parts)) + fresh
