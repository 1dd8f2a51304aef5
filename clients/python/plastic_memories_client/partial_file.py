"""Write a file atomically: it appears under its name only when it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO


@contextmanager
def partial_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` for writing, and rename it to `path` on success."""
    whole = Path(path)
    part = whole.with_name(whole.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(whole)
    finally:
        part.unlink(missing_ok=True)
