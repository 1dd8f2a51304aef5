"""Opens connections to PostgreSQL, and says what its errors mean."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.numeric import Int8Dumper

from plastic_memories.adapters.postgres.postgres_session import PostgresConnection
from plastic_memories.adapters.sql.server_database import Failure

_CONFLICT_ERRORS = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
# Too long for a key of an index; psycopg counts it to the next.
_LIMIT_ERRORS = (psycopg.errors.ProgramLimitExceeded,)
# A standby that was not promoted refuses to write.
_AWAY_ERRORS = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
)

_NETWORK = {
    "connect_timeout": 5,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "application_name": "plastic-memories",
}


def network_options(url: str) -> dict[str, Any]:
    """Return how soon a server that does not answer is given up, unless the address says it."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    return {name: value for name, value in _NETWORK.items() if name not in given}


@dataclass(frozen=True, slots=True)
class PostgresEngine:
    """Where the server is, and after how many milliseconds it stops what we asked."""

    url: str
    statement_timeout_ms: int = 60_000
    lock_timeout_ms: int = 20_000

    def connect(self, *, writing: bool) -> PostgresConnection:
        """Open a connection whose transactions are writes, or else snapshots that cannot write."""
        db = psycopg.connect(self.url, **network_options(self.url))
        # One type for every number: a statement is prepared once, not once for each size.
        db.adapters.register_dumper(int, Int8Dumper)
        with db.transaction():
            for name, value in (
                ("statement_timeout", self.statement_timeout_ms),
                ("lock_timeout", self.lock_timeout_ms),
                # A process that hangs in the middle of a write must not hold its locks for ever.
                ("idle_in_transaction_session_timeout", 10 * self.statement_timeout_ms),
            ):
                db.execute("SELECT set_config(%s, %s, false)", (name, str(value)))
        db.read_only = not writing
        level = psycopg.IsolationLevel
        db.isolation_level = level.READ_COMMITTED if writing else level.REPEATABLE_READ
        return db

    def commit(self, connection: PostgresConnection) -> None:
        connection.commit()

    def rollback(self, connection: PostgresConnection) -> None:
        connection.rollback()

    def close(self, connection: PostgresConnection) -> None:
        with suppress(psycopg.Error):
            connection.close()

    def is_broken(self, connection: PostgresConnection) -> bool:
        return connection.broken or connection.closed

    def failure(self, error: BaseException) -> Failure | None:
        if isinstance(error, _CONFLICT_ERRORS):
            return Failure.CONFLICT
        if isinstance(error, _LIMIT_ERRORS):
            return Failure.LIMIT
        return Failure.AWAY if isinstance(error, _AWAY_ERRORS) else None
