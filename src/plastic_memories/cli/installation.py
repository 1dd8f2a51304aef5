"""Open the storage of this installation, with one-line errors."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from plastic_memories.adapters.sqlite.doctor import FILE_ERRORS
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.runtime.private_files import make_private_folder
from plastic_memories.settings import Settings
from plastic_memories.wiring import open_storage

EMBEDDED_BACKEND = "sqlite"


@asynccontextmanager
async def open_installed_storage(settings: Settings) -> AsyncIterator[StorageBackend]:
    """Open the storage alone."""
    with errors_naming_file(settings):
        async with open_storage(settings) as storage:
            yield storage


@contextmanager
def errors_naming_file(settings: Settings) -> Iterator[None]:
    """Add the file name to the driver's error if it cannot open a file."""
    try:
        yield
    except FILE_ERRORS as error:
        raise Unavailable(f"{settings.db_path} cannot be opened: {error}.") from error


def embedded_database(settings: Settings) -> Path:
    """Return the file of the embedded database; raise `InvalidSetting` for another backend."""
    if settings.backend != EMBEDDED_BACKEND:
        raise InvalidSetting(
            f"PLASTIC_MEMORIES_BACKEND={settings.backend!r} has its own tools for this; "
            "this command is for the embedded database."
        )
    return settings.db_path


def check_folders(settings: Settings) -> None:
    """Create the folders of this installation; raise `InvalidSetting` for one not writable."""
    folders = {
        "DATA_DIR": settings.data_dir,
        "DB_PATH": settings.db_path.parent,
        "LOG_DIR": settings.log_path.parent,
    }
    for name, folder in folders.items():
        try:
            make_private_folder(folder)
        except OSError as error:
            raise InvalidSetting(
                f"PLASTIC_MEMORIES_{name}: {folder} cannot be made: {error.strerror}."
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InvalidSetting(f"PLASTIC_MEMORIES_{name}: {folder} cannot be written to.")
