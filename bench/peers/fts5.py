"""SQLite FTS5 with defaults: the unicode61 tokenizer, bm25, any word of the question."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any


class Peer:
    def __init__(self, embedder: object, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "fts5.db")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._tables: dict[str, str] = {}

    def open(self, conversation: str) -> None:
        table = self._tables[conversation] = f"t{len(self._tables)}"
        self._db.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(id UNINDEXED, content)")

    def ingest(self, conversation: str, memories: list[dict[str, Any]]) -> None:
        rows = [(memory["id"], memory["text"]) for memory in memories]
        with self._db:
            self._db.executemany(f"INSERT INTO {self._tables[conversation]} VALUES (?, ?)", rows)

    def search(self, conversation: str, question: str, limit: int) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        if not words:
            return []
        table = self._tables[conversation]
        found = self._db.execute(
            f"SELECT id FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}) LIMIT ?",
            (words, limit),
        )
        return [row[0] for row in found]
