"""Archive as files in the data folder."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from plastic_memories.errors import Unavailable
from plastic_memories.ports.archive import Archive
from plastic_memories.runtime.private_files import make_private_folder, open_private_file

T = TypeVar("T")
_PARTIAL_SUFFIX = ".part"


class _Settings(Protocol):
    @property
    def archive_dir(self) -> Path: ...


class _Context(Protocol):
    @property
    def settings(self) -> _Settings: ...


class FileArchive:
    is_enabled = True

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, path: str, text: str) -> None:
        await self._run_in_thread(lambda: _write_atomically(self._resolve_path(path), text))

    async def get(self, path: str) -> str | None:
        return await self._run_in_thread(lambda: _read(self._resolve_path(path)))

    async def remove(self, path: str) -> bool:
        return await self._run_in_thread(lambda: _remove(self._resolve_path(path)))

    async def names_in(self, folder: str) -> list[str]:
        return await self._run_in_thread(lambda: _file_names(self._resolve_path(folder)))

    async def remove_under(self, folder: str) -> int:
        return await self._run_in_thread(lambda: _remove_tree(self._resolve_path(folder)))

    def _resolve_path(self, path: str) -> Path:
        place = self._root.joinpath(*path.split("/"))
        assert place.resolve().is_relative_to(self._root.resolve()), "paths are made by us"
        return place

    @staticmethod
    async def _run_in_thread(work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            raise Unavailable(f"The archive cannot be reached: {error.strerror}.") from error


class NoArchive:
    """An archive that stores nothing."""

    is_enabled = False

    async def put(self, path: str, text: str) -> None:
        return None

    async def get(self, path: str) -> str | None:
        return None

    async def remove(self, path: str) -> bool:
        return False

    async def names_in(self, folder: str) -> list[str]:
        return []

    async def remove_under(self, folder: str) -> int:
        return 0


def _write_atomically(place: Path, text: str) -> None:
    """Write a temporary file, sync it, and rename it into place: all or nothing."""
    make_private_folder(place.parent)
    part = place.with_name(place.name + _PARTIAL_SUFFIX)
    try:
        _write_part(part, text)
        part.replace(place)
    except OSError:
        part.unlink(missing_ok=True)  # on a full disk a partial file only takes space
        raise
    _sync_folder(place.parent)


def _write_part(part: Path, text: str) -> None:
    # Created with its final mode: it is a private conversation.
    with open(part, "w", encoding="utf-8", opener=open_private_file) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(place: Path) -> str | None:
    return place.read_text(encoding="utf-8") if place.is_file() else None


def _remove(place: Path) -> bool:
    existed = place.is_file()
    place.unlink(missing_ok=True)
    place.with_name(place.name + _PARTIAL_SUFFIX).unlink(missing_ok=True)
    return existed


def _file_names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(
        {file.name.removesuffix(_PARTIAL_SUFFIX) for file in folder.iterdir() if file.is_file()}
    )


def _remove_tree(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    number = sum(file.suffix == ".json" for file in folder.rglob("*"))
    shutil.rmtree(folder)
    return number


def files(context: _Context) -> Archive:
    """Return an archive that stores files below the archive folder."""
    return FileArchive(context.settings.archive_dir)


def none(_context: object) -> Archive:
    """Return an archive that stores nothing; messages are pruned by retention all the same."""
    return NoArchive()
