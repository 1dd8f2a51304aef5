"""Looks for what is wrong inside an SQLite database: in the file, and between its tables."""

from __future__ import annotations

import apsw

from plastic_memories.adapters.sqlite.connection import fetch, fetch_one
from plastic_memories.adapters.sqlite.migrate import has_text_index

# Rows that should be indexed but are not, or the other way round.
_CONSISTENCY_CHECKS = {
    "active memories missing from the text index": (
        "SELECT count(*) AS n FROM memory_items WHERE status = 'active' "
        "AND id NOT IN (SELECT id FROM fts_memory_docsize)"
    ),
    "text index entries without an active memory": (
        "SELECT count(*) AS n FROM fts_memory_docsize "
        "WHERE id NOT IN (SELECT id FROM memory_items WHERE status = 'active')"
    ),
    "active memories that ranking does not know": (
        "SELECT count(*) AS n FROM memory_items WHERE status = 'active' "
        "AND id NOT IN (SELECT memory_id FROM recall_entries)"
    ),
    "entries for ranking without an active memory": (
        "SELECT count(*) AS n FROM recall_entries "
        "WHERE memory_id NOT IN (SELECT id FROM memory_items WHERE status = 'active')"
    ),
    "messages missing from the text index": (
        "SELECT count(*) AS n FROM messages WHERE hidden_at IS NULL "
        "AND id NOT IN (SELECT id FROM fts_messages_docsize)"
    ),
    "text index entries without a visible message": (
        "SELECT count(*) AS n FROM fts_messages_docsize "
        "WHERE id NOT IN (SELECT id FROM messages WHERE hidden_at IS NULL)"
    ),
    "slots without an active memory": (
        "SELECT count(*) AS n FROM persona_slots s WHERE NOT EXISTS (SELECT 1 FROM memory_items m "
        "WHERE m.tenant_id = s.tenant_id AND m.user_id = s.user_id "
        "AND m.persona_id = s.persona_id AND m.bot_id = s.bot_id AND m.realm = s.realm "
        "AND m.type = s.slot_name AND m.status = 'active')"
    ),
}


def integrity_problems(db: apsw.Connection) -> list[str]:
    """Return what SQLite itself finds wrong with the file; empty means sound."""
    found = [row["integrity_check"] for row in fetch(db, "PRAGMA integrity_check")]
    return [line for line in found if line != "ok"]


def consistency_problems(db: apsw.Connection, *, indexed: bool) -> list[str]:
    """Return what is wrong with the file and the rows, one line each; empty means sound."""
    if has_text_index(db):
        # A reader that has not searched for a while holds an old picture of the index, and
        # would call it damaged.
        for table in ("fts_memory", "fts_messages"):
            db.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH 'x' LIMIT 1")  # noqa: S608
    problems = integrity_problems(db)
    if not has_text_index(db):
        return [*problems, "the text index is missing"] if indexed else problems
    for what, sql in _CONSISTENCY_CHECKS.items():
        row = fetch_one(db, sql)
        if row and row["n"]:
            problems.append(f"{row['n']} {what}")
    return problems
