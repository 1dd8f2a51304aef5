"""One transaction of an SQL engine, as the stores use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from plastic_memories.adapters.sql.dialect import Dialect
from plastic_memories.adapters.sql.statements import Statement
from plastic_memories.adapters.sql.text_index import TextIndex

Params = Mapping[str, Any]
Row = dict[str, Any]
NO_PARAMS: Params = {}


class SqlSession(Protocol):
    """Runs statements: those of the engine's own file by their name, built ones as they are.

    Errors of the driver pass through: whoever runs the transaction knows them.
    """

    @property
    def dialect(self) -> Dialect: ...

    def fetch(self, statement: Statement | str, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of a query, by column name."""
        ...

    def fetch_one(self, statement: Statement | str, params: Params = NO_PARAMS) -> Row | None:
        """Return the first row of a query, if there is one."""
        ...

    def fetch_tuples(
        self, statement: Statement | str, params: Params = NO_PARAMS
    ) -> Iterable[Sequence[Any]]:
        """Return all rows of a query by position, which costs less where there are many."""
        ...

    def execute(self, statement: Statement | str, params: Params = NO_PARAMS) -> int:
        """Run a statement; return how many rows it changed."""
        ...

    def execute_many(self, statement: Statement | str, rows: Iterable[Params]) -> None:
        """Run a statement once for each."""
        ...

    def insert(self, statement: Statement | str, params: Params) -> int:
        """Insert a row; return its id."""
        ...

    def insert_new(self, statement: Statement | str, params: Params) -> int | None:
        """Insert a row; return its id, or None if a unique key has kept it out."""
        ...

    def insert_many(self, statement: Statement | str, rows: Iterable[Params]) -> Sequence[int]:
        """Insert rows; return their ids, in order."""
        ...

    def text_index(self, kind: str) -> TextIndex | None:
        """Return the text index of `memory` or `messages`; None if the engine has none."""
        ...

    def find_problems(self) -> list[str]:
        """Return what is wrong with the stored data, one line each; empty means sound."""
        ...
