"""Copies every row of one SQL database to another, of whatever engine."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from plastic_memories.adapters.sql.bundle import SqlStores
from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.statements import ParameterStyle, Statement
from plastic_memories.errors import Conflict
from plastic_memories.language.text.tokens import TERMS_VERSION

Progress = Callable[[str, int, int], None]
_BATCH = 500
# What belongs to a database and not to what is in it.
_OWN_META = frozenset({"schema_version", "terms_version", "oldest_release"})
_SOURCE_KEY = "copy.source"
_POSITION_KEY = "copy.position."


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table: its columns, and those that say which row is meant."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableDigest:
    """How many rows a table has, and a sum over all of them that any other row would change."""

    rows: int = 0
    checksum: int = 0


class CopyEnd(ABC):
    """One database of a copy, over one connection: a snapshot to read, or transactions to write."""

    style: ParameterStyle

    @property
    @abstractmethod
    def stores(self) -> SqlStores: ...

    @abstractmethod
    def stream(self, statement: Statement, params: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        """Yield the rows of a query without holding all of them."""

    @abstractmethod
    def insert(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows."""

    @abstractmethod
    def commit(self) -> None:
        """Store what was inserted."""

    @abstractmethod
    def continue_numbers(self, tables: Sequence[TableLayout]) -> None:
        """Let new rows have numbers after those that were inserted."""

    def end(self) -> None:  # noqa: B027 - most have nothing to do
        """Do what a database wants after many rows have come."""

    def get_meta(self, key: str) -> str | None:
        row = self.stores.session.fetch_one("get_meta", {"key": key})
        return str(row["value"]) if row else None

    def set_meta(self, key: str, value: str) -> None:
        self.stores.session.execute("set_meta", {"key": key, "value": value})


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """Copies tables in batches; what was copied is not copied again after an interruption."""

    source: CopyEnd
    target: CopyEnd
    tables: Sequence[TableLayout]
    progress: Progress

    def run(self) -> Mapping[str, int]:
        """Copy, compare and index; return how many rows of each table there are.

        Raise `Conflict` if the target holds something else, or the two differ in the end.
        """
        self._begin()
        counts = {table.name: self._count(self.source, table) for table in self.tables}
        total, done = sum(counts.values()), 0
        for table in self.tables:
            done += self._count(self.target, table)
            done = self._copy_table(table, done, total)
        self._copy_meta()
        self._compare(total)
        self.target.continue_numbers(self.tables)
        self._index()
        self._end()
        return counts

    def _begin(self) -> None:
        """Check that the target is empty, or was begun from the same source."""
        name = self.source.get_meta("installation_id") or ""
        begun = self.target.get_meta(_SOURCE_KEY)
        if begun == name:
            return
        if begun is not None or any(self._count(self.target, table) for table in self.tables):
            raise Conflict("The target is not empty: it must be, or hold a part of this copy.")
        self.target.set_meta(_SOURCE_KEY, name)
        self.target.commit()

    def _copy_table(self, table: TableLayout, done: int, total: int) -> int:
        position = self.target.get_meta(_POSITION_KEY + table.name)
        after = dict(zip(table.key, json.loads(position), strict=True)) if position else {}
        rows = self.source.stream(_select(table, self.source.style, after=bool(after)), after)
        insert = _insert(table, self.target.style)
        places = [table.columns.index(name) for name in table.key]
        while batch := list(islice(rows, _BATCH)):
            params = [dict(zip(table.columns, row, strict=True)) for row in batch]
            self.target.insert(insert, params)
            last = [batch[-1][place] for place in places]
            self.target.set_meta(_POSITION_KEY + table.name, to_json(last))
            self.target.commit()
            done += len(batch)
            self.progress(f"copying {table.name}", done, total)
        return done

    def _copy_meta(self) -> None:
        """Copy what goes with the rows, such as the secret under which tombstones were made."""
        select = Statement('SELECT "key", value FROM meta', style=self.source.style)
        for key, value in list(self.source.stream(select, {})):
            if key not in _OWN_META:
                self.target.set_meta(key, value)
        self.target.commit()

    def _compare(self, total: int) -> None:
        done = 0
        for table in self.tables:
            here, there = (self._digest(end, table) for end in (self.source, self.target))
            if here != there:
                raise Conflict(
                    f"The copy of {table.name} differs: {here.rows} rows here, {there.rows} there. "
                    "Was the source written to meanwhile? Empty the target and begin anew."
                )
            done += here.rows
            self.progress(f"comparing {table.name}", done, total)

    def _index(self) -> None:
        """Make what an engine keeps in its own form: the text index."""
        after = 0
        while owners := self.target.stores.upkeep.owners(after, 50):
            stores = self.target.stores
            for after, owner in owners:  # noqa: B007 - the cursor of the next round
                stores.memories.reindex(owner, keep_vectors=True)
                stores.messages.reindex(owner, keep_vectors=True)
                self.progress(f"indexing {owner.persona_id}", 0, 0)
            self.target.commit()

    def _end(self) -> None:
        self.target.set_meta("terms_version", str(TERMS_VERSION))
        for key in (_SOURCE_KEY, *(_POSITION_KEY + table.name for table in self.tables)):
            self.target.stores.session.execute("drop_meta", {"key": key})
        self.target.commit()
        self.target.end()

    @staticmethod
    def _count(end: CopyEnd, table: TableLayout) -> int:
        text = f"SELECT count(*) FROM {table.name}"  # noqa: S608 - ours
        [(number,)] = end.stream(Statement(text, style=end.style), {})
        return int(number)

    @staticmethod
    def _digest(end: CopyEnd, table: TableLayout) -> TableDigest:
        rows, checksum = 0, 0
        for row in end.stream(_select(table, end.style, after=False), {}):
            rows += 1
            checksum = (checksum + _row_checksum(row)) % 2**64
        return TableDigest(rows, checksum)


def _select(table: TableLayout, style: ParameterStyle, *, after: bool) -> Statement:
    names, key = ", ".join(table.columns), ", ".join(table.key)
    marks = ", ".join(f":{name}" for name in table.key)
    where = f"WHERE ({key}) > ({marks}) " if after else ""
    text = f"SELECT {names} FROM {table.name} {where}ORDER BY {key}"  # noqa: S608 - ours
    return Statement(text, style=style)


def _insert(table: TableLayout, style: ParameterStyle) -> Statement:
    names = ", ".join(table.columns)
    marks = ", ".join(f":{name.strip(chr(34))}" for name in table.columns)
    text = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"  # noqa: S608 - ours
    return Statement(text, style=style)


def _row_checksum(row: Sequence[Any]) -> int:
    told = repr([_plain(value) for value in row]).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big")


def _plain(value: Any) -> Any:
    """Return a value as every engine would: a flag is a number, bytes are bytes."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return bytes(value) if isinstance(value, bytearray | memoryview) else value
