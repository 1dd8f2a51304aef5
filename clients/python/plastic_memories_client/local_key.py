"""Find an API key when none is given: in the environment, then in this machine's key file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

KEY_FILE = "key"


def find_key(*, on_this_machine: bool, environment: Mapping[str, str] | None = None) -> str:
    """Return the key to send, or an empty text.

    The key file is read only for a hub on this machine: a local key must not be sent to another
    host just because its address was given.
    """
    # The SDK is its own distribution: it cannot use the hub's settings.py.
    known = os.environ if environment is None else environment  # noqa: TID251
    given = known.get("PLASTIC_MEMORIES_API_KEY", "").strip()
    if given or not on_this_machine:
        return given
    return _read(data_folder(known) / KEY_FILE)


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return the hub's default data folder."""
    if chosen := environment.get("PLASTIC_MEMORIES_DATA_DIR"):
        return Path(chosen).expanduser()
    if database := environment.get("PLASTIC_MEMORIES_DB_PATH"):
        return Path(database).expanduser().absolute().parent
    if sys.platform == "win32" and (roaming := environment.get("APPDATA")):
        return Path(roaming) / "PlasticMemories"
    return Path.home() / ".plastic_memories"


def _read(path: Path) -> str:
    # No file, or not readable: then there is no key, and the hub reports that itself.
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
