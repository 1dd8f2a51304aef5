"""The text index: our terms in FTS5, partitioned inside every term."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.sql_session import Params, Row
from plastic_memories.adapters.sql.text_index import TextIndexUnavailable, TextPartition
from plastic_memories.adapters.sqlite.connection import fetch_one
from plastic_memories.language.text.tokens import index_terms

logger = logging.getLogger(__name__)
# Nothing that could end a quoted string.
_SAFE = re.compile(r'[^"\x00]+')
# A term that more rows than this hold costs more than it tells.
_COMMON_SHARE = 0.1
_Fetch = Callable[[str, Params], list[Row]]


class SqliteTextIndex:
    """One of the two indexes: `memory` or `messages`."""

    def __init__(self, db: apsw.Connection, kind: str, fetch: _Fetch) -> None:
        self._db = db
        self._fetch = fetch  # runs a statement by its name
        self._table = f"fts_{kind}"

    def put(self, rows: Iterable[tuple[int, TextPartition, list[str]]]) -> None:
        """Index rows that are not in the index yet: id, partition and terms of each."""
        sql = f"INSERT INTO {self._table} (rowid, terms) VALUES (?, ?)"  # noqa: S608 - a constant
        self._execute_rows(
            sql,
            [(row_id, _partition_tokens(partition, terms)) for row_id, partition, terms in rows],
        )

    def remove(self, row_id: int, partition: TextPartition, text: str) -> None:
        """Take a row out of the index if it is in; `text` must be what it was indexed with.

        The index keeps no text of its own, so it is told again which words to take out. A change
        of `TERMS_VERSION` therefore makes the whole index anew (backend.py).
        """
        if not self._is_indexed(row_id):
            return
        sql = f"INSERT INTO {self._table} ({self._table}, rowid, terms) VALUES ('delete', ?, ?)"  # noqa: S608
        self._execute_rows(sql, [(row_id, _partition_tokens(partition, index_terms(text)))])

    def erase_words(self, partition: TextPartition, texts: Iterable[str]) -> None:
        """Take the words of erased texts, gone from every row, out of the directory of the index.

        FTS5 names each of its pages by a word or the beginning of one, and leaves that name when
        the word is deleted.
        """
        words = {f"0{partition.name}x{term}" for text in texts for term in index_terms(text)}
        shown = len(partition.name) + 2  # that much of a name says nothing
        try:
            for segment, name in self._page_names(sorted(words)):
                if len(name) > shown:
                    self._rename_page(segment, name)
        except apsw.SQLError as error:
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)[:200]}})

    def _page_names(self, words: Sequence[str]) -> list[tuple[int, bytes]]:
        """Return the names that words begin with, each with its segment of the index."""
        self._next_word(b"")  # has what waits in memory written to the segments
        sql = (
            "SELECT DISTINCT segid, term FROM (SELECT s.segid, w.value AS word, (SELECT i.term "  # noqa: S608
            f"FROM {self._table}_idx i WHERE i.segid = s.segid AND i.term <= CAST(w.value AS BLOB) "
            "ORDER BY i.term DESC LIMIT 1) AS term "
            f"FROM (SELECT DISTINCT segid FROM {self._table}_idx) s, json_each(?) w) "
            "WHERE substr(CAST(word AS BLOB), 1, length(term)) = term"
        )
        return [
            (segment, bytes(name)) for segment, name in self._db.execute(sql, (to_json(words),))
        ]

    def _rename_page(self, segment: int, name: bytes) -> None:
        """Give a page another name, if no word that is left begins with this one.

        A name sorts after all words of the page before, and not after any of its own.
        """
        word = self._next_word(name[1:])
        if word is not None and word.startswith(name):
            return
        after = f"SELECT min(term) FROM {self._table}_idx WHERE segid = ? AND term > ?"  # noqa: S608
        [(following,)] = self._db.execute(after, (segment, name))
        if word is None or (following is not None and word >= following):
            # No word is left on the page: any name before the next page's will do.
            word = _just_before(following) if following else b"0\xff"
        sql = f"UPDATE {self._table}_idx SET term = ? WHERE segid = ? AND term = ?"  # noqa: S608
        self._db.execute(sql, (word, segment, name))

    def _next_word(self, start: bytes) -> bytes | None:
        """Return the first word of the index from this one on, as its directory writes it."""
        sql = f"SELECT term FROM {self._table}_terms WHERE term >= CAST(? AS TEXT) LIMIT 1"  # noqa: S608
        row = fetch_one(self._db, sql, (start,))
        return b"0" + row["term"].encode() if row else None

    def _is_indexed(self, row_id: int) -> bool:
        sql = f"SELECT 1 AS x FROM {self._table}_docsize WHERE id = ?"  # noqa: S608 - a constant
        try:
            return fetch_one(self._db, sql, (row_id,)) is not None
        except apsw.SQLError:
            return False  # the index is gone; whoever searches will say so

    def _execute_rows(self, sql: str, rows: Sequence[tuple[int, str]]) -> None:
        try:
            self._db.executemany(sql, rows)
        except apsw.SQLError as error:
            # Dropped while we run: rows are still kept, and searched without it. `doctor` says so.
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)[:200]}})

    def search(
        self,
        statement: str,
        partitions: Sequence[TextPartition],
        terms: Sequence[str],
        params: Params,
    ) -> list[Row]:
        """Run a search by its name, whose `:match` is written here: best first."""
        match = _match_expression(partitions, terms)
        with _unavailable_if_broken():
            return self._fetch(statement, {**params, "match": match}) if match else []

    def document_counts(
        self, partition: TextPartition, terms: Sequence[str], most: int
    ) -> dict[str, int]:
        """Return how many rows of a partition hold each term; counts no further than `most`."""
        # Not by `_frequency`: for a term's number fts5vocab reads all its rows, and a persona may
        # have said a word fifty thousand times. Here the reading stops at `most`.
        sql = (
            f"SELECT count(*) AS n FROM (SELECT 1 FROM {self._table} "  # noqa: S608 - a constant
            f"WHERE {self._table} MATCH ? LIMIT ?)"
        )
        counts = dict.fromkeys(terms, 0)
        with _unavailable_if_broken():
            for term in terms:
                if match := _match_expression([partition], [term]):
                    [(counts[term],)] = self._db.execute(sql, (match, most))
        return counts

    def without_common_terms(
        self, partitions: Sequence[TextPartition], terms: Sequence[str], documents: int
    ) -> list[str]:
        """Leave out the terms that too many rows of a large partition hold, if others remain."""
        with _unavailable_if_broken():
            frequency = self._document_frequencies(partitions, terms)
        known = [term for term in terms if frequency[term]]
        rare = [term for term in known if frequency[term] <= documents * _COMMON_SHARE]
        return rare or sorted(known, key=lambda term: frequency[term])[:1]

    def _document_frequencies(
        self, partitions: Sequence[TextPartition], terms: Sequence[str]
    ) -> dict[str, int]:
        # Not by `holding`: what is common depends on how many rows there are, so all are counted.
        # Only memories ask, of which a persona has far fewer than messages.
        counts = dict.fromkeys(terms, 0)
        sql = f"SELECT doc FROM {self._table}_terms WHERE term = ?"  # noqa: S608 - a constant
        for term in terms:
            for partition in partitions:
                row = fetch_one(self._db, sql, (f"{partition.name}x{term}",))
                counts[term] += int(row["doc"]) if row else 0
        return counts


@contextmanager
def _unavailable_if_broken() -> Iterator[None]:
    try:
        yield
    except apsw.SQLError as error:
        # The index can be damaged or dropped while we run.
        raise TextIndexUnavailable(str(error)[:200]) from error


def _match_expression(partitions: Sequence[TextPartition], terms: Sequence[str]) -> str:
    """Write terms as an FTS5 search of these partitions; empty if there is nothing to find."""
    # A term has letters and digits only (language/text/tokens.py), and is quoted all the same.
    terms = [term for term in terms if _SAFE.fullmatch(term)]
    return " OR ".join(f'"{part.name}x{term}"' for part in partitions for term in terms)


def _partition_tokens(partition: TextPartition, terms: list[str]) -> str:
    before = f" {partition.name}x"
    return before + before.join(terms) if terms else ""


def _just_before(name: bytes) -> bytes:
    # No UTF-8 holds that byte, so nothing lies in between.
    return name[:-1] + bytes([name[-1] - 1]) + b"\xff"
