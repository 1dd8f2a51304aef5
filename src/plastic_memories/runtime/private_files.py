"""Folders and files that only their user may read, whatever the umask says."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


def make_private_folder(path: Path) -> None:
    """Make a folder and its missing parents, each readable by this user alone.

    `Path.mkdir(mode=..., parents=True)` gives its mode to the last folder only.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    path.mkdir(exist_ok=True)  # raises if it is a file


def open_private_file(path: str, flags: int) -> int:
    """Open a file, made with its mode: the `opener` of `open`."""
    return os.open(path, flags, _FILE_MODE)
