"""A file that appears under its name only when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO


@contextmanager
def partial_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open `path` for writing beside its place, and put it there at the end if all went well."""
    whole = Path(path)
    part = whole.with_name(whole.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(whole)
    finally:
        part.unlink(missing_ok=True)
