"""Recognises a database file of the older program, which had the same default path."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from plastic_memories.adapters.sqlite.connection import fetch, fetch_one
from plastic_memories.errors import InvalidSetting

LEGACY_VERSIONS = ("1", "2")
# Every schema of ours has this index, from the first on; the older program never had it.
_OUR_INDEX = "memory_one_active"
_NAMES = "SELECT name FROM sqlite_schema"
_VERSION = "SELECT value FROM meta WHERE key = 'schema_version'"


def check_not_legacy(path: Path) -> None:
    """Raise `InvalidSetting` for a database of the older program; the file stays as it is."""
    version = legacy_version(path)
    if version:
        aside = path.with_name(path.name + ".legacy")
        raise InvalidSetting(
            f"{path} is a database of the older program (its schema {version}) and is left as it "
            f"is. Move it aside, for example to {aside}, with {path.name}-wal if there is one; "
            f"then run: plastic-memories import --from legacy {aside}"
        )


def legacy_version(path: Path) -> str:
    """Return the schema version of a database of the older program; "" for any other file."""
    try:
        if not path.stat().st_size:
            return ""
        with closing(open_unchanged(path)) as db:
            return _legacy_version(db)
    except (OSError, apsw.Error):
        return ""  # whoever opens it for use says what is wrong with it


def open_unchanged(path: Path) -> apsw.Connection:
    """Open a file to read it, without a log or an index of one being made beside it."""
    has_log = path.with_name(path.name + "-wal").exists()
    address = path.absolute().as_uri() + ("?mode=ro" if has_log else "?mode=ro&immutable=1")
    return apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _legacy_version(db: apsw.Connection) -> str:
    names = {row["name"] for row in fetch(db, _NAMES)}
    if _OUR_INDEX in names or not {"meta", "memory_items"} <= names:
        return ""
    row = fetch_one(db, _VERSION)
    version = str(row["value"]) if row else ""
    return version if version in LEGACY_VERSIONS else ""
