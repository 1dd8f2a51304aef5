"""Markdown pages as files: `core.md` and `extended/*.md` in a folder of each user and persona."""

from __future__ import annotations

import hashlib
import os
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from plastic_memories.adapters.pages.folder import Folder, open_root
from plastic_memories.formats.archive_file import safe_part
from plastic_memories.formats.markdown_page import decode, encode, title_of
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import CORE_NAME, Encoding, PageFile, Shelf
from plastic_memories.runtime.disk_threads import DiskThreads

T = TypeVar("T")
_DEFAULT_TENANT = "default"
_CORE_BYTES = 256 * 1024
_PAGE_BYTES = 1024 * 1024
_TITLE_BYTES = 16 * 1024
_MOST_PAGES = 1000
_TITLES = 50_000
_CORES = 256
# A recall waits so long; whoever asks for the pages themselves has more time.
_GLANCE_S = 0.5
_PATIENCE_S = 5.0
# A file may change again within the same tick of the disk's clock and look the same.
_TICK_NS = 100_000_000
_FRESH = "~"


class _Cache(Generic[T]):
    """What was read of files, by their name and state; emptied when it is full."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[str, str], T] = {}

    def get(self, name: str, stamp: str) -> T | None:
        return self._known.get((name, stamp))

    def put(self, name: str, stamp: str, value: T) -> T:
        if len(self._known) >= self._most:
            self._known.clear()
        if not stamp.endswith(_FRESH):
            self._known[name, stamp] = value
        return value


_NOTHING = Shelf(), Shelf()


class FilePageFolders:
    """Pages below one root.

    `at_home` says that the root is on the disk everything else is on. Then whether a user has
    pages at all is asked at once: most have none, and a thread costs a hundred times as much.
    """

    def __init__(self, root: Path, *, at_home: bool = False) -> None:
        self._root = root
        self._at_home = at_home
        self._threads = DiskThreads("pages")
        self._titles: _Cache[str] = _Cache(_TITLES)
        self._cores: _Cache[PageFile] = _Cache(_CORES)
        self._capitals_count: bool | None = None  # unknown until a folder was opened

    def may_have(self, user: User) -> bool:
        return not self._at_home or self._has_folder(user)

    async def look(self, user: User, persona_id: str) -> tuple[Shelf, Shelf]:
        if not self.may_have(user):
            return _NOTHING
        return await self._threads.run(lambda: self._look(user, persona_id), _GLANCE_S)

    async def read(self, folder: Owner, name: str) -> PageFile | None:
        return await self._threads.run(lambda: self._read(folder, name), _PATIENCE_S)

    async def core(self, folder: Owner) -> PageFile | None:
        return await self._threads.run(lambda: self._core_now(folder), _PATIENCE_S)

    async def stamps(self, folders: Sequence[Owner]) -> list[str]:
        return await self._threads.run(
            lambda: [self._stamp_of(folder) for folder in folders], _PATIENCE_S
        )

    async def put_core(self, folder: Owner, text: str, seen: PageFile | None) -> PageFile | None:
        return await self._threads.run(lambda: self._put(folder, text, seen), _PATIENCE_S)

    def close(self) -> None:
        self._threads.close()

    def _has_folder(self, user: User) -> bool:
        """Say whether there may be pages; who is wrong here once asks again in a thread."""
        if self._capitals_count is not None:
            return _place(str(self._root), user, capitals=self._capitals_count).is_dir()
        return (self._root / "users").is_dir() or (self._root / "tenants").is_dir()

    def _look(self, user: User, persona_id: str) -> tuple[Shelf, Shelf]:
        with self._opened(Owner(user.tenant_id, user.user_id, "")) as own:
            if own is None:
                return _NOTHING
            shelf = self._shelf(own)
        with self._opened(Owner(user.tenant_id, user.user_id, persona_id)) as of_persona:
            return shelf, self._shelf(of_persona) if of_persona else Shelf()

    def _shelf(self, folder: Folder) -> Shelf:
        extended = folder.child("extended")
        if extended is None:
            return Shelf(self._core(folder))
        try:
            return Shelf(self._core(folder), tuple(self._listed(extended)))
        finally:
            extended.close()

    def _listed(self, extended: Folder) -> Iterator[tuple[str, str]]:
        names = sorted(name for name in extended.names() if _is_page(name))
        for name in names[:_MOST_PAGES]:
            state = extended.state(name)
            if state is not None:
                yield name, self._title(extended, name, state)

    def _title(self, extended: Folder, name: str, state: os.stat_result) -> str:
        stamp = _stamp(state)
        if (known := self._titles.get(name, stamp)) is not None:
            return known
        found = extended.read(name, _TITLE_BYTES)
        text, _ = decode(found[0], whole=state.st_size <= _TITLE_BYTES) if found else ("", None)
        return self._titles.put(name, stamp, title_of(text, name))

    def _core(self, folder: Folder) -> PageFile | None:
        state = folder.state(CORE_NAME)
        if state is None:
            return None
        known = self._cores.get(CORE_NAME, _stamp(state))
        if known is not None:
            return known
        page = _page(folder, CORE_NAME, _CORE_BYTES)
        return page and self._cores.put(CORE_NAME, page.stamp, page)

    def _core_now(self, owner: Owner) -> PageFile | None:
        with self._opened(owner) as folder:
            return _page(folder, CORE_NAME, _CORE_BYTES) if folder else None

    def _stamp_of(self, owner: Owner) -> str:
        with self._opened(owner) as folder:
            state = folder.state(CORE_NAME) if folder else None
            return _stamp(state) if state else ""

    def _read(self, owner: Owner, name: str) -> PageFile | None:
        with self._opened(owner) as folder:
            extended = folder.child("extended") if folder else None
            if extended is None:
                return None
            try:
                return _page(extended, name, _PAGE_BYTES) if _is_page(name) else None
            finally:
                extended.close()

    def _put(self, owner: Owner, text: str, seen: PageFile | None) -> PageFile | None:
        with self._opened(owner, make=True) as folder:
            now = _page(folder, CORE_NAME, _CORE_BYTES) if folder else None
            if folder is None or (now is None and CORE_NAME in folder.names()):
                raise OSError(0, "the place of a page is taken by something else")
            if (now and now.text) != (seen and seen.text):
                return None
            state = folder.state(CORE_NAME)
            mode = state.st_mode & 0o777 if state else 0o600
            folder.put(CORE_NAME, encode(text, now.encoding if now else Encoding()), mode)
            return _page(folder, CORE_NAME, _CORE_BYTES)

    @contextmanager
    def _opened(self, owner: Owner, *, make: bool = False) -> Iterator[Folder | None]:
        """Open a folder step by step from the root; None if a step is missing or leads away."""
        with ExitStack() as held:
            if make:
                self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = open_root(self._root)
            for ours, name in _steps(owner):
                if folder is None:
                    break
                held.callback(folder.close)
                folder = self._step(folder, ours, name, make=make)
            if folder is not None:
                held.callback(folder.close)
            yield folder

    def _step(self, folder: Folder, ours: str, name: str, *, make: bool) -> Folder | None:
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


def _steps(owner: Owner) -> Iterator[tuple[str, str]]:
    """Yield a folder of ours, and the id that is looked for in it, from the root down."""
    # Another tenant's user of the same name is somebody else.
    if owner.tenant_id != _DEFAULT_TENANT:
        yield "tenants", owner.tenant_id
    yield "users", owner.user_id
    yield ".memory", ""
    if owner.persona_id:
        yield "personas", owner.persona_id


@lru_cache(maxsize=4096)
def _place(root: str, user: User, *, capitals: bool) -> Path:
    steps = _steps(Owner(user.tenant_id, user.user_id, ""))
    parts = [
        part
        for ours, name in steps
        for part in (ours, name and _file_name(name, capitals=capitals))
    ]
    return Path(root, *filter(None, parts))


def _file_name(text: str, *, capitals: bool) -> str:
    """Return an id as a name that no other id has, even where capitals do not count."""
    name = safe_part(text)
    if capitals or unicodedata.normalize("NFC", name.casefold()) == name:
        return name
    return f"{name}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _is_page(name: str) -> bool:
    return name.lower().endswith(".md") and not name.startswith(".")


def _page(folder: Folder, name: str, limit: int) -> PageFile | None:
    found = folder.read(name, limit + 1)
    if found is None:
        return None
    raw, state = found
    whole = len(raw) <= limit
    text, encoding = decode(raw[:limit], whole=whole)
    return PageFile(name, text, _stamp(state), encoding, whole)


def _stamp(state: os.stat_result) -> str:
    """Return a text that changes with the file; one just written has a stamp of this moment."""
    parts = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    now = time.time_ns()
    fresh = f":{now}{_FRESH}" if now - max(parts[-2:]) < _TICK_NS else ""
    return ":".join(map(str, parts)) + fresh
