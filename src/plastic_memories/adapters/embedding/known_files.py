"""Record of the integrity checks of a downloaded model's files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RECORD = ".checked.json"


@dataclass(frozen=True, slots=True)
class FileCheckRecord:
    """The record beside the files of one model, for files fetched at one revision."""

    folder: Path
    revision: str

    def check_method(self, path: str) -> str:
        """Return how the current file was checked; empty if it was not, or has changed since."""
        entry = self._read().get(path)
        if not isinstance(entry, dict) or entry.get("revision") != self.revision:
            return ""
        file = self.folder / path
        is_same = file.is_file() and file_sha256(file) == entry.get("sha256")
        return str(entry.get("how", "")) if is_same else ""

    def record_check(self, path: str, how: str) -> None:
        """Record that the current file was checked."""
        digest = file_sha256(self.folder / path)
        entry = {"how": how, "sha256": digest, "revision": self.revision}
        record = json.dumps({**self._read(), path: entry}, indent=2)
        (self.folder / _RECORD).write_text(record, encoding="utf-8")

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / _RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # without the record all files are fetched and checked again
            return {}
        return found if isinstance(found, dict) else {}


def file_sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
