"""The text index: our terms in FTS5, partitioned inside every term."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from plastic_memories.adapters.sqlite.connection import fetch_one
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import owner_params, to_json, user_params
from plastic_memories.model.owner import Owner, User

# In a partition this large, a term that half the rows hold would cost more than it tells.
_LARGE = 2000
_COMMON_SHARE = 0.1


class TextIndex:
    """One of the two indexes: `memory` or `messages`."""

    def __init__(self, db: apsw.Connection, kind: str) -> None:
        self._db = db
        self._kind = kind
        self._table = f"fts_{kind}"

    def put(self, row_id: int, partition: str, terms: Sequence[str]) -> None:
        """Index a row that is not in the index yet."""
        tokens = " ".join(f"{partition}x{term}" for term in terms)
        self._db.execute(
            f"INSERT INTO {self._table} (rowid, terms) VALUES (?, ?)",  # noqa: S608 - a constant
            (row_id, tokens),
        )
        self._count(partition, 1)

    def remove(self, row_id: int, partition: str) -> None:
        """Take a row out of the index."""
        self._db.execute(
            f"DELETE FROM {self._table} WHERE rowid = ?",  # noqa: S608 - a constant
            (row_id,),
        )
        self._count(partition, -self._db.changes())

    def holds(self, row_id: int) -> bool:
        sql = f"SELECT 1 AS x FROM {self._table}_docsize WHERE id = ?"  # noqa: S608 - a constant
        return fetch_one(self._db, sql, (row_id,)) is not None

    def match(self, partitions: Sequence[str], terms: Sequence[str]) -> str:
        """Write terms as an FTS5 search of these partitions; empty if there is nothing to find."""
        documents = self._documents(partitions)
        if documents > _LARGE:
            terms = _telling(terms, self._frequency(partitions, terms), documents)
        # A term has letters and digits only (rules/text.py), and is quoted all the same.
        return " OR ".join(f'"{part}x{term}"' for part in partitions for term in terms)

    def _count(self, partition: str, change: int) -> None:
        self._db.execute(
            "INSERT INTO text_partitions (kind, partition, documents) VALUES (?, ?, max(?, 0)) "
            "ON CONFLICT (kind, partition) DO UPDATE SET documents = max(documents + ?, 0)",
            (self._kind, partition, change, change),
        )

    def _documents(self, partitions: Sequence[str]) -> int:
        row = fetch_one(
            self._db,
            "SELECT coalesce(sum(documents), 0) AS n FROM text_partitions "
            "WHERE kind = ? AND partition IN (SELECT value FROM json_each(?))",
            (self._kind, to_json(list(partitions))),
        )
        return int(row["n"]) if row else 0

    def _frequency(self, partitions: Sequence[str], terms: Sequence[str]) -> dict[str, int]:
        counts = dict.fromkeys(terms, 0)
        sql = f"SELECT doc FROM {self._table}_terms WHERE term = ?"  # noqa: S608 - a constant
        for term in terms:
            for partition in partitions:
                row = fetch_one(self._db, sql, (f"{partition}x{term}",))
                counts[term] += int(row["doc"]) if row else 0
        return counts


def _telling(terms: Sequence[str], frequency: dict[str, int], documents: int) -> list[str]:
    known = [term for term in terms if frequency[term]]
    rare = [term for term in known if frequency[term] <= documents * _COMMON_SHARE]
    return rare or sorted(known, key=lambda term: frequency[term])[:1]


def persona_partition(db: apsw.Connection, owner: Owner) -> str | None:
    """Return the partition of what one persona knows; None if there is no such persona."""
    row = fetch_one(db, QUERIES["get_persona"], owner_params(owner))
    return f"p{row['id']}" if row else None


def user_partition(db: apsw.Connection, user: User) -> str | None:
    """Return the partition of what all personas of a user share."""
    row = fetch_one(db, QUERIES["get_user"], user_params(user))
    return f"g{row['id']}" if row else None
