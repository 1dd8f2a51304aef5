"""Looks for what is wrong with a database file, and puts right what its rows can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from plastic_memories.adapters.sql.rows import owner_of
from plastic_memories.adapters.sqlite.connection import connect, execute, fetch, fetch_one
from plastic_memories.adapters.sqlite.consistency import integrity_problems
from plastic_memories.adapters.sqlite.legacy.detection import check_not_legacy, legacy_version
from plastic_memories.adapters.sqlite.migrate import (
    INDEX_TABLES,
    current_version,
    has_fts5,
    has_text_index,
    set_meta,
    stored_schema_version,
)
from plastic_memories.adapters.sqlite.queries import sql_file
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.errors import Unavailable
from plastic_memories.language.text.tokens import TERMS_VERSION
from plastic_memories.model.job import Reconciliation

Progress = Callable[[int, int], None]

# The vocabularies first: none can stand without its index.
# What a file or its disk can do to us. Whatever else the driver raises is a bug.
FILE_ERRORS = (
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NotADBError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
)
_EMPTY_SLOTS = (
    "DELETE FROM persona_slots AS s WHERE NOT EXISTS (SELECT 1 FROM memory_items m "
    "WHERE m.tenant_id = s.tenant_id AND m.user_id = s.user_id AND m.persona_id = s.persona_id "
    "AND m.bot_id = s.bot_id AND m.realm = s.realm AND m.type = s.slot_name "
    "AND m.status = 'active')"
)


@dataclass(frozen=True, slots=True)
class Examination:
    """What a look into a database file has shown."""

    schema_version: int
    wanted_version: int
    text_index: bool
    problems: list[str]
    counts: Mapping[str, int]
    messages: Reconciliation


@dataclass(frozen=True, slots=True)
class VectorCounts:
    """How far the embedder is with a database."""

    model: str = ""
    stored: int = 0
    waiting: int = 0


def sqlite_version() -> str:
    return apsw.sqlite_lib_version()


def can_search_text() -> bool:
    """Return whether the SQLite of this program has full-text search."""
    db = apsw.Connection(":memory:")
    try:
        return has_fts5(db)
    finally:
        db.close()


def schema_versions(path: Path) -> tuple[int, int]:
    """Return the schema version of a file (0 if there is none), and the one wanted."""
    if not path.is_file():
        return 0, current_version()
    check_not_legacy(path)
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return stored_schema_version(db), current_version()
        finally:
            db.close()
    except FILE_ERRORS as error:
        raise Unavailable(f"{path} cannot be read: {error}.") from error


def examine(path: Path, busy_timeout_ms: int) -> Examination:
    """Look into a database file without changing it; it may be in use."""
    check_not_legacy(path)
    try:
        db = connect(str(path), busy_timeout_ms, read_only=True)
        try:
            return _examine(db)
        finally:
            db.close()
    except FILE_ERRORS as error:
        raise Unavailable(f"{path} cannot be read: {error}.") from error


def vector_counts(path: Path, busy_timeout_ms: int) -> VectorCounts:
    """Say whose vectors a database file holds, how many, and how many are missing."""
    if legacy_version(path):
        return VectorCounts()
    try:
        db = connect(str(path), busy_timeout_ms, read_only=True)
        try:
            if stored_schema_version(db) != current_version():
                return VectorCounts()
            known = SqliteStores(db, indexed=False).vectors
            return VectorCounts(known.model(), known.count_stored(), known.backlog())
        finally:
            db.close()
    except FILE_ERRORS as error:
        raise Unavailable(f"{path} cannot be read: {error}.") from error


def repair(path: Path, busy_timeout_ms: int, progress: Progress) -> Mapping[str, int]:
    """Make the text index anew for all owners and empty slots that nothing stands behind."""
    check_not_legacy(path)
    try:
        db = connect(str(path), busy_timeout_ms)
        try:
            return rebuild_text_index(db, progress)
        finally:
            db.close()
    except FILE_ERRORS as error:
        raise Unavailable(f"{path} cannot be repaired: {error}.") from error


def rebuild_text_index(db: apsw.Connection, progress: Progress) -> Mapping[str, int]:
    """Drop the text index and make it from the rows, in one transaction."""
    counts = {"memories": 0, "messages": 0, "slots": 0}
    if not has_fts5(db):
        return counts
    db.execute("BEGIN IMMEDIATE")
    try:
        for table in INDEX_TABLES:
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute(sql_file("text_index.sql"))
        personas = fetch(db, "SELECT tenant_id, user_id, persona_id FROM personas ORDER BY id")
        stores = SqliteStores(db, indexed=True)
        for done, row in enumerate(personas, start=1):
            for kind, number in stores.upkeep.rebuild_index(owner_of(row)).items():
                counts[kind] += number
            progress(done, len(personas))
        counts["slots"] = execute(db, _EMPTY_SLOTS)
        stores.formation.recount()
        set_meta(db, "terms_version", str(TERMS_VERSION))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    return counts


def is_indexed(db: apsw.Connection) -> bool:
    """Return whether the text index is there and was filled."""
    filled = fetch_one(db, "SELECT 1 AS x FROM meta WHERE key = 'terms_version'")
    return filled is not None and has_text_index(db)


def _examine(db: apsw.Connection) -> Examination:
    version, wanted = stored_schema_version(db), current_version()
    indexed = has_text_index(db)
    stores = SqliteStores(db, indexed=indexed)
    # The finer questions name tables that only the wanted schema is sure to have.
    problems = stores.upkeep.check() if version == wanted and indexed else integrity_problems(db)
    counts = stores.upkeep.counts() if version == wanted else {}
    messages = stores.formation.reconcile() if version == wanted else Reconciliation()
    return Examination(version, wanted, indexed, problems, counts, messages)
